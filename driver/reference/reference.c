/* Computes a problem's contractions, all elements or single ones, and the epilogue. */
#include "reference.h"

#include "activation.h"
#include "host.h"
#include "index_space.h"
#include "quantised.h"

#include <math.h>
#include <stdlib.h>

/* ---- what is multiplied ---- */

static float *widened(kiln_type type, const void *data, int zero, int64_t count)
{
    float *wide = malloc((size_t)count * sizeof *wide);
    if (!wide)
        return NULL;
    host_to_float(type, data, count, wide);
    for (int64_t i = 0; zero && i < count; i++)
        wide[i] -= (float)zero;
    return wide;
}

bool reference_widen(const kiln_problem *p, reference_tensors *t)
{
    t->x_wide = t->w_wide = NULL;
    if (!quantised_widens(p))
        return true;
    t->x_wide = widened(p->x_type, t->x, quantised_zero(p, t, 'x'), kiln_problem_count(p, 'x'));
    t->w_wide = widened(p->w_type, t->w, quantised_zero(p, t, 'w'), kiln_problem_count(p, 'w'));
    if (!t->x_wide || !t->w_wide)
        reference_widen_end(t);
    return t->x_wide;
}

void reference_widen_end(reference_tensors *t)
{
    free(t->x_wide);
    free(t->w_wide);
    t->x_wide = t->w_wide = NULL;
}

/* ---- all elements ---- */

static void all_phases(const index_space *s, contraction_scratch *scratch, contraction_visit *visit,
                       void *user)
{
    int64_t n[3], i[3];
    for (int a = 0; a < 3; a++)
        n[a] = s->stride[a] < s->fine.size[a] ? s->stride[a] : s->fine.size[a];
    for (i[0] = 0; i[0] < n[0]; i[0]++)
        for (i[1] = 0; i[1] < n[1]; i[1]++)
            for (i[2] = 0; i[2] < n[2]; i[2]++) {
                contraction c = index_space_writes_fine(s, i);
                contraction_all(&c, scratch, visit, user);
            }
}

/* Makes the tensor f32, in new memory *room unless it is f32 already. Returns false without memory.
 */
static bool make_float(index_space_tensor *t, int64_t count, float **room)
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
    index_space s = index_space_of(problem, t);
    contraction_scratch *scratch = contraction_scratch_new();
    index_space_tensor *all[] = {&s.coarse, &s.fine, &s.filter};
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
    if (fits && s.written == INDEX_SPACE_FINE) {
        all_phases(&s, scratch, visit, user);
    } else if (fits) {
        contraction c = s.written == INDEX_SPACE_COARSE ? index_space_writes_coarse(&s)
                                                        : index_space_writes_filter(&s);
        contraction_all(&c, scratch, visit, user);
    }
    for (int i = 0; i < 3; i++)
        free(room[i]);
    free(scratch);
    return fits;
}

/* ---- one element ---- */

/* Takes an index apart, the last of `size` running fastest. Returns the remaining outer index. */
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

/* Where an element is in its contraction. */
typedef struct spot {
    contraction c;
    int64_t group, row, column;
} spot;

static spot spot_of(const kiln_problem *problem, const reference_tensors *t, int64_t index)
{
    index_space s = index_space_of(problem, t);
    int64_t at[3], phase[3], channel, column;
    contraction c;
    if (s.written == INDEX_SPACE_FILTER) {
        c = index_space_writes_filter(&s);
        int64_t outer = split(index, s.filter.size, at);
        channel = outer / s.filter.channels;
        column = joined(outer % s.filter.channels, s.filter.size, at);
    } else {
        const index_space_tensor *to = s.written == INDEX_SPACE_COARSE ? &s.coarse : &s.fine;
        int64_t outer = split(index, to->size, at), image = outer / to->channels;
        channel = outer % to->channels;
        if (s.written == INDEX_SPACE_COARSE) {
            c = index_space_writes_coarse(&s);
            column = joined(image, to->size, at);
        } else {
            for (int a = 0; a < 3; a++) {
                phase[a] = at[a] % s.stride[a];
                at[a] /= s.stride[a];
            }
            c = index_space_writes_fine(&s, phase);
            column = joined(image, c.columns.count, at);
        }
    }
    return (spot){c, channel / c.rows, channel % c.rows, column};
}

double reference_sum(const kiln_problem *problem, const reference_tensors *t, int64_t index,
                     double *magnitude)
{
    const spot s = spot_of(problem, t, index);
    return contraction_one(&s.c, s.group, s.row, s.column, magnitude);
}

bool reference_pads(const kiln_problem *problem, const reference_tensors *t, int64_t index)
{
    const spot s = spot_of(problem, t, index);
    return contraction_pads(&s.c, s.group, s.row, s.column);
}

/* ---- epilogue ---- */

