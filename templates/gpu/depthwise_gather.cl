/* depthwise_gather.cl: groups of one channel on both sides, an item for a tile of the destination,
 * which gathers what the tile's taps meet.
 *
 *     destination, T_VECTOR channels of an image:     source:
 *
 *         item 0  1  2  3 ...                        every pixel that an item's elements meet is
 *       +---+---+---+---+---                         read once for all of them, T_VECTOR channels
 *       |0 0|1 1|2 2|3 3|     D_ROWS x T_COLUMNS     at a time; neighbouring items read
 *       |0 0|1 1|2 2|3 3|     pixels of an item      neighbours
 *       +---+---+---+---+---
 *
 * Along an axis, tap t of the destination's element q meets the source's element
 * (q * stride + t * dilation - pad), or for backward data (q + pad - t * dilation) / stride where
 * that leaves no rest. Backward data with a stride: D_ROWS is a multiple of it, so that it is known
 * which taps meet what in a row; an item has one column, of which it has taps first, first +
 * D_JUMP, ... and no others.
 *
 * Grid      (channels / T_VECTOR * tiles of columns * tiles of rows * depth * images), one
 *           dimension, in groups of T_GROUP, rounded up; neighbouring items in the order of memory.
 * Defines   those of epilogue.cl and depthwise_vectors.cl, and
 *   P_SRC_a, P_DST_a, P_FILTER_a, P_STRIDE_a, P_DILATION_a, P_PAD_a    sizes along a = D, H, W
 *   P_IMAGES, P_CHANNELS       D_BACKWARD: backward data
 *   D_CHANNELS_LAST            of the destination's layout: NHWC and its kin
 *   D_SRC_IMAGE, _CHANNEL, _PLANE, _ROW, _PIXEL, D_DST_...    elements from one to the next
 *   D_W_CHANNEL, D_W_TAP       the same of the weights; with vectors they are packed,
 *                              [tap][channel], as ACC_T
 *   D_ROWS                     of the destination, an item's
 *   D_FIRST, D_WINDOW          the first source row that the elements of the first tile meet, which
 *                              may be negative, and how many
 *   D_JUMP, D_MOVE             of columns: from one of an item's taps to the next; columns of the
 *                              source between what the two meet
 *   D_ACROSS                   columns of the source between what an item's neighbouring columns
 *                              meet
 *   D_LEFT, D_STEP, D_STEPS    the columns of the source that are met, D_LEFT + s * D_STEP for
 *                              s < D_STEPS, counted from what an item's first column and tap meet
 *   T_GROUP, T_COLUMNS, T_VECTOR    above
 *   D_RUN, D_RUN_AT            columns that an item reads as one vector, and the step of the first
 *                              one; then it stores a row as one, too; 0: none
 *   T_ROW_WISE                 1: an item goes through the source row by row, with all weights in
 *                              registers, and stores a row as soon as it has it; 0: column by
 *                              column, with all sums and the weights of one column. Neighbours read
 *                              the same columns a little later: the first cache holds a row, seldom
 *                              a column
 * Assumes   T_VECTOR > 1: it divides the channels, which are neighbours in both tensors.
 */
#define WHOLE T_VECTOR
#include "whole_channels.cl"
#include "depthwise_vectors.cl"

#define TAPS (P_FILTER_D * P_FILTER_H * P_FILTER_W)
#define TILES_H ((P_DST_H + D_ROWS - 1) / D_ROWS)
#define TILES_W ((P_DST_W + T_COLUMNS - 1) / T_COLUMNS)
#define VECTORS (P_CHANNELS / T_VECTOR)
#define ITEMS ((INDEX_T)P_IMAGES * VECTORS * P_DST_D * TILES_H * TILES_W)
#define COLUMN_TAPS ((P_FILTER_W + D_JUMP - 1) / D_JUMP) /* at most */

/* An item's channels of a pixel. */
#if T_VECTOR == 1
#define W_T SRC_T
#define LOAD_W_IF(wanted, p, i) LOAD_IF(wanted, p, i)
#define PUT(i, sum, channel) DST_STORE(dst, i, FINISH(sum, channel, i))
#else
#define W_T ACC_T
#define LOAD_W_IF(wanted, p, i) ((wanted) ? WHOLE_AT(ACC_T, T_VECTOR, (p) + (i)) : (ACC_V)(0))
#define PUT(i, sum, channel) put_whole(dst, i, sum, channel EPILOGUE_PASS)

kernel void depthwise_gather_pack(global const SRC_T *restrict w, global ACC_T *restrict packed)
{
    const int i = get_global_id(0);
    if (i < P_CHANNELS * TAPS)
        packed[i] = SRC_LOAD(w, i % P_CHANNELS * TAPS + i / P_CHANNELS);
}
#endif

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

/* The source row where the window of a tile begins; the tile's row for which tap `t` meets row `j`
 * of the window, if it is one; and the tile's rows that meet nothing behind row `j`. */
