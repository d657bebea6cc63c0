/* gemm_weights_mma.cl: backward weights as a product of matrices on tensor cores: dy times the patches
 * of x, tile by tile, summed over the pixels of all images, in f16 and bf16.
 *
 *                     columns: tap and source channel
 *                     +--------+--------+---
 *     pixels          | x      |             a stage in local memory: the next T_BYTES / 2 pixels, a
 *       |             +--------+--------+--- row each, T_ROWS channels of dy and T_COLUMNS columns of
 *       v                                    x. 16 bytes stand where PLACE says, so that the eight
 *     +------+        +--------+--------+--- rows that are read at once lie in different banks
 *     | dy   |        | T_ROWS x
 *     +------+        | T_COLUMNS            a group's tile of dw; mma_tile.cl has it
 *     channels        +--------+--------+---
 *
 * While a group multiplies one stage, copies of the next T_STAGES - 1 are under way. T_SPLIT groups
 * share the pixels; kernel gemm_weights_mma_sum then adds their sums in order, so that two runs give
 * the same bits.
 *
 * Grid      gemm_weights_mma: (tiles of channels * tiles of columns * items, groups, T_SPLIT) in groups
 *           of (items, 1, 1).
 *           gemm_weights_mma_sum: the elements of a part, one dimension.
 * Defines   those of types.cl and mma_tile.cl, and
 *   P_SRC_a, P_DST_a, P_FILTER_a, P_STRIDE_a, P_DILATION_a, P_PAD_a    of x and dy along a = D, H, W
 *   P_IMAGES, P_GROUPS    D_SRC_C, D_DST_C: channels of one group of x and of dy
 *   D_X_CHANNELS, D_DY_CHANNELS    the same, padding included
 *   D_X_UNIT, D_DY_UNIT   bytes of a copy, 16 or 8: divide the bytes of those channels, and all distances
 *   D_POINTWISE           pixels of dy and of x are the same: one tap, no stride and no padding
 *   D_X_IMAGE, _PLANE, _ROW, _PIXEL, D_DY_PIXEL    elements from one to the next
 *   T_BYTES, T_STAGES, T_SPLIT    above
 * Assumes   128 items or more; T_ROWS and T_COLUMNS are 64 or more; pixels of dy follow one another.
 */
#include "mma_tile.cl"

#define TERMS (T_BYTES / MMA_BYTES) /* pixels of a step */
#define TAPS (P_FILTER_D * P_FILTER_H * P_FILTER_W)
#define COLUMNS (TAPS * D_X_CHANNELS)
#define PIXELS (P_IMAGES * P_DST_D * P_DST_H * P_DST_W)

#define DY_PITCH (T_ROWS * MMA_BYTES)
#define X_PITCH (T_COLUMNS * MMA_BYTES)
#define PLACE(pitch, pixel, byte)                                                                  \
    ((pixel) * (pitch) + ((((byte) >> 4) ^ ((pixel) & 7)) << 4) + ((byte) & 15))
#define X_AT (TERMS * DY_PITCH)
#define STAGE_BYTES (TERMS * (DY_PITCH + X_PITCH))

/* Neighbouring items copy neighbouring units of a pixel; all items, pixels that are so far apart. */
#define DY_ACROSS (DY_PITCH / D_DY_UNIT)
#define DY_DOWN (GROUP_ITEMS / DY_ACROSS)
#define DY_TIMES ((TERMS + DY_DOWN - 1) / DY_DOWN)
#define X_ACROSS (X_PITCH / D_X_UNIT)
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
            COPY_ASYNC(D_DY_UNIT, to + PLACE(DY_PITCH, at, byte),
                       dy + (inside ? (INDEX_T)pixel * D_DY_PIXEL : 0), inside ? D_DY_UNIT : 0);
    }
}

/* A column: where its tap lies from the patch's beginning, and its channel. */
typedef struct {
    int channel, d, h, w;
    bool real;
} column_place;

