/* gemm_weights_mma.cl: backward weights as a product of matrices on tensor cores: dy times the
 * patches of x, tile by tile, summed over the pixels of all images, in f16 and bf16.
 *
 *                     columns: tap and source channel
 *                     +--------+--------+---
 *     pixels          | x      |             a stage in local memory: the next T_BYTES / 2 pixels
 *       |             +--------+--------+--- of T_ROWS channels of dy and T_COLUMNS columns of x,
 *       v                                    in blocks of 64 channels: a pixel is a row of 128
 *     +------+        +--------+--------+--- bytes, in which 16 bytes stand where PLACE says, so
 *     | dy   |        | T_ROWS x             that the eight rows that are read at once lie in
 *     +------+        | T_COLUMNS            different banks
 *     channels        +--------+--------+--- a group's tile of dw; mma_tile.cl has it
 *
 * With T_WGMMA the products are those of wgmma.cl, which run beside the copies.
 *
 * While a group multiplies one stage, copies of the next STAGES_AHEAD are under way. Where a
 * stage's pixels lie in x is found once for all items, a stage ahead of its copies.
 *
 * Neighbouring groups may share a tile, and count as one group here: D_TOGETHER of them. Products
 * of one group's channels and another's are not stored.
 *
 * T_SPLIT groups share the pixels; kernel gemm_weights_mma_sum then adds their sums in order, so
 * that two runs give the same bits. It also puts the taps of a filter side by side where the layout
 * of dw has them so: stores of single elements that far apart take longer than the kernel.
 *
 * Grid      gemm_weights_mma: (tiles of channels * tiles of columns * items, groups, T_SPLIT) in
 *           groups of (items, 1, 1).
 *           gemm_weights_mma_sum: the elements of dw, one dimension.
 * Defines   those of types.cl and mma_tile.cl, and
 *   P_SRC_a, P_DST_a, P_FILTER_a, P_STRIDE_a, P_DILATION_a, P_PAD_a
 *                         of x and dy along a = D, H, W
 *   P_IMAGES, P_GROUPS    D_SRC_C, D_DST_C: channels of one group of x and of dy
 *   D_X_CHANNELS, D_DY_CHANNELS    the same, padding included
 *   D_TOGETHER            above; where more than 1, channels have no padding
 *   D_X_UNIT, D_DY_UNIT   bytes of a copy, 16 or 8: divide the bytes of those channels, and all
 *                         distances
 *   D_POINTWISE           pixels of dy and of x are the same: one tap, no stride and no padding
 *   D_X_IMAGE, _PLANE, _ROW, _PIXEL, D_DY_PIXEL    elements from one to the next
 *   D_PARTS               1: sums go to that kernel; 0: T_SPLIT is 1, and sums are elements of dw
 *   D_W_K, D_W_C, D_W_TAP    elements of dw from a channel of dy, of x, and a tap to the next one
 *   T_BYTES, T_STAGES, T_SPLIT    above
 * Assumes   128 items or more; T_ROWS and T_COLUMNS are powers of two from 64 on; pixels of dy
 *           follow one another.
 */
#define WGMMA_TURNED (T_BYTES / 2 * 128)
#include "mma_tile.cl"
#include "wgmma.cl"

#define TERMS (T_BYTES / MMA_BYTES) /* pixels of a step */
#define TAPS (P_FILTER_D * P_FILTER_H * P_FILTER_W)
#define COLUMNS (TAPS * D_X_CHANNELS)
#define PIXELS (P_IMAGES * P_DST_D * P_DST_H * P_DST_W)

#define BLOCK_BYTES (TERMS * 128)
#define PLACE(pixel, byte)                                                                         \
    ((byte) / 128 * BLOCK_BYTES + (pixel)*128 + ((((byte) >> 4 & 7) ^ ((pixel)&7)) << 4) +         \
     ((byte)&15))
#define X_AT (T_ROWS / 64 * BLOCK_BYTES)
#define STAGE_BYTES ((T_ROWS + T_COLUMNS) / 64 * BLOCK_BYTES)

/* Neighbouring items copy neighbouring units of a pixel; all items, pixels that are so far
 * apart. */
#define DY_ACROSS (T_ROWS * MMA_BYTES / D_DY_UNIT)
#define DY_DOWN (GROUP_ITEMS / DY_ACROSS)
#define DY_TIMES ((TERMS + DY_DOWN - 1) / DY_DOWN)
#define X_ACROSS (T_COLUMNS * MMA_BYTES / D_X_UNIT)
#define X_DOWN (GROUP_ITEMS / X_ACROSS)
#define X_TIMES ((TERMS + X_DOWN - 1) / X_DOWN)
#define IS_PIXEL(pixel, down) (TERMS % (down) == 0 || (pixel) < TERMS)

