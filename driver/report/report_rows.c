/* Picks the rows that count. */
#include "report_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A row, with the layer that it is for. */
typedef struct row {
    char *key, *solver, *config, *driver;
    char date[16];
    int device, version;
    double ms, iqr, guess_ms, win_iqr;
    int turns, turns_won;
    size_t order;
} row;

typedef struct rows {
    report_data *data;
    const report_filter *filter;
    char device[200]; /* that the head names */
    row *at;
    size_t count, room;
    int64_t skipped;
    bool foreign; /* the file does not begin like one of rows */
} rows;

static void add(rows *r, const kiln_row *from)
{
    if (r->count == r->room) {
        const size_t room = r->room ? r->room * 2 : 64;
        row *more = realloc(r->at, room * sizeof *more);
        if (!more) {
            r->data->no_memory = true;
            return;
        }
        r->at = more;
        r->room = room;
    }
    row *to = &r->at[r->count];
    *to = (row){.key = strdup(from->key),
                .solver = strdup(from->solver),
                .config = strdup(from->config),
                .driver = strdup(from->driver),
                .version = from->version,
                .device = report_data_device(r->data, r->device, from->core),
                .ms = from->ms,
                .iqr = from->iqr,
                .guess_ms = from->guess_ms,
                .turns = from->turns,
                .turns_won = from->turns_won,
                .win_iqr = from->win_iqr,
                .order = r->count};
    snprintf(to->date, sizeof to->date, "%s", from->date);
    r->count++;
    r->data->no_memory =
        r->data->no_memory || !to->key || !to->solver || !to->config || !to->driver;
}

static void take(void *user, const kiln_rows_piece *p)
{
    rows *r = user;
    if (p->kind == KILN_ROWS_HEAD) {
        snprintf(r->device, sizeof r->device, "%.199s", p->device);
        r->foreign = p->why != NULL;
    }
    r->skipped += p->kind == KILN_ROWS_BAD;
    if (p->kind == KILN_ROWS_ROW && report_time(p->row->ms) > 0 && strcmp(r->device, "any") != 0 &&
        report_filter_takes(r->filter, p->row->key) && !r->data->no_memory)
        add(r, p->row);
}

static int by_layer(const void *a, const void *b)
{
    const row *r = a, *s = b;
    return r->device != s->device ? r->device - s->device : strcmp(r->key, s->key);
}

/* The newest of each solver comes last of its solver. */
static int by_age(const void *a, const void *b)
{
    const row *r = a, *s = b;
    int order = by_layer(a, b);
    if (!order)
        order = strcmp(r->solver, s->solver);
    return order ? order : r->order < s->order ? -1 : r->order > s->order;
}

/* Leaves the fastest row of each layer in front. Returns their number. */
static size_t reduce(rows *r)
{
    size_t kept = 0;
    if (r->count > 1)
        qsort(r->at, r->count, sizeof *r->at, by_age);
    for (size_t i = 0; i < r->count; i++) {
        const bool replaced = i + 1 < r->count && by_layer(&r->at[i], &r->at[i + 1]) == 0 &&
                              strcmp(r->at[i].solver, r->at[i + 1].solver) == 0;
        if (replaced)
            continue;
        row *last = kept > 0 ? &r->at[kept - 1] : NULL;
        const row this = r->at[i];
        if (!last || by_layer(last, &this) != 0) {
            r->at[i] = r->at[kept];
            r->at[kept++] = this;
        } else if (this.ms < last->ms) {
            r->at[i] = *last;
            *last = this;
        }
    }
    return kept;
}

static void give(report_layer *l, const row *from)
{
    if (l->source >= FROM_ROW)
        return; /* the search that wrote the row says more */
    report_best best = {.ms = from->ms,
                        .iqr = from->iqr,
                        .guess_ms = from->guess_ms,
                        .turns = from->turns,
                        .turns_won = from->turns_won,
                        .win_iqr = from->win_iqr,
                        .version = from->version};
    snprintf(best.date, sizeof best.date, "%s", from->date);
    snprintf(best.driver, sizeof best.driver, "%.63s", from->driver);
    snprintf(best.solver, sizeof best.solver, "%s", from->solver);
    snprintf(best.config, sizeof best.config, "%s", from->config);
    report_data_best(l, FROM_ROW, &best);
}

/* Gives the rows to the layers of their key, and makes layers for the others. */
static void hand_out(rows *r, size_t kept)
{
    report_data *d = r->data;
    bool *used = calloc(kept ? kept : 1, sizeof *used);
    if (!used) {
        d->no_memory = true;
        return;
    }
    for (size_t i = 0; i < d->layers && kept > 0; i++) {
        const row of = {.device = d->layer[i].device, .key = d->layer[i].key};
        const row *found = bsearch(&of, r->at, kept, sizeof *r->at, by_layer);
        if (!found)
            continue;
        give(&d->layer[i], found);
        used[found - r->at] = true;
    }
    for (size_t i = 0; i < kept; i++) {
        report_layer *l = used[i] ? NULL : report_data_layer(d, r->at[i].device, r->at[i].key);
        if (l)
            give(l, &r->at[i]);
    }
    free(used);
}

kiln_status report_rows_read(report_data *d, const char *name, const report_filter *filter,
                             int64_t *count, int64_t *skipped, char *why)
{
    rows r = {.data = d, .filter = filter};
    kiln_status status = kiln_rows_read(name, take, &r);
    if (status) {
        snprintf(why, KILN_ERROR_TEXT, "%.*s", KILN_ERROR_TEXT - 1, kiln_last_error());
    } else if (r.foreign) {
        snprintf(why, KILN_ERROR_TEXT,
                 "it has neither tuning rows, nor a log of trials, nor what --json prints");
        status = KILN_FILE;
    }
    if (!status && !d->no_memory) {
        const size_t kept = reduce(&r);
        *count = (int64_t)kept;
        hand_out(&r, kept);
    }
    for (size_t i = 0; i < r.count; i++) {
        free(r.at[i].key);
        free(r.at[i].solver);
        free(r.at[i].config);
        free(r.at[i].driver);
    }
    free(r.at);
    *skipped = r.skipped;
    return status;
}
