/* The best time over trials: of all layers together, and of each layer with the largest gain. */
#include "axis.h"
#include "html.h"
#include "page_part.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The picture of all layers. */
enum { HEIGHT = 300, TOP = 44, BOTTOM = 60, POINTS = 160 };
/* The small pictures. */
enum { SMALL_WIDTH = 310, SMALL_HEIGHT = 190, SMALL_LEFT = 74, SMALL_BOTTOM = 46, MOST = 12 };

static bool counts(const report_trial *t)
{
    return t->ms > 0 && t->verdict == KILN_TRIAL_OK;
}

/* Returns the best time of the first n trials; 0: none of them counts. */
static double best_after(const report_layer *l, size_t n)
{
    double best = 0;
    for (size_t i = 0; i < n && i < l->trials; i++)
        if (counts(&l->trial[i]) && (best == 0 || l->trial[i].ms < best))
            best = l->trial[i].ms;
    return best;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t n, double q)
{
    return sorted[(size_t)lrint((double)(n - 1) * q)];
}

/* Fewer trials tell nothing. */
enum { FEW = 5 };

static double trials_of(const page_part *p, const report_layer *l)
{
    (void)p;
    return l->trials > FEW && best_after(l, l->trials) > 0 ? (double)l->trials : 0;
}

/* What all layers have of their final speed after a number of trials. */
typedef struct progress {
    double trials, worst, tenth, median;
} progress;

/* Times of two days say nothing of a search's progress. */
static bool is_of_one_day(const report_layer *l)
{
    const double day = 86400, first = l->trial[0].at, last = l->trial[l->trials - 1].at;
    return first <= 0 || last - first < day / 2;
}

static size_t collect(const page_part *p, double most, progress *at)
{
    double *share = malloc((p->count + 1) * sizeof *share);
    size_t points = 0, before = 0;
    for (int i = 0; i < POINTS && share; i++) {
        const size_t trials = (size_t)floor(pow(most, (double)i / (POINTS - 1)) + 1e-6);
        size_t n = 0;
        if (trials == before)
            continue;
        before = trials;
        for (size_t j = 0; j < p->count; j++) {
            const report_layer *l = &p->layer[j];
            const bool counted = trials_of(p, l) > 0 && is_of_one_day(l);
            const double end = counted ? best_after(l, l->trials) : 0;
            const double now = end > 0 ? best_after(l, trials) : 0;
            if (end > 0)
                share[n++] = now > 0 ? end / now : 0;
        }
        if (n == 0)
            break;
        qsort(share, n, sizeof *share, by_value);
        at[points++] =
            (progress){(double)trials, share[0], quantile(share, n, 0.1), quantile(share, n, 0.5)};
    }
    free(share);
    return points;
}

static void draw_line(FILE *to, const axis *x, const axis *y, const progress *at, size_t n,
                      size_t field, const char *class, const char *name)
{
    fprintf(to, "<g><title>%s</title><path class=\"%s\" d=\"", name, class);
    for (size_t i = 0; i < n; i++) {
        const double value = *(const double *)(const void *)((const char *)&at[i] + field);
        fprintf(to, i ? "H%.1fV%.1f" : "M%.1f %.1f", axis_at(x, at[i].trials), axis_at(y, value));
    }
    fprintf(to, "H%.1f\"/></g>\n", x->to);
}

static void put_key(FILE *to, const char *class, const char *words)
{
    fprintf(
        to,
        "<span><svg class=\"key stroke\" viewBox=\"0 0 30 14\"><path class=\"%s\" d=\"M0 7h30\"/>"
        "</svg> %s</span>\n",
        class, words);
}

static void draw_all(const page_part *p, double most)
{
    progress at[POINTS];
    const size_t n = collect(p, most, at);
    double least = 0.9;
    if (n == 0)
        return;
    for (size_t i = 0; i < n; i++)
        least = at[i].worst > 0 ? fmin(least, at[i].worst) : 0;
    axis x = axis_make(true, 1, fmax(most, 2), PAGE_LEFT, PAGE_WIDTH - PAGE_RIGHT),
         y = axis_make(false, least, 1, HEIGHT - BOTTOM, TOP);
    fputs("<p class=\"legend\">", p->to);
    put_key(p->to, "line median", "median layer");
    put_key(p->to, "line tenth", "lowest tenth");
    put_key(p->to, "line worst", "worst layer");
    fputs("</p>\n", p->to);
    page_picture(p->to, PAGE_WIDTH, HEIGHT, "Share of the final speed over trials, for all layers");
    axis_draw_x(p->to, &x, &y, 10, "trials of a layer (logarithmic)");
    axis_draw_y(p->to, &x, &y, 6, "final best time / best time so far");
    draw_line(p->to, &x, &y, at, n, offsetof(progress, worst), "line worst", "worst layer");
    draw_line(p->to, &x, &y, at, n, offsetof(progress, tenth), "line tenth",
              "a tenth of the layers is below");
    draw_line(p->to, &x, &y, at, n, offsetof(progress, median), "line median", "median layer");
    page_picture_end(p->to);
}

static void draw_trial(const page_part *p, const axis *x, const axis *y, const report_layer *l,
                       size_t i)
{
    const report_trial *t = &l->trial[i];
    char number[HTML_NUMBER], config[REPORT_CONFIG];
    fprintf(p->to, "<g class=\"trial\"><circle cx=\"%.1f\" cy=\"%.1f\" r=\"2\"/>",
            axis_at(x, (double)i + 1), axis_at(y, t->ms));
    html_fill(p->to, "<title>% ms: %</title></g>\n", html_number(t->ms, number),
              page_config(t->config, t->solver, config));
}

