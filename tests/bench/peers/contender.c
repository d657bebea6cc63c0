/* Verifies the results of contenders before their times count. */
#include "contender.h"

#include "driver/reference/verify.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

void contender_release(contender *c)
{
    if (c)
        c->calls->release(c);
}

bool contender_verify(contender *c, const work *w, void *result, char *why)
{
    const int64_t count = reference_count(&w->problem);
    host_poison(work_type(w, w->to), result, count);
    if (!c->calls->enqueue(c) || !c->calls->finish(c) || !c->calls->read(c, result)) {
        snprintf(why, KILN_ERROR_TEXT, "%s %.180s does not run", c->name, c->detail);
        return false;
    }
    const reference_tensors sources = work_sources(w);
    const verify_options options = {
        .amplification = c->amplification, .max_seconds = 0.02, .seed = 1, .poisoned = true};
    verify_result r = verify_destination(&w->problem, &sources, result, &options);
    if (!r.ok)
        snprintf(why, KILN_ERROR_TEXT,
                 "%s %.120s is wrong: %lld of %lld elements, the worst %g instead of %g", c->name,
                 c->detail, (long long)r.bad, (long long)r.checked, r.got, r.expected);
    return r.ok;
}

/* The error of one side has a standard deviation of about a quarter of epsilon times the sum of the
 * absolute products (bound.c). For data that are uniform in (-1, 1) that sum is a quarter of the
 * number of terms on average. Rounding does not reach twenty deviations of both sides together. */
bool contender_agree(const work *w, const contender *a, const float *a_result, const contender *b,
                     const float *b_result, char *why)
{
    const int64_t count = reference_count(&w->problem);
    const double terms = (double)reference_terms(&w->problem),
                 limit = 2e-6 * fmax(a->amplification, b->amplification) * (terms / 4 + 2);
    double worst = 0;
#pragma omp parallel for reduction(max : worst)
    for (int64_t i = 0; i < count; i++) {
        double difference = fabs((double)a_result[i] - (double)b_result[i]);
        worst = fmax(worst, isnan(difference) ? DBL_MAX : difference);
    }
    if (worst > limit)
        snprintf(why, KILN_ERROR_TEXT, "%s %.60s and %s %.60s differ by %g, more than %g", a->name,
                 a->detail, b->name, b->detail, worst, limit);
    return worst <= limit;
}
