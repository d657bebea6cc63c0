/* Finds rows of kindred devices by what the files' rows say of their cores, not by names. */
#include "kindred_rows.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_yaml(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && strcmp(dot, ".yaml") == 0;
}

static bool is_kindred(const kiln *k, const kiln_rows *rows)
{
    const char *device = kiln_rows_device(rows);
    return kiln_rows_count(rows) > 0 && *device && strcmp(device, "any") != 0 &&
           !kiln_rows_name_device(device, k->facts.name);
}

static void load_file(kiln *k, const char *folder, const char *name)
{
    char file[4096 + 260];
    snprintf(file, sizeof file, "%s/%s", folder, name);
    kiln_rows *rows =
        k->nkindred < KILN_MOST_KINDRED ? kiln_rows_load_of_core(file, k->facts.core) : NULL;
    if (rows && is_kindred(k, rows))
        k->kindred[k->nkindred++] = rows;
    else
        kiln_rows_free(rows);
}

static void load_folder(kiln *k, const char *folder)
{
    struct dirent **entry = NULL;
    const int n = *folder ? scandir(folder, &entry, is_yaml, alphasort) : 0;
    for (int i = 0; i < n; i++) {
        load_file(k, folder, entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
}

void kiln_kindred_load(kiln *k)
{
    char folder[sizeof k->rows_file];
    memcpy(folder, k->rows_file, sizeof folder);
    char *slash = strrchr(folder, '/');
    if (k->kindred_loaded || !*k->facts.core)
        return;
    k->kindred_loaded = true;
    if (slash && !k->rows_named_by) {
        *slash = '\0';
        load_folder(k, folder);
    }
    load_folder(k, k->shipped_dir);
}
