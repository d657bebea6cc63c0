/* Keeps what a report shows. */
#include "report_data.h"

#include "driver/conv/report.h"
#include "driver/reference/reference.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

void report_data_forget(report_layer *l)
{
    for (size_t i = 0; i < l->trials; i++) {
        free(l->trial[i].solver);
        free(l->trial[i].config);
        free(l->trial[i].params);
        free(l->trial[i].why);
    }
    l->trials = 0;
    l->seconds = 0;
    l->ended = l->run_ended = false;
}

void report_data_free(report_data *d)
{
    for (size_t i = 0; i < d->layers; i++) {
        report_data_forget(&d->layer[i]);
        free(d->layer[i].trial);
    }
    free(d->layer);
    free(d->slot);
    *d = (report_data){.devices = 0};
}

/* A session names a device with its place and its platform: "0:0 NAME (PLATFORM)". */
static void plain_name(const char *given, char name[200])
{
    const size_t digits = strspn(given, "0123456789:");
    if (digits > 0 && given[digits] == ' ')
        given += digits + 1;
    snprintf(name, 200, "%.199s", given);
    const size_t length = strlen(name);
    if (digits == 0 || length == 0 || name[length - 1] != ')')
        return;
    int open = 0; /* the platform may have brackets of its own */
    for (size_t at = length; at-- > 1;) {
        open += (name[at] == ')') - (name[at] == '(');
        if (open > 0)
            continue;
        if (name[at - 1] == ' ')
            name[at - 1] = '\0';
        return;
    }
}

int report_data_device(report_data *d, const char *given, const char *core)
{
    char name[200];
    plain_name(given, name);
    for (int i = 0; i < d->devices; i++) {
        report_device *known = &d->device[i];
        const bool same_core = !*core || !*known->core || strcmp(known->core, core) == 0;
        if (strcmp(known->name, name) != 0 || !same_core)
            continue;
        if (*core)
            snprintf(known->core, sizeof known->core, "%s", core);
        return i;
    }
    if (d->devices == REPORT_DEVICES) {
        d->too_many_devices = true;
        return -1;
    }
    report_device *added = &d->device[d->devices];
    memcpy(added->name, name, sizeof name);
    snprintf(added->core, sizeof added->core, "%.23s", core);
    return d->devices++;
}

static size_t *slot_of(const report_data *d, int device, const char *name)
{
    for (uint64_t i = XXH3_64bits_withSeed(name, strlen(name), (XXH64_hash_t)device);; i++) {
        size_t *slot = &d->slot[i & (d->slots - 1)];
        if (*slot == 0 ||
            (d->layer[*slot - 1].device == device && strcmp(d->layer[*slot - 1].name, name) == 0))
            return slot;
    }
}

static bool grow(report_data *d)
{
    const size_t room = d->layers_room ? d->layers_room * 2 : 64;
    report_layer *more = realloc(d->layer, room * sizeof *more);
    size_t *slot = calloc(room * 2, sizeof *slot);
    if (more)
        d->layer = more;
    if (!more || !slot) {
        free(slot);
        return false;
    }
    free(d->slot);
    d->slot = slot;
    d->slots = room * 2;
    d->layers_room = room;
    for (size_t i = 0; i < d->layers; i++)
        *slot_of(d, d->layer[i].device, d->layer[i].name) = i + 1;
    return true;
}

/* Counts what the problem's name tells. A name that is none stays a name. */
static void count(report_layer *l)
{
    char why[KILN_ERROR_TEXT];
    snprintf(l->key, sizeof l->key, "%s", l->name);
    if (kiln_problem_parse(&l->problem, l->name, why))
        return;
    l->known = true;
    kiln_problem_row_key(&l->problem, l->key, sizeof l->key);
    l->flops = reference_flops(&l->problem);
    l->bytes = problem_bytes(&l->problem, false) + problem_bytes(&l->problem, true);
}

