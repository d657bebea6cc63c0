/* Convolution by brute force: one loop nest per case, straight from the formulas in kiln_problem.h.
 * Shares no code with the reference. Header only. */
#ifndef TEST_BRUTE_H
#define TEST_BRUTE_H

#include "driver/reference/host.h"
#include "kiln_problem.h"

#include <math.h>
#include <string.h>

typedef struct brute {
    int64_t in[3], out[3], filter[3], stride[3], dilation[3], pad[3];
} brute;

static inline brute brute_of(const kiln_problem *p)
{
    brute b;
    for (int i = 0; i < 3; i++)
        b.in[i] = b.out[i] = b.filter[i] = b.stride[i] = b.dilation[i] = 1, b.pad[i] = 0;
    for (int i = 0; i < p->spatial_rank; i++) {
        b.in[i] = p->input[i];
        b.out[i] = kiln_problem_output(p, i);
        b.filter[i] = p->filter[i];
        b.stride[i] = p->stride[i];
        b.dilation[i] = p->dilation[i];
        b.pad[i] = p->pad_begin[i];
    }
    return b;
}

#define BRUTE_EACH(i, n) for (int64_t i = 0; i < (n); i++)

/* Computes the sums before the epilogue and the sums of absolute values. */
static inline void brute_sums(const kiln_problem *p, const void *x, const void *w, const void *y,
                              double *sum, double *absolute, int64_t count)
{
    const brute b = brute_of(p);
    memset(sum, 0, (size_t)count * sizeof *sum);
    memset(absolute, 0, (size_t)count * sizeof *absolute);
    int64_t c_each = p->in_channels / p->groups, k_each = p->out_channels / p->groups;
    /* A filter is laid on the points of y, or of x where transposed. */
    const int64_t *at = p->transposed ? b.in : b.out, *to = p->transposed ? b.out : b.in;
    BRUTE_EACH(n, p->batch)
    BRUTE_EACH(g, p->groups)
    BRUTE_EACH(c1, c_each)
    BRUTE_EACH(k1, k_each)
    BRUTE_EACH(i, at[0] * at[1] * at[2])
    BRUTE_EACH(f, b.filter[0] * b.filter[1] * b.filter[2])
    {
        int64_t f2 = f % b.filter[2], f1 = f / b.filter[2] % b.filter[1],
                f0 = f / b.filter[2] / b.filter[1];
        int64_t i2 = i % at[2], i1 = i / at[2] % at[1], i0 = i / at[2] / at[1];
        int64_t j0 = i0 * b.stride[0] + f0 * b.dilation[0] - b.pad[0],
                j1 = i1 * b.stride[1] + f1 * b.dilation[1] - b.pad[1],
                j2 = i2 * b.stride[2] + f2 * b.dilation[2] - b.pad[2];
        if (j0 < 0 || j0 >= to[0] || j1 < 0 || j1 >= to[1] || j2 < 0 || j2 >= to[2])
            continue;
        int64_t c = g * c_each + c1, k = g * k_each + k1;
        int64_t j = (j0 * to[1] + j1) * to[2] + j2;
        int64_t taps = b.filter[0] * b.filter[1] * b.filter[2];
        int64_t ix =
            (n * p->in_channels + c) * b.in[0] * b.in[1] * b.in[2] + (p->transposed ? i : j);
        int64_t iy =
            (n * p->out_channels + k) * b.out[0] * b.out[1] * b.out[2] + (p->transposed ? j : i);
        int64_t iw = (p->transposed ? c * k_each + k1 : k * c_each + c1) * taps + f;
        double vx = p->direction == KILN_FORWARD || p->direction == KILN_BACKWARD_WEIGHTS
                        ? host_get(p->x_type, x, ix)
                        : 1;
        double vw = p->direction != KILN_BACKWARD_WEIGHTS ? host_get(p->w_type, w, iw) : 1;
        double vy = p->direction != KILN_FORWARD ? host_get(p->y_type, y, iy) : 1;
        int64_t d = p->direction == KILN_FORWARD         ? iy
                    : p->direction == KILN_BACKWARD_DATA ? ix
                                                         : iw;
        sum[d] += vx * vw * vy;
        absolute[d] += fabs(vx * vw * vy);
    }
}

#endif