#if D_BACKWARD
#define ROW_OF(first) ((first) / P_STRIDE_H + D_FIRST)
#define ROWS_AT_ONCE P_STRIDE_H
#define ENDING(j, e) (((j) + D_FIRST) * P_STRIDE_H - P_PAD_H + (e))
#define ROW(j, t) (((j) + D_FIRST) * P_STRIDE_H + (t) * P_DILATION_H - P_PAD_H)
#define IS_ROW(j, t) (ROW(j, t) >= 0 && ROW(j, t) < D_ROWS)
#define IS_ENDING(j, e) (ENDING(j, e) >= 0 && ENDING(j, e) < D_ROWS)
#else
#define ROW_OF(first) ((first) * P_STRIDE_H + D_FIRST)
#define ROWS_AT_ONCE 1
#define ENDING(j, e) ROW(j, P_FILTER_H - 1)
#define ROW(j, t) (((j) - (t) * P_DILATION_H) / P_STRIDE_H)
#define IS_ROW(j, t)                                                                               \
    ((j) >= (t) * P_DILATION_H && ((j) - (t) * P_DILATION_H) % P_STRIDE_H == 0 &&                  \
     ROW(j, t) < D_ROWS)
#define IS_ENDING(j, e) IS_ROW(j, P_FILTER_H - 1)
#endif

/* The tap by which an item's column `c` meets the source in step `s`, if there is one. */
#if T_COLUMNS == 1
#define TAP(s, c) (s)
#define IS_TAP(s, c) true
#else
#define TAP(s, c) ((D_LEFT + (s)*D_STEP - (c)*D_ACROSS) / D_MOVE)
#define IS_TAP(s, c)                                                                               \
    ((D_LEFT + (s)*D_STEP - (c)*D_ACROSS) % D_MOVE == 0 &&                                         \
     (D_LEFT + (s)*D_STEP - (c)*D_ACROSS) * D_MOVE >= 0 && TAP(s, c) < COLUMN_TAPS)
#endif

/* Steps whose weights an item has at a time, and whether a row of the tile ends before the next
 * ones. */
#define STEPS_AT_ONCE (T_ROW_WISE ? D_STEPS : 1)
#define ROWS_END (T_ROW_WISE && P_FILTER_D == 1)

/* With a stride a column may have less than COLUMN_TAPS taps, or none. */
#define HAS_TAP(t) (!D_BACKWARD || P_STRIDE_W == 1 || (t) < P_FILTER_W)

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

/* ---- a tile ---- */

typedef struct {
    INDEX_T element;
    int channel, row, column;
} tile_place;

/* Neighbouring columns that an item meets, from a multiple of D_RUN on: all of them exist. */
#if D_RUN
INLINE KILN_CAT(ACC_T, D_RUN) load_run(const bool inside, global const SRC_T *p)
{
    KILN_CAT(SRC_BITS_T, D_RUN) bits = 0;
    if (inside)
        bits = WHOLE_AT(SRC_BITS_T, D_RUN, (global const SRC_BITS_T *)p);
    return SRC_OF_BITS(D_RUN, bits);
}
#endif

/* Stores row `r` of a tile. */
INLINE void put_row(global DST_T *dst, const tile_place *tile, private const ACC_V *sum,
                    const int r EPILOGUE_PARAMS)
{
#if D_RUN
    KILN_CAT(VAL_T, T_COLUMNS) v;
    const INDEX_T first = tile->element + (INDEX_T)r * D_DST_ROW;
    UNROLL
    for (int c = 0; c < T_COLUMNS; c++)
        ((private VAL_T *)&v)[c] = FINISH(sum[c], tile->channel, first + c);
    if (tile->row + (P_DST_H % D_ROWS ? r : 0) < P_DST_H)
        DST_STORE_WHOLE(T_COLUMNS, dst, first, v);
#else
    UNROLL
    for (int c = 0; c < T_COLUMNS; c++) {
        const INDEX_T at = tile->element + (INDEX_T)r * D_DST_ROW + (INDEX_T)c * D_DST_PIXEL;
        if (tile->row + (P_DST_H % D_ROWS ? r : 0) < P_DST_H &&
            tile->column + (P_DST_W % T_COLUMNS ? c : 0) < P_DST_W)
            PUT(at, sum[c], tile->channel);
    }
#endif
}

/* The sums of one tap along the depth grow by what the tile meets in some steps of the columns, row
 * by row. The pixel that an item's first column and tap meet is `src`, in row and column (row,
 * from). */
