/* Compares a destination with the reference, element by element as the reference computes them. */
#include "verify.h"

#include "activation.h"
#include "bound.h"
#include "error_stats.h"
#include "nonfinite.h"
#include "quantised.h"
#include "reference_cache.h"
#include "sample.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

typedef struct judge {
    const kiln_problem *problem;
    const reference_tensors *tensors;
    const verify_options *options;
    kiln_type type;
    const void *got;
    bound_rule rule;
    nonfinite nonfinite;
    int offset;         /* y's zero point */
    error_stats *stats; /* one for each thread */
} judge;

/* ---- one element ---- */

/* Poison is a NaN of its own. Where a NaN is due, it must not pass for one. */
static bool is_unwritten(const judge *j, double got, int64_t at)
{
    return j->options->poisoned && isnan(got) && host_is_poison(j->type, j->got, at);
}

/* The result for an exact value. A zero point is added to an integer. */
static double rounded(const judge *j, double value)
{
    return host_round(j->type, j->offset ? rint(value) + j->offset : value);
}

/* Whether `got` is the result for one of the arguments in `set`. The result of an infinite argument
 * may be finite, as the sigmoid's is. */
static bool is_result_of(const judge *j, int set, int64_t at, double got)
{
    static const double argument[] = {INFINITY, -INFINITY, NAN};
    for (int i = 0; i < 3; i++)
        if (set & 1 << i) {
            double value = j->tensors ? reference_activate(j->problem, j->tensors, at, argument[i])
                                      : argument[i];
            double slack = isfinite(value) ? 0x1p-20 * fabs(value) : 0;
            double low = rounded(j, value - slack), high = rounded(j, value + slack);
            if ((isnan(low) && isnan(got)) || (low <= got && got <= high))
                return true;
        }
    return false;
}

/* A result to be judged. */
typedef struct element {
    int64_t at;
    double value; /* exact */
    double slack; /* bounds the error of a finite value before the last rounding */
    int set;      /* other arguments of the activation that are right (nonfinite.h) */
    bool finite;  /* the argument: the value is right, not only those of the set */
} element;

static void judge_element(const judge *j, error_stats *t, const element *e)
{
    const double got = host_get(j->type, j->got, e->at), value = e->value + j->offset;
    double bound = 0, error = fabs(got - value), ulp = 1;
    bool right = false, due = false;
    if (e->finite) {
        bound = e->slack + bound_ulp(j->type, fabs(value) + e->slack) / 2;
        ulp = bound_ulp(j->type, value);
        double low = rounded(j, e->value - e->slack), high = rounded(j, e->value + e->slack);
        right = low <= got && got <= high;
    }
    if (!right && !is_unwritten(j, got, e->at))
        right = due =
            is_result_of(j, e->set, e->at, got) ||
            (j->tensors && is_result_of(j, nonfinite_beyond(&j->nonfinite, e->at), e->at, got));
    if (right && (due || !(error <= bound))) /* saturated, wrapped or overflowed, as it should */
        error = 0;
    if (!right && !isfinite(error))
        error = INFINITY;
    double share = error > 0 ? error / bound : 0;
    double ratio = right ? share : fmax(share, 1 + DBL_EPSILON);
    if (ratio > t->worst || t->checked == 0) {
        t->worst = ratio;
        t->bound = bound;
    }
    t->max_ulp = fmax(t->max_ulp, error / ulp);
    t->checked++;
    t->bad += !right;
    t->nonfinite += right && !isfinite(got);
    t->untouched += !right && host_is_poison(j->type, j->got, e->at);
    error_stats_note(t, e->at, got, value, error);
}

/* Behind the activation a residual may be added, and the result divided by y's scale. */
static double slack_of(const judge *j, int64_t at, double factor, double sum, double magnitude,
                       double added, double value)
{
    const kiln_quant *q = &j->problem->quant;
    const double scale = (double)q->y_scale;
    if (q->rounding)
        return 0;
    double after = 0, activated = value * scale;
    if (q->residual_after) {
        const double residual = quantised_residual(j->problem, j->tensors, at);
        after = 4 * 0x1p-24 * fabs(residual);
        activated -= residual;
    }
    const double slack = bound_error(&j->rule, factor, sum, magnitude, added, activated) + after;
    return scale == 1 && after == 0 ? slack
                                    : slack / scale + 4 * 0x1p-24 * (fabs(value) + after / scale);
}

static void judge_sum(const judge *j, error_stats *t, int64_t at, double sum, double magnitude)
{
    double all = magnitude, added = 0;
    double argument = reference_argument(j->problem, j->tensors, at, sum, &all);
    double alpha = reference_factor(j->problem, j->tensors, at);
    if (isfinite(magnitude))
        added = fmax(0, all - fabs(alpha) * magnitude);
    else
        reference_argument(j->problem, j->tensors, at, 0, &added);
    element e = {.at = at,
                 .value = reference_activate(j->problem, j->tensors, at, argument),
                 .finite = isfinite(argument)};
    int of_sum =
        j->rule.integer ? 0 : nonfinite_sum(sum, magnitude, j->rule.terms, j->nonfinite.largest);
    if (e.finite && !j->options->exact)
        e.slack = slack_of(j, at, alpha, sum, magnitude, added, e.value);
    e.set = nonfinite_argument(of_sum, sum, magnitude, alpha, added, argument);
    judge_element(j, t, &e);
}

