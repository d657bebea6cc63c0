/* Every convolution as sums of products, from the definition in kiln_problem.h.
 *
 * All cases speak of two grids and a filter. One grid is `coarse`: y of a convolution, x of a
 * transposed one, where a filter of w[coarse channel][fine channel / groups][tap] stands on every
 * point. The other one, `fine`, is where its taps fall:
 *
 *     fine position = coarse position * stride + tap * dilation - pad_begin
 *
 * Whichever of the three tensors is written, the other two are multiplied wherever this holds.
 */
#include "reference.h"

#include "host.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct tensor {
    const void *data;
    kiln_type type;
    int64_t channels, size[3], step[3], plane; /* for the filter: channels of one group, taps */
} tensor;

typedef enum part { COARSE, FINE, FILTER } part;

typedef struct scene {
    tensor coarse, fine, filter;
    part written;
    int64_t batch, groups, stride[3], dilation[3], pad[3];
} scene;

/* Spatial axes are D, H, W; those that the problem does not have are 1 wide. */
static tensor tensor_of(const void *data, kiln_type type, int64_t channels, const int64_t *size,
                        int rank)
{
    tensor t = {.data = data, .type = type, .channels = channels, .plane = 1};
    for (int a = 2; a >= 0; a--) {
        t.size[a] = a >= 3 - rank ? size[a - (3 - rank)] : 1;
        t.step[a] = t.plane;
        t.plane *= t.size[a];
    }
    return t;
}

static scene scene_of(const kiln_problem *p, const reference_tensors *t)
{
    int rank = p->spatial_rank;
    int64_t output[KILN_MAX_RANK] = {1, 1, 1};
    for (int i = 0; i < rank; i++)
        output[i] = kiln_problem_output(p, i);
    tensor x = tensor_of(t->x, p->x_type, p->in_channels, p->input, rank);
    tensor y = tensor_of(t->y, p->y_type, p->out_channels, output, rank);
    static const part plain[] = {
        [KILN_FORWARD] = COARSE, [KILN_BACKWARD_DATA] = FINE, [KILN_BACKWARD_WEIGHTS] = FILTER};
    static const part transposed[] = {
        [KILN_FORWARD] = FINE, [KILN_BACKWARD_DATA] = COARSE, [KILN_BACKWARD_WEIGHTS] = FILTER};
    scene s = {
        .coarse = p->transposed ? x : y,
        .fine = p->transposed ? y : x,
        .written = (p->transposed ? transposed : plain)[p->direction],
        .batch = p->batch,
        .groups = p->groups,
    };
    s.filter = tensor_of(t->w, p->w_type, s.fine.channels / s.groups, p->filter, rank);
    for (int a = 0; a < 3; a++) {
        int i = a - (3 - rank);
        s.stride[a] = i < 0 ? 1 : p->stride[i];
        s.dilation[a] = i < 0 ? 1 : p->dilation[i];
        s.pad[a] = i < 0 ? 0 : p->pad_begin[i];
    }
    return s;
}

/* ---- the three contractions --------------------------------------------------------------------
 */

/* The points of the coarse grid, each a place in the fine one where a filter stands. */
static contraction_space coarse_points(const scene *s)
{
    contraction_space space = {
        .outer = s->batch,
        .outer_grid = s->fine.channels * s->fine.plane,
        .outer_linear = s->coarse.channels * s->coarse.plane,
    };
    for (int a = 0; a < 3; a++) {
        space.count[a] = s->coarse.size[a];
        space.first[a] = -s->pad[a];
        space.step[a] = s->stride[a];
        space.linear[a] = s->coarse.step[a];
    }
    return space;
}

/* The filter's fine channels and taps, each a distance in the fine grid. */
static contraction_space filter_taps(const scene *s)
{
    contraction_space space = {
        .outer = s->filter.channels,
        .outer_grid = s->fine.plane,
        .outer_linear = s->filter.plane,
    };
    for (int a = 0; a < 3; a++) {
        space.count[a] = s->filter.size[a];
        space.step[a] = s->dilation[a];
        space.linear[a] = s->filter.step[a];
    }
    return space;
}