INLINE void add_steps(private ACC_V (*sum)[T_COLUMNS], global const SRC_T *src,
                      global const W_T *w, const int first, const int tap, const int row,
                      const int from, global DST_T *dst, const tile_place *tile EPILOGUE_PARAMS)
{
    ACC_V weight[STEPS_AT_ONCE][P_FILTER_H][T_COLUMNS];
    bool met[STEPS_AT_ONCE];
    UNROLL
    for (int i = 0; i < STEPS_AT_ONCE; i++) {
        const int s = first + i;
        met[i] = ((uint)(from + D_LEFT + s * D_STEP) < P_SRC_W) &
                 (T_COLUMNS > 1 || HAS_TAP(tap + s * D_JUMP));
        UNROLL
        for (int t = 0; t < P_FILTER_H; t++)
            UNROLL
            for (int c = 0; c < T_COLUMNS; c++)
                if (IS_TAP(s, c))
                    weight[i][t][c] = LOAD_W_IF(HAS_TAP(tap + TAP(s, c) * D_JUMP), w,
                                                (t * P_FILTER_W + TAP(s, c) * D_JUMP) * D_W_TAP);
    }
    UNROLL
    for (int j = 0; j < D_WINDOW; j++) {
        const bool inside = (uint)(row + j) < P_SRC_H;
#if D_RUN
        const KILN_CAT(ACC_T, D_RUN) run =
            load_run(inside, src + (INDEX_T)j * D_SRC_ROW + D_LEFT + D_RUN_AT);
#endif
        UNROLL
        for (int i = 0; i < STEPS_AT_ONCE; i++) {
            const int s = first + i;
            const INDEX_T apart =
                (INDEX_T)j * D_SRC_ROW + (INDEX_T)(D_LEFT + s * D_STEP) * D_SRC_PIXEL;
#if D_RUN
            const ACC_V v = s >= D_RUN_AT && s < D_RUN_AT + D_RUN
                                ? ((const private ACC_T *)&run)[s - D_RUN_AT]
                                : LOAD_IF(inside & met[i], src, apart);
#else
            const ACC_V v = LOAD_IF(inside & met[i], src, apart);
#endif
            UNROLL
            for (int t = 0; t < P_FILTER_H; t++)
                UNROLL
                for (int c = 0; c < T_COLUMNS; c++)
                    if (IS_TAP(s, c) && IS_ROW(j, t))
                        sum[ROW(j, t)][c] += weight[i][t][c] * v;
        }
        UNROLL
        for (int e = 0; e < ROWS_AT_ONCE; e++)
            if (ROWS_END && IS_ENDING(j, e))
                put_row(dst, tile, sum[ENDING(j, e)], ENDING(j, e) EPILOGUE_PASS);
    }
}

kernel GROUP_SIZE(T_GROUP, 1, 1) void depthwise_gather(global const SRC_T *restrict src,
                                                       global const W_T *restrict w,
                                                       global DST_T *dst EPILOGUE_PARAMS)
{
    INDEX_T i = get_global_id(0);
    if (i >= ITEMS)
        return;
    tile_place tile;
#if D_CHANNELS_LAST
    tile.channel = i % VECTORS * T_VECTOR;
    i /= VECTORS;
#endif
    tile.column = i % TILES_W * T_COLUMNS;
    i /= TILES_W;
    tile.row = i % TILES_H * D_ROWS;
    i /= TILES_H;
    const int d = i % P_DST_D;
    i /= P_DST_D;
#if !D_CHANNELS_LAST
    tile.channel = i % VECTORS * T_VECTOR;
    i /= VECTORS;
#endif
    tile.element = i * D_DST_IMAGE + (INDEX_T)tile.channel * D_DST_CHANNEL +
                   (INDEX_T)d * D_DST_PLANE + (INDEX_T)tile.row * D_DST_ROW +
                   (INDEX_T)tile.column * D_DST_PIXEL;
    const int row = ROW_OF(tile.row), tap = first_tap(tile.column),
              from = meets(tile.column, tap, P_PAD_W, P_STRIDE_W, P_DILATION_W);
    src += i * D_SRC_IMAGE + (INDEX_T)tile.channel * D_SRC_CHANNEL + (INDEX_T)row * D_SRC_ROW +
           (INDEX_T)from * D_SRC_PIXEL;
    w += (INDEX_T)tile.channel * D_W_CHANNEL + tap * D_W_TAP;

    ACC_V sum[D_ROWS][T_COLUMNS];
    UNROLL
    for (int r = 0; r < D_ROWS; r++)
        UNROLL
        for (int c = 0; c < T_COLUMNS; c++)
            sum[r][c] = 0;
    for (int tap_d = 0; tap_d < P_FILTER_D; tap_d++) {
        const int at_d = meets(d, tap_d, P_PAD_D, P_STRIDE_D, P_DILATION_D);
#if ROWS_END /* results of a plane that meets nothing are stored, too */
        const int first_row = (uint)at_d < P_SRC_D ? row : P_SRC_H;
#else
        const int first_row = row;
        if ((uint)at_d >= P_SRC_D)
            continue;
#endif
        _Pragma("nounroll") /* or compilers load the weights of all steps at once */
        for (int s = 0; s < D_STEPS; s += STEPS_AT_ONCE)
            add_steps(sum, src + (INDEX_T)at_d * D_SRC_PLANE,
                      w + (INDEX_T)tap_d * P_FILTER_H * P_FILTER_W * D_W_TAP, s, tap, first_row,
                      from, dst, &tile EPILOGUE_PASS);
    }
    UNROLL
    for (int r = 0; r < D_ROWS; r++)
        if (!ROWS_END)
            put_row(dst, &tile, sum[r], r EPILOGUE_PASS);
}
