/* Keeps what matters of the log's lines: a line as it is takes four kilobytes. */
#include "trial_book.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* A trial, or the end of a search. */
typedef struct entry {
    uint64_t of; /* hash of problem, device, driver and core */
    int version, verdict, runs;
    double ms, iqr, error, seconds;
    char *solver, *config; /* NULL of an end */
    char hash[40];
    bool loaded;          /* an earlier run left it */
    kiln_trial_line *end; /* NULL of a trial */
    size_t before;        /* the entry before it that has the same `of`, plus 1 */
} entry;

struct trial_book {
    entry *at;
    size_t count, room;
    size_t *slot; /* the last entry of a hash, plus 1; 0: none */
    size_t slots;
    bool loading, no_memory;
};

static uint64_t hash_of(const kiln_trial_line *l)
{
    const char *const texts[] = {l->problem, l->device, l->driver, l->core};
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        hash = XXH3_64bits_withSeed(texts[i], strlen(texts[i]), hash + i);
    return hash;
}

static size_t *slot_of(const trial_book *b, uint64_t of)
{
    for (size_t i = (size_t)of;; i++) {
        size_t *slot = &b->slot[i & (b->slots - 1)];
        if (*slot == 0 || b->at[*slot - 1].of == of)
            return slot;
    }
}

static bool grow(trial_book *b)
{
    const size_t room = b->room ? b->room * 2 : 256;
    entry *more = realloc(b->at, room * sizeof *more);
    if (!more)
        return false;
    b->at = more;
    size_t *slot = calloc(room * 2, sizeof *slot);
    if (!slot)
        return false;
    free(b->slot);
    b->slot = slot;
    b->slots = room * 2;
    b->room = room;
    for (size_t i = 0; i < b->count; i++)
        *slot_of(b, b->at[i].of) = i + 1;
    return true;
}

static int verdict_named(const char *text)
{
    for (int v = 0; v < KILN_TRIAL_VERDICTS; v++)
        if (strcmp(text, kiln_trial_verdict_text((kiln_trial_verdict)v)) == 0)
            return v;
    return -1;
}

bool trial_book_add(trial_book *b, const kiln_trial_line *l)
{
    entry e = {.of = hash_of(l),
               .loaded = b->loading,
               .version = l->version,
               .verdict = verdict_named(l->verdict),
               .runs = l->runs,
               .ms = l->ms,
               .iqr = l->iqr,
               .error = l->error,
               .seconds = l->seconds};
    if (b->count == b->room && !grow(b))
        return false;
    if (l->kind == KILN_LINE_SEARCH) {
        e.end = malloc(sizeof *e.end);
        if (!e.end)
            return false;
        *e.end = *l;
    } else {
        e.solver = strdup(l->solver);
        e.config = strdup(l->config);
        snprintf(e.hash, sizeof e.hash, "%s", l->hash);
        if (!e.solver || !e.config) {
            free(e.solver);
            free(e.config);
            return false;
        }
    }
    size_t *slot = slot_of(b, e.of);
    e.before = *slot;
    b->at[b->count++] = e;
    *slot = b->count;
    return true;
}

static void take_line(void *user, const kiln_trial_line *line)
{
    trial_book *b = user;
    b->no_memory = b->no_memory || !trial_book_add(b, line);
}

kiln_status trial_book_load(trial_book **book, const char *file, const char *problem, char *why)
{
    trial_book *b = *book = calloc(1, sizeof *b);
    kiln_status status = b && grow(b) ? KILN_OK : KILN_NO_MEMORY;
    int64_t skipped = 0;
    snprintf(why, KILN_ERROR_TEXT, "out of memory for the log of trials");
    if (!status)
        b->loading = true;
    if (!status && *file && (status = kiln_trials_read(file, problem, take_line, b, &skipped)))
        snprintf(why, KILN_ERROR_TEXT, "%.*s", KILN_ERROR_TEXT - 1, kiln_last_error());
    if (b)
        b->loading = false;
    if (!status && b->no_memory)
        status = KILN_NO_MEMORY;
    if (skipped > (problem ? 0 : 1)) /* a kill leaves half a line */
        fprintf(stderr, "kiln: warning: %s: %lld lines cannot be read, and are passed over\n", file,
                (long long)skipped);
    if (status) {
        trial_book_free(b);
        *book = NULL;
    }
    return status;
}

