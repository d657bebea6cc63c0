/* depthwise_reduce.cl: backward weights of groups of few source channels: each gradient is the sum
 * of products of two planes, of a pair of channels, which the items of a group share.
 *
 *     dy, one channel of all images, in strips of T_ROWS rows, cut every T_COLS columns:
 *
 *         | 0 1 2 3 4 .. | 7 8 9 0 1 .. |           item that adds the products of a piece of a
 *         | image 0      | image 1      | ...       strip with the pixels of x that its taps meet,
 *         | part 0              | part 1 ...        each of them read once
 *
 * A group has T_CHANNELS pairs and a part of their pieces; SHARERS items share a pair. An item
 * keeps a sum for each tap, of T_VECTOR neighbouring pairs. In the end the group adds them up, as a
 * tree in local memory. Parts are added by sum_parts.cl, in order, so that two runs give the same
 * bits.
 *
 * Grid      (T_GROUP * pairs / T_CHANNELS, T_PARTS), rounded up to groups of T_GROUP.
 * Defines   those of depthwise_vectors.cl, and
 *   P_SRC_a, P_DST_a, P_FILTER_a, P_STRIDE_a, P_DILATION_a, P_PAD_a
 *                           of x and dy along a = D, H, W
 *   P_IMAGES, P_CHANNELS    of dy; D_MULTIPLE, D_SOURCES: channels of a group of dy and of x
 *   D_CHANNELS_LAST         of dy: NHWC and its kin; neighbouring items then have neighbouring
 *                           pairs
 *   D_SRC_IMAGE, _CHANNEL, _PLANE, _ROW, _PIXEL, D_DST_...    elements of x and dy from one to the
 *                           next
 *   D_W_K, D_W_C, D_W_TAP   elements of dw from one channel of dy, channel of x, and tap to the
 *                           next
 *   T_GROUP, T_CHANNELS, T_ROWS, T_PARTS, T_VECTOR, T_COLS    above; all but rows, columns and
 *                           parts are powers of two
 * Assumes   T_VECTOR > 1: pairs are channels, neighbours in both tensors, and a multiple of it.
 */
#include "depthwise_vectors.cl"

#define TAPS (P_FILTER_D * P_FILTER_H * P_FILTER_W)
#define STRIPS ((P_DST_H + T_ROWS - 1) / T_ROWS)
#define PAIRS (P_CHANNELS * D_SOURCES)
#define PIECES_W ((P_DST_W + T_COLS - 1) / T_COLS)
#define PIECES (P_IMAGES * P_DST_D * STRIPS * PIECES_W) /* of a pair */
#define VECTORS (T_CHANNELS / T_VECTOR)                 /* of a group */
#define SHARERS (T_GROUP / VECTORS)                     /* items of a pair */
/* Rows and columns of x that a piece meets. */
#define WINDOW ((T_ROWS - 1) * P_STRIDE_H + (P_FILTER_H - 1) * P_DILATION_H + 1)
#define WINDOW_W ((T_COLS - 1) * P_STRIDE_W + (P_FILTER_W - 1) * P_DILATION_W + 1)

/* The row of the strip whose tap `t` meets row `j` of the window, if there is one. */
#define ROW(j, t) (((j) - (t) * P_DILATION_H) / P_STRIDE_H)
#define IS_ROW(j, t)                                                                               \
    ((j) >= (t) * P_DILATION_H && ((j) - (t) * P_DILATION_H) % P_STRIDE_H == 0 &&                  \
     ROW(j, t) < T_ROWS)
/* The same along a row. */
#define COL(u, k) (((u) - (k) * P_DILATION_W) / P_STRIDE_W)
#define IS_COL(u, k)                                                                               \
    ((u) >= (k) * P_DILATION_W && ((u) - (k) * P_DILATION_W) % P_STRIDE_W == 0 &&                  \
     COL(u, k) < T_COLS)

#if T_PARTS > 1
#define OUT_T ACC_T
#define PUT(i, v) dw[(INDEX_T)part * PAIRS * TAPS + (i)] = (v)
#else
#define OUT_T DST_T
#define PUT(i, v) DST_STORE(dw, i, v)
#endif

