/* The table at the end of a run, its sums, and the exit status. */
#include "driver/base/json_csv.h"
#include "driver/base/number_text.h"
#include "driver/conv/conv.h"

#include "tune_show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Sums over the problems that have a best time. */
typedef struct sums {
    int tuned, known, restored, failed, left;
    double log_gain;
    int gains;
    double guess_ms, best_ms; /* of the program: each problem as often as it occurs */
    int worst;
} sums;

static bool has_times(const tune_result *r)
{
    return r->end.ms > 0 && r->end.guess_ms > 0;
}

static double gain_of(const tune_result *r)
{
    return has_times(r) ? r->end.guess_ms / r->end.ms : 0;
}

static void add(sums *s, const tune_kind *k, const tune_item *item, size_t i)
{
    const tune_result *r = &k->result[i];
    if (k->progress[i].rounds == 0 || r->interrupted) {
        s->left++;
    } else if (r->status) {
        s->failed++;
        s->worst = worse_exit(s->worst, (int)r->status);
        return;
    } else {
        s->tuned += !r->known;
        s->known += r->known;
        s->restored += r->restored;
    }
    if (!has_times(r))
        return;
    s->log_gain += log(gain_of(r));
    s->gains++;
    s->guess_ms += r->end.guess_ms * (double)item->count;
    s->best_ms += r->end.ms * (double)item->count;
}

static void print_row(const tune_run *run, const tune_kind *k, size_t i, int width)
{
    const tune_item *item = &run->list->item[i];
    const tune_result *r = &k->result[i];
    char gain[NUMBER_TEXT], won[48] = "";
    if (r->end.ms <= 0)
        return;
    if (r->end.turns > 0)
        snprintf(won, sizeof won, "  won %d/%d", r->end.turns_won, r->end.turns);
    printf("%-*s ", width, item->name);
    if (run->options->profile)
        printf("%6lld ", (long long)item->count);
    if (has_times(r))
        printf("%10.4g %10.4g %6s  ", r->end.guess_ms, r->end.ms, number_text(gain_of(r), 2, gain));
    else
        printf("%10s %10.4g %6s  ", "-", r->end.ms, "-");
    printf("%s%s%s%s%s\n", r->end.config, *r->end.config ? " of " : "", r->end.solver, won,
           r->known         ? "  (tuned before)"
           : r->interrupted ? "  (interrupted)"
                            : "");
}

static void print_json_csv(const tune_run *run, const tune_kind *k, size_t i, report_format format)
{
    const tune_item *item = &run->list->item[i];
    const tune_result *r = &k->result[i];
    const kiln_trial_line *e = &r->end;
    json_csv j = {.count = 0};
    const bool ended = k->progress[i].rounds > 0, found = ended && e->ms > 0;
    json_csv_count(&j, "schema", true, REPORT_SCHEMA);
    json_csv_words(&j, "problem", true, found ? e->problem : item->name);
    json_csv_words(&j, "device", true, k->device.device);
    json_csv_count(&j, "count", true, item->count);
    json_csv_words(&j, "state", true,
                   !ended           ? "left"
                   : r->status      ? "failed"
                   : r->interrupted ? "interrupted"
                   : r->known       ? "tuned before"
                                    : "tuned");
    json_csv_words(&j, "error", ended && r->status, r->why);
    json_csv_real(&j, "guess_ms", found && e->guess_ms > 0, e->guess_ms);
    json_csv_real(&j, "best_ms", found, e->ms);
    json_csv_real(&j, "iqr", found, e->iqr);
    json_csv_real(&j, "gain", has_times(r), gain_of(r));
    json_csv_count(&j, "turns", found && e->turns > 0, e->turns);
    json_csv_count(&j, "turns_won", found && e->turns > 0, e->turns_won);
    json_csv_real(&j, "win_iqr", found && e->turns > 0, e->win_iqr);
    json_csv_words(&j, "solver", found, e->solver);
    json_csv_words(&j, "config", found, e->config);
    json_csv_words(&j, "guess", found && *e->guess, e->guess);
    json_csv_words(&j, "second", found && *e->second, e->second);
    json_csv_real(&j, "second_ms", found && e->second_ms > 0, e->second_ms);
    json_csv_count(&j, "trials", found, e->index);
    json_csv_real(&j, "seconds", found, e->seconds);
    (format == REPORT_JSON ? json_csv_print_json : json_csv_print_csv)(&j);
}