void trial_book_free(trial_book *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->count; i++) {
        free(b->at[i].solver);
        free(b->at[i].config);
        free(b->at[i].end);
    }
    free(b->at);
    free(b->slot);
    free(b);
}

/* Returns whether the trial would end the process that tries it. */
static bool is_harmful(const entry *e)
{
    return e->verdict == KILN_TRIAL_CRASHED || e->verdict == KILN_TRIAL_TIMEOUT;
}

/* Returns whether the moment may be to blame: a full disk, a killed compiler, a machine that stood
 * still. */
static bool is_doubtful(const entry *e)
{
    return e->verdict == KILN_TRIAL_BUILD || e->verdict == KILN_TRIAL_RUN ||
           e->verdict == KILN_TRIAL_TIMEOUT;
}

static bool is_restart(const entry *e)
{
    return e->end && strcmp(e->end->verdict, "restarted") == 0;
}

/* Returns whether a doubtful trial of an earlier run is the only one of its config since a moment:
 * it gets another try. `last` is the problem's last entry plus 1. */
static bool is_to_repeat(const trial_book *b, size_t last, size_t since, const entry *e)
{
    if (!e->loaded || !is_doubtful(e))
        return false;
    for (size_t i = last; i > since; i = b->at[i - 1].before) {
        const entry *o = &b->at[i - 1];
        if (is_restart(o))
            break;
        if (o != e && !o->end && is_doubtful(o) && strcmp(o->solver, e->solver) == 0 &&
            strcmp(o->config, e->config) == 0)
            return false;
    }
    return true;
}

static kiln_trial trial_of(const entry *e)
{
    kiln_trial t = {.solver = e->solver,
                    .version = e->version,
                    .verdict = (kiln_trial_verdict)e->verdict,
                    .runs = e->runs,
                    .ms = e->ms,
                    .iqr = e->iqr,
                    .error = e->error,
                    .seconds = e->seconds};
    snprintf(t.config, sizeof t.config, "%s", e->config);
    snprintf(t.hash, sizeof t.hash, "%s", e->hash);
    return t;
}

static void reverse(kiln_trial *t, size_t n)
{
    for (size_t i = 0; i + 1 < n - i; i++) {
        const kiln_trial other = t[i];
        t[i] = t[n - 1 - i];
        t[n - 1 - i] = other;
    }
}

size_t trial_book_restart_of(const trial_book *b, const kiln_trial_line *of)
{
    for (size_t i = *slot_of(b, hash_of(of)); i; i = b->at[i - 1].before)
        if (is_restart(&b->at[i - 1]))
            return i;
    return 0;
}

bool trial_book_known_of(const trial_book *b, const kiln_trial_line *of, size_t since,
                         bool finished, trial_book_known *known)
{
    size_t all = 0;
    bool counts = true;
    const size_t last = *slot_of(b, hash_of(of));
    *known = (trial_book_known){0};
    for (size_t i = last; i; i = b->at[i - 1].before)
        all++;
    if (all == 0)
        return true;
    known->trial = malloc(all * sizeof *known->trial);
    if (!known->trial)
        return false;
    for (size_t i = last; i; i = b->at[i - 1].before) {
        const entry *e = &b->at[i - 1];
        if (i <= since || is_restart(e)) /* --fresh forgets all */
            break;
        if (e->end)
            counts = counts && finished;
        else if (e->verdict >= 0 && (counts || is_harmful(e))) {
            known->seconds += counts ? e->seconds : 0;
            if (!is_to_repeat(b, last, since, e))
                known->trial[known->count++] = trial_of(e);
        }
    }
    reverse(known->trial, known->count);
    return true;
}

const kiln_trial_line *trial_book_end_of(const trial_book *b, const kiln_trial_line *of,
                                         size_t since)
{
    for (size_t i = *slot_of(b, hash_of(of)); i > since; i = b->at[i - 1].before)
        if (b->at[i - 1].end)
            return is_restart(&b->at[i - 1]) ? NULL : b->at[i - 1].end;
    return NULL;
}