INLINE column_place column_of(const int column)
{
    const int tap = column / D_X_CHANNELS;
    const column_place c = {column % D_X_CHANNELS,
                            tap / (P_FILTER_H * P_FILTER_W) * P_DILATION_D - P_PAD_D,
                            tap / P_FILTER_W % P_FILTER_H * P_DILATION_H - P_PAD_H,
                            tap % P_FILTER_W * P_DILATION_W - P_PAD_W, column < COLUMNS};
    return c;
}

/* The element of x that the column's tap meets; -1: padding, or no pixel. */
INLINE INDEX_T source_of(const uint pixel, const column_place *c)
{
#if D_POINTWISE
    return c->real && pixel < PIXELS ? (INDEX_T)pixel * D_X_PIXEL + c->channel : -1;
#else
    const uint w = pixel % P_DST_W, rows = pixel / P_DST_W, h = rows % P_DST_H,
               planes = rows / P_DST_H, d = planes % P_DST_D, image = planes / P_DST_D;
    const int at_d = (int)d * P_STRIDE_D + c->d, at_h = (int)h * P_STRIDE_H + c->h,
              at_w = (int)w * P_STRIDE_W + c->w;
    const bool inside = c->real && pixel < PIXELS && (uint)at_d < P_SRC_D && (uint)at_h < P_SRC_H &&
                        (uint)at_w < P_SRC_W;
    return inside ? (INDEX_T)image * D_X_IMAGE + (INDEX_T)at_d * D_X_PLANE + (INDEX_T)at_h * D_X_ROW +
                        (INDEX_T)at_w * D_X_PIXEL + c->channel
                  : -1;
#endif
}

INLINE void copy_x(const uint to, global const MMA_T *x, const int first, const int item,
                   const column_place *c)
{
    const int row = item / X_ACROSS, byte = item % X_ACROSS * D_X_UNIT;
    UNROLL
    for (int i = 0; i < X_TIMES; i++) {
        const int at = row + i * X_DOWN;
        const INDEX_T from = source_of((uint)(first + at), c);
        if (IS_PIXEL(at, X_DOWN))
            COPY_ASYNC(D_X_UNIT, to + PLACE(X_PITCH, at, byte), x + (from < 0 ? 0 : from),
                       from < 0 ? 0 : D_X_UNIT);
    }
}

/* `m` and `n` are the first row and column of the warp's part. */
INLINE void read_slice(slice *s, const uint stage, const int m, const int n, const int lane,
                       const int k)
{
    UNROLL
    for (int i = 0; i < SUMS_R; i++)
        read_turned(s->left[i], stage + PLACE(DY_PITCH, k * 16 + TERM_OF_LEFT(lane),
                                              (m + i * 16 + AT_OF_LEFT(lane)) * MMA_BYTES));
    UNROLL
    for (int j = 0; j < SUMS_C / 2; j++)
        read_turned(s->right[j],
                    stage + X_AT + PLACE(X_PITCH, k * 16 + TERM_OF_RIGHT(lane),
                                         (n + j * 16 + AT_OF_RIGHT(lane)) * MMA_BYTES));
}

/* The next slice is read while one is multiplied. */
INLINE void add_stage(ACC_T sum[SUMS_R][SUMS_C][4], const uint stage, const int m, const int n,
                      const int lane)
{
    slice s[2];
    read_slice(&s[0], stage, m, n, lane, 0);
    UNROLL
    for (int k = 0; k < TERMS / 16; k++) {
        if (k + 1 < TERMS / 16)
            read_slice(&s[(k + 1) % 2], stage, m, n, lane, k + 1);
        add_slice(sum, &s[k % 2]);
    }
}

/* Where a sum belongs in dw. */
INLINE INDEX_T element_of(const int channel, const int column)
{
    return ((INDEX_T)channel * D_SRC_C + column % D_X_CHANNELS) * TAPS + column / D_X_CHANNELS;
}

#if T_SPLIT > 1
/* Sums of a part, in the order part, group, channel, column. */
#define OUT_T ACC_T
#define PUT(channel, column, v)                                                                    \
    dst[((INDEX_T)part * P_GROUPS * D_DST_C + (channel)) * COLUMNS + (column)] = (v)