/* At most so many marks: a page of hundreds of thousands cannot be opened. */
static void draw_trials(const page_part *p, const axis *x, const axis *y, const report_layer *l)
{
    enum { MARKS = 400 };
    const size_t step = l->trials / MARKS + 1;
    for (size_t i = 0; i < l->trials; i += step)
        if (l->trial[i].ms > 0)
            draw_trial(p, x, y, l, i);
}

/* The machine of another day has another speed: each run of the search has stairs of its own. */
static void draw_steps(const page_part *p, const axis *x, const axis *y, const report_layer *l)
{
    double best = 0;
    fputs("<path class=\"line steps\" d=\"", p->to);
    for (size_t i = 0; i < l->trials; i++) {
        const report_trial *t = &l->trial[i];
        const double at = axis_at(x, (double)i + 1);
        if (i > 0 && t->run != t[-1].run && best > 0) {
            fprintf(p->to, "H%.1f", at);
            best = 0;
        }
        if (!counts(t) || (best > 0 && t->ms >= best))
            continue;
        fprintf(p->to, best > 0 ? "H%.1fV%.1f" : "M%.1f %.1f", at, axis_at(y, t->ms));
        best = t->ms;
    }
    if (best > 0)
        fprintf(p->to, "H%.1f", x->to);
    fputs("\"/>\n", p->to);
}

static void draw_level(const page_part *p, const axis *x, const axis *y, double ms,
                       const char *class, const char *what)
{
    char number[HTML_NUMBER];
    fprintf(p->to, "<g><title>%s: %s ms</title><line class=\"line %s\" x1=\"%.1f\" x2=\"%.1f\" ",
            what, html_number(ms, number), class, x->from, x->to);
    fprintf(p->to, "y1=\"%.1f\" y2=\"%.1f\"/></g>\n", axis_at(y, ms), axis_at(y, ms));
}

/* Slower trials than twice the guess stand at the upper edge: they are of no interest. */
static void draw_small(const page_part *p, const report_layer *l)
{
    const bool both = l->best.guess_ms > 0;
    const double least = best_after(l, l->trials), above = 2;
    const double best = both ? fmin(least, l->best.ms) : least;
    double most = fmax(fmax(best * 1.2, l->best.guess_ms * 1.05), both ? l->best.ms * 1.05 : 0);
    for (size_t i = 0; i < l->trials; i++)
        if (counts(&l->trial[i]))
            most = fmax(most, fmin(l->trial[i].ms, above * fmax(best, l->best.guess_ms)));
    const double top = 14;
    const axis x = {false, 1, (double)l->trials, SMALL_LEFT, SMALL_WIDTH - 12},
               y = axis_make(true, best, most, SMALL_HEIGHT - SMALL_BOTTOM, top);
    fputs("<figure class=\"small\">\n", p->to);
    html_fill(p->to, "<figcaption>%</figcaption>\n", l->name);
    page_picture(p->to, SMALL_WIDTH, SMALL_HEIGHT, l->name);
    axis_draw_x(p->to, &x, &y, 5, "trial");
    axis_draw_y(p->to, &x, &y, 4, NULL);
    fprintf(p->to,
            "<text class=\"title\" transform=\"translate(11 %.1f) rotate(-90)\" "
            "text-anchor=\"middle\">time (ms, log.)</text>\n",
            (y.from + y.to) / 2);
    draw_trials(p, &x, &y, l);
    draw_steps(p, &x, &y, l);
    if (l->best.guess_ms > 0) {
        draw_level(p, &x, &y, l->best.ms, "median", "the best, in the same measurement");
        draw_level(p, &x, &y, l->best.guess_ms, "tenth", "the guess");
    }
    page_picture_end(p->to);
    fputs("</figure>\n", p->to);
}

static double gain_over_trials(const page_part *p, const report_layer *l)
{
    return trials_of(p, l) > 0 ? fmax(report_gain(l), 1e-3) : 0;
}

void page_progress(const page_part *p)
{
    const report_layer *list[MOST];
    double most = 0;
    for (size_t i = 0; i < p->count; i++)
        most = fmax(most, trials_of(p, &p->layer[i]));
    if (most <= 0)
        return;
    page_section(p->to, "progress", p->number, "Best time over trials",
                 "How much of the final speed a search has after so many trials: where the curves "
                 "are flat, more trials found nothing. --patience ends a search there. Layers with "
                 "five trials or fewer, and searches of several days, are left out.");
    draw_all(p, most);
    const size_t all = page_largest(p, gain_over_trials, MOST, list);
    fprintf(
        p->to,
        "<p class=\"says\">The layers with the largest gain%s. A dot is a trial, the stairs the "
        "best so far. The dashes are the guess and the line is the best, as one measurement "
        "timed both: where the search ended, in turns behind the trials. Stairs that begin "
        "anew are those of a search that went on later.</p>\n<div class=\"smalls\">\n",
        all > MOST ? ", twelve of them" : "");
    for (size_t i = 0; i < all && i < MOST; i++)
        draw_small(p, list[i]);
    fputs("</div>\n", p->to);
    page_section_end(p->to);
}
