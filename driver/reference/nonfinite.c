/* Finds the values that are not finite, and who may be reached by them.
 *
 * A NaN or an infinity in a source decides the class of every sum it is a term of, whatever the
 * order of summation. Finite terms can overflow on the way: an f32 sum may reach +inf where the
 * positive terms alone reach 2^128, -inf where the negative terms do, and NaN where both do.
 *
 * Winograd's transforms add up a whole patch of a source. A patch spans at most TILE points along
 * an axis, so what a value spoils lies less than TILE points from the elements that it is a term
 * of.
 */
#include "nonfinite.h"

#include "host.h"
#include "index_space.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { TILE = 10 }; /* the largest patch of Winograd's solvers */

/* Returns the set that holds `value`; 0 for a finite value. */
static int class_of(double value)
{
    return isnan(value)    ? NONFINITE_NAN
           : !isinf(value) ? 0
           : value > 0     ? NONFINITE_PLUS
                           : NONFINITE_MINUS;
}

/* Returns what f32 sums may become whose positive terms add up to `up` and negative ones to `down`.
 */
static int overflow(double up, double down)
{
    int set = (up >= FLT_MAX ? NONFINITE_PLUS : 0) | (down >= FLT_MAX ? NONFINITE_MINUS : 0);
    return set == (NONFINITE_PLUS | NONFINITE_MINUS) ? NONFINITE_ANY : set;
}

int nonfinite_sum(double sum, double magnitude, double terms, double largest)
{
    if (!isfinite(sum))
        return class_of(sum) | (largest >= FLT_MAX ? NONFINITE_NAN : 0);
    double rounding = 1 + (terms + 16) * 0x1p-24;
    return overflow((magnitude + sum) / 2 * rounding, (magnitude - sum) / 2 * rounding);
}

static int negated(int set)
{
    return (set & NONFINITE_NAN) | (set & NONFINITE_PLUS ? NONFINITE_MINUS : 0) |
           (set & NONFINITE_MINUS ? NONFINITE_PLUS : 0);
}

int nonfinite_argument(int of_sum, double sum, double magnitude, double alpha, double added,
                       double argument)
{
    int set = alpha < 0 ? negated(of_sum) : of_sum;
    const int own = class_of(argument);
    if (own) { /* finite terms that overflow to the other sign, on the way, make a NaN */
        const double finite = added + (isfinite(magnitude) ? fabs(alpha) * magnitude : 0);
        bool other = (set & ~own) || finite >= FLT_MAX;
        return own | (other ? NONFINITE_NAN : 0);
    }
    double up = fabs(alpha) * (magnitude + sum) / 2, down = fabs(alpha) * (magnitude - sum) / 2;
    set |= alpha < 0 ? overflow(down + added, up + added) : overflow(up + added, down + added);
    return set == (NONFINITE_PLUS | NONFINITE_MINUS) ? NONFINITE_ANY : set;
}

/* ---- the sources ---- */

typedef struct extremes {
    double largest; /* finite absolute value */
    bool nonfinite;
} extremes;

static extremes extremes_of(const reference_source *s)
{
    double largest = 0;
    int64_t wild = 0;
#pragma omp parallel for reduction(max : largest) reduction(+ : wild)
    for (int64_t i = 0; i < s->count; i++) {
        double v = fabs(host_get(s->type, s->data, i));
        if (isfinite(v))
            largest = fmax(largest, v);
        else
            wild++;
    }
    return (extremes){largest, wild > 0};
}

/* ---- Winograd ---- */

/* Whether a transform of `v` may overflow or is not finite. */
static bool is_wild(const index_space_tensor *t, int64_t i, double limit)
{
    return !(fabs(host_get(t->type, t->data, i)) < limit);
}

/* Marks the points where some channel of the group is wild. */
static unsigned char *wild_points(const index_space *s, const index_space_tensor *t, double limit)
{
    const int64_t channels = t->channels / s->groups;
    unsigned char *point = calloc((size_t)(s->batch * s->groups * t->plane), 1);
    for (int64_t i = 0; point && i < s->batch * t->channels * t->plane; i++)
        if (is_wild(t, i, limit))
            point[i / t->plane / channels * t->plane + i % t->plane] = 1;
    return point;
}

/* Marks the written channels whose weights are wild. */
static unsigned char *wild_filters(const index_space *s, double limit)
{
    const bool coarse = s->written == INDEX_SPACE_COARSE;
    const int64_t rows = s->coarse.channels / s->groups, pair = s->filter.plane;
    unsigned char *channel = calloc((size_t)(coarse ? s->coarse.channels : s->fine.channels), 1);
    for (int64_t i = 0; channel && i < s->coarse.channels * s->filter.channels * pair; i++)
        if (is_wild(&s->filter, i, limit)) {
            int64_t k = i / pair / s->filter.channels, c = i / pair % s->filter.channels;
            channel[coarse ? k : k / rows * s->filter.channels + c] = 1;
        }
    return channel;
}