#else
#define OUT_T DST_T
#define PUT(channel, column, v)                                                                    \
    if ((column) % D_X_CHANNELS < D_SRC_C)                                                         \
    DST_STORE(dst, element_of(channel, column), v)
#endif

kernel GROUP_SIZE(GROUP_ITEMS, 1, 1) void gemm_weights_mma(global const MMA_T *restrict x,
                                                           global const MMA_T *restrict dy,
                                                           global OUT_T *restrict dst)
{
    local uint4 pieces[T_STAGES * STAGE_BYTES / 16] __attribute__((aligned(128)));
    const int tiles_m = (D_DST_C + T_ROWS - 1) / T_ROWS;
    const int item = get_local_id(0), lane = item % 32, warp = item / 32;
    const int tile = get_group_id(0), group = get_group_id(1), part = get_group_id(2);
    const int m_first = tile % tiles_m * T_ROWS, n_first = tile / tiles_m * T_COLUMNS;
    const int steps = (PIXELS + TERMS - 1) / TERMS;
    const int first = (int)((long)steps * part / T_SPLIT),
              last = (int)((long)steps * (part + 1) / T_SPLIT);
    const int channel = m_first + item % DY_ACROSS * (D_DY_UNIT / MMA_BYTES);
    const column_place column = column_of(n_first + item % X_ACROSS * (D_X_UNIT / MMA_BYTES));
    x += (INDEX_T)group * D_X_CHANNELS;
    dy += (INDEX_T)group * D_DY_CHANNELS + (channel < D_DY_CHANNELS ? channel : 0);
    const uint base = LOCAL_ADDRESS(pieces);

    ACC_T sum[SUMS_R][SUMS_C][4];
    CLEAR_SUMS(sum)

#define START_STAGE(step)                                                                          \
    if ((step) < last) {                                                                           \
        const uint to = base + (uint)((step) - first) % T_STAGES * STAGE_BYTES;                    \
        copy_dy(to, dy, (step)*TERMS, item, channel < D_DY_CHANNELS);                              \
        copy_x(to + X_AT, x, (step)*TERMS, item, &column);                                         \
    }                                                                                              \
    COPY_COMMIT
    UNROLL
    for (int i = 0; i < T_STAGES - 1; i++) {
        START_STAGE(first + i);
    }
    for (int step = first; step < last; step++) {
        COPY_WAIT(T_STAGES - 2);
        barrier(CLK_LOCAL_MEM_FENCE);
        START_STAGE(step + T_STAGES - 1);
        add_stage(sum, base + (uint)(step - first) % T_STAGES * STAGE_BYTES, WARP_ROW(warp),
                  WARP_COLUMN(warp), lane);
    }

    UNROLL
    for (int i = 0; i < SUM_ROWS; i++) {
        const int k = m_first + WARP_ROW(warp) + SUM_ROW(i), own = group * D_DST_C + k;
        UNROLL
        for (int j = 0; j < SUMS_C; j++)
            UNROLL
            for (int e = 0; e < 2; e++) {
                const int at = n_first + WARP_COLUMN(warp) + SUM_COLUMN(j) + e;
                if (k < D_DST_C && at < COLUMNS)
                    PUT(own, at, SUM_AT(sum, i, j, e));
            }
    }
}

#if T_SPLIT > 1
kernel void gemm_weights_mma_sum(global const ACC_T *restrict parts, global DST_T *restrict dst)
{
    const INDEX_T all = (INDEX_T)P_GROUPS * D_DST_C * COLUMNS, i = get_global_id(0);
    const int column = (int)(i % COLUMNS);
    if (i >= all || column % D_X_CHANNELS >= D_SRC_C)
        return;
    ACC_T sum = 0;
    for (int part = 0; part < T_SPLIT; part++)
        sum += parts[part * all + i];
    DST_STORE(dst, element_of((int)(i / COLUMNS), column), sum);
}
#endif
