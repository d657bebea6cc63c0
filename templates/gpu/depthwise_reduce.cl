/* depthwise_reduce.cl: backward weights of groups of one source channel: each gradient is the sum of
 * products of two planes, which the items of a group share.
 *
 *     dy, one channel of all images, as one row of pixels:
 *
 *         | part 0            | part 1            | ...          a work-group for each channel and part
 *         | 0 1 2 3 0 1 2 ... | 0 1 2 3 0 1 ...                  item that adds a pixel's products
 *
 * An item keeps a sum for each tap. In the end the group adds them up, as a tree in local memory.
 * Parts are added by sum_parts.cl, in order, so that two runs give the same bits.
 *
 * Grid      (T_GROUP * channels of dy, T_PARTS), groups of T_GROUP, a power of two.
 * Defines   those of types.cl, and
 *   P_SRC_a, P_DST_a, P_FILTER_a, P_STRIDE_a, P_DILATION_a, P_PAD_a    of x and dy along a = D, H, W
 *   P_IMAGES, P_CHANNELS    of dy; D_MULTIPLE: of those, how many read one channel of x
 *   T_GROUP, T_PARTS        above
 * Assumes   x and dy are plain, [n][channel][d][h][w].
 */
#include "types.cl"

#define TAPS (P_FILTER_D * P_FILTER_H * P_FILTER_W)
#define SRC_PLANE ((INDEX_T)P_SRC_D * P_SRC_H * P_SRC_W)
#define DST_PLANE (P_DST_D * P_DST_H * P_DST_W)
#define PIXELS (P_IMAGES * DST_PLANE)
#define SHARE ((PIXELS + T_PARTS - 1) / T_PARTS)

#if T_PARTS > 1
#define OUT_T ACC_T
#define PUT(i, v) dw[(INDEX_T)part * P_CHANNELS * TAPS + (i)] = (v)
#else
#define OUT_T DST_T
#define PUT(i, v) DST_STORE(dw, i, v)
#endif

kernel GROUP_SIZE(T_GROUP, 1, 1) void depthwise_reduce(global const SRC_T *restrict x,
                                                       global const SRC_T *restrict dy,
                                                       global OUT_T *restrict dw)
{
    local ACC_T all[TAPS * T_GROUP];
    const int item = get_local_id(0), channel = get_group_id(0), part = get_group_id(1);
    const int end = min((part + 1) * SHARE, PIXELS);
    ACC_T sum[TAPS];
    UNROLL
    for (int t = 0; t < TAPS; t++)
        sum[t] = 0;
    for (int pixel = part * SHARE + item; pixel < end; pixel += T_GROUP) {
        const int image = pixel / DST_PLANE, own = pixel % DST_PLANE;
        const int d = own / (P_DST_H * P_DST_W) * P_STRIDE_D - P_PAD_D,
                  h = own / P_DST_W % P_DST_H * P_STRIDE_H - P_PAD_H,
                  w = own % P_DST_W * P_STRIDE_W - P_PAD_W;
        const ACC_T gradient =
            SRC_LOAD(dy, ((INDEX_T)image * P_CHANNELS + channel) * DST_PLANE + own);
        global const SRC_T *plane =
            x + ((INDEX_T)image * (P_CHANNELS / D_MULTIPLE) + channel / D_MULTIPLE) * SRC_PLANE;
        UNROLL
        for (int t = 0; t < TAPS; t++) {
            const int at_d = d + t / (P_FILTER_H * P_FILTER_W) * P_DILATION_D,
                      at_h = h + t / P_FILTER_W % P_FILTER_H * P_DILATION_H,
                      at_w = w + t % P_FILTER_W * P_DILATION_W;
            if ((uint)at_d < P_SRC_D && (uint)at_h < P_SRC_H && (uint)at_w < P_SRC_W)
                sum[t] += gradient *
                          SRC_LOAD(plane, ((INDEX_T)at_d * P_SRC_H + at_h) * P_SRC_W + at_w);
        }
    }
    UNROLL
    for (int t = 0; t < TAPS; t++)
        all[t * T_GROUP + item] = sum[t];
    for (int width = T_GROUP / 2; width > 0; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < width)
            for (int t = 0; t < TAPS; t++)
                all[t * T_GROUP + item] += all[t * T_GROUP + item + width];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int t = item; t < TAPS; t += T_GROUP)
        PUT((INDEX_T)channel * TAPS + t, all[t * T_GROUP]);
}
