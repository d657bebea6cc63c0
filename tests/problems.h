/* Random legal problems for tests, with a bias to awkward ones. Header only. */
#ifndef TEST_PROBLEMS_H
#define TEST_PROBLEMS_H

#include "driver/reference/host.h"
#include "driver/reference/reference.h"
#include "kiln_problem.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* A stream of random numbers. */
typedef struct dice {
    uint64_t seed, count;
} dice;

static inline int64_t dice_roll(dice *d, int64_t from, int64_t to)
{
    uint64_t span = (uint64_t)(to - from + 1);
    return from + (int64_t)(host_random(d->seed, 99, d->count++) % span);
}

/* Returns one of `n` numbers, the first ones more often. */
static inline int64_t dice_pick(dice *d, const int64_t *from, int n)
{
    int64_t a = dice_roll(d, 0, n - 1), b = dice_roll(d, 0, n - 1);
    return from[a < b ? a : b];
}

static inline void random_axis(dice *d, kiln_problem *p, int i, int64_t largest)
{
    static const int64_t filters[] = {3, 1, 2, 5, 4, 7}, strides[] = {1, 2, 3, 5},
                         dilations[] = {1, 1, 2, 3}, pads[] = {0, 1, 2, 4};
    p->filter[i] = dice_pick(d, filters, 6);
    p->stride[i] = dice_pick(d, strides, 4);
    p->dilation[i] = dice_pick(d, dilations, 4);
    p->pad_begin[i] = dice_pick(d, pads, 4);
    p->pad_end[i] = dice_roll(d, 0, 2) ? p->pad_begin[i] : dice_pick(d, pads, 4);
    p->input[i] = dice_roll(d, 0, 4) ? dice_roll(d, 1, largest) : 1;
    if (p->transposed) {
        int64_t limit = p->stride[i] > p->dilation[i] ? p->stride[i] : p->dilation[i];
        p->output_pad[i] = dice_roll(d, 0, limit - 1);
    }
}

static inline void random_channels(dice *d, kiln_problem *p, int64_t largest)
{
    static const int64_t primes[] = {1, 2, 3, 5, 7, 11, 13, 17};
    int kind = (int)dice_roll(d, 0, 3);
    p->groups = kind == 0 ? dice_roll(d, 1, largest) : kind == 1 ? dice_roll(d, 2, 4) : 1;
    int64_t most = largest / p->groups > 0 ? largest / p->groups : 1;
    int64_t c = kind == 0            ? 1
                : dice_roll(d, 0, 1) ? dice_pick(d, primes, 8)
                                     : dice_roll(d, 1, most);
    int64_t k = kind == 0            ? dice_roll(d, 1, 3)
                : dice_roll(d, 0, 1) ? dice_pick(d, primes, 8)
                                     : dice_roll(d, 1, most);
    p->in_channels = p->groups * c;
    p->out_channels = p->groups * k;
}

static inline void random_types(dice *d, kiln_problem *p)
{
    static const int64_t sources[] = {KILN_F32, KILN_F16, KILN_BF16, KILN_I8};
    kiln_type from = (kiln_type)dice_pick(d, sources, 4), to = from;
    if (from == KILN_I8)
        to = (kiln_type[]){KILN_I32, KILN_F32, KILN_I8}[dice_roll(d, 0, 2)];
    else if (dice_roll(d, 0, 4) == 0)
        to = KILN_F32;
    p->x_type = p->w_type = p->y_type = from;
    *(p->direction == KILN_FORWARD         ? &p->y_type
      : p->direction == KILN_BACKWARD_DATA ? &p->x_type
                                           : &p->w_type) = to;
}

static inline void random_epilogue(dice *d, kiln_problem *p, kiln_activation last)
{
    kiln_epilogue *e = &p->epilogue;
    if (p->direction == KILN_BACKWARD_DATA || p->y_type == KILN_I32)
        return;
    e->bias = dice_roll(d, 0, 3) == 0;
    if (e->bias && dice_roll(d, 0, 7) == 0)
        strcpy(p->bias_layout, "IMG_ARGUMENT");
    if (p->direction != KILN_FORWARD || dice_roll(d, 0, 1))
        return;
    e->alpha = (float[]){0, 2, 0.5f, -1}[dice_roll(d, 0, 3)];
    e->beta = (float[]){0, 1, -0.5f}[dice_roll(d, 0, 2)];
    e->activation = (kiln_activation)dice_roll(d, 0, last);
    if (e->activation == KILN_CLIPPED_RELU)
        e->param[0] = 6;
    else if (e->activation == KILN_LEAKY_RELU || e->activation == KILN_ELU)
        e->param[0] = 0.5f;
}

