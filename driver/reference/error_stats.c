/* Notes errors in each thread and adds them up. */
#include "error_stats.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>

void error_stats_note(error_stats *t, int64_t at, double got, double value, double error)
{
    if (error > t->max_abs || (error == t->max_abs && at < t->max_abs_at)) {
        t->max_abs = error;
        t->max_abs_at = at;
        t->got = got;
        t->expected = value;
    }
    t->squares += error * error;
    double larger = fmax(fabs(got), fabs(value));
    if (isfinite(larger))
        t->largest = fmax(t->largest, larger);
}

error_stats *error_stats_new(void)
{
    int n = omp_get_max_threads();
    error_stats *all = calloc((size_t)n, sizeof *all);
    for (int i = 0; all && i < n; i++)
        all[i].max_abs = -1;
    return all;
}

static void add_stats(error_stats *to, const error_stats *from)
{
    if (from->max_abs > to->max_abs ||
        (from->max_abs == to->max_abs && from->max_abs_at < to->max_abs_at)) {
        to->max_abs = from->max_abs;
        to->max_abs_at = from->max_abs_at;
        to->got = from->got;
        to->expected = from->expected;
    }
    if (from->checked && (from->worst > to->worst || to->checked == 0)) {
        to->worst = from->worst;
        to->bound = from->bound;
    }
    to->checked += from->checked;
    to->bad += from->bad;
    to->untouched += from->untouched;
    to->nonfinite += from->nonfinite;
    to->max_ulp = fmax(to->max_ulp, from->max_ulp);
    to->squares += from->squares;
    to->largest = fmax(to->largest, from->largest);
}

/* The tolerance of MIOpen 2.12 and later (test/verify.hpp, driver/conv_driver.hpp). */
static double miopen_tolerance(const kiln_problem *p)
{
    kiln_type source = p->direction == KILN_FORWARD ? p->x_type : p->y_type;
    const bool f8 = source == KILN_F8E4M3 || source == KILN_F8E5M2;
    double t = source == KILN_F16    ? 8.2e-3
               : source == KILN_BF16 ? 8 * 8.2e-3
               : f8                  ? 37 * 1.5e-6
                                     : 1.5e-6;
    return p->direction == KILN_BACKWARD_WEIGHTS ? 2 * t : t;
}

verify_result error_stats_result(const error_stats *all, const kiln_problem *problem, int64_t total)
{
    error_stats t = {.max_abs = -1};
    for (int i = 0; i < omp_get_max_threads(); i++)
        add_stats(&t, &all[i]);
    return (verify_result){
        .ok = t.bad == 0,
        .checked = t.checked,
        .total = total,
        .bad = t.bad,
        .untouched = t.untouched,
        .nonfinite = t.nonfinite,
        .max_abs = fmax(t.max_abs, 0),
        .max_abs_at = t.max_abs_at,
        .got = t.got,
        .expected = t.expected,
        .max_ulp = t.max_ulp,
        .rms = sqrt(t.squares) / (sqrt(fmax((double)t.checked, 1)) * fmax(t.largest, DBL_MIN)),
        .tolerance = miopen_tolerance(problem),
        .bound = t.bound,
        .worst = t.worst,
    };
}
