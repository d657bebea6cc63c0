/* Computes what is particular to quantised tensors. */
#include "quantised.h"

#include "host.h"

#include <math.h>
#include <string.h>

bool quantised_wraps(const kiln_problem *p)
{
    const kiln_quant *q = &p->quant;
    const kiln_epilogue *e = &p->epilogue;
    if (p->direction != KILN_FORWARD || !kiln_type_is_integer(p->x_type))
        return false;
    const bool scales = q->x_scale != 1 || q->w_scale != 1 || q->y_scale != 1;
    const bool own = q->residual_type && q->residual_type != p->y_type;
    return p->x_type == KILN_U8 || p->y_type == KILN_U8 || p->y_type == KILN_F16 ||
           p->y_type == KILN_BF16 || e->bias == KILN_I32 || scales || q->x_zero || q->w_zero ||
           q->y_zero || q->buffers || q->rounding || own || q->residual_scale != 1 ||
           q->residual_zero || q->residual_after;
}

bool quantised_widens(const kiln_problem *p)
{
    const kiln_quant *q = &p->quant;
    return p->direction == KILN_FORWARD && (p->x_type != p->w_type || q->x_zero || q->w_zero ||
                                            q->buffers & (KILN_QUANT_X_ZERO | KILN_QUANT_W_ZERO));
}

int quantised_zero(const kiln_problem *p, const reference_tensors *t, char tensor)
{
    const kiln_quant *q = &p->quant;
    if (tensor == 'x')
        return q->buffers & KILN_QUANT_X_ZERO ? t->x_zero : q->x_zero;
    if (tensor == 'w')
        return q->buffers & KILN_QUANT_W_ZERO ? t->w_zero : q->w_zero;
    return q->buffers & KILN_QUANT_Y_ZERO ? t->y_zero : q->y_zero;
}

double quantised_factor(const kiln_problem *p, const reference_tensors *t, int64_t k)
{
    const kiln_quant *q = &p->quant;
    double factor = (double)p->epilogue.alpha * (double)q->x_scale * (double)q->w_scale;
    if (q->buffers & KILN_QUANT_W_SCALES && !q->rounding)
        factor *= host_get(KILN_F32, t->w_scales, k);
    return factor;
}

double quantised_residual(const kiln_problem *p, const reference_tensors *t, int64_t index)
{
    const kiln_quant *q = &p->quant;
    const kiln_type type = q->residual_type ? q->residual_type : p->y_type;
    const double scale = (double)p->epilogue.beta * (double)q->residual_scale;
    return scale * (host_get(type, t->residual, index) - q->residual_zero);
}

/* value / 2^bits, rounded to nearest, ties away from zero. */
static int64_t divided_away(__int128 value, int bits)
{
    const __int128 half = bits ? (__int128)1 << (bits - 1) : 0;
    const __int128 size = value < 0 ? -value : value, whole = (size + half) >> bits;
    return (int64_t)(value < 0 ? -whole : whole);
}

/* The high half of a doubled product is rounded by adding half, less one below zero, and cutting
 * towards zero: ties go away from zero above zero only. */
static int64_t high_half(int64_t a, int64_t b)
{
    const int64_t product = a * b, half = product >= 0 ? 1 << 30 : 1 - (1 << 30);
    if (a == INT32_MIN && b == INT32_MIN)
        return INT32_MAX;
    return (product + half) / ((int64_t)1 << 31);
}

double quantised_fixed(const kiln_problem *p, const reference_tensors *t, int64_t k, double sum)
{
    const int64_t multiplier = (int64_t)host_get(KILN_I32, t->w_scales, 2 * k);
    const int shift = (int)host_get(KILN_I32, t->w_scales, 2 * k + 1);
    const kiln_epilogue *e = &p->epilogue;
    const int32_t s = (int32_t)sum;
    double v;
    if (p->quant.rounding == KILN_ROUND_FIXED_TWICE) {
        const int32_t left = (int32_t)((uint32_t)s << (shift > 0 ? shift : 0));
        v = (double)divided_away(high_half(left, multiplier), shift < 0 ? -shift : 0);
    } else {
        const __int128 product = (__int128)s * multiplier, one = 1;
        v = (double)(int32_t)((product + (one << (30 - shift))) >> (31 - shift));
    }
    if (e->activation != KILN_IDENTITY)
        v = fmax(v, 0);
    if (e->activation == KILN_CLIPPED_RELU)
        v = fmin(v, (double)roundf(e->param[0] / p->quant.y_scale));
    return v;
}

/* A stream of random numbers for each kind of value. */
enum { SCALES = 70, SHIFTS, ZEROS };

void quantised_fill(const kiln_problem *p, uint64_t seed, void *w_scales)
{
    for (int64_t k = 0; k < p->out_channels; k++) {
        const uint64_t bits = host_random(seed, SCALES, (uint64_t)k);
        if (!p->quant.rounding) {
            const int power = (int)(bits % 4) - 2;
            host_set(KILN_F32, w_scales, k, ldexp(1 + (double)(bits >> 40) * 0x1p-24, power));
            continue;
        }
        const int shift = (int)(host_random(seed, SHIFTS, (uint64_t)k) % 10) - 8;
        host_set(KILN_I32, w_scales, 2 * k, (double)(0x40000000 + (bits >> 34)));
        host_set(KILN_I32, w_scales, 2 * k + 1, shift);
    }
}

int quantised_draw(const kiln_problem *p, uint64_t seed, char tensor)
{
    const kiln_type type = tensor == 'x' ? p->x_type : tensor == 'w' ? p->w_type : p->y_type;
    const uint64_t bits = host_random(seed, ZEROS, (uint64_t)tensor);
    return type == KILN_U8 ? (int)(bits % 256) : (int)(bits % 256) - 128;
}
