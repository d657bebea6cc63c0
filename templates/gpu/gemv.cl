/* gemv.cl: a 1x1 convolution of few pixels, where weights are read once and little else happens:
 * forward and backward data as products of vectors.
 *
 *     lanes of a team        0     1     2    ...   T_LANES - 1
 *     terms of a pixel    +-----+-----+-----+-----+-----+    each lane multiplies vectors of
 *     and of a channel's  |  v  |  v  |  v  |     |  v  |    D_VECTOR terms, T_LANES * D_VECTOR of
 *     weights             +-----+-----+-----+-----+-----+    them in a step, and keeps its own sums
 *
 * A team has a tile of the results: T_PIXELS pixels by T_CHANNELS channels. At last the lanes' sums
 * pass through local memory, where an item adds the sums of a result. Nothing else is shared, so
 * all reads of an item can be under way at once: the time of a layer of one pixel is that of one of
 * them.
 *
 * Grid      gemv: (tiles of channels * T_ITEMS, tiles of pixels, groups) in groups of (T_ITEMS, 1,
 *           1). gemv_pack: (D_SRC_C, D_DST_C, groups): the weights of backward data, channels of
 *           the source as neighbours; forward they lie so
 * Defines   those of epilogue.cl, and
 *   P_PIXELS                   of all images
 *   P_GROUPS, D_SRC_C, D_DST_C    groups, and channels of one of them
 *   D_VECTOR                   1, 4, 8 or 16: divides D_SRC_C
 *   T_ITEMS, T_LANES, T_PIXELS, T_CHANNELS    above; T_LANES divides T_ITEMS
 * Assumes   the channels of a pixel are neighbours, and pixels lie one after the other, in both
 *           tensors.
 */
#include "epilogue.cl"

kernel void gemv_pack(global const SRC_BITS_T *restrict w, global SRC_BITS_T *restrict packed)
{
    const int from = get_global_id(0), to = get_global_id(1), group = get_global_id(2);
    if (from >= D_SRC_C || to >= D_DST_C)
        return;
    packed[((INDEX_T)group * D_DST_C + to) * D_SRC_C + from] =
        w[((INDEX_T)group * D_SRC_C + from) * D_DST_C + to];
}

#if D_VECTOR == 1
#define TERMS_T ACC_T
#define LOAD_TERMS(p) SRC_LOAD(p, 0)
#else
#define TERMS_T KILN_CAT(ACC_T, D_VECTOR)
#define LOAD_TERMS(p) SRC_LOAD_WHOLE(D_VECTOR, p, 0)
#endif

#define TEAMS (T_ITEMS / T_LANES)
#define STEP_TERMS (T_LANES * D_VECTOR)
#define STEPS ((D_SRC_C + STEP_TERMS - 1) / STEP_TERMS)
#define GROUP_CHANNELS (TEAMS * T_CHANNELS)
#define RESULTS (T_PIXELS * GROUP_CHANNELS) /* of a group */
/* The distance of the lanes' sums from result to result: odd, so that items find the sums of
 * neighbouring results in different banks. */
#define SUMS_PITCH (T_LANES + 1)

/* Terms of so many steps are loaded before the first of them is multiplied. */
#define STEPS_AT_ONCE _Pragma("unroll 4")

INLINE void add_products(ACC_T sum[T_PIXELS][T_CHANNELS], const TERMS_T left[T_PIXELS],
                         const TERMS_T right[T_CHANNELS])
{
    UNROLL
    for (int p = 0; p < T_PIXELS; p++)
        UNROLL
        for (int k = 0; k < T_CHANNELS; k++)
            UNROLL
            for (int v = 0; v < D_VECTOR; v++)
                sum[p][k] +=
                    ((const private ACC_T *)&left[p])[v] * ((const private ACC_T *)&right[k])[v];
}

/* In four chains, in a fixed order. */
INLINE ACC_T sum_of_lanes(local const ACC_T *sums)
{
    ACC_T chain[4] = {0, 0, 0, 0};
    UNROLL
    for (int i = 0; i < T_LANES; i++)
        chain[i % 4] += sums[i];
    return (chain[0] + chain[1]) + (chain[2] + chain[3]);
}

kernel GROUP_SIZE(T_ITEMS, 1, 1) void gemv(global const SRC_T *restrict src,
                                           global const SRC_T *restrict w,
                                           global DST_T *dst EPILOGUE_PARAMS)
{
    local ACC_T sums[RESULTS * SUMS_PITCH];
    const int item = get_local_id(0), lane = item % T_LANES, team = item / T_LANES;
    const int group = get_group_id(2);
    const int p_first = get_group_id(1) * T_PIXELS, k_group = get_group_id(0) * GROUP_CHANNELS,
              k_first = k_group + team * T_CHANNELS;
    /* Past the last pixel or channel it is read again. */
    global const SRC_T *left[T_PIXELS], *right[T_CHANNELS];
    UNROLL
    for (int p = 0; p < T_PIXELS; p++)
        left[p] =
            src + (INDEX_T)min(p_first + p, P_PIXELS - 1) * (P_GROUPS * D_SRC_C) + group * D_SRC_C;
    UNROLL
    for (int k = 0; k < T_CHANNELS; k++)
        right[k] = w + ((INDEX_T)group * D_DST_C + min(k_first + k, D_DST_C - 1)) * D_SRC_C;

    ACC_T sum[T_PIXELS][T_CHANNELS];
    UNROLL
    for (int p = 0; p < T_PIXELS; p++)
        UNROLL
        for (int k = 0; k < T_CHANNELS; k++)
            sum[p][k] = 0;
    STEPS_AT_ONCE
    for (int step = 0; step < STEPS; step++) {
        const int term = step * STEP_TERMS + lane * D_VECTOR;
        const bool inside = D_SRC_C % STEP_TERMS == 0 || term < D_SRC_C;
        TERMS_T l[T_PIXELS], r[T_CHANNELS];
        UNROLL
        for (int p = 0; p < T_PIXELS; p++)
            l[p] = inside ? LOAD_TERMS(left[p] + term) : (TERMS_T)(0);
        UNROLL
        for (int k = 0; k < T_CHANNELS; k++)
            r[k] = inside ? LOAD_TERMS(right[k] + term) : (TERMS_T)(0);
        add_products(sum, l, r);
    }

    UNROLL
    for (int p = 0; p < T_PIXELS; p++)
        UNROLL
        for (int k = 0; k < T_CHANNELS; k++)
            sums[(p * GROUP_CHANNELS + team * T_CHANNELS + k) * SUMS_PITCH + lane] = sum[p][k];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = item; i < RESULTS; i += T_ITEMS) {
        const int pixel = p_first + i / GROUP_CHANNELS, k = k_group + i % GROUP_CHANNELS;
        const int channel = group * D_DST_C + k;
        const INDEX_T e = (INDEX_T)pixel * (P_GROUPS * D_DST_C) + channel;
        if (pixel < P_PIXELS && k < D_DST_C)
            DST_STORE(dst, e, FINISH(sum_of_lanes(sums + i * SUMS_PITCH), channel, e));
    }
}
