/* direct_weights.cl: register-tiled backward weights, without atomics.
 *
 * x and dy have been laid out in lines by direct_lines.cl with the same row length, dy with zeros
 * between its rows. Then every weight is one dot product of two lines, a tap being an offset:
 *
 *     dw[k][c][tap] = sum over f of  dy[k][f] * x[slot(tap)][c][f + offset(tap)]
 *
 *      one item                            lines are read T_VEC positions at a time; the lanes
 *              T_PIX weights (c, tap)      of a sum are added up once, at the end
 *      T_K k   [ sum ][ sum ]
 *              [ sum ][ sum ]
 *
 * The positions are cut into T_SPLIT parts of D_PART; with more than one, sums stay apart, and
 * sum_parts.cl adds them in order, so the result is the same in every run.
 *
 * Grid of `weights`: (weights of a channel / T_PIX, groups * ceil(D_K / T_K), T_SPLIT), the first
 * two exchanged with T_ORDER=1. `out` is dw, or the parts one after the other.
 *
 * Defines, besides those of the files included; _a stands for each of _D, _H, _W:
 *   P_GROUPS            groups; D_K, D_C: channels of y and x in one group
 *   P_FILTER_a, P_STRIDE_a, P_DILATION_a; D_LINE_a, D_SLOTS_a, D_PERIOD_a as in direct.cl
 *   D_CHANNEL           positions of one channel's line; D_POSITIONS: f ends here
 *   D_PART              positions of one part, a multiple of T_VEC
 *   T_VEC T_K T_PIX     tile of one item, as above (T_K <= D_K)
 *   T_GROUP T_GROUP_K   items of a group over weights and over k
 *   D_W_GROUP, D_W_K, D_W_C, D_W_TAP   elements of dw from a group, a channel of dy, of x, and a
 *                       tap to the next one
 */
#include "parts.cl"

#define D_TAPS (P_FILTER_D * P_FILTER_H * P_FILTER_W)
#define D_WEIGHTS (D_C * D_TAPS)
#define D_BLOCKS ((D_K + T_K - 1) / T_K)
/* Weight j of channel k of a group, in dw or in a part, which lies as dw does. */
#define PLACE(group, k, j)                                                                         \
    ((INDEX_T)(group) * D_W_GROUP + (INDEX_T)(k) * D_W_K + (INDEX_T)((j) / D_TAPS) * D_W_C +       \
     (INDEX_T)((j) % D_TAPS) * D_W_TAP)

#if T_VEC == 1
#define ACC_V ACC_T
#define SRC_LOADV(p, i) SRC_LOAD(p, i)
#else
#define ACC_V KILN_CAT(ACC_T, T_VEC)
#define SRC_LOADV(p, i) SRC_LOADN(T_VEC, p, i)
#endif

static inline ACC_T sum_lanes(ACC_V v)
{
#if T_VEC == 1
    return v;
#else
#if T_VEC == 16
    KILN_CAT(ACC_T, 8) v8 = v.lo + v.hi;
    KILN_CAT(ACC_T, 4) v4 = v8.lo + v8.hi;
#elif T_VEC == 8
    KILN_CAT(ACC_T, 4) v4 = v.lo + v.hi;
#else
    KILN_CAT(ACC_T, 4) v4 = v;
#endif
    return (v4.x + v4.z) + (v4.y + v4.w);
#endif
}

/* The element of x that weight j of a channel multiplies by position 0 of dy. */
static inline INDEX_T line_of(int group, int j)
{
    int tap = j % D_TAPS;
    int s = tap % P_FILTER_W, r = tap / P_FILTER_W % P_FILTER_H,
        q = tap / (P_FILTER_W * P_FILTER_H);
    int slot = (q % D_PERIOD_D * D_SLOTS_H + r % D_PERIOD_H) * D_SLOTS_W + s % D_PERIOD_W;
    int d = q * P_DILATION_D / P_STRIDE_D, h = r * P_DILATION_H / P_STRIDE_H,
        w = s * P_DILATION_W / P_STRIDE_W;
    INDEX_T channel = (INDEX_T)slot * (P_GROUPS * D_C) + group * D_C + j / D_TAPS;
    return channel * D_CHANNEL + (d * D_LINE_H + h) * D_LINE_W + w;
}


#if T_ORDER
GROUP_SIZE(T_GROUP_K, T_GROUP, 1)
#else
GROUP_SIZE(T_GROUP, T_GROUP_K, 1)
#endif
kernel void weights(global const SRC_T *restrict x, global const SRC_T *restrict dy,
                    global OUT_T *restrict out)
{
    int block = get_global_id(!T_ORDER), part = get_global_id(2);
    if (block >= P_GROUPS * D_BLOCKS)
        return;
    int group = block / D_BLOCKS, k_own = block % D_BLOCKS * T_K, k0 = min(k_own, D_K - T_K);
    int j0 = get_group_id(T_ORDER) * (T_GROUP * T_PIX) + get_local_id(T_ORDER);
    dy += (INDEX_T)(group * D_K + k0) * D_CHANNEL;

    INDEX_T from[T_PIX];
#pragma unroll
    for (int j = 0; j < T_PIX; j++)
        from[j] = line_of(group, min(j0 + j * T_GROUP, D_WEIGHTS - 1));
    ACC_V acc[T_K * T_PIX];
#pragma unroll
    for (int i = 0; i < T_K * T_PIX; i++)
        acc[i] = (ACC_V)(0);

    const INDEX_T begin = (INDEX_T)part * D_PART, end = min(begin + D_PART, (INDEX_T)D_POSITIONS);
    for (INDEX_T f = begin; f < end; f += T_VEC) {
        ACC_V a[T_K];
#pragma unroll
        for (int k = 0; k < T_K; k++)
            a[k] = SRC_LOADV(dy, (INDEX_T)k * D_CHANNEL + f);
#pragma unroll
        for (int j = 0; j < T_PIX; j++) {
            const ACC_V b = SRC_LOADV(x, from[j] + f);
#pragma unroll
            for (int k = 0; k < T_K; k++)
                acc[k * T_PIX + j] += a[k] * b;
        }
    }

    out += (INDEX_T)part * P_GROUPS * D_K * D_WEIGHTS;
#pragma unroll
    for (int k = 0; k < T_K; k++)
#pragma unroll
        for (int j = 0; j < T_PIX; j++) {
            const ACC_T sum = sum_lanes(acc[k * T_PIX + j]);
            if (k0 + k >= k_own && j0 + j * T_GROUP < D_WEIGHTS)
                OUT_STORE(out, PLACE(group, k0 + k, j0 + j * T_GROUP), sum);
        }
}