/* An i32 is a sum modulo 2^32. */
static double wrapped(double sum)
{
    return isfinite(sum) ? (double)(int32_t)(uint32_t)(int64_t)sum : sum;
}

static int64_t channel_of(const kiln_problem *p, int64_t index)
{
    int64_t plane = 1;
    for (int i = 0; i < p->spatial_rank; i++)
        plane *= kiln_problem_output(p, i);
    return index / plane % p->out_channels;
}

double reference_activate(const kiln_problem *p, const reference_tensors *t, int64_t index,
                          double v)
{
    const kiln_quant *q = &p->quant;
    if (reference_type(p) == KILN_I32)
        return wrapped(v);
    if (p->direction != KILN_FORWARD)
        return v;
    if (q->rounding)
        return quantised_fixed(p, t, channel_of(p, index), v);
    v = activation_value(&p->epilogue, v);
    if (q->residual_after)
        v += quantised_residual(p, t, index);
    return v / (double)q->y_scale;
}

int reference_offset(const kiln_problem *p, const reference_tensors *t)
{
    return p->direction == KILN_FORWARD ? quantised_zero(p, t, 'y') : 0;
}

double reference_factor(const kiln_problem *p, const reference_tensors *t, int64_t index)
{
    return p->direction == KILN_FORWARD ? quantised_factor(p, t, channel_of(p, index)) : 1;
}

static double finite_magnitude(double term)
{
    return isfinite(term) ? fabs(term) : 0;
}

double reference_argument(const kiln_problem *p, const reference_tensors *t, int64_t index,
                          double sum, double *magnitude)
{
    if (p->direction != KILN_FORWARD)
        return sum;
    const kiln_epilogue *e = &p->epilogue;
    const double factor = reference_factor(p, t, index);
    if (e->bias == KILN_I32)
        sum += (double)t->bias[channel_of(p, index)];
    double v = (quantised_wraps(p) ? wrapped(sum) : sum) * factor;
    *magnitude *= fabs(factor);
    if (e->beta != 0 && !p->quant.residual_after) {
        double residual = quantised_residual(p, t, index);
        v += residual;
        *magnitude += finite_magnitude(residual);
    }
    if (e->bias && e->bias != KILN_I32) {
        double bias = t->bias[channel_of(p, index)];
        v += bias;
        *magnitude += finite_magnitude(bias);
    }
    return v;
}

double reference_finish(const kiln_problem *p, const reference_tensors *t, int64_t index,
                        double sum, double *magnitude)
{
    return reference_activate(p, t, index, reference_argument(p, t, index, sum, magnitude));
}

/* ---- whole results ---- */

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

static void run(const kiln_problem *problem, const reference_tensors *t, const int64_t *index,
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

void reference_run(const kiln_problem *problem, const reference_tensors *t, const int64_t *index,
                   int64_t count, double *value, double *magnitude)
{
    reference_tensors wide = *t;
    const bool widened = reference_widen(problem, &wide);
    if (widened)
        run(problem, &wide, index, count, value, magnitude);
    for (int64_t i = 0; i < count && !widened; i++)
        value[i] = magnitude[i] = NAN;
    reference_widen_end(&wide);
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
                absolute += isfinite(v) ? fabs(v) : 0;
            }
        value[k] = sum;
        magnitude[k] = absolute;
    }
}

/* ---- what is read, and sizes ---- */

void reference_sources(const kiln_problem *p, const reference_tensors *t,
                       reference_source source[2])
{
    const struct {
        char name;
        kiln_type type;
        const void *data;
    } all[] = {{'y', p->y_type, t->y}, {'x', p->x_type, t->x}, {'w', p->w_type, t->w}};
    for (int i = 0, n = 0; i < 3; i++)
        if (all[i].name != reference_destination(p))
            source[n++] =
                (reference_source){all[i].type, all[i].data, kiln_problem_count(p, all[i].name)};
}

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

double reference_flops(const kiln_problem *p)
{
    double filter = 1, pixels = 1;
    for (int i = 0; i < p->spatial_rank; i++) {
        filter *= (double)p->filter[i];
        pixels *= (double)(p->transposed ? p->input[i] : kiln_problem_output(p, i));
    }
    return 2.0 * (double)p->batch * (double)p->in_channels * (double)p->out_channels * filter *
           pixels / (double)p->groups;
}

char reference_destination(const kiln_problem *p)
{
    static const char destination[] = {
        [KILN_FORWARD] = 'y', [KILN_BACKWARD_DATA] = 'x', [KILN_BACKWARD_WEIGHTS] = 'w'};
    return destination[p->direction];
}

int64_t reference_count(const kiln_problem *p)
{
    return kiln_problem_count(p, reference_destination(p));
}

kiln_type reference_type(const kiln_problem *p)
{
    const char to = reference_destination(p);
    return to == 'x' ? p->x_type : to == 'w' ? p->w_type : p->y_type;
}
