/* naive.cl: any convolution, one work-item per destination element, every size an argument.
 *
 * Grid      the destination's elements, one dimension, in groups of D_GROUP.
 * Defines   P_DIRECTION = 0 forward, 1 backward data, 2 backward weights; D_GROUP; epilogue.cl's.
 * Assumes   plain layouts: data [n][channel][d][h][w], weights [k][c / g][d][h][w].
 *
 * Whatever the direction, an element is a sum of products a * b over four nested levels: one over
 * channels (images, for the weights) and one for each spatial axis. On a level both sources advance
 * by a fixed step, because the terms that fall into padding, and in backward data the terms that
 * stride skips, are cut off before the loops start. One axis of a forward pass at output 1, with
 * filter 3, dilation 2, stride 1, pad 3:
 *
 *     input    .   .   .   0   1   2   3        a starts at 0, step 2 (dilation)
 *     taps         0       1       2            b starts at 1, step 1
 *                  cut off                      count 2
 *
 * Of the two levels "w" and "channels" the longer is innermost. Each innermost run is summed by
 * itself and then added to the total, so a sum of n runs of m terms carries the rounding errors of
 * about n + m / 4 additions. i8 sums are kept modulo 2^32: exact wherever the whole sum fits an
 * int, whatever its parts did, and what an i32 result is. More than 131071 products may not fit (in
 * backward weights a sum has n * out of them): with D_LONG_SUMS other results have sums of 64 bits.
 */
#include "epilogue.cl"

#define FORWARD 0
#define BACKWARD_DATA 1
#define BACKWARD_WEIGHTS 2

#if SRC_TYPE == TYPE_I8 && !defined D_LONG_SUMS
#define SUM_T uint
#else
#define SUM_T ACC_T
#endif

/* The sizes of one spatial axis. `jump` is for backward data: the distance between two taps that
 * reach the same input element, stride / gcd(stride, dilation). */
typedef struct {
    INDEX_T in, out, filter, stride, dilation, pad, jump;
} axis_sizes;

#define AXIS_PARAMS(A)                                                                             \
    INDEX_T in_##A, INDEX_T out_##A, INDEX_T filter_##A, INDEX_T stride_##A, INDEX_T dilation_##A, \
        INDEX_T pad_##A, INDEX_T jump_##A
#define AXIS(A) {in_##A, out_##A, filter_##A, stride_##A, dilation_##A, pad_##A, jump_##A}

/* Where a and b start on a level, how far they move, and how often there is a term. */
typedef struct {
    INDEX_T count, a, b, a_step, b_step;
} level;

#if P_DIRECTION == BACKWARD_DATA
#define DESTINATION_SIZE in
#define TAPS filter
#define A_SIZE out
#define B_SIZE filter

/* Input element `at` got output o through tap f where o * stride = at + pad - f * dilation. */
static inline level axis_level(axis_sizes s, INDEX_T at)
{
    INDEX_T t = at + s.pad, f = 0, last = min(s.jump, s.filter);
    while (f < last && (t - f * s.dilation) % s.stride != 0)
        f++;
    INDEX_T back = s.dilation / (s.stride / s.jump);
    INDEX_T o = (t - f * s.dilation) / s.stride;
    INDEX_T taps = f < last ? (s.filter - 1 - f) / s.jump + 1 : 0;
    INDEX_T skip = o < s.out ? 0 : min(taps, (o - s.out) / back + 1);
    INDEX_T end = o < 0 ? 0 : min(taps, o / back + 1);
    level l = {max(end - skip, (INDEX_T)0), o - skip * back, f + skip * s.jump, -back, s.jump};
    return l;
}
#else
#define A_SIZE in
#if P_DIRECTION == FORWARD
#define DESTINATION_SIZE out
#define TAPS filter
#define B_SIZE filter
#else
#define DESTINATION_SIZE filter
#define TAPS out
#define B_SIZE out
#endif

/* Output o sees input o * stride + f * dilation - pad through tap f. Forward stands at an output
 * and walks over the taps; backward weights stands at a tap and walks over the outputs. */
static inline level axis_level(axis_sizes s, INDEX_T at)
{
#if P_DIRECTION == FORWARD
    INDEX_T first = at * s.stride - s.pad, step = s.dilation;
#else
    INDEX_T first = at * s.dilation - s.pad, step = s.stride;
#endif
    INDEX_T skip = first < 0 ? (step - 1 - first) / step : 0;
    INDEX_T end = first < s.in ? min(s.TAPS, (s.in - 1 - first) / step + 1) : 0;
    level l = {max(end - skip, (INDEX_T)0), first + skip * step, skip, step, 1};
    return l;
}
#endif

