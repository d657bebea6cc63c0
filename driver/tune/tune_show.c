/* Shows how far a run is. */
#include "tune_show.h"

#include "driver/base/number_text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The trial that was heard of last. */
static struct {
    int item, round;
    long long index, count;
    double best_ms, guess_ms;
    char name[KILN_KEY_TEXT];
    double told;
    bool drawn;
} last = {.item = -1};

static void clear_line(void)
{
    if (last.drawn)
        fputs("\r\033[K", stderr);
    last.drawn = false;
}

/* Writes "40 s", "12 min" or "3.5 h". */
static const char *span(double seconds, char text[24])
{
    if (seconds < 100)
        snprintf(text, 24, "%.0f s", seconds);
    else if (seconds < 6000)
        snprintf(text, 24, "%.0f min", seconds / 60);
    else
        snprintf(text, 24, "%.1f h", seconds / 3600);
    return text;
}

static size_t count_ended(const tune_run *run, size_t *all, size_t *worked)
{
    size_t ended = 0;
    *all = *worked = 0;
    for (int k = 0; k < run->kinds; k++) {
        ended += run->kind[k].ended;
        *all += run->list->count;
        for (size_t i = 0; i < run->list->count; i++)
            *worked += run->kind[k].state[i] >= TUNE_AGAIN && !run->kind[k].result[i].known;
    }
    return ended;
}

/* Estimates what is left from the problems that this run has tuned, else from the limits; below 0:
 * unknown. */
static double time_left(const tune_run *run, size_t ended, size_t all, size_t worked)
{
    const tune_options *o = run->options;
    const double spent = kiln_run_seconds() - run->began;
    const double each = worked > 0 ? run->busy / (double)worked : o->seconds > 0 ? o->seconds : -1;
    if (o->total_time > 0) /* further rounds take what is left */
        return o->total_time > spent ? o->total_time - spent : 0;
    return each < 0 ? -1 : each * (double)(all - ended) / (run->devices ? run->devices : 1);
}

static void print_progress(const tune_run *run)
{
    size_t all, worked, ended = count_ended(run, &all, &worked);
    const double left = time_left(run, ended, all, worked);
    char text[24], gain[NUMBER_TEXT];
    fprintf(stderr, "tune %zu/%zu", ended + (ended < all), all);
    if (last.item >= 0 && last.round > 1)
        fprintf(stderr, ", round %d", last.round);
    if (last.item >= 0)
        fprintf(stderr, ", trial %lld/%lld", last.index + 1, last.count);
    if (last.best_ms > 0)
        fprintf(stderr, ", best %.4g ms", last.best_ms);
    if (last.best_ms > 0 && last.guess_ms > 0)
        fprintf(stderr, " (guess %.4g, %s times)", last.guess_ms,
                number_text(last.guess_ms / last.best_ms, 2, gain));
    if (left >= 0)
        fprintf(stderr, ", %s left", span(left, text));
    if (last.item >= 0)
        fprintf(stderr, ", %.60s", last.name);
}

void tune_show_tick(const tune_run *run)
{
    static int terminal = -1;
    const double now = kiln_run_seconds();
    if (terminal < 0)
        terminal = isatty(STDERR_FILENO);
    if (now - last.told < (terminal ? 0.2 : 60) || (!terminal && now - run->began < 60))
        return;
    last.told = now;
    clear_line();
    print_progress(run);
    last.drawn = terminal;
    fputs(terminal ? "" : "\n", stderr);
    fflush(stderr);
}

void tune_show_trial(const tune_run *run, const tune_kind *kind, int item,
                     const kiln_trial_line *line, double best_ms, double guess_ms)
{
    const bool other = item != last.item;
    last.item = item;
    last.round = kind->progress[item].rounds + 1;
    last.index = line->index;
    last.count = line->count;
    last.best_ms = best_ms > 0 || other ? best_ms : last.best_ms;
    last.guess_ms = guess_ms > 0 || other ? guess_ms : last.guess_ms;
    snprintf(last.name, sizeof last.name, "%s", run->list->item[item].name);
    if (strcmp(line->verdict, kiln_trial_verdict_text(KILN_TRIAL_CRASHED)) == 0 ||
        strcmp(line->verdict, kiln_trial_verdict_text(KILN_TRIAL_TIMEOUT)) == 0) {
        char config[KILN_INFO_TEXT + 64];
        clear_line();
        fprintf(stderr, "kiln tune: %s: %s: %s: %s; %s\n", line->problem,
                search_config_text(line->config, line->solver, config, sizeof config),
                line->verdict, line->why,
                strcmp(line->verdict, kiln_trial_verdict_text(KILN_TRIAL_TIMEOUT)) == 0
                    ? "this run does not try it again"
                    : "it is not tried again");
    }
    tune_show_tick(run);
}

void tune_show_death(const char *device, const char *did, const char *how)
{
    clear_line();
    fprintf(stderr, "kiln tune: %s: a process that %s has ended: %s\n", device, did, how);
}

void tune_show_item(const tune_run *run, const tune_kind *kind, int item)
{
    const tune_result *r = &kind->result[item];
    if (r->status) {
        clear_line();
        fprintf(stderr, "kiln tune: %s: %s\n", run->list->item[item].name, r->why);
    }
    if (last.item == item)
        last.item = -1;
    last.best_ms = last.guess_ms = 0;
    tune_show_tick(run);
    if (kind->ended == run->list->count)
        clear_line();
}
