/* Loads, sorts and replaces files of tuning rows. */
#include "db_file.h"

#include "driver/base/replaced_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

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
    f->shipped = f->shipped || p->shipped;
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
        free(f->piece[i].instead);
        free(f->piece[i].row);
    }
    free(f->piece);
    *f = (db_file){.name = f->name};
}

int db_compare_rows(const kiln_row *a, const kiln_row *b)
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
    int order = db_compare_rows(a->row, b->row);
    if (!order)
        order = (a->file > b->file) - (a->file < b->file);
    return order ? order : (a->order > b->order) - (a->order < b->order);
}

bool db_same(const kiln_row *a, const kiln_row *b)
{
    return db_compare_rows(a, b) == 0;
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

/* Writes the pieces, then `tail`. */
static kiln_status write_pieces(const char *name, db_piece *const *pieces, size_t n,
                                const char *tail, size_t length)
{
    char why[KILN_ERROR_TEXT];
    replaced_file file;
    kiln_status status = replaced_file_open(&file, name, why);
    for (size_t i = 0; i < n && !status; i++)
        if (!pieces[i]->dropped && pieces[i]->instead)
            fputs(pieces[i]->instead, file.to);
        else if (!pieces[i]->dropped)
            fwrite(pieces[i]->text, 1, pieces[i]->length, file.to);
    if (!status) {
        fwrite(tail, 1, length, file.to);
        status = replaced_file_close(&file, why);
    }
    if (status)
        fprintf(stderr, "kiln db: %s\n", why);
    return status;
}

kiln_status db_write(const char *name, db_piece *const *pieces, size_t n)
{
    return write_pieces(name, pieces, n, "", 0);
}

/* Opens the file that has the name, and keeps others from appending to it. Returns NULL, with
 * errno. */
static FILE *open_alone(const char *name)
{
    struct stat named, opened;
    for (int i = 0; i < 100; i++) {
        int fd =
            open(name, O_RDWR | O_CLOEXEC); /* some file systems lock only what is written to */
        if (fd < 0 && (fd = open(name, O_RDONLY | O_CLOEXEC)) < 0)
            return NULL;
        FILE *file = fdopen(fd, "rb");
        if (!file) {
            close(fd);
            return NULL;
        }
        /* A file system without locks leaves the comparison with what was loaded. */
        while (flock(fileno(file), LOCK_EX) != 0 && errno == EINTR)
            ;
        if (stat(name, &named) == 0 && fstat(fileno(file), &opened) == 0 &&
            named.st_dev == opened.st_dev && named.st_ino == opened.st_ino)
            return file;
        fclose(file); /* another process has replaced it */
    }
    errno = EAGAIN;
    return NULL;
}

/* Whether the file begins with what was loaded. */
static bool begins_as_loaded(const db_file *f, FILE *file)
{
    char *text = NULL;
    bool same = true;
    for (size_t i = 0; i < f->count && same; i++) {
        const db_piece *p = &f->piece[i];
        char *more = realloc(text, p->length + 1);
        same = more != NULL;
        if (!more)
            break;
        text = more;
        same = fread(text, 1, p->length, file) == p->length && !memcmp(text, p->text, p->length);
    }
    free(text);
    return same;
}

static char *read_rest(FILE *file, size_t *length)
{
    char *rest = NULL;
    size_t room = 0;
    *length = 0;
    do {
        char *more = realloc(rest, room = 2 * room + 4096);
        if (!more) {
            free(rest);
            return NULL;
        }
        rest = more;
        *length += fread(rest + *length, 1, room - *length, file);
    } while (*length == room);
    return rest;
}

static kiln_status rewrite(const db_file *f, FILE *file)
{
    db_piece **pieces = malloc((f->count + 1) * sizeof *pieces);
    size_t length;
    char *rest = NULL;
    kiln_status status = KILN_NO_MEMORY;
    for (size_t i = 0; i < f->count && pieces; i++)
        pieces[i] = &f->piece[i];
    if (!begins_as_loaded(f, file)) {
        fprintf(stderr, "kiln db: %s was changed meanwhile; run the command again\n", f->name);
        status = KILN_FILE;
    } else if (!pieces || !(rest = read_rest(file, &length))) {
        fputs("kiln db: out of memory\n", stderr);
    } else {
        status = write_pieces(f->name, pieces, f->count, rest, length);
    }
    free(rest);
    free(pieces);
    return status;
}

/* Takes the pieces for those of the file. */
static void settle(db_file *f)
{
    for (size_t i = 0; i < f->count; i++) {
        db_piece *p = &f->piece[i];
        if (p->instead && !p->dropped) {
            free(p->text);
            p->text = p->instead;
            p->instead = NULL;
            p->length = strlen(p->text);
        }
        if (p->dropped)
            p->length = 0;
    }
}

kiln_status db_rewrite(db_file *f)
{
    FILE *file = open_alone(f->name);
    if (!file) {
        fprintf(stderr, "kiln db: cannot read %s: %s\n", f->name, strerror(errno));
        return KILN_FILE;
    }
    const kiln_status status = rewrite(f, file);
    if (!status)
        settle(f);
    fclose(file); /* whoever waits for the lock goes on, with the new file */
    return status;
}