/* Returns the text of a problem, valid until the next call. */
static inline char *name_of(const kiln_problem *p)
{
    static char text[KILN_KEY_TEXT];
    kiln_problem_text(p, text, sizeof text);
    return text;
}

/* Completes a legal problem. */
static inline kiln_problem checked(kiln_problem p)
{
    char why[KILN_ERROR_TEXT] = "";
    ck_assert_msg(kiln_problem_check(&p, why) == KILN_OK, "%s", why);
    return p;
}

/* Returns a checked problem with channels and inputs up to about the given sizes. */
static inline kiln_problem random_problem(dice *d, int64_t channels, int64_t input)
{
    for (;;) {
        kiln_problem p = {.direction = (kiln_direction)dice_roll(d, 0, 2)};
        static const int64_t ranks[] = {2, 2, 1, 3};
        p.transposed = dice_roll(d, 0, 3) == 0;
        p.spatial_rank = (int)dice_pick(d, ranks, 4);
        p.batch = dice_roll(d, 1, 3);
        random_channels(d, &p, channels);
        for (int i = 0; i < p.spatial_rank; i++)
            random_axis(d, &p, i, p.spatial_rank == 3 ? (input + 1) / 2 : input);
        random_types(d, &p);
        random_epilogue(d, &p, (kiln_activation)(KILN_ACTIVATIONS - 1));
        if (kiln_problem_check(&p, NULL) == KILN_OK)
            return p;
    }
}

/* All tensors of a problem, in host memory. */
typedef struct operands {
    void *x, *w, *y, *residual;
    float *bias;
    reference_tensors r;
} operands;

static inline void *array_new(kiln_type type, int64_t count)
{
    return calloc((size_t)count, kiln_type_size(type));
}

static inline operands operands_new(const kiln_problem *p, host_fill fill, uint64_t seed)
{
    int64_t nx = kiln_problem_count(p, 'x'), nw = kiln_problem_count(p, 'w'),
            ny = kiln_problem_count(p, 'y'), terms = reference_terms(p);
    operands t = {
        .x = array_new(p->x_type, nx),
        .w = array_new(p->w_type, nw),
        .y = array_new(p->y_type, ny),
        .residual = array_new(p->y_type, ny),
        .bias = array_new(KILN_F32, p->out_channels),
    };
    host_fill_tensor(fill, seed, HOST_X, p->x_type, terms, t.x, nx);
    host_fill_tensor(fill, seed, HOST_W, p->w_type, terms, t.w, nw);
    host_fill_tensor(fill, seed, HOST_Y, p->y_type, terms, t.y, ny);
    host_fill_tensor(fill, seed, HOST_RESIDUAL, p->y_type, terms, t.residual, ny);
    host_fill_tensor(fill, seed, HOST_BIAS, KILN_F32, terms, t.bias, p->out_channels);
    t.r = (reference_tensors){.x = t.x, .w = t.w, .y = t.y, .bias = t.bias, .residual = t.residual};
    return t;
}

static inline void operands_free(operands *t)
{
    free(t->x);
    free(t->w);
    free(t->y);
    free(t->residual);
    free(t->bias);
}

/* Returns the exact result, rounded once, in new memory. */
static inline void *rounded_result(const kiln_problem *p, const operands *t)
{
    int64_t n = reference_count(p);
    double *value = calloc((size_t)n, sizeof *value), *magnitude = calloc((size_t)n, sizeof *value);
    void *got = array_new(reference_type(p), n);
    reference_run(p, &t->r, NULL, n, value, magnitude);
    for (int64_t i = 0; i < n; i++)
        host_set(reference_type(p), got, i, value[i]);
    free(value);
    free(magnitude);
    return got;
}

#endif