/* Marks the pairs of channels of which one is wild in some image. */
static unsigned char *wild_pairs(const index_space *s, const double limit[2])
{
    const int64_t rows = s->coarse.channels / s->groups;
    unsigned char *pair = calloc((size_t)(s->coarse.channels * s->filter.channels), 1);
    for (int64_t i = 0; pair && i < s->batch * s->coarse.channels * s->coarse.plane; i++)
        if (is_wild(&s->coarse, i, limit[0])) {
            int64_t k = i / s->coarse.plane % s->coarse.channels;
            for (int64_t c = 0; c < s->filter.channels; c++)
                pair[k * s->filter.channels + c] = 1;
        }
    for (int64_t i = 0; pair && i < s->batch * s->fine.channels * s->fine.plane; i++)
        if (is_wild(&s->fine, i, limit[1])) {
            int64_t channel = i / s->fine.plane % s->fine.channels;
            int64_t group = channel / s->filter.channels, c = channel % s->filter.channels;
            for (int64_t k = 0; k < rows; k++)
                pair[(group * rows + k) * s->filter.channels + c] = 1;
        }
    return pair;
}

/* A transformed value is at most `amplification` times the largest of its patch. Sums of products
 * are laid to the first source, so that the second one only has to stay finite itself. */
static bool mark(nonfinite *n, const extremes e[2], double amplification)
{
    const index_space s = index_space_of(n->problem, n->tensors);
    const double terms = (double)reference_terms(n->problem);
    const double own = n->mixes ? FLT_MAX / amplification : INFINITY;
    /* The sources come in the order y, x, w. */
    const double limit[2] = {own / fmax(1, terms * e[1].largest), own};
    if (s.written == INDEX_SPACE_FILTER) {
        const bool swapped = n->problem->transposed; /* the coarse grid is x */
        n->channel = wild_pairs(&s, (double[]){limit[swapped], limit[!swapped]});
        return n->channel;
    }
    n->point = wild_points(&s, s.written == INDEX_SPACE_COARSE ? &s.fine : &s.coarse, limit[0]);
    n->channel = wild_filters(&s, limit[1]);
    return n->point && n->channel;
}

bool nonfinite_new(nonfinite *n, const kiln_problem *problem, const reference_tensors *t,
                   double amplification)
{
    reference_source source[2];
    reference_sources(problem, t, source);
    const extremes e[2] = {extremes_of(&source[0]), extremes_of(&source[1])};
    *n = (nonfinite){
        .problem = problem,
        .tensors = t,
        .in_data = e[0].nonfinite || e[1].nonfinite,
        .largest = (double)reference_terms(problem) * e[0].largest * e[1].largest,
    };
    const double most = fmax(n->largest, fmax(e[0].largest, e[1].largest));
    n->mixes = amplification > 1 && !kiln_type_is_integer(source[0].type) &&
               (n->in_data || most * amplification >= FLT_MAX);
    const bool weights = problem->direction == KILN_BACKWARD_WEIGHTS;
    return !(n->mixes || (weights && n->in_data)) || mark(n, e, amplification);
}

void nonfinite_free(nonfinite *n)
{
    free(n->point);
    free(n->channel);
}

/* ---- one element ---- */

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Whether a wild point lies in a patch that may reach the destination's point `at`. */
static bool near_point(const nonfinite *n, const index_space *s, int64_t plane, const int64_t at[3])
{
    const bool coarse = s->written == INDEX_SPACE_COARSE;
    const int64_t *size = coarse ? s->fine.size : s->coarse.size;
    int64_t from[3], to[3];
    for (int a = 0; a < 3; a++) {
        int64_t middle =
            coarse ? at[a] * s->stride[a] - s->pad[a] : floor_div(at[a] + s->pad[a], s->stride[a]);
        int64_t reach = s->filter.size[a] > 1 ? TILE * s->dilation[a] * s->stride[a] : 0;
        from[a] = middle - reach < 0 ? 0 : middle - reach;
        to[a] = middle + reach >= size[a] ? size[a] - 1 : middle + reach;
    }
    for (int64_t i = from[0]; i <= to[0]; i++)
        for (int64_t j = from[1]; j <= to[1]; j++)
            for (int64_t k = from[2]; k <= to[2]; k++)
                if (n->point[((plane * size[0] + i) * size[1] + j) * size[2] + k])
                    return true;
    return false;
}

static bool is_mixed(const nonfinite *n, int64_t index)
{
    const index_space s = index_space_of(n->problem, n->tensors);
    if (s.written == INDEX_SPACE_FILTER)
        return n->channel[index / s.filter.plane];
    const index_space_tensor *to = s.written == INDEX_SPACE_COARSE ? &s.coarse : &s.fine;
    int64_t at[3], outer = index / to->plane, image = outer / to->channels;
    int64_t channel = outer % to->channels;
    for (int a = 0; a < 3; a++)
        at[a] = index / to->step[a] % to->size[a];
    int64_t group = channel / (to->channels / s.groups);
    return n->channel[channel] || near_point(n, &s, image * s.groups + group, at);
}

int nonfinite_beyond(const nonfinite *n, int64_t index)
{
    if (n->mixes && is_mixed(n, index))
        return NONFINITE_ANY;
    if (!n->in_data)
        return 0;
    /* Backward weights store zeros beside the rows of x and of dy. */
    bool pads = n->problem->direction == KILN_BACKWARD_WEIGHTS
                    ? is_mixed(n, index)
                    : reference_pads(n->problem, n->tensors, index);
    return pads ? NONFINITE_NAN : 0;
}