static void print_table(const tune_run *run, const tune_kind *k)
{
    int width = 7;
    bool any = false;
    for (size_t i = 0; i < run->list->count; i++)
        if (k->result[i].end.ms > 0) {
            const int length = (int)strlen(run->list->item[i].name);
            width = length > width ? length : width;
            any = true;
        }
    if (!any)
        return;
    if (run->kinds > 1)
        printf("%s\n", k->device.name);
    printf("%-*s %s%10s %10s %6s  %s\n", width, "problem", run->options->profile ? " count " : "",
           "guess ms", "best ms", "gain", "solver, turns won against the guess");
    for (size_t i = 0; i < run->list->count; i++)
        print_row(run, k, i, width);
}

static void print_sums(const tune_run *run, const tune_kind *k, const sums *s, FILE *to)
{
    char gain[NUMBER_TEXT];
    fprintf(to, "%d tuned, %d tuned before, %d failed, %d left", s->tuned, s->known, s->failed,
            s->left);
    if (s->gains)
        fprintf(to, "; gain %s in the geometric mean",
                number_text(exp(s->log_gain / s->gains), 3, gain));
    fprintf(to, "; rows in %s\n", k->device.rows_file);
    if (s->restored)
        fprintf(to,
                "%d row%s of problems tuned before %s gone, and %s written again from the log\n",
                s->restored, s->restored == 1 ? "" : "s", s->restored == 1 ? "was" : "were",
                s->restored == 1 ? "is" : "are");
    if (run->options->profile && s->best_ms > 0)
        fprintf(to, "the program: %.4g ms with guesses, %.4g ms tuned: %s times as fast\n",
                s->guess_ms, s->best_ms, number_text(s->guess_ms / s->best_ms, 3, gain));
    if (s->left)
        fprintf(to, "%sthe same command goes on with what is left\n",
                run->unkept ? "stopped, as no other result could be kept either; "
                : run->lost ? "stopped, as there is no device any more; "
                            : "");
}

static void print_work(const tune_run *run, FILE *to)
{
    const double wall = kiln_run_seconds() - run->began;
    fprintf(to, "%lld trial%s in %.0f s on %d device%s", (long long)run->trials,
            run->trials == 1 ? "" : "s", wall, run->devices, run->devices == 1 ? "" : "s");
    for (int v = KILN_TRIAL_BUILD; v < KILN_TRIAL_VERDICTS; v++)
        if (v != KILN_TRIAL_SLOW && run->refused[v])
            fprintf(to, ", %lld %s", (long long)run->refused[v],
                    kiln_trial_verdict_text((kiln_trial_verdict)v));
    if (run->busy > 0)
        fprintf(to, "; devices waited for compilers in %.0f %% of their time",
                100 * run->waited / run->busy);
    fprintf(to, "\n");
}

int tune_show_end(const tune_run *run, report_format format)
{
    int worst = run->list->worst;
    size_t left = 0;
    FILE *to = format == REPORT_LINES ? stdout : stderr;
    request_list_print_skipped(&run->list->skipped, to);
    for (int k = 0; k < run->kinds; k++) {
        const tune_kind *kind = &run->kind[k];
        sums s = {.tuned = 0};
        if (format == REPORT_LINES)
            print_table(run, kind);
        for (size_t i = 0; i < run->list->count; i++) {
            add(&s, kind, &run->list->item[i], i);
            if (format != REPORT_LINES)
                print_json_csv(run, kind, i, format);
        }
        fflush(stdout);
        print_sums(run, kind, &s, to);
        worst = worse_exit(worst, s.worst);
        left += (size_t)s.left;
    }
    print_work(run, to);
    if (run->lost && !run->interrupted && left > 0)
        return worse_exit(worst, KILN_FILE);
    return run->interrupted && !run->unkept ? CONV_INTERRUPTED : worst;
}
