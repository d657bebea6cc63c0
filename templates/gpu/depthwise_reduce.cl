/* depthwise_reduce.cl: backward weights of groups of few source channels: each gradient is the sum of
 * products of two planes, of a pair of channels, which the items of a group share.
 *
 *     dy, one channel of all images, in strips of T_ROWS rows:
 *
 *         | 0 1 2 3 4 .. | 7 8 9 0 1 .. |           item that adds the products of a column of a strip
 *         | image 0      | image 1      | ...       with the rows of x that its taps meet, each of them
 *         | part 0              | part 1 ...        read once
 *
 * A group has T_CHANNELS pairs and a part of their columns; as many items share a pair. An item
 * keeps a sum for each tap. In the end the group adds them up, as a tree in local memory. Parts are
 * added by sum_parts.cl, in order, so that two runs give the same bits.
 *
 * Grid      (T_GROUP * pairs / T_CHANNELS, T_PARTS), rounded up to groups of T_GROUP.
 * Defines   those of types.cl, and
 *   P_SRC_a, P_DST_a, P_FILTER_a, P_STRIDE_a, P_DILATION_a, P_PAD_a    of x and dy along a = D, H, W
 *   P_IMAGES, P_CHANNELS    of dy; D_MULTIPLE, D_SOURCES: channels of a group of dy and of x
 *   T_GROUP, T_CHANNELS, T_ROWS, T_PARTS    above; the first two are powers of two
 * Assumes   x and dy are plain, [n][channel][d][h][w].
 */
#include "types.cl"

#define TAPS (P_FILTER_D * P_FILTER_H * P_FILTER_W)
#define SRC_PLANE ((INDEX_T)P_SRC_D * P_SRC_H * P_SRC_W)
#define DST_PLANE ((INDEX_T)P_DST_D * P_DST_H * P_DST_W)
#define STRIPS ((P_DST_H + T_ROWS - 1) / T_ROWS)
#define PAIRS (P_CHANNELS * D_SOURCES)
#define COLUMNS (P_IMAGES * P_DST_D * STRIPS * P_DST_W) /* of strips, of a pair */
#define SHARERS (T_GROUP / T_CHANNELS)                  /* items of a pair */
#define WINDOW ((T_ROWS - 1) * P_STRIDE_H + (P_FILTER_H - 1) * P_DILATION_H + 1) /* rows of x */

/* The row of the strip whose tap `t` meets row `j` of the window, if there is one. */
#define ROW(j, t) (((j) - (t) * P_DILATION_H) / P_STRIDE_H)
#define IS_ROW(j, t)                                                                               \
    ((j) >= (t) * P_DILATION_H && ((j) - (t) * P_DILATION_H) % P_STRIDE_H == 0 && ROW(j, t) < T_ROWS)

#if T_PARTS > 1
#define OUT_T ACC_T
#define PUT(i, v) dw[(INDEX_T)part * PAIRS * TAPS + (i)] = (v)
#else
#define OUT_T DST_T
#define PUT(i, v) DST_STORE(dw, i, v)
#endif

/* The sums of one tap along the depth, [row][column], grow by a column of a strip. */
INLINE void add_column(private ACC_T *sum, global const SRC_T *x, global const SRC_T *dy,
                       const int first_row, const int column)
{
    ACC_T gradient[T_ROWS];
    UNROLL
    for (int r = 0; r < T_ROWS; r++)
        gradient[r] = first_row + r < P_DST_H ? SRC_LOAD(dy, r * P_DST_W) : 0;
    const int row = first_row * P_STRIDE_H - P_PAD_H, from = column * P_STRIDE_W - P_PAD_W;
    UNROLL
    for (int j = 0; j < WINDOW; j++) {
        const bool inside = (uint)(row + j) < P_SRC_H;
        UNROLL
        for (int k = 0; k < P_FILTER_W; k++) {
            const int at = from + k * P_DILATION_W;
            const ACC_T v = inside && (uint)at < P_SRC_W
                                ? SRC_LOAD(x, (INDEX_T)(row + j) * P_SRC_W + at)
                                : 0;
            UNROLL
            for (int t = 0; t < P_FILTER_H; t++)
                if (IS_ROW(j, t))
                    sum[t * P_FILTER_W + k] += gradient[ROW(j, t)] * v;
        }
    }
}

/* A tree's levels, one behind the other: for each tap and pair SHARERS values, then an eighth of
 * them, and so on to one. */
#define FOLDED(width) ((width) > 8 ? (width) / 8 : 1)
#define LEVELS (SHARERS + SHARERS / 8 + SHARERS / 64 + SHARERS / 512 + 1)

kernel GROUP_SIZE(T_GROUP, 1, 1) void depthwise_reduce(global const SRC_T *restrict x,
                                                       global const SRC_T *restrict dy,
                                                       global OUT_T *restrict dw)
{
    local ACC_T all[TAPS * T_CHANNELS * LEVELS];
    const int item = get_local_id(0), part = get_group_id(1);
    const int first = get_group_id(0) * T_CHANNELS, pair = first + item / SHARERS;
    const int channel = pair / D_SOURCES, source = channel / D_MULTIPLE * D_SOURCES + pair % D_SOURCES;
    const int end = (int)((long)COLUMNS * (part + 1) / T_PARTS);
    ACC_T sum[TAPS];
    UNROLL
    for (int t = 0; t < TAPS; t++)
        sum[t] = 0;
    if (T_CHANNELS == 1 || pair < PAIRS)
        for (int i = (int)((long)COLUMNS * part / T_PARTS) + item % SHARERS; i < end; i += SHARERS) {
            const int column = i % P_DST_W, first_row = i / P_DST_W % STRIPS * T_ROWS;
            const int d = i / (P_DST_W * STRIPS) % P_DST_D, image = i / (P_DST_W * STRIPS * P_DST_D);
            global const SRC_T *from =
                x + ((INDEX_T)image * (P_CHANNELS / D_MULTIPLE * D_SOURCES) + source) * SRC_PLANE;
            global const SRC_T *own = dy + ((INDEX_T)image * P_CHANNELS + channel) * DST_PLANE +
                                      ((INDEX_T)d * P_DST_H + first_row) * P_DST_W + column;
            UNROLL
            for (int t = 0; t < P_FILTER_D; t++) {
                const int at = d * P_STRIDE_D + t * P_DILATION_D - P_PAD_D;
                if ((uint)at < P_SRC_D)
                    add_column(sum + t * P_FILTER_H * P_FILTER_W,
                               from + (INDEX_T)at * P_SRC_H * P_SRC_W, own, first_row, column);
            }
        }
    UNROLL
    for (int t = 0; t < TAPS; t++)
        all[t * T_GROUP + item] = sum[t];
    barrier(CLK_LOCAL_MEM_FENCE);
    local ACC_T *level = all;
    UNROLL
    for (int width = SHARERS; width > 1; width = FOLDED(width)) {
        local ACC_T *next = level + TAPS * T_CHANNELS * width;
        const int across = FOLDED(width);
        for (int i = item; i < TAPS * T_CHANNELS * across; i += T_GROUP) {
            ACC_T folded = 0;
            UNROLL
            for (int j = 0; j < width / across; j++)
                folded += level[i / across * width + j * across + i % across];
            next[i] = folded;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        level = next;
    }
    for (int i = item; i < TAPS * T_CHANNELS; i += T_GROUP) {
        const int own = first + i % T_CHANNELS;
        if (T_CHANNELS == 1 || own < PAIRS)
            PUT((INDEX_T)own * TAPS + i / T_CHANNELS, level[i]);
    }
}