static void set_grid(contraction *c, const tensor *grid, const scene *s)
{
    c->type = grid->type;
    c->grid = grid->data;
    c->grid_group = grid->channels / s->groups * grid->plane;
    memcpy(c->box, grid->size, sizeof c->box);
    memcpy(c->box_step, grid->step, sizeof c->box_step);
}

static contraction writes_coarse(const scene *s)
{
    contraction c = {
        .matrix = s->filter.data,
        .groups = s->groups,
        .rows = s->coarse.channels / s->groups,
        .matrix_row = s->filter.channels * s->filter.plane,
        .dst_row = s->coarse.plane,
        .columns = coarse_points(s),
        .sums = filter_taps(s),
    };
    c.matrix_group = c.rows * c.matrix_row;
    c.dst_group = c.rows * c.dst_row;
    set_grid(&c, &s->fine, s);
    return c;
}

static contraction writes_filter(const scene *s)
{
    contraction c = {
        .matrix = s->coarse.data,
        .groups = s->groups,
        .rows = s->coarse.channels / s->groups,
        .matrix_row = s->coarse.plane,
        .dst_row = s->filter.channels * s->filter.plane,
        .columns = filter_taps(s),
        .sums = coarse_points(s),
    };
    c.matrix_group = c.rows * c.matrix_row;
    c.dst_group = c.rows * c.dst_row;
    set_grid(&c, &s->fine, s);
    return c;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t t = a % b;
        a = b;
        b = t;
    }
    return a;
}

/* Along one axis, the fine points phase, phase + stride, ... and the taps that reach them from a
 * coarse point: coarse = (fine + pad - tap * dilation) / stride must come out whole. If one tap
 * does, so does every stride / gcd(stride, dilation)-th. */
static int64_t set_phase(const scene *s, int a, int64_t phase, contraction *c)
{
    int64_t stride = s->stride[a], dilation = s->dilation[a], at = phase + s->pad[a];
    int64_t every = stride / common_divisor(stride, dilation), tap = 0;
    while (tap < every && tap < s->filter.size[a] && (at - tap * dilation) % stride)
        tap++;
    bool none = tap >= every || tap >= s->filter.size[a];
    c->columns.count[a] = (s->fine.size[a] - phase + stride - 1) / stride;
    c->columns.first[a] = none ? 0 : (at - tap * dilation) / stride;
    c->columns.step[a] = 1;
    c->columns.linear[a] = stride * s->fine.step[a];
    c->sums.count[a] = none ? 0 : (s->filter.size[a] - 1 - tap) / every + 1;
    c->sums.step[a] = -(every * dilation / stride);
    c->sums.linear[a] = every * s->filter.step[a];
    c->dst_first += phase * s->fine.step[a];
    return none ? 0 : tap * s->filter.step[a];
}

/* The fine points of one phase, which all see the same taps. */
static contraction writes_fine(const scene *s, const int64_t phase[3])
{
    contraction c = {
        .matrix = s->filter.data,
        .groups = s->groups,
        .rows = s->filter.channels,
        .matrix_row = s->filter.plane,
        .dst_row = s->fine.plane,
        .columns = {.outer = s->batch,
                    .outer_grid = s->coarse.channels * s->coarse.plane,
                    .outer_linear = s->fine.channels * s->fine.plane},
        .sums = {.outer = s->coarse.channels / s->groups,
                 .outer_grid = s->coarse.plane,
                 .outer_linear = s->filter.channels * s->filter.plane},
    };
    c.matrix_group = c.sums.outer * c.sums.outer_linear;
    c.dst_group = c.rows * c.dst_row;
    set_grid(&c, &s->coarse, s);
    for (int a = 0; a < 3; a++)
        c.matrix_first += set_phase(s, a, phase[a], &c);
    return c;
}

/* ---- all elements ------------------------------------------------------------------------------
 */