/* Turns positions along an axis into element offsets. */
static inline level scaled(level l, INDEX_T a_pitch, INDEX_T b_pitch)
{
    level r = {l.count, l.a * a_pitch, l.b * b_pitch, l.a_step * a_pitch, l.b_step * b_pitch};
    return r;
}

/* Four sums at once, for the sake of accuracy and of deep pipelines. */
static inline SUM_T innermost(global const SRC_T *a, global const SRC_T *b, level l)
{
    SUM_T s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    INDEX_T i = 0;
    for (; i < l.count - 3; i += 4) {
        s0 += SRC_LOAD(a, i * l.a_step) * SRC_LOAD(b, i * l.b_step);
        s1 += SRC_LOAD(a, (i + 1) * l.a_step) * SRC_LOAD(b, (i + 1) * l.b_step);
        s2 += SRC_LOAD(a, (i + 2) * l.a_step) * SRC_LOAD(b, (i + 2) * l.b_step);
        s3 += SRC_LOAD(a, (i + 3) * l.a_step) * SRC_LOAD(b, (i + 3) * l.b_step);
    }
    for (; i < l.count; i++)
        s0 += SRC_LOAD(a, i * l.a_step) * SRC_LOAD(b, i * l.b_step);
    return (s0 + s1) + (s2 + s3);
}

/* a and b: x, w forward; dy, w in backward data; x, dy in backward weights. `cg` and `kg` are
 * channels of one group. */
kernel GROUP_SIZE(D_GROUP, 1, 1) void naive(global const SRC_T *restrict a,
                                            global const SRC_T *restrict b, global DST_T *dst,
                                            INDEX_T count, INDEX_T n, INDEX_T g, INDEX_T cg,
                                            INDEX_T kg, AXIS_PARAMS(d), AXIS_PARAMS(h),
                                            AXIS_PARAMS(w) EPILOGUE_PARAMS)
{
    if (get_global_id(0) >= (size_t)count)
        return;
    const axis_sizes sd = AXIS(d), sh = AXIS(h), sw = AXIS(w);
    const INDEX_T index = (INDEX_T)get_global_id(0);
    INDEX_T row = index;
    INDEX_T at_w = row % sw.DESTINATION_SIZE;
    row /= sw.DESTINATION_SIZE;
    INDEX_T at_h = row % sh.DESTINATION_SIZE;
    row /= sh.DESTINATION_SIZE;
    INDEX_T at_d = row % sd.DESTINATION_SIZE;
    row /= sd.DESTINATION_SIZE;

    const INDEX_T a_plane = sd.A_SIZE * sh.A_SIZE * sw.A_SIZE;
    const INDEX_T b_plane = sd.B_SIZE * sh.B_SIZE * sw.B_SIZE;
#if P_DIRECTION == FORWARD
    INDEX_T channel = row % (g * kg), image = row / (g * kg), group = channel / kg;
    level channels = {cg, image * g * cg + group * cg, channel * cg, 1, 1};
#elif P_DIRECTION == BACKWARD_DATA
    INDEX_T channel = row % (g * cg), image = row / (g * cg), group = channel / cg;
    level channels = {kg, image * g * kg + group * kg, group * kg * cg + channel % cg, 1, cg};
#else
    INDEX_T channel = row / cg, group = channel / kg;
    level channels = {n, group * cg + row % cg, channel, g * cg, g * kg};
#endif
    channels = scaled(channels, a_plane, b_plane);
    const level ld = scaled(axis_level(sd, at_d), sh.A_SIZE * sw.A_SIZE, sh.B_SIZE * sw.B_SIZE);
    const level lh = scaled(axis_level(sh, at_h), sw.A_SIZE, sw.B_SIZE);
    const level lw = axis_level(sw, at_w);
    const bool flat = channels.count < sw.TAPS;
    const level inner = flat ? lw : channels, outer = flat ? channels : lw;

    SUM_T sum = 0;
    for (INDEX_T i = 0; i < ld.count; i++)
        for (INDEX_T j = 0; j < lh.count; j++)
            for (INDEX_T k = 0; k < outer.count; k++) {
                INDEX_T ia = ld.a + i * ld.a_step + lh.a + j * lh.a_step + outer.a + inner.a;
                INDEX_T ib = ld.b + i * ld.b_step + lh.b + j * lh.b_step + outer.b + inner.b;
                sum += innermost(a + ia + k * outer.a_step, b + ib + k * outer.b_step, inner);
            }
    DST_STORE(dst, index, FINISH((ACC_T)sum, channel, index));
}