/* ---- everything ---- */

static void judge_part(void *user, int thread, const contraction_part *part)
{
    const judge *j = user;
    for (int i = 0; i < part->count; i++)
        judge_sum(j, &j->stats[thread], part->index[i], part->sum[i], part->magnitude[i]);
}

/* ---- a sample ---- */

/* Measured on a loaded machine of 2 cores with AVX-512, with a margin. A slower machine checks the
 * same elements in a longer time. */
static const double seconds_per_flop = 0.4e-9, seconds_per_element = 60e-9,
                    seconds_per_single_term = 5e-9;

static double estimated_seconds(const kiln_problem *p)
{
    return (reference_flops(p) * seconds_per_flop +
            (double)reference_count(p) * seconds_per_element) /
           omp_get_max_threads();
}

static bool is_poison(const judge *j, int64_t at)
{
    return j->options->poisoned &&
           !(kiln_type_is_integer(j->type) && kiln_type_size(j->type) == 1) &&
           host_is_poison(j->type, j->got, at);
}

/* Finds poison among the elements that are not in the sample, and judges the NaNs among them, and
 * integers that a sum may reach as well; in each thread only so many, because each costs as much as
 * an element of the sample. */
static void scan(judge *j, const sample *s, int64_t total)
{
#pragma omp parallel
    {
        error_stats *t = &j->stats[omp_get_thread_num()];
        int64_t most = s->count + 100000;
#pragma omp for schedule(static)
        for (int64_t at = 0; at < total; at++) {
            const double got = host_get(j->type, j->got, at);
            const bool poison = is_poison(j, at);
            if ((!isnan(got) && !poison) || sample_holds(s, at))
                continue;
            if ((!poison || j->type == KILN_I32) && most-- > 0) {
                double magnitude, sum = reference_sum(j->problem, j->tensors, at, &magnitude);
                judge_sum(j, t, at, sum, magnitude);
            } else if (poison) {
                t->bad++;
                t->untouched++;
                t->worst = t->max_ulp = INFINITY;
                error_stats_note(t, at, got, NAN, INFINITY);
            }
        }
    }
}

/* Returns the size of a sample that takes about `seconds`. */
static int64_t sample_size(const kiln_problem *p, double seconds, int64_t total)
{
    double one = (double)reference_terms(p) * seconds_per_single_term + 1e-6;
    double n = fmin(seconds * omp_get_max_threads() / one, 1 << 20);
    return (int64_t)fmin(fmax(n, 1000), (double)total);
}

static bool judge_sample(judge *j, double seconds, int64_t total)
{
    sample s;
    if (!sample_take(&s, j->problem, j->options->seed, sample_size(j->problem, seconds, total)))
        return false;
    kept_sums *kept = j->options->kept ? &j->options->kept->sample : NULL;
    const bool known = kept && kept->sum && kept->count == s.count;
    if (kept && !known) {
        kept_sums_free(kept);
        kept_sums_new(kept, s.count);
    }
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t i = 0; i < s.count; i++) {
        double magnitude = known ? kept->magnitude[i] : 0;
        const double sum =
            known ? kept->sum[i] : reference_sum(j->problem, j->tensors, s.index[i], &magnitude);
        if (!known && kept && kept->sum) {
            kept->sum[i] = sum;
            kept->magnitude[i] = magnitude;
        }
        judge_sum(j, &j->stats[omp_get_thread_num()], s.index[i], sum, magnitude);
    }
    scan(j, &s, total);
    sample_free(&s);
    return true;
}

/* ---- the whole judgement ---- */

/* What stands for the elements' size in a bound: the largest absolute value or, for random data,
 * the root mean square. */
static double spread(const reference_source *s, bool arbitrary)
{
    double largest = 0, squares = 0;
#pragma omp parallel for reduction(max : largest) reduction(+ : squares)
    for (int64_t i = 0; i < s->count; i++) {
        double v = fabs(host_get(s->type, s->data, i));
        if (isfinite(v)) { /* the others are nonfinite.h's */
            largest = fmax(largest, v);
            squares += v * v;
        }
    }
    return arbitrary ? largest : sqrt(squares / (double)s->count);
}

static double largest_of(const kiln_problem *p, const reference_tensors *t)
{
    reference_source source[2];
    reference_sources(p, t, source);
    return fmax(spread(&source[0], true), spread(&source[1], true));
}

/* The least magnitude of a sum. Winograd's transforms mix neighbours into a result, whose error is
 * in proportion to them even where its own terms are small. */