INLINE void copy_dy(const uint to, global const MMA_T *dy, const int first, const int item,
                    const bool real)
{
    const int row = item / DY_ACROSS, byte = item % DY_ACROSS * D_DY_UNIT;
    UNROLL
    for (int i = 0; i < DY_TIMES; i++) {
        const int at = row + i * DY_DOWN, pixel = first + at;
        const bool inside = real && pixel < PIXELS;
        if (IS_PIXEL(at, DY_DOWN))
            COPY_ASYNC(D_DY_UNIT, to + PLACE(at, byte),
                       dy + (inside ? (INDEX_T)pixel * D_DY_PIXEL : 0), inside ? D_DY_UNIT : 0);
    }
}

/* A place in x: where a pixel's patch begins; or, from there on, that of a column's tap and
 * channel. */
typedef struct {
    INDEX_T element;
    int d, h, w;
} x_place;

#define OUTSIDE (1 << 30) /* more than any size, and an int with any size added */

INLINE x_place x_place_of(const int image, const int d, const int h, const int w)
{
    const x_place p = {(INDEX_T)image * D_X_IMAGE + (INDEX_T)d * D_X_PLANE + (INDEX_T)h * D_X_ROW +
                           (INDEX_T)w * D_X_PIXEL,
                       d, h, w};
    return p;
}

INLINE x_place place_of_column(const int column)
{
    const int tap = column / D_X_CHANNELS;
    x_place p = x_place_of(0, tap / (P_FILTER_H * P_FILTER_W) * P_DILATION_D - P_PAD_D,
                           tap / P_FILTER_W % P_FILTER_H * P_DILATION_H - P_PAD_H,
                           tap % P_FILTER_W * P_DILATION_W - P_PAD_W);
    p.element += column % D_X_CHANNELS;
    p.w = column < COLUMNS ? p.w : -OUTSIDE;
    return p;
}

INLINE x_place place_of_pixel(const uint pixel)
{
    const uint w = pixel % P_DST_W, rows = pixel / P_DST_W, h = rows % P_DST_H,
               planes = rows / P_DST_H, d = planes % P_DST_D, image = planes / P_DST_D;
    x_place p =
        x_place_of((int)image, (int)d * P_STRIDE_D, (int)h * P_STRIDE_H, (int)w * P_STRIDE_W);
    p.h = pixel < PIXELS ? p.h : -OUTSIDE;
    return p;
}

/* Two stages' pixels: one is read while the other is found. Elements lie apart, so that both are
 * read at once and without a branch. */
#define PLACES (D_POINTWISE ? 1 : 2 * TERMS)

INLINE void find_places(local int4 *places, local INDEX_T *elements, const int first,
                        const int item)
{
    if (!D_POINTWISE && item < TERMS) {
        const x_place p = place_of_pixel((uint)(first + item));
        places[item] = (int4)(p.d, p.h, p.w, 0);
        elements[item] = p.element;
    }
}

#if P_SRC_D == 1 && P_DST_D == 1 && P_FILTER_D == 1 && P_PAD_D == 0
#define SOURCE_PLANES 0 /* there is one, which all meet */
#else
#define SOURCE_PLANES P_SRC_D
#endif

/* The element of x where a pixel meets the column's tap; -1: padding, or no pixel. */
INLINE INDEX_T source_of(local const int4 *places, local const INDEX_T *elements, const int first,
                         const int at, const x_place *column)
{
#if D_POINTWISE
    return column->w >= 0 && first + at < PIXELS
               ? (INDEX_T)(first + at) * D_X_PIXEL + column->element
               : -1;
#else
    const int4 p = places[at];
    const INDEX_T element = elements[at] + column->element;
    int inside = ((uint)(p.s1 + column->h) < P_SRC_H) & ((uint)(p.s2 + column->w) < P_SRC_W);
    if (SOURCE_PLANES)
        inside &= (uint)(p.s0 + column->d) < P_SRC_D;
    return inside ? element : -1;
#endif
}

