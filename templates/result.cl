/* result.cl: results of sums that a solver has left in a buffer, one item for each cell of the
 * destination, padding included.
 *
 *     s = sum - x_zero * (weights that met the source) - w_zero * (source under the filter) + bias
 *     v = Q_SCALE * w_scales[k] * s + bias + residual, activated
 *     y = v * Q_Y_FACTOR, of an integer rounded to nearest even, + y_zero, saturated
 *
 * Grid      {P_CELLS}
 * Defines   D_COORDS, D_INSIDE: as in reformat.cl; D_FROM: the sum's offset over n, c, d, h, w;
 *           those of quant_taps.cl; P_RANK, P_CHANNELS, P_GROUPS; SRC_TYPE, of sums: TYPE_I32 or
 *           TYPE_F32; P_ACTIVATION and its parameters as in epilogue.cl, and where they apply
 *   P_X_ZERO, D_X_ZERO_BUFFER=1   the zero point of what the solver read, with an int of a buffer
 *                                 added; D_FIRST: the sums of weights in their buffer
 *   Q_W_ZERO, D_W_ZERO_BUFFER=1, Q_Y_ZERO, D_Y_ZERO_BUFFER=1   the same of w and y
 *   Q_BIAS=1, Q_BIAS_I32=1, Q_SCALE, Q_W_SCALES=1, Q_Y_FACTOR
 *   Q_BETA, Q_RESIDUAL_TYPE, Q_RESIDUAL_ZERO, Q_RESIDUAL_AFTER=1
 *   Q_ROUNDING=1, 2   a fixed-point factor: kiln_rounding; Q_LEAST, Q_MOST: the activation's limits
 */
#include "epilogue.cl"
#include "quant_taps.cl"

#ifdef Q_BIAS
#define BIAS_PARAM , global const float *bias
#elif defined Q_BIAS_I32
#define BIAS_PARAM , global const int *bias
#else
#define BIAS_PARAM
#endif

/* The residual, which may be the destination itself. */
#ifdef Q_BETA
#if Q_RESIDUAL_TYPE == DST_TYPE
#define RESIDUAL_T DST_T
#define RESIDUAL_AT(i) DST_LOAD(residual, i)
#elif Q_RESIDUAL_TYPE == TYPE_U8
#define RESIDUAL_T uchar
#define RESIDUAL_AT(i) ((float)residual[i])
#else
#define RESIDUAL_T char
#define RESIDUAL_AT(i) ((float)residual[i])
#endif
#define RESIDUAL_PARAM , global const RESIDUAL_T *residual
#define RESIDUAL(i) (Q_BETA * (RESIDUAL_AT(i) - (float)(Q_RESIDUAL_ZERO)))
#else
#define RESIDUAL_PARAM
#endif

#if Q_ROUNDING
#define W_SCALES_PARAM , global const int *w_scales
#elif Q_W_SCALES
#define W_SCALES_PARAM , global const float *w_scales
#else
#define W_SCALES_PARAM
#endif

#ifdef D_X_ZERO_BUFFER
#define X_ZERO_PARAM , global const int *x_zero
#define X_ZERO ((uint)x_zero[0] + (uint)(P_X_ZERO))
#else
#define X_ZERO_PARAM
#define X_ZERO ((uint)(P_X_ZERO))
#endif
#ifdef D_W_ZERO_BUFFER
#define W_ZERO_PARAM , global const int *w_zero
#define W_ZERO ((uint)w_zero[0])
#else
#define W_ZERO_PARAM
#define W_ZERO ((uint)(Q_W_ZERO))
#endif
#ifdef D_Y_ZERO_BUFFER
#define Y_ZERO_PARAM , global const int *y_zero
#define Y_ZERO y_zero[0]
#else
#define Y_ZERO_PARAM
#ifdef Q_Y_ZERO
#define Y_ZERO (Q_Y_ZERO)
#else
#define Y_ZERO 0
#endif
#endif
#ifdef P_X_ZERO
#define WEIGHT_SUMS_PARAM , global const int *weight_sums
#else
#define WEIGHT_SUMS_PARAM
#endif
#ifdef Q_W_ZERO
#define SOURCE_SUMS_PARAM , global const int *source_sums
#else
#define SOURCE_SUMS_PARAM
#endif

#if DST_TYPE == TYPE_I8
#define LEAST -128
#define MOST 127
#else
#define LEAST 0
#define MOST 255
#endif