static double magnitude_floor(const kiln_problem *p, const reference_tensors *t, bool arbitrary)
{
    double product = (double)reference_terms(p);
    reference_source source[2];
    reference_sources(p, t, source);
    for (int i = 0; i < 2; i++)
        product *= spread(&source[i], arbitrary);
    return product;
}

static bound_rule rule_of(const kiln_problem *p, const reference_tensors *t,
                          const verify_options *o)
{
    bound_rule r = {
        .epilogue = p->direction == KILN_FORWARD ? &p->epilogue : NULL,
        .integer = kiln_type_is_integer(p->direction == KILN_FORWARD ? p->x_type : p->y_type),
        .arbitrary = o->arbitrary,
        .terms = (double)reference_terms(p),
        .amplification = fmax(o->amplification, 1),
    };
    if (r.arbitrary && !r.integer)
        r.largest = largest_of(p, t);
    if (r.amplification > 1 && !r.integer && !o->exact)
        r.floor = magnitude_floor(p, t, o->arbitrary);
    return r;
}

/* Judges every element. Returns false, having judged none, without memory. */
static bool visit_all(judge *j)
{
    const verify_options *o = j->options;
    if (o->kept)
        return kept_sums_visit(&o->kept->whole, j->problem, j->tensors, judge_part, j);
    if (o->cache && *o->cache)
        return reference_cache_visit(o->cache, j->problem, j->tensors, judge_part, j);
    return reference_sums(j->problem, j->tensors, judge_part, j);
}

static verify_result judge_destination(const kiln_problem *problem, const reference_tensors *t,
                                       const void *got, const verify_options *options)
{
    judge j = {.problem = problem,
               .tensors = t,
               .options = options,
               .type = reference_type(problem),
               .got = got,
               .offset = reference_offset(problem, t),
               .rule = rule_of(problem, t, options),
               .stats = error_stats_new()};
    if (!j.stats || !nonfinite_new(&j.nonfinite, problem, t, options->amplification)) {
        free(j.stats);
        nonfinite_free(&j.nonfinite);
        return (verify_result){.total = reference_count(problem)};
    }
    int64_t total = reference_count(problem);
    double seconds = options->max_seconds > 0 ? options->max_seconds : 20;
    bool whole = estimated_seconds(problem) <= seconds && visit_all(&j);
    bool done = whole || judge_sample(&j, seconds, total);
    verify_result r = error_stats_result(j.stats, problem, total);
    r.ok = r.ok && done;
    nonfinite_free(&j.nonfinite);
    free(j.stats);
    return r;
}

verify_result verify_destination(const kiln_problem *problem, const reference_tensors *t,
                                 const void *got, const verify_options *options)
{
    reference_tensors wide = *t;
    if (!reference_widen(problem, &wide))
        return (verify_result){.total = reference_count(problem)};
    const verify_result result = judge_destination(problem, &wide, got, options);
    reference_widen_end(&wide);
    return result;
}

verify_result verify_bias_gradient(const kiln_problem *problem, const void *y, const float *got,
                                   const verify_options *options)
{
    int64_t n = problem->out_channels;
    double *value = malloc(2 * (size_t)n * sizeof *value);
    judge j = {.problem = problem,
               .options = options,
               .type = KILN_F32,
               .got = got,
               .rule = {.arbitrary = options->arbitrary,
                        .integer = problem->y_type == KILN_I8,
                        .terms = (double)(kiln_problem_count(problem, 'y') / n),
                        .amplification = 1},
               .stats = error_stats_new()};
    verify_result r = {.total = n};
    if (value && j.stats) {
        reference_bias_gradient(problem, y, value, value + n);
        for (int64_t i = 0; i < n; i++) {
            element e = {.at = i, .value = value[i], .finite = isfinite(value[i])};
            if (e.finite && !options->exact)
                e.slack = bound_error(&j.rule, 1, value[i], value[n + i], 0, value[i]);
            e.set = nonfinite_sum(value[i], value[n + i], j.rule.terms, value[n + i]);
            judge_element(&j, j.stats, &e);
        }
        r = error_stats_result(j.stats, problem, n);
    }
    free(j.stats);
    free(value);
    return r;
}

/* Whether a factor has so few bits that products with small integers are exact. */
static bool is_short(float factor)
{
    return factor * 16 == rintf(factor * 16) && fabsf(factor) <= 16;
}

bool verify_can_be_exact(const kiln_problem *p, host_fill fill, double amplification)
{
    const kiln_epilogue *e = &p->epilogue;
    bool sums = fill == HOST_FILL_INT && amplification <= 1;
    if (p->direction != KILN_FORWARD)
        return sums;
    const kiln_quant *q = &p->quant;
    const bool scaled = q->x_scale != 1 || q->w_scale != 1 || q->y_scale != 1 ||
                        q->residual_scale != 1 || q->buffers & KILN_QUANT_W_SCALES;
    return sums && !scaled && is_short(e->alpha) && is_short(e->beta) && activation_multiplies(e) &&
           is_short(e->param[0]);
}
