/* depthwise_gather.cl: groups of one channel on both sides, an item for a few elements of a column of
 * the destination, which gathers what their taps meet.
 *
 *     destination, one channel of an image:       source:
 *
 *         item 0 1 2 3 ...                            every row that an item's elements meet is read
 *       +--+--+--+--+---                              once for all of them; neighbouring items read
 *       | 0| 0| 0| 0|     D_ROWS elements             neighbouring elements
 *       | 1| 1| 1| 1|     of an item
 *       +--+--+--+--+---
 *
 * Along an axis, tap t of the destination's element q meets the source's element
 * (q * stride + t * dilation - pad), or for backward data (q + pad - t * dilation) / stride where that
 * leaves no rest. Backward data with a stride: D_ROWS is a multiple of it, so that it is known which
 * taps meet what in a row; in a column an item has taps first, first + D_JUMP, ... and no others.
 *
 * Grid      (columns of the destination * strips of D_ROWS rows * depth * channels * images), one
 *           dimension, in groups of T_GROUP, rounded up; neighbouring items in the order of memory.
 * Defines   those of epilogue.cl, and
 *   P_SRC_a, P_DST_a, P_FILTER_a, P_STRIDE_a, P_DILATION_a, P_PAD_a    sizes along a = D, H, W
 *   P_IMAGES, P_CHANNELS       D_BACKWARD: backward data
 *   D_CHANNELS_LAST            of the destination's layout: NHWC and its kin
 *   D_SRC_IMAGE, _CHANNEL, _PLANE, _ROW, _PIXEL, D_DST_...    elements from one to the next
 *   D_ROWS                     of the destination, an item's
 *   D_FIRST, D_WINDOW          the first source row that the elements of the first strip meet, which
 *                              may be negative, and how many
 *   D_JUMP, D_MOVE             of columns: from one of an item's taps to the next; columns of the
 *                              source between what the two meet
 *   T_GROUP                    above
 */
#include "epilogue.cl"

#define TAPS (P_FILTER_D * P_FILTER_H * P_FILTER_W)
#define STRIPS ((P_DST_H + D_ROWS - 1) / D_ROWS)
#define ITEMS ((INDEX_T)P_IMAGES * P_CHANNELS * P_DST_D * STRIPS * P_DST_W)
#define COLUMN_TAPS ((P_FILTER_W + D_JUMP - 1) / D_JUMP) /* at most */

/* `at` is a column, or a plane: what tap `t` meets; -1: nothing. */
#if D_BACKWARD
INLINE int meets(const int at, const int t, const int pad, const int stride, const int dilation)
{
    const int from = at + pad - t * dilation;
    return from % stride == 0 ? from / stride : -1;
}
#else
INLINE int meets(const int at, const int t, const int pad, const int stride, const int dilation)
{
    return at * stride + t * dilation - pad;
}
#endif

/* The source row where the window of a strip begins, and the strip's element for which tap `t` meets
 * row `j` of the window, if it is one. */
#if D_BACKWARD
#define ROW_OF(first) ((first) / P_STRIDE_H + D_FIRST)
#define ELEMENT(j, t) (((j) + D_FIRST) * P_STRIDE_H + (t) * P_DILATION_H - P_PAD_H)
#define IS_ELEMENT(j, t) (ELEMENT(j, t) >= 0 && ELEMENT(j, t) < D_ROWS)
#else
#define ROW_OF(first) ((first) * P_STRIDE_H + D_FIRST)
#define ELEMENT(j, t) (((j) - (t) * P_DILATION_H) / P_STRIDE_H)
#define IS_ELEMENT(j, t)                                                                           \
    ((j) >= (t) * P_DILATION_H && ((j) - (t) * P_DILATION_H) % P_STRIDE_H == 0 &&                  \
     ELEMENT(j, t) < D_ROWS)
#endif