static void all_phases(const scene *s, contraction_scratch *scratch, contraction_visit *visit,
                       void *user)
{
    int64_t n[3], i[3];
    for (int a = 0; a < 3; a++)
        n[a] = s->stride[a] < s->fine.size[a] ? s->stride[a] : s->fine.size[a];
    for (i[0] = 0; i[0] < n[0]; i[0]++)
        for (i[1] = 0; i[1] < n[1]; i[1]++)
            for (i[2] = 0; i[2] < n[2]; i[2]++) {
                contraction c = writes_fine(s, i);
                contraction_all(&c, scratch, visit, user);
            }
}

/* Makes the tensor f32, in new memory unless it is so already; false without memory. */
static bool make_float(tensor *t, int64_t count, float **room)
{
    *room = NULL;
    if (t->type == KILN_F32)
        return true;
    *room = malloc((size_t)count * sizeof **room);
    if (!*room)
        return false;
    host_to_float(t->type, t->data, count, *room);
    t->data = *room;
    t->type = KILN_F32;
    return true;
}

bool reference_sums(const kiln_problem *problem, const reference_tensors *t,
                    contraction_visit *visit, void *user)
{
    scene s = scene_of(problem, t);
    contraction_scratch *scratch = contraction_scratch_new();
    tensor *all[] = {&s.coarse, &s.fine, &s.filter};
    const int64_t count[] = {
        s.batch * s.coarse.channels * s.coarse.plane,
        s.batch * s.fine.channels * s.fine.plane,
        s.coarse.channels * s.filter.channels * s.filter.plane,
    };
    float *room[3] = {NULL};
    bool fits = scratch != NULL;
    for (int i = 0; i < 3; i++)
        if (fits && (int)s.written != i)
            fits = make_float(all[i], count[i], &room[i]);
    if (fits && s.written == FINE) {
        all_phases(&s, scratch, visit, user);
    } else if (fits) {
        contraction c = s.written == COARSE ? writes_coarse(&s) : writes_filter(&s);
        contraction_all(&c, scratch, visit, user);
    }
    for (int i = 0; i < 3; i++)
        free(room[i]);
    free(scratch);
    return fits;
}

/* ---- one element -------------------------------------------------------------------------------
 */

/* Takes an index apart, the last of `size` running fastest; returns what is left. */
static int64_t split(int64_t i, const int64_t size[3], int64_t at[3])
{
    for (int a = 2; a >= 0; a--) {
        at[a] = i % size[a];
        i /= size[a];
    }
    return i;
}

static int64_t joined(int64_t outer, const int64_t size[3], const int64_t at[3])
{
    return ((outer * size[0] + at[0]) * size[1] + at[1]) * size[2] + at[2];
}

double reference_sum(const kiln_problem *problem, const reference_tensors *t, int64_t index,
                     double *magnitude)
{
    scene s = scene_of(problem, t);
    int64_t at[3], phase[3];
    if (s.written == FILTER) {
        contraction c = writes_filter(&s);
        int64_t outer = split(index, s.filter.size, at);
        int64_t channel = outer / s.filter.channels;
        int64_t column = joined(outer % s.filter.channels, s.filter.size, at);
        return contraction_one(&c, channel / c.rows, channel % c.rows, column, magnitude);
    }
    const tensor *to = s.written == COARSE ? &s.coarse : &s.fine;
    int64_t outer = split(index, to->size, at);
    int64_t image = outer / to->channels, channel = outer % to->channels;
    if (s.written == COARSE) {
        contraction c = writes_coarse(&s);
        return contraction_one(&c, channel / c.rows, channel % c.rows, joined(image, to->size, at),
                               magnitude);
    }
    for (int a = 0; a < 3; a++) {
        phase[a] = at[a] % s.stride[a];
        at[a] /= s.stride[a];
    }
    contraction c = writes_fine(&s, phase);
    return contraction_one(&c, channel / c.rows, channel % c.rows,
                           joined(image, c.columns.count, at), magnitude);
}

/* ---- epilogue ----------------------------------------------------------------------------------
 */

