/* depthwise_image.cl: depthwise convolution over channel-major images, one filter per channel.
 *
 * A pixel of an image holds four neighbouring channels. One item computes T_W neighbouring pixels
 * of a row of the destination, all lanes at once:
 *
 *     sums of T_W pixels     [ 4 ][ 4 ][ 4 ] ...      += source pixel * filter pixel, lane by lane
 *
 * Images, with x to the right and y down; n image, c channel, h and w pixel:
 *     source       (c / 4 * P_SRC_W + w, n * P_SRC_H + h), lane c % 4; the destination likewise
 *     filter       (tap, c / 4), lane c % 4
 * An image may be larger than its tensor. A column in padding is read at x = -1, which is zero,
 * since a pixel beside a row belongs to other channels; filter rows in padding are left out.
 *
 * Grid: (D_TILES_W, channel blocks, all rows of all images).
 *
 * Defines, besides those of the files included; _a stands for _H and _W:
 *   P_SRC_a, P_DST_a, P_FILTER_a, P_STRIDE_a, P_DILATION_a, P_PAD_a
 *   D_TILES_W           tiles of a row
 *   T_W                 pixels of one item
 *   T_WINDOW            1: a row of the source is read once for all taps of a filter row
 *   T_GROUP_0, T_GROUP_1   work-group
 */
#include "image.cl"
#include "taps.cl"

#define D_BLOCKS ((D_CHANNELS + 3) / 4)
#define D_WINDOW ((T_W - 1) * P_STRIDE_W + (P_FILTER_W - 1) * P_DILATION_W + 1)

/* A source pixel of the row whose first column is at `x`. */
static inline float4 source(read_only image2d_t src, int x, int y, int column)
{
    return READ(src, column >= 0 && column < P_SRC_W ? x + column : -1, y);
}

/* Adds one row of the filter, its first tap at column `at` of pixel 0. */
static inline void add_row(float4 *acc, read_only image2d_t src, int x, int y, int at,
                           read_only image2d_t filter, int block, int tap)
{
#if T_WINDOW
    float4 window[D_WINDOW];
    UNROLL for (int i = 0; i < D_WINDOW; i++) window[i] = source(src, x, y, at + i);
    UNROLL
#endif
    for (int s = 0; s < P_FILTER_W; s++) {
        const float4 f = READ(filter, tap + s, block);
        UNROLL for (int i = 0; i < T_W; i++)
        {
            const int column = i * P_STRIDE_W + s * P_DILATION_W;
#if T_WINDOW
            acc[i] += window[column] * f;
#else
            acc[i] += source(src, x, y, at + column) * f;
#endif
        }
    }
}

kernel GROUP_SIZE(T_GROUP_0, T_GROUP_1, 1) void depthwise_image(read_only image2d_t src,
                                                                read_only image2d_t filter,
                                                                write_only image2d_t dst
                                                                    EPILOGUE_PARAMS)
{
    const int w0 = get_global_id(0) * T_W, block = get_global_id(1);
    const int row = get_global_id(2), n = row / P_DST_H;
    if (w0 >= P_DST_W || block >= D_BLOCKS)
        return;
    const int at_h = row % P_DST_H * P_STRIDE_H - P_PAD_H, at_w = w0 * P_STRIDE_W - P_PAD_W;
    const int begin = first_tap(at_h, P_DILATION_H);
    const int end = end_tap(at_h, P_SRC_H, P_FILTER_H, P_DILATION_H);

    float4 acc[T_W];
    UNROLL for (int i = 0; i < T_W; i++) acc[i] = 0.0f;
    for (int r = begin; r < end; r++)
        add_row(acc, src, block * P_SRC_W, n * P_SRC_H + at_h + r * P_DILATION_H, at_w, filter,
                block, r * P_FILTER_W);

    UNROLL for (int i = 0; i < T_W; i++)
    {
        if (w0 + i < P_DST_W)
            PUT_PIXEL(dst, acc[i], block, (int2)(block * P_DST_W + w0 + i, row));
    }
}