/* The first tap of a column; P_FILTER_W: there is none. */
INLINE int first_tap(const int column)
{
    int t = 0;
#if D_BACKWARD && P_STRIDE_W > 1
    while (t < P_FILTER_W && (column + P_PAD_W - t * P_DILATION_W) % P_STRIDE_W != 0)
        t = t + 1 < D_JUMP ? t + 1 : P_FILTER_W;
#endif
    return t;
}

kernel GROUP_SIZE(T_GROUP, 1, 1) void depthwise_gather(global const SRC_T *restrict src,
                                                       global const SRC_T *restrict w,
                                                       global DST_T *dst EPILOGUE_PARAMS)
{
    INDEX_T i = get_global_id(0);
    if (i >= ITEMS)
        return;
#if D_CHANNELS_LAST
    const int channel = i % P_CHANNELS;
    i /= P_CHANNELS;
#endif
    const int column = i % P_DST_W;
    i /= P_DST_W;
    const int strip = i % STRIPS;
    i /= STRIPS;
    const int d = i % P_DST_D;
    i /= P_DST_D;
#if !D_CHANNELS_LAST
    const int channel = i % P_CHANNELS;
    i /= P_CHANNELS;
#endif
    const int first_row = strip * D_ROWS, tap = first_tap(column);
    const int row = ROW_OF(first_row), from = meets(column, tap, P_PAD_W, P_STRIDE_W, P_DILATION_W);
    src += i * D_SRC_IMAGE + (INDEX_T)channel * D_SRC_CHANNEL;
    w += (INDEX_T)channel * TAPS + tap;

    bool meets_one[COLUMN_TAPS];
    UNROLL
    for (int k = 0; k < COLUMN_TAPS; k++)
        meets_one[k] =
            ((uint)(from + k * D_MOVE) < P_SRC_W) & (D_JUMP == 1 || tap + k * D_JUMP < P_FILTER_W);
    ACC_T sum[D_ROWS];
    UNROLL
    for (int r = 0; r < D_ROWS; r++)
        sum[r] = 0;
    for (int tap_d = 0; tap_d < P_FILTER_D; tap_d++) {
        const int at_d = meets(d, tap_d, P_PAD_D, P_STRIDE_D, P_DILATION_D);
        if ((uint)at_d >= P_SRC_D)
            continue;
        ACC_T weight[P_FILTER_H][COLUMN_TAPS];
        UNROLL
        for (int t = 0; t < P_FILTER_H; t++)
            UNROLL
            for (int k = 0; k < COLUMN_TAPS; k++)
                weight[t][k] = D_JUMP == 1 || tap + k * D_JUMP < P_FILTER_W
                                   ? SRC_LOAD(w, (tap_d * P_FILTER_H + t) * P_FILTER_W + k * D_JUMP)
                                   : 0;
        const INDEX_T at = (INDEX_T)at_d * D_SRC_PLANE + (INDEX_T)row * D_SRC_ROW +
                           (INDEX_T)from * D_SRC_PIXEL;
        UNROLL
        for (int j = 0; j < D_WINDOW; j++) {
            const bool inside = (uint)(row + j) < P_SRC_H;
            UNROLL
            for (int k = 0; k < COLUMN_TAPS; k++) {
                const ACC_T v =
                    inside && meets_one[k]
                        ? SRC_LOAD(src, at + (INDEX_T)j * D_SRC_ROW + k * D_MOVE * D_SRC_PIXEL)
                        : 0;
                UNROLL
                for (int t = 0; t < P_FILTER_H; t++)
                    if (IS_ELEMENT(j, t))
                        sum[ELEMENT(j, t)] += weight[t][k] * v;
            }
        }
    }

    INDEX_T to = i * D_DST_IMAGE + (INDEX_T)channel * D_DST_CHANNEL + (INDEX_T)d * D_DST_PLANE +
                 (INDEX_T)first_row * D_DST_ROW + (INDEX_T)column * D_DST_PIXEL;
    UNROLL
    for (int r = 0; r < D_ROWS; r++)
        if (P_DST_H % D_ROWS == 0 || first_row + r < P_DST_H)
            DST_STORE(dst, to + r * D_DST_ROW, FINISH(sum[r], channel, to + r * D_DST_ROW));
}