static double activate(const kiln_epilogue *e, double v)
{
    const double a = e->param[0], b = e->param[1];
    switch (e->activation) {
    case KILN_RELU:
        return fmax(v, 0);
    case KILN_CLIPPED_RELU:
        return fmin(fmax(v, 0), a);
    case KILN_LEAKY_RELU:
        return v >= 0 ? v : a * v;
    case KILN_ELU:
        return v >= 0 ? v : a * expm1(v);
    case KILN_TANH:
        return b * tanh(a * v);
    case KILN_SIGMOID:
        return 1 / (1 + exp(-v));
    case KILN_SILU:
        return v / (1 + exp(-v));
    case KILN_GELU:
        return 0.5 * v * erfc(-v * M_SQRT1_2); /* 1 + erf(z) = erfc(-z), without cancellation */
    default:
        return v;
    }
}

double reference_finish(const kiln_problem *p, const reference_tensors *t, int64_t index,
                        double sum, double *magnitude)
{
    if (p->direction != KILN_FORWARD)
        return sum;
    const kiln_epilogue *e = &p->epilogue;
    double v = sum * e->alpha;
    *magnitude *= fabs((double)e->alpha);
    if (e->beta != 0) {
        double residual = e->beta * host_get(p->y_type, t->residual, index);
        v += residual;
        *magnitude += fabs(residual);
    }
    if (e->bias) {
        int64_t plane = 1;
        for (int i = 0; i < p->spatial_rank; i++)
            plane *= kiln_problem_output(p, i);
        double bias = t->bias[index / plane % p->out_channels];
        v += bias;
        *magnitude += fabs(bias);
    }
    return activate(e, v);
}

/* ---- whole results -----------------------------------------------------------------------------
 */

typedef struct arrays {
    const kiln_problem *problem;
    const reference_tensors *tensors;
    double *value, *magnitude;
} arrays;

static void keep_part(void *user, int thread, const contraction_part *part)
{
    (void)thread;
    const arrays *to = user;
    for (int i = 0; i < part->count; i++) {
        int64_t at = part->index[i];
        to->magnitude[at] = part->magnitude[i];
        to->value[at] =
            reference_finish(to->problem, to->tensors, at, part->sum[i], &to->magnitude[at]);
    }
}

void reference_run(const kiln_problem *problem, const reference_tensors *t, const int64_t *index,
                   int64_t count, double *value, double *magnitude)
{
    arrays to = {problem, t, value, magnitude};
    if (!index && count == reference_count(problem) && reference_sums(problem, t, keep_part, &to))
        return;
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t i = 0; i < count; i++) {
        int64_t at = index ? index[i] : i;
        double sum = reference_sum(problem, t, at, &magnitude[i]);
        value[i] = reference_finish(problem, t, at, sum, &magnitude[i]);
    }
}

void reference_bias_gradient(const kiln_problem *p, const void *y, double *value, double *magnitude)
{
    int64_t plane = 1;
    for (int i = 0; i < p->spatial_rank; i++)
        plane *= kiln_problem_output(p, i);
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < p->out_channels; k++) {
        double sum = 0, absolute = 0;
        for (int64_t n = 0; n < p->batch; n++)
            for (int64_t i = 0; i < plane; i++) {
                double v = host_get(p->y_type, y, (n * p->out_channels + k) * plane + i);
                sum += v;
                absolute += fabs(v);
            }
        value[k] = sum;
        magnitude[k] = absolute;
    }
}

/* ---- sizes -------------------------------------------------------------------------------------
 */

int64_t reference_terms(const kiln_problem *p)
{
    int64_t taps = 1, out = p->batch, in = p->batch;
    for (int i = 0; i < p->spatial_rank; i++) {
        taps *= p->filter[i];
        out *= kiln_problem_output(p, i);
        in *= p->input[i];
    }
    if (p->direction == KILN_BACKWARD_WEIGHTS)
        return p->transposed ? in : out;
    int64_t channels = p->direction == KILN_FORWARD ? p->in_channels : p->out_channels;
    return channels / p->groups * taps;
}

int64_t reference_count(const kiln_problem *p)
{
    static const char written[] = {'y', 'x', 'w'};
    return kiln_problem_count(p, written[p->direction]);
}

kiln_type reference_type(const kiln_problem *p)
{
    const kiln_type types[] = {p->y_type, p->x_type, p->w_type};
    return types[p->direction];
}