INLINE void copy_x(const uint to, global const MMA_T *x, local const int4 *places,
                   local const INDEX_T *elements, const int first, const int item,
                   const x_place *column)
{
    const int row = item / X_ACROSS, byte = item % X_ACROSS * D_X_UNIT;
    /* A copy is a fence for the compiler: all places are read before the first one. */
    INDEX_T from[X_TIMES];
    UNROLL
    for (int i = 0; i < X_TIMES; i++) {
        const int at = row + i * X_DOWN;
        from[i] = source_of(places, elements, first, at < TERMS ? at : 0, column);
    }
    UNROLL
    for (int i = 0; i < X_TIMES; i++) {
        const int at = row + i * X_DOWN;
        if (IS_PIXEL(at, X_DOWN))
            COPY_ASYNC(D_X_UNIT, to + PLACE(at, byte), x + (from[i] < 0 ? 0 : from[i]),
                       from[i] < 0 ? 0 : D_X_UNIT);
    }
}

/* ---- products ---- */

#if T_WGMMA
/* Products of a stage are done after the next stage's have begun: a stage is free two steps
 * later. */
#define STAGES_AHEAD (T_STAGES - 2)

INLINE void add_stage(ACC_T sum[SUMS_R][SUMS_C][4], const uint stage, const int warp,
                      const int lane)
{
    WGMMA_BEGIN;
    UNROLL
    for (int i = 0; i < SUMS_R; i++)
        wgmma(sum[i], stage + (warp / 4 * SUMS_R + i) * BLOCK_BYTES, stage + X_AT);
    WGMMA_END;
}
#else
#define STAGES_AHEAD (T_STAGES - 1)

/* `m` and `n` are the first row and column of the warp's part. */
INLINE void read_slice(slice *s, const uint stage, const int m, const int n, const int lane,
                       const int k)
{
    UNROLL
    for (int i = 0; i < SUMS_R; i++)
        read_turned(s->left[i], stage + PLACE(k * 16 + TERM_OF_LEFT(lane),
                                              (m + i * 16 + AT_OF_LEFT(lane)) * MMA_BYTES));
    UNROLL
    for (int j = 0; j < SUMS_C / 2; j++)
        read_turned(s->right[j],
                    stage + X_AT + PLACE(k * 16 + TERM_OF_RIGHT(lane),
                                         (n + j * 16 + AT_OF_RIGHT(lane)) * MMA_BYTES));
}

/* The next slice is read while one is multiplied. */
INLINE void add_stage(ACC_T sum[SUMS_R][SUMS_C][4], const uint stage, const int warp,
                      const int lane)
{
    const int m = WARP_ROW(warp), n = WARP_COLUMN(warp);
    slice s[2];
    read_slice(&s[0], stage, m, n, lane, 0);
    UNROLL
    for (int k = 0; k < TERMS / 16; k++) {
        if (k + 1 < TERMS / 16)
            read_slice(&s[(k + 1) % 2], stage, m, n, lane, k + 1);
        add_slice(sum, &s[k % 2]);
    }
}
#endif

/* ---- results ---- */

#define OWN_CHANNELS (D_X_CHANNELS / D_TOGETHER) /* of x in a filter, padding included */
#define IS_OWN(channel, c) ((channel)*D_TOGETHER / D_DST_C == (c) / OWN_CHANNELS)

#define FILTER_C (D_SRC_C / D_TOGETHER)
#define ELEMENT(k, c, tap) ((k) * D_W_K + (INDEX_T)(c) * D_W_C + (INDEX_T)(tap) * D_W_TAP)

#if D_PARTS
/* Sums of a part, in the order part, channel, tap, channel of x. */
#define OUT_T ACC_T
#else
#define OUT_T DST_T
#endif

INLINE void put_pair(global OUT_T *dst, const int part, const int group, const int channel,
                     const int column, const ACC_T a, const ACC_T b)
{
    const int c = column % D_X_CHANNELS, tap = column / D_X_CHANNELS, own_c = c % OWN_CHANNELS;
    const INDEX_T k = (INDEX_T)group * D_DST_C + channel;
    if (channel >= D_DST_C || column >= COLUMNS || !IS_OWN(channel, c))
        return;
#if D_PARTS
    dst += (((INDEX_T)part * P_GROUPS * D_DST_C + k) * TAPS + tap) * OWN_CHANNELS + own_c;
    PUT_PAIR(dst, true, true, a, b);
#else
    const INDEX_T element = ELEMENT(k, own_c, tap);
    if (own_c < FILTER_C)
        DST_STORE(dst, element, a);
    if (own_c + 1 < FILTER_C)
        DST_STORE(dst, element + D_W_C, b);
#endif
}