#if Q_ROUNDING
/* s * multiplier * 2^(shift - 31). The last shift of KILN_ROUND_FIXED_TWICE rounds ties away from
 * zero, that of KILN_ROUND_FIXED_ONCE upwards. */
static inline int fixed(const int s, const int multiplier, const int shift)
{
#if Q_ROUNDING == 1
    const int left = max(shift, 0), right = max(-shift, 0);
    const int moved = (int)((uint)s << left);
    const bool most = moved == -0x7fffffff - 1 && moved == multiplier;
    const long product = (long)moved * multiplier;
    const long nudge = product >= 0 ? 1L << 30 : 1 - (1L << 30);
    const int high = most ? 0x7fffffff : (int)((product + nudge) / (1L << 31));
    const int mask = (int)((1L << right) - 1), rest = high & mask;
    const int bound = (mask >> 1) + (high < 0);
    return (right > 30 ? (high < 0 ? -1 : 0) : high >> right) + (rest > bound);
#else
    const int total = 31 - shift;
    return (int)(((long)s * multiplier + (1L << (total - 1))) >> total);
#endif
}

static inline VAL_T limited(const int v, const int zero)
{
    int least = LEAST, most = MOST;
#ifdef Q_LEAST
    least = max(least, zero);
#endif
#ifdef Q_MOST
    most = min(most, zero + Q_MOST);
#endif
    return (VAL_T)clamp((int)clamp((long)v + zero, -0x7fffffffL, 0x7fffffffL), least, most);
}
#endif

/* D_COORDS has the axes that the tensor has. */
#if P_RANK > 2
#define AT_D d
#else
#define AT_D 0
#endif
#if P_RANK > 1
#define AT_H h
#else
#define AT_H 0
#endif

kernel void result(global const SRC_T *sums,
                   global DST_T *dst BIAS_PARAM RESIDUAL_PARAM W_SCALES_PARAM X_ZERO_PARAM
                       W_ZERO_PARAM Y_ZERO_PARAM WEIGHT_SUMS_PARAM SOURCE_SUMS_PARAM)
{
    const INDEX_T cell = get_global_id(0);
    if (cell >= P_CELLS)
        return;
    const INDEX_T D_COORDS;
    if (!(D_INSIDE)) {
        DST_STORE(dst, cell, (VAL_T)0);
        return;
    }
    ACC_T sum = SRC_LOAD(sums, D_FROM);
#ifdef P_X_ZERO
    sum -= (ACC_T)(X_ZERO * (uint)weight_sums[D_FIRST + class_of(AT_D, AT_H, w) * P_CHANNELS + c]);
#endif
#ifdef Q_W_ZERO
    const INDEX_T image = n * P_GROUPS + c / (P_CHANNELS / P_GROUPS);
    const INDEX_T row = (image * P_SIZE_D + AT_D) * P_SIZE_H + AT_H;
    sum -= (ACC_T)(W_ZERO * (uint)source_sums[row * P_SIZE_W + w]);
#endif
#ifdef Q_BIAS_I32
    sum += bias[c];
#endif
#if DST_TYPE == TYPE_I32
    DST_STORE(dst, cell, sum);
#elif Q_ROUNDING
    DST_STORE(dst, cell, limited(fixed(sum, w_scales[2 * c], w_scales[2 * c + 1]), Y_ZERO));
#else
    float v = (float)sum;
#if defined Q_W_SCALES && defined Q_SCALE
    v *= Q_SCALE * w_scales[c];
#elif defined Q_W_SCALES
    v *= w_scales[c];
#elif defined Q_SCALE
    v *= Q_SCALE;
#endif
#ifdef Q_BIAS
    v += bias[c];
#endif
#if defined Q_BETA && !Q_RESIDUAL_AFTER
    v += RESIDUAL(cell);
#endif
    v = kiln_activate(v);
#if defined Q_BETA && Q_RESIDUAL_AFTER
    v += RESIDUAL(cell);
#endif
#ifdef Q_Y_FACTOR
    v *= Q_Y_FACTOR;
#endif
#if DST_TYPE == TYPE_I8 || DST_TYPE == TYPE_U8
    v = rint(KILN_NUMBER(float, v)) + (float)Y_ZERO;
#endif
    DST_STORE(dst, cell, v);
#endif
}
