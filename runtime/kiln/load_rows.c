/* Loads the rows of a kiln: the user's rows, and the rows shipped for the device and for all. */
#include "load_rows.h"

#include "places.h"

#include <stdio.h>
#include <string.h>

/* A file that somebody named must be of use. A default one that is not must not keep a program that
 * never heard of it from running. */
static kiln_status load(const kiln *k, kiln_rows **rows, const char *file, const char *named_by,
                        const char *variable)
{
    *rows = kiln_rows_load(file, k->facts.core, &k->logger);
    if (!*rows)
        return kiln_fail(KILN_NO_MEMORY, "out of memory while loading tuning rows");
    const char *trouble = kiln_rows_trouble(*rows);
    if (*trouble && named_by)
        return kiln_fail(KILN_FILE, "%s: %s; mend it, or name another or \"off\"", named_by,
                         trouble);
    if (*trouble)
        kiln_warn(&k->logger, "%s; its rows are not used: mend or delete it, or set %s", trouble,
                  variable);
    return KILN_OK;
}

/* Whether the rows were measured on another device. Planning without a device takes any rows. */
static bool is_foreign(const kiln *k, const kiln_rows *rows)
{
    const char *of = kiln_rows_device(rows);
    return k->context && *of && strcmp(of, "any") != 0 && !kiln_rows_name_device(of, k->facts.name);
}

/* A program may run on two devices with one file named: that is no error, but the rows are of one
 * device. */
static kiln_status load_user_rows(kiln *k, const kiln_settings *s)
{
    k->rows_named_by = kiln_place_namer(s->rows_file, "settings.rows_file", "KILN_DB");
    kiln_status status = load(k, &k->user_rows, k->rows_file, k->rows_named_by, "KILN_DB");
    if (status)
        return status;
    if (!is_foreign(k, k->user_rows)) {
        const size_t elsewhere = kiln_rows_elsewhere(k->user_rows);
        if (elsewhere)
            kiln_warn(&k->logger,
                      "%s: %zu of its rows were measured on another CPU of the same name, not on "
                      "this one, \"%s\": they are not used; kiln conv -s 1 makes rows for this one",
                      k->rows_file, elsewhere, k->facts.core);
        return KILN_OK;
    }
    kiln_warn(
        &k->logger,
        "%s holds rows of the device \"%s\", not \"%s\": they are not used; name another file, "
        "or \"off\", in %s",
        k->rows_file, kiln_rows_device(k->user_rows), k->facts.name,
        k->rows_named_by ? k->rows_named_by : "KILN_DB");
    kiln_rows_free(k->user_rows);
    return load(k, &k->user_rows, "", NULL, "KILN_DB");
}

kiln_status kiln_load_rows(kiln *k, const kiln_settings *s)
{
    char slug[128], file[4096 + 160];
    const char *dir = k->shipped_dir;
    const char *ships = kiln_place_namer(s->shipped_dir, "settings.shipped_dir", "KILN_SHIPPED_DB");
    kiln_status status = load_user_rows(k, s);
    if (status)
        return status;
    kiln_device_slug(k->facts.name, slug, sizeof slug);
    snprintf(file, sizeof file, "%s/%s.yaml", dir, slug);
    if ((status = load(k, &k->shipped_rows, *dir ? file : "", ships, "KILN_SHIPPED_DB")))
        return status;
    snprintf(file, sizeof file, "%s/generic.yaml", dir);
    return load(k, &k->generic_rows, *dir ? file : "", ships, "KILN_SHIPPED_DB");
}

void kiln_reload_rows(kiln *k)
{
    kiln_rows *fresh =
        kiln_rows_load(k->rows_file, k->facts.core,
                       NULL); /* no logger: the first load has told of the shipped ones */
    if (!fresh)
        return;
    pthread_mutex_lock(&k->lock);
    kiln_rows *old = k->user_rows;
    k->user_rows = fresh;
    pthread_mutex_unlock(&k->lock);
    kiln_rows_free(old);
}
