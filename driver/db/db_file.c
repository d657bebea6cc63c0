/* Loads, sorts and replaces files of tuning rows. */
#include "db_file.h"

#include "driver/base/replaced_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool make_room(db_file *f)
{
    if (f->count < f->room)
        return true;
    size_t room = f->room ? f->room * 2 : 64;
    db_piece *more = realloc(f->piece, room * sizeof *more);
    if (!more)
        return false;
    f->piece = more;
    f->room = room;
    return true;
}

static void take(void *user, const kiln_rows_piece *p)
{
    db_file *f = user;
    if (f->no_memory || (f->no_memory = !make_room(f)))
        return;
    db_piece *to = &f->piece[f->count++];
    *to = (db_piece){.kind = p->kind, .line = p->line, .length = p->length};
    to->order = (int)f->count;
    to->text = malloc(p->length + 1);
    to->row = p->row ? malloc(sizeof *p->row) : NULL;
    f->no_memory = !to->text || (p->row && !to->row);
    if (f->no_memory)
        return;
    memcpy(to->text, p->text, p->length);
    to->text[p->length] = '\0';
    if (p->row)
        *to->row = *p->row;
    if (p->why)
        snprintf(to->why, sizeof to->why, "%s", p->why);
    if (p->device)
        snprintf(f->device, sizeof f->device, "%s", p->device);
}

kiln_status db_load(db_file *f, const char *name, int number)
{
    *f = (db_file){.name = name};
    kiln_status status = kiln_rows_read(name, take, f);
    if (status)
        fprintf(stderr, "kiln db: %s\n", kiln_last_error());
    else if (f->no_memory)
        fprintf(stderr, "kiln db: out of memory while reading %s\n", name);
    for (size_t i = 0; i < f->count; i++)
        f->piece[i].file = number;
    return !status && f->no_memory ? KILN_NO_MEMORY : status;
}

void db_free(db_file *f)
{
    for (size_t i = 0; i < f->count; i++) {
        free(f->piece[i].text);
        free(f->piece[i].row);
    }
    free(f->piece);
    *f = (db_file){.name = f->name};
}

static int compare_rows(const kiln_row *a, const kiln_row *b)
{
    int order = strcmp(a->key, b->key);
    if (!order)
        order = strcmp(a->solver, b->solver);
    if (!order)
        order = strcmp(a->core, b->core);
    return order ? order : (a->version > b->version) - (a->version < b->version);
}

int db_compare(const db_piece *a, const db_piece *b)
{
    int order = compare_rows(a->row, b->row);
    if (!order)
        order = (a->file > b->file) - (a->file < b->file);
    return order ? order : (a->order > b->order) - (a->order < b->order);
}

bool db_same(const kiln_row *a, const kiln_row *b)
{
    return compare_rows(a, b) == 0;
}

static int compare_pointers(const void *a, const void *b)
{
    return db_compare(*(db_piece *const *)a, *(db_piece *const *)b);
}

db_piece **db_current(const db_file *files, int nfiles, size_t *n)
{
    size_t all = 0, kept = 0;
    for (int i = 0; i < nfiles; i++)
        all += files[i].count;
    db_piece **list = malloc((all + 1) * sizeof *list);
    *n = 0;
    if (!list)
        return NULL;
    for (int i = 0; i < nfiles; i++)
        for (size_t j = 0; j < files[i].count; j++)
            if (files[i].piece[j].row)
                list[(*n)++] = &files[i].piece[j];
    qsort(list, *n, sizeof *list, compare_pointers);
    for (size_t i = 0; i < *n; i++)
        if (i + 1 == *n || !db_same(list[i]->row, list[i + 1]->row))
            list[kept++] = list[i];
    *n = kept;
    return list;
}

kiln_status db_write(const char *name, db_piece *const *pieces, size_t n)
{
    char why[KILN_ERROR_TEXT];
    replaced_file file;
    kiln_status status = replaced_file_open(&file, name, why);
    for (size_t i = 0; i < n && !status; i++)
        if (!pieces[i]->dropped)
            fwrite(pieces[i]->text, 1, pieces[i]->length, file.to);
    if (!status)
        status = replaced_file_close(&file, why);
    if (status)
        fprintf(stderr, "kiln db: %s\n", why);
    return status;
}

bool db_changed(const db_file *f)
{
    struct stat st;
    size_t bytes = 0;
    for (size_t i = 0; i < f->count; i++)
        bytes += f->piece[i].length;
    return stat(f->name, &st) != 0 || (uint64_t)st.st_size != bytes;
}