/* The sums of one tap along the depth, [row][column], grow by a piece of a strip. */
INLINE void add_piece(private ACC_V *sum, global const SRC_T *x, global const SRC_T *dy,
                      const int first_row, const int column)
{
    ACC_V gradient[T_ROWS * T_COLS];
    UNROLL
    for (int r = 0; r < T_ROWS; r++)
        UNROLL
        for (int q = 0; q < T_COLS; q++)
            gradient[r * T_COLS + q] =
                LOAD_IF(first_row + r < P_DST_H && (T_COLS == 1 || column + q < P_DST_W), dy,
                        (INDEX_T)r * D_DST_ROW + (INDEX_T)q * D_DST_PIXEL);
    const int row = first_row * P_STRIDE_H - P_PAD_H, from = column * P_STRIDE_W - P_PAD_W;
    x += (INDEX_T)row * D_SRC_ROW + (INDEX_T)from * D_SRC_PIXEL;
    UNROLL
    for (int j = 0; j < WINDOW; j++) {
        const bool inside = (uint)(row + j) < P_SRC_H;
        UNROLL
        for (int u = 0; u < WINDOW_W; u++) {
            const bool met = (uint)(from + u) < P_SRC_W;
            const ACC_V v =
                LOAD_IF(inside & met, x, (INDEX_T)j * D_SRC_ROW + (INDEX_T)u * D_SRC_PIXEL);
            UNROLL
            for (int t = 0; t < P_FILTER_H; t++)
                UNROLL
                for (int k = 0; k < P_FILTER_W; k++)
                    if (IS_ROW(j, t) && IS_COL(u, k))
                        sum[t * P_FILTER_W + k] += gradient[ROW(j, t) * T_COLS + COL(u, k)] * v;
        }
    }
}

/* A tree's levels, one behind the other: for each tap and pair SHARERS values, then an eighth of
 * them, and so on to one. Value s of tap and pair q, of `width` each, lies where neighbouring items
 * meet neighbours. */
#define VALUE(width, q, s)                                                                         \
    (D_CHANNELS_LAST ? (s) * (TAPS * T_CHANNELS) + (q) : (q) * (width) + (s))
#define FOLDED(width) ((width) > 8 ? (width) / 8 : 1)
#define LEVELS (SHARERS + SHARERS / 8 + SHARERS / 64 + SHARERS / 512 + 1)

kernel GROUP_SIZE(T_GROUP, 1, 1) void depthwise_reduce(global const SRC_T *restrict x,
                                                       global const SRC_T *restrict dy,
                                                       global OUT_T *restrict dw)
{
    local ACC_T all[TAPS * T_CHANNELS * LEVELS];
    const int item = get_local_id(0), part = get_group_id(1);
#if D_CHANNELS_LAST
    const int vector = item % VECTORS, sharer = item / VECTORS;
#else
    const int vector = item / SHARERS, sharer = item % SHARERS;
#endif
    const int first = get_group_id(0) * T_CHANNELS, pair = first + vector * T_VECTOR;
    const int channel = pair / D_SOURCES,
              source = channel / D_MULTIPLE * D_SOURCES + pair % D_SOURCES;
    const int end = (int)((long)PIECES * (part + 1) / T_PARTS);
    ACC_V sum[TAPS];
    UNROLL
    for (int t = 0; t < TAPS; t++)
        sum[t] = 0;
    if (T_CHANNELS == 1 || pair < PAIRS)
        for (int i = (int)((long)PIECES * part / T_PARTS) + sharer; i < end; i += SHARERS) {
            const int column = i % PIECES_W * T_COLS, first_row = i / PIECES_W % STRIPS * T_ROWS;
            const int d = i / (PIECES_W * STRIPS) % P_DST_D;
            const int image = i / (PIECES_W * STRIPS * P_DST_D);
            global const SRC_T *from =
                x + (INDEX_T)image * D_SRC_IMAGE + (INDEX_T)source * D_SRC_CHANNEL;
            global const SRC_T *own = dy + (INDEX_T)image * D_DST_IMAGE +
                                      (INDEX_T)channel * D_DST_CHANNEL + (INDEX_T)d * D_DST_PLANE +
                                      (INDEX_T)first_row * D_DST_ROW +
                                      (INDEX_T)column * D_DST_PIXEL;
            UNROLL
            for (int t = 0; t < P_FILTER_D; t++) {
                const int at = d * P_STRIDE_D + t * P_DILATION_D - P_PAD_D;
                if ((uint)at < P_SRC_D)
                    add_piece(sum + t * P_FILTER_H * P_FILTER_W,
                              from + (INDEX_T)at * D_SRC_PLANE, own, first_row, column);
            }
        }
    UNROLL
    for (int t = 0; t < TAPS; t++) {
        const ACC_V v = sum[t];
        UNROLL
        for (int e = 0; e < T_VECTOR; e++)
            all[VALUE(SHARERS, t * T_CHANNELS + vector * T_VECTOR + e, sharer)] =
                ((const private ACC_T *)&v)[e];
    }
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
                folded += level[D_CHANNELS_LAST
                                    ? j * (TAPS * T_CHANNELS) * across + i
                                    : i / across * width + j * across + i % across];
            next[i] = folded;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        level = next;
    }
    for (int i = item; i < TAPS * T_CHANNELS; i += T_GROUP) {
        const int own = first + i % T_CHANNELS;
        if (T_CHANNELS == 1 || own < PAIRS)
            PUT((INDEX_T)(own / D_SOURCES) * D_W_K + (INDEX_T)(own % D_SOURCES) * D_W_C +
                    (INDEX_T)(i / T_CHANNELS) * D_W_TAP,
                level[i]);
    }
}