report_layer *report_data_layer(report_data *d, int device, const char *name)
{
    if (device < 0)
        return NULL;
    if (d->layers == d->layers_room && !grow(d)) {
        d->no_memory = true;
        return NULL;
    }
    size_t *slot = slot_of(d, device, name);
    if (*slot)
        return &d->layer[*slot - 1];
    report_layer *l = &d->layer[d->layers++];
    *slot = d->layers;
    *l = (report_layer){.device = device};
    snprintf(l->name, sizeof l->name, "%s", name);
    count(l);
    return l;
}

double report_time(double ms)
{
    const double least = 1e-6, most = 1e12;
    return ms >= least && ms <= most ? ms : 0;
}

/* Returns the number of the run that a further trial belongs to. A search that was stopped goes on
 * later, with the machine as it is then. */
static int run_of(const report_layer *l, const report_trial *trial)
{
    static const double pause = 60;
    const report_trial *before = l->trials > 0 ? &l->trial[l->trials - 1] : NULL;
    if (!before)
        return 0;
    const bool later =
        trial->at > 0 && before->at > 0 && trial->at - trial->seconds - before->at > pause;
    return before->run + (later || l->run_ended);
}

void report_data_trial(report_data *d, report_layer *l, const report_trial *trial)
{
    if (l->trials == l->trials_room) {
        const size_t room = l->trials_room ? l->trials_room * 2 : 16;
        report_trial *more = realloc(l->trial, room * sizeof *more);
        if (!more) {
            d->no_memory = true;
            return;
        }
        l->trial = more;
        l->trials_room = room;
    }
    report_trial *t = &l->trial[l->trials];
    *t = *trial;
    t->run = run_of(l, trial);
    l->run_ended = false;
    t->ms = report_time(trial->ms);
    t->solver = strdup(trial->solver);
    t->config = strdup(trial->config);
    t->params = strdup(trial->params);
    t->why = trial->why && *trial->why ? strdup(trial->why) : NULL;
    l->trials++;
    l->seconds += l->ended ? 0 : trial->seconds;
    if (!t->solver || !t->config || !t->params) {
        d->no_memory = true;
        free(t->solver);
        free(t->config);
        free(t->params);
        free(t->why);
        l->trials--;
    }
}

void report_data_best(report_layer *l, report_source source, const report_best *best)
{
    if (source < l->source || report_time(best->ms) == 0)
        return;
    l->source = source;
    l->best = *best;
    l->best.guess_ms = report_time(best->guess_ms);
    l->best.predicted_ms = report_time(best->predicted_ms);
    const bool timed = best->turns > 0 && best->turns_won >= 0 && best->turns_won <= best->turns;
    const bool is_guess = best->guess_ms == best->ms; /* it won no turns against itself */
    if (!timed || is_guess)
        l->best.turns = l->best.turns_won = 0;
    if (!timed && !is_guess) /* a time of another moment */
        l->best.guess_ms = 0;
}

double report_gflops(const report_layer *l)
{
    return l->known && l->best.ms > 0 ? l->flops / l->best.ms / 1e6 : 0;
}

double report_gbs(const report_layer *l)
{
    return l->known && l->best.ms > 0 ? l->bytes / l->best.ms / 1e6 : 0;
}

double report_roof(const report_data *d, const report_layer *l)
{
    const report_device *of = &d->device[l->device];
    if (!l->known || (unsigned)l->problem.x_type >= KILN_TYPES || l->bytes <= 0)
        return 0;
    const double peak = of->gflops[l->problem.x_type].value;
    const double slope = of->gbs.value * l->flops / l->bytes;
    return peak <= 0 || slope <= 0 ? 0 : peak < slope ? peak : slope;
}

double report_gain(const report_layer *l)
{
    return l->best.ms > 0 && l->best.guess_ms > 0 ? l->best.guess_ms / l->best.ms : 0;
}

bool report_wins(const report_layer *l)
{
    const report_best *b = &l->best;
    const kiln_row row = {.ms = b->ms,
                          .guess_ms = b->guess_ms,
                          .turns = b->turns,
                          .turns_won = b->turns_won,
                          .win_iqr = b->win_iqr,
                          .config = "the best"};
    return kiln_row_wins(&row, NULL) != 0;
}
