/* depthwise_gather.cl: groups of one channel on both sides, an item for each element of the
 * destination, which gathers what its taps meet.
 *
 *     destination, in the order of its memory:   | 0 1 2 3 4 5 ...        item
 *     source:                                    neighbouring items read neighbouring elements of each
 *                                                tap, so that a cache line serves many of them
 *
 * Backward data is a sum over dy: of the taps those meet an element whose distance is a multiple of
 * the stride.
 *
 * Grid      the destination's elements, one dimension, in groups of T_GROUP; rounded up.
 * Defines   those of epilogue.cl, and
 *   P_SRC_a, P_DST_a, P_FILTER_a, P_STRIDE_a, P_DILATION_a, P_PAD_a    sizes along a = D, H, W
 *   P_IMAGES, P_CHANNELS       D_BACKWARD: backward data
 *   D_CHANNELS_LAST            of the destination's layout: NHWC and its kin
 *   D_SRC_IMAGE, _CHANNEL, _PLANE, _ROW, _PIXEL    of the source, elements from one to the next
 *   T_GROUP                    above
 */
#include "epilogue.cl"

#define TAPS (P_FILTER_D * P_FILTER_H * P_FILTER_W)
#define PLANE (P_DST_D * P_DST_H * P_DST_W)

/* Where a tap of the destination's `at` meets the source; -1: nowhere. */
#if D_BACKWARD
INLINE int meets(const int at, const int tap, const int pad, const int stride, const int dilation)
{
    const int from = at + pad - tap * dilation;
    return from % stride == 0 ? from / stride : -1;
}
#else
INLINE int meets(const int at, const int tap, const int pad, const int stride, const int dilation)
{
    return at * stride + tap * dilation - pad;
}
#endif
#define MEETS(A, at, tap) meets(at, tap, P_PAD_##A, P_STRIDE_##A, P_DILATION_##A)

kernel GROUP_SIZE(T_GROUP, 1, 1) void depthwise_gather(global const SRC_T *restrict src,
                                                       global const SRC_T *restrict w,
                                                       global DST_T *dst EPILOGUE_PARAMS)
{
    const INDEX_T i = get_global_id(0);
    if (i >= (INDEX_T)P_IMAGES * P_CHANNELS * PLANE)
        return;
#if D_CHANNELS_LAST
    const int channel = i % P_CHANNELS, pixel = i / P_CHANNELS % PLANE;
#else
    const int channel = i / PLANE % P_CHANNELS, pixel = i % PLANE;
#endif
    const int image = i / ((INDEX_T)PLANE * P_CHANNELS);
    const int d = pixel / (P_DST_H * P_DST_W), h = pixel / P_DST_W % P_DST_H, x = pixel % P_DST_W;
    src += (INDEX_T)image * D_SRC_IMAGE + (INDEX_T)channel * D_SRC_CHANNEL;
    w += (INDEX_T)channel * TAPS;
    ACC_T sum = 0;
    UNROLL
    for (int t = 0; t < TAPS; t++) {
        const int at_d = MEETS(D, d, t / (P_FILTER_H * P_FILTER_W)),
                  at_h = MEETS(H, h, t / P_FILTER_W % P_FILTER_H), at_w = MEETS(W, x, t % P_FILTER_W);
        if ((uint)at_d < P_SRC_D && (uint)at_h < P_SRC_H && (uint)at_w < P_SRC_W)
            sum += SRC_LOAD(w, t) * SRC_LOAD(src, (INDEX_T)at_d * D_SRC_PLANE +
                                                      (INDEX_T)at_h * D_SRC_ROW +
                                                      (INDEX_T)at_w * D_SRC_PIXEL);
    }
    DST_STORE(dst, i, FINISH(sum, channel, i));
}
