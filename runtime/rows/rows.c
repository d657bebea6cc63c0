/* A loaded set of rows and its hash index. */
#include "rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

enum { NONE = UINT32_MAX, MAX_TOLD = 10, TROUBLE_TEXT = 4096 + 256 };

struct kiln_rows {
    kiln_row *row;
    int64_t *line;   /* of each row, in the file */
    uint32_t *older; /* the next older row with the same key, or NONE */
    size_t count, room;
    uint32_t *slot; /* the newest row of a key, or NONE; linear probing */
    size_t mask;    /* slots - 1, a power of two at least twice the count; 0 slots when empty */
    bool missing;
    size_t elsewhere; /* rows of other cores, which are not kept */
    char device[128];
    char trouble[TROUBLE_TEXT];
};

typedef struct loading {
    kiln_rows *rows;
    const char *file, *core;
    const kiln_logger *logger;
    bool stated; /* rows must name the core */
    size_t skipped;
    bool headed; /* the head was read, and is fine */
    bool no_memory;
} loading;

static bool add_row(kiln_rows *rows, const kiln_row *row, int64_t line)
{
    if (rows->count == rows->room) {
        size_t room = rows->room ? rows->room * 2 : 64;
        kiln_row *more = room < NONE ? realloc(rows->row, room * sizeof *more) : NULL;
        rows->row = more ? more : rows->row;
        int64_t *lines = more ? realloc(rows->line, room * sizeof *lines) : NULL;
        if (!lines)
            return false;
        rows->line = lines;
        rows->room = room;
    }
    rows->line[rows->count] = line;
    rows->row[rows->count++] = *row;
    return true;
}

static void load_piece(void *user, const kiln_rows_piece *p)
{
    loading *l = user;
    const bool unstated = p->row && !*p->row->core && !l->stated;
    const bool elsewhere = p->row && *l->core && !unstated && strcmp(p->row->core, l->core) != 0;
    if (elsewhere)
        l->rows->elsewhere++;
    else if (p->row && !l->no_memory)
        l->no_memory = !add_row(l->rows, p->row, p->line);
    if (p->kind == KILN_ROWS_HEAD && !p->why)
        snprintf(l->rows->device, sizeof l->rows->device, "%s", p->device);
    l->headed = l->headed || (p->kind == KILN_ROWS_HEAD && !p->why);
    if (!p->why || *l->rows->trouble)
        return;
    if (!l->headed)
        snprintf(l->rows->trouble, sizeof l->rows->trouble, "%s:%lld: %s", l->file,
                 (long long)p->line, p->why);
    else if (l->skipped++ < MAX_TOLD)
        kiln_warn(l->logger, "%s:%lld: %s; skipped: mend or delete it", l->file, (long long)p->line,
                  p->why);
}

/* Returns the slot of the key, or the free slot where the key would go. */
static uint32_t *slot_of(const kiln_rows *rows, const char *key)
{
    size_t at = (size_t)XXH3_64bits(key, strlen(key));
    for (;; at++) {
        uint32_t *slot = &rows->slot[at & rows->mask];
        if (*slot == NONE || strcmp(rows->row[*slot].key, key) == 0)
            return slot;
    }
}

static bool index_rows(kiln_rows *rows)
{
    size_t slots = 2;
    while (slots < rows->count * 2)
        slots *= 2;
    rows->slot = malloc(slots * sizeof *rows->slot);
    rows->older = malloc((rows->count + 1) * sizeof *rows->older);
    if (!rows->slot || !rows->older)
        return false;
    memset(rows->slot, 0xff, slots * sizeof *rows->slot);
    rows->mask = slots - 1;
    for (size_t i = 0; i < rows->count; i++) {
        uint32_t *slot = slot_of(rows, rows->row[i].key);
        rows->older[i] = *slot;
        *slot = (uint32_t)i;
    }
    return true;
}

static kiln_rows *load(const char *file, const char *core, bool stated, const kiln_logger *logger)
{
    loading l = {.rows = calloc(1, sizeof *l.rows),
                 .file = file,
                 .core = core,
                 .stated = stated,
                 .logger = logger};
    if (!l.rows)
        return NULL;
    l.rows->missing = *file && access(file, F_OK) != 0 && errno == ENOENT;
    bool there = *file && !l.rows->missing;
    kiln_status status = there ? kiln_rows_read(file, load_piece, &l) : KILN_OK;
    if (status == KILN_FILE)
        snprintf(l.rows->trouble, sizeof l.rows->trouble, "%s", kiln_last_error());
    if (l.skipped > MAX_TOLD)
        kiln_warn(logger, "%s: %zu more places skipped; `kiln db lint` names them all", file,
                  l.skipped - MAX_TOLD);
    if (status == KILN_NO_MEMORY || l.no_memory || !index_rows(l.rows)) {
        kiln_rows_free(l.rows);
        return NULL;
    }
    return l.rows;
}

kiln_rows *kiln_rows_load(const char *file, const char *core, const kiln_logger *logger)
{
    return load(file, core, false, logger);
}

kiln_rows *kiln_rows_load_of_core(const char *file, const char *core)
{
    return load(file, core, true, NULL);
}

void kiln_rows_free(kiln_rows *rows)
{
    if (!rows)
        return;
    free(rows->row);
    free(rows->line);
    free(rows->older);
    free(rows->slot);
    free(rows);
}

const char *kiln_rows_trouble(const kiln_rows *rows)
{
    return rows->trouble;
}

bool kiln_rows_missing(const kiln_rows *rows)
{
    return rows->missing;
}

const char *kiln_rows_device(const kiln_rows *rows)
{
    return rows->device;
}

size_t kiln_rows_count(const kiln_rows *rows)
{
    return rows->count;
}

size_t kiln_rows_elsewhere(const kiln_rows *rows)
{
    return rows->elsewhere;
}

const kiln_row *kiln_rows_at(const kiln_rows *rows, size_t index)
{
    return index < rows->count ? &rows->row[index] : NULL;
}

int64_t kiln_rows_line(const kiln_rows *rows, const kiln_row *row)
{
    return rows->line[row - rows->row];
}

const kiln_row *kiln_rows_find(const kiln_rows *rows, const char *key, const char *solver, int nth)
{
    for (uint32_t i = *slot_of(rows, key); i != NONE; i = rows->older[i])
        if ((!solver || strcmp(rows->row[i].solver, solver) == 0) && nth-- == 0)
            return &rows->row[i];
    return NULL;
}