kernel GROUP_SIZE(GROUP_ITEMS, 1, 1) void gemm_weights_mma(global const MMA_T *restrict x,
                                                           global const MMA_T *restrict dy,
                                                           global OUT_T *restrict dst)
{
    local uint4 pieces[T_STAGES * STAGE_BYTES / 16] __attribute__((aligned(1024)));
    local int4 places[PLACES];
    local INDEX_T elements[PLACES];
    const int tiles_m = (D_DST_C + T_ROWS - 1) / T_ROWS;
    const int item = get_local_id(0), lane = item % 32, warp = item / 32;
    const int tile = get_group_id(0), group = get_group_id(1), part = get_group_id(2);
    const int m_first = tile % tiles_m * T_ROWS, n_first = tile / tiles_m * T_COLUMNS;
    const int steps = (PIXELS + TERMS - 1) / TERMS;
    const int first = (int)((long)steps * part / T_SPLIT),
              last = (int)((long)steps * (part + 1) / T_SPLIT);
    const int channel = m_first + item % DY_ACROSS * (D_DY_UNIT / MMA_BYTES);
    const x_place column = place_of_column(n_first + item % X_ACROSS * (D_X_UNIT / MMA_BYTES));
    x += (INDEX_T)group * D_X_CHANNELS;
    dy += (INDEX_T)group * D_DY_CHANNELS + (channel < D_DY_CHANNELS ? channel : 0);
    const uint base = LOCAL_ADDRESS(pieces);

    ACC_T sum[SUMS_R][SUMS_C][4];
    CLEAR_SUMS(sum)

#define OF_STEP(all, step) ((all) + ((step) - first) % 2 * TERMS)
#define START_STAGE(step)                                                                          \
    if ((step) < last) {                                                                           \
        const uint to = base + (uint)((step) - first) % T_STAGES * STAGE_BYTES;                    \
        copy_dy(to, dy, (step)*TERMS, item, channel < D_DY_CHANNELS);                              \
        copy_x(to + X_AT, x, OF_STEP(places, step), OF_STEP(elements, step), (step)*TERMS, item,   \
               &column);                                                                           \
        find_places(OF_STEP(places, (step) + 1), OF_STEP(elements, (step) + 1),                    \
                    ((step) + 1) * TERMS, item);                                                   \
    }                                                                                              \
    COPY_COMMIT
    find_places(places, elements, first * TERMS, item);
    UNROLL
    for (int i = 0; i < STAGES_AHEAD; i++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        START_STAGE(first + i);
    }
#if T_WGMMA
    for (int step = first; step < last; step++) {
        COPY_WAIT(STAGES_AHEAD - 1);
        WGMMA_FENCE_COPIES;
        barrier(CLK_LOCAL_MEM_FENCE);
        add_stage(sum, base + (uint)(step - first) % T_STAGES * STAGE_BYTES, warp, lane);
        START_STAGE(step + STAGES_AHEAD);
        WGMMA_WAIT(1);
    }
    WGMMA_WAIT(0);
    UNROLL
    for (int i = 0; i < SUMS_R; i++)
        wgmma_settle(sum[i]);
#else
    for (int step = first; step < last; step++) {
        COPY_WAIT(STAGES_AHEAD - 1);
        barrier(CLK_LOCAL_MEM_FENCE);
        START_STAGE(step + STAGES_AHEAD);
        add_stage(sum, base + (uint)(step - first) % T_STAGES * STAGE_BYTES, warp, lane);
    }
#endif

    UNROLL
    for (int i = 0; i < SUM_ROWS; i++)
        UNROLL
        for (int j = 0; j < SUMS_C; j++)
            put_pair(dst, part, group, m_first + WARP_ROW(warp) + SUM_ROW(i),
                     n_first + WARP_COLUMN(warp) + SUM_COLUMN(j), SUM_AT(sum, i, j, 0),
                     SUM_AT(sum, i, j, 1));
}

#if D_PARTS
/* Neighbouring items write neighbours, which are taps or channels of x; what they read is near. */
kernel void gemm_weights_mma_sum(global const ACC_T *restrict parts, global DST_T *restrict dst)
{
    const INDEX_T channels = (INDEX_T)P_GROUPS * D_DST_C,
                  part_size = channels * TAPS * OWN_CHANNELS;
    const INDEX_T i = get_global_id(0), k = i / (FILTER_C * TAPS);
    const int own = (int)(i % (FILTER_C * TAPS));
    const int c = D_W_TAP == 1 ? own / TAPS : own % FILTER_C,
              tap = D_W_TAP == 1 ? own % TAPS : own / FILTER_C;
    if (k >= channels)
        return;
    parts += (k * TAPS + tap) * OWN_CHANNELS + c;
    ACC_T sum = 0;
    for (int part = 0; part < T_SPLIT; part++)
        sum += parts[part * part_size];
    DST_STORE(dst, ELEMENT(k, c, tap), sum);
}
#endif
