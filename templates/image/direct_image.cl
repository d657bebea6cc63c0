/* direct_image.cl: direct convolution over channel-major images and filter images.
 *
 * A pixel of an image holds four neighbouring channels. One item computes T_W pixels of a row of
 * the destination, T_KV channel blocks of each:
 *
 *                    T_W pixels of one row            for each source pixel (a b c d) and tap
 *     T_KV blocks    [ 4 sums ][ 4 sums ] ...           four filter pixels, of channels a, b, c, d:
 *     of 4 channels  [ 4 sums ][ 4 sums ] ...           sums += a * fa + b * fb + c * fc + d * fd
 *
 * Images, with x to the right and y down; n image, c and k channel, h and w pixel:
 *     source       (c / 4 * P_SRC_W + w, n * P_SRC_H + h), lane c % 4; the destination likewise
 *     filter       (c, k / 4 * D_TAPS + tap), lane k % 4
 *                  with D_FLAT: (tap * D_FLAT + c, k / 4)
 * An image may be larger than its tensor, so pixels past a tensor's last column may not be zero. A
 * column in padding is read at x = -1, since a pixel beside a row belongs to other channels; filter
 * rows in padding are left out. Lanes of the source past its last channel are never used.
 *
 * Grid: (D_TILES_W, groups * D_TILES_K), exchanged with T_ORDER=1, and all rows of all images.
 *
 * Defines, besides those of the files included; _a stands for _H and _W:
 *   P_SRC_a, P_DST_a, P_FILTER_a, P_STRIDE_a, P_DILATION_a, P_PAD_a
 *   D_SRC_C, D_DST_C    channels of a group; multiples of four if there are several groups
 *   D_GROUPS            channel groups
 *   D_FLAT              above; 0: not flat
 *   D_TILES_W, D_TILES_K   tiles of a row, of the channel blocks of a group
 *   T_W, T_KV           tile of one item
 *   T_LOCAL             locality of the pixels of a tile. 0: strided, D_TILES_W apart, so that
 *                       neighbouring items read neighbouring pixels; 1: adjacent; 2: adjacent, and
 *                       a row of the source is read once for all taps of a filter row
 *   T_ORDER             above
 *   T_GROUP_0, T_GROUP_1   work-group
 */
#include "image.cl"
#include "taps.cl"

#define D_TAPS (P_FILTER_H * P_FILTER_W)
#define D_SRC_BLOCKS ((D_SRC_C + 3) / 4)
#define D_DST_BLOCKS ((D_DST_C + 3) / 4)
#define D_NEXT (T_LOCAL ? 1 : D_TILES_W)
#define D_WINDOW ((T_W - 1) * P_STRIDE_W + (P_FILTER_W - 1) * P_DILATION_W + 1)

#define LANE(v, q) ((q) == 0 ? (v).x : (q) == 1 ? (v).y : (q) == 2 ? (v).z : (v).w)

/* A source pixel of the row whose first column is at `x`. */
static inline float4 source(read_only image2d_t src, int x, int y, int column)
{
    return READ(src, column >= 0 && column < P_SRC_W ? x + column : -1, y);
}

static inline float4 weight(read_only image2d_t filter, int c, int block, int tap)
{
#if D_FLAT
    return READ(filter, tap * D_FLAT + c, block);
#else
    return READ(filter, c, block * D_TAPS + tap);
#endif
}

/* Adds four channels of one tap: pixel i is v[i * step]. */
static inline void add_tap(float4 *acc, const float4 *v, const int step,
                           read_only image2d_t filter, int c, int block, int tap)
{
    UNROLL for (int q = 0; q < 4; q++)
    {
        if (D_SRC_C % 4 && c + q >= D_SRC_C)
            continue;
        float4 f[T_KV];
        UNROLL for (int k = 0; k < T_KV; k++) f[k] = weight(filter, c + q, block + k, tap);
        UNROLL for (int i = 0; i < T_W; i++)
            UNROLL for (int k = 0; k < T_KV; k++) acc[i * T_KV + k] += LANE(v[i * step], q) * f[k];
    }
}

/* Adds one row of the filter, its first tap at column `at` of pixel 0. */
static inline void add_row(float4 *acc, read_only image2d_t src, int x, int y, int at,
                           read_only image2d_t filter, int c, int block, int tap)
{
#if T_LOCAL == 2
    float4 window[D_WINDOW];
    UNROLL for (int i = 0; i < D_WINDOW; i++) window[i] = source(src, x, y, at + i);
    UNROLL for (int s = 0; s < P_FILTER_W; s++)
        add_tap(acc, window + s * P_DILATION_W, P_STRIDE_W, filter, c, block, tap + s);
#else
    for (int s = 0; s < P_FILTER_W; s++) {
        float4 v[T_W];
        UNROLL for (int i = 0; i < T_W; i++) v[i] =
            source(src, x, y, at + s * P_DILATION_W + i * D_NEXT * P_STRIDE_W);
        add_tap(acc, v, 1, filter, c, block, tap + s);
    }
#endif
}

kernel GROUP_SIZE(T_GROUP_0, T_GROUP_1, 1) void direct_image(read_only image2d_t src,
                                                             read_only image2d_t filter,
                                                             write_only image2d_t dst
                                                                 EPILOGUE_PARAMS)
{
    const int tile = get_global_id(T_ORDER), tile_k = get_global_id(1 - T_ORDER);
    const int row = get_global_id(2), n = row / P_DST_H;
    if (tile >= D_TILES_W || tile_k >= D_GROUPS * D_TILES_K)
        return;
    const int group = tile_k / D_TILES_K, k0 = tile_k % D_TILES_K * T_KV;
    const int w0 = tile * (T_LOCAL ? T_W : 1), block = group * D_DST_BLOCKS + k0;
    const int at_h = row % P_DST_H * P_STRIDE_H - P_PAD_H, at_w = w0 * P_STRIDE_W - P_PAD_W;
    const int begin = first_tap(at_h, P_DILATION_H);
    const int end = end_tap(at_h, P_SRC_H, P_FILTER_H, P_DILATION_H);

    float4 acc[T_W * T_KV];
    UNROLL for (int i = 0; i < T_W * T_KV; i++) acc[i] = 0.0f;
    for (int b = 0; b < D_SRC_BLOCKS; b++)
        for (int r = begin; r < end; r++)
            add_row(acc, src, (group * D_SRC_BLOCKS + b) * P_SRC_W,
                    n * P_SRC_H + at_h + r * P_DILATION_H, at_w, filter, b * 4, block,
                    r * P_FILTER_W);

    UNROLL for (int i = 0; i < T_W; i++)
    {
        const int w = w0 + i * D_NEXT;
        UNROLL for (int k = 0; k < T_KV; k++)
        {
            if (w < P_DST_W && k0 + k < D_DST_BLOCKS)
                PUT_PIXEL(dst, acc[i * T_KV + k], block + k,
                          (int2)((block + k) * P_DST_W + w, row));
        }
    }
}
