/* gemm.cl: a convolution as a product of matrices that is never laid out: weights times patches of
 * the source, tile by tile, for devices whose work-items share local memory.
 *
 *                         pixels of all images ->
 *                         +--------+--------+---
 *     terms               | Bs     |            (channel and tap; gathered from the source)
 *       |                 +--------+--------+---
 *       v
 *     +--------+          +--------+--------+---
 *     | As     |  terms   | T_BM x |            a work-group's tile of the destination,
 *     +--------+          |  T_BN  |            T_TM x T_TN of it in each item's registers
 *     channels            +--------+--------+---
 *
 * A step takes T_BK terms: while the group multiplies one pair of pieces in local memory, each item
 * has its share of the next pair under way in registers. gemm_tile.cl has the product.
 *
 * Backward data is a forward pass over dy. With a stride, the pixels of dx fall into phases, one for
 * each remainder of the division by the stride; a phase has taps of its own and no others.
 *
 * Along an axis, pixel q and the i-th tap of its phase meet in source element
 * q * D_STEP + base + i * D_MOVE, where `base` is the phase's.
 *
 * Where tiles are fewer than the device's units, T_SPLIT groups share the terms of a tile; kernel
 * gemm_sum adds their sums in order and finishes them.
 *
 * Grid      gemm: (tiles of channels * tiles of pixels * items, groups * phases, T_SPLIT) in groups of
 *           (items, 1, 1), items = T_BM * T_BN / (T_TM * T_TN).
 *           gemm_sum: the destination's elements, one dimension.
 * Defines   those of epilogue.cl, and
 *   P_SRC_a, P_DST_a, P_FILTER_a, P_STRIDE_a, P_DILATION_a, P_PAD_a    sizes along a = D, H, W
 *   P_IMAGES, P_GROUPS      D_SRC_C, D_DST_C: channels of one group
 *   D_BACKWARD              backward data
 *   D_STEP_a, D_MOVE_a      above; D_JUMP_a: taps from one of a phase to the next
 *   D_GRID_a                pixels of one phase; D_PHASES_a: phases
 *   D_FLAT                  1: terms follow one another without a gap, whatever tap they are of;
 *                           0: the channels of a tap are filled up with zeros to D_CHANNELS
 *   D_CHANNELS              of a tap: D_SRC_C, or the next multiple of T_BK
 *   D_ROWS, D_COLUMNS       of a group's packed weights: terms, and channels filled up to T_BM
 *   D_LOAD                  how the source is read: LOAD_ONE, LOAD_PIXELS, LOAD_CHANNELS
 *   D_STORE                 how results are written: STORE_ONE, STORE_PIXELS, STORE_CHANNELS
 *   D_SRC_IMAGE, _CHANNEL, _PLANE, _ROW, _PIXEL, D_DST_...    elements from one to the next
 *   T_BM, T_BN, T_BK, T_TM, T_TN, T_SPLIT                     above
 * Assumes   what gemm_tile.cl does.
 */
#include "epilogue.cl"
#include "gemm_tile.cl"

#define LOAD_ONE 0
#define LOAD_PIXELS 1   /* four neighbouring ones: filters of one tap without stride and padding */
#define LOAD_CHANNELS 2 /* four neighbouring ones */
#define STORE_ONE 0
#define STORE_PIXELS 1
#define STORE_CHANNELS 2

#define PIXELS (P_IMAGES * D_GRID_D * D_GRID_H * D_GRID_W) /* of a phase */
#define PHASES (D_PHASES_D * D_PHASES_H * D_PHASES_W)

/* ---- a phase's taps ---- */

typedef struct {
    int first, count; /* taps first, first + D_JUMP, ... */
    int base;
} axis_taps;

#if D_BACKWARD
INLINE axis_taps taps_of(const int phase, const int pad, const int filter, const int stride,
                         const int dilation, const int jump)
{
    const int at = phase + pad, last = min(jump, filter);
    axis_taps t = {0, 0, 0};
    while (t.first < last && (at - t.first * dilation) % stride != 0)
        t.first++;
    t.count = t.first < last ? (filter - 1 - t.first) / jump + 1 : 0;
    t.base = (at - t.first * dilation) / stride;
    return t;
}
#define TAPS_OF(A, phase)                                                                          \
    taps_of(phase, P_PAD_##A, P_FILTER_##A, P_STRIDE_##A, P_DILATION_##A, D_JUMP_##A)
#else
#define TAPS_OF(A, phase) {0, P_FILTER_##A, -P_PAD_##A}
#endif

typedef struct {
    axis_taps d, h, w;
} phase_taps;

INLINE phase_taps taps_of_phase(const int phase)
{
    const axis_taps d = TAPS_OF(D, phase / (D_PHASES_H * D_PHASES_W));
    const axis_taps h = TAPS_OF(H, phase / D_PHASES_W % D_PHASES_H);
    const axis_taps w = TAPS_OF(W, phase % D_PHASES_W);
    const phase_taps t = {d, h, w};
    return t;
}

/* Which of a phase's taps, along each axis. */
typedef struct {
    int d, h, w;
} tap_index;

INLINE tap_index tap_at(const phase_taps *t, const int i)
{
    const int rows = i / t->w.count;
    const tap_index at = {rows / t->h.count, rows % t->h.count, i % t->w.count};
    return at;
}

/* The tap's place in the filter. */
INLINE int filter_tap(const phase_taps *t, const tap_index i)
{
    return ((t->d.first + i.d * D_JUMP_D) * P_FILTER_H + t->h.first + i.h * D_JUMP_H) * P_FILTER_W +
           t->w.first + i.w * D_JUMP_W;
}

/* ---- pixels ---- */

/* Where a pixel's patch begins in the source, and whether there is such a pixel. */
typedef struct {
    INDEX_T image;
    int d, h, w;
    bool real;
} pixel_place;

INLINE pixel_place place_of(const phase_taps *t, const int pixel)
{
    const int w = pixel % D_GRID_W, h = pixel / D_GRID_W % D_GRID_H,
              d = pixel / (D_GRID_W * D_GRID_H) % D_GRID_D,
              image = pixel / (D_GRID_W * D_GRID_H * D_GRID_D);
    const pixel_place p = {(INDEX_T)image * D_SRC_IMAGE, d * D_STEP_D + t->d.base,
                           h * D_STEP_H + t->h.base, w * D_STEP_W + t->w.base, pixel < PIXELS};
    return p;
}

/* The element of channel 0 that the tap meets; -1: padding, or no pixel. */
INLINE INDEX_T source_of(const pixel_place *p, const tap_index i)
{
    const int d = p->d + i.d * D_MOVE_D, h = p->h + i.h * D_MOVE_H, w = p->w + i.w * D_MOVE_W;
    const bool inside = (uint)d < P_SRC_D && (uint)h < P_SRC_H && (uint)w < P_SRC_W && p->real;
    return inside ? p->image + (INDEX_T)d * D_SRC_PLANE + (INDEX_T)h * D_SRC_ROW +
                        (INDEX_T)w * D_SRC_PIXEL
                  : -1;
}

/* The destination's element of channel 0 for a pixel; -1: the last row or column of some phases has
 * none there. */
INLINE INDEX_T result_of(const int pixel, const int phase)
{
    const int w = pixel % D_GRID_W * D_PHASES_W + phase % D_PHASES_W,
              h = pixel / D_GRID_W % D_GRID_H * D_PHASES_H + phase / D_PHASES_W % D_PHASES_H,
              d = pixel / (D_GRID_W * D_GRID_H) % D_GRID_D * D_PHASES_D +
                  phase / (D_PHASES_H * D_PHASES_W),
              image = pixel / (D_GRID_W * D_GRID_H * D_GRID_D);
    const bool inside = PHASES == 1 || (d < P_DST_D && h < P_DST_H && w < P_DST_W);
    return inside && pixel < PIXELS
               ? (INDEX_T)image * D_DST_IMAGE + (INDEX_T)d * D_DST_PLANE + (INDEX_T)h * D_DST_ROW +
                     (INDEX_T)w * D_DST_PIXEL
               : -1;
}

/* ---- what an item brings to local memory ---- */

/* Rows of As are read four channels at a time, by the first A_READERS items. */
#define A_ACROSS (T_BM / 4)
#define A_READERS (GROUP_ITEMS < T_BK * A_ACROSS ? GROUP_ITEMS : T_BK * A_ACROSS)
#define A_DOWN (A_READERS / A_ACROSS)
#define A_TIMES (T_BK / A_DOWN)

/* Bs: an item reads B_TIMES rows, B_DOWN apart, of B_PIXELS columns, B_NEXT apart. */
#if D_LOAD == LOAD_CHANNELS
#define B_ACROSS (GROUP_ITEMS / (T_BK / 4)) /* pixels */
#define B_PIXELS (T_BN / B_ACROSS)
#define B_NEXT B_ACROSS
#define B_TIMES 1
#define B_PITCH (T_BN + 4)
#else
#define B_WIDTH (D_LOAD == LOAD_PIXELS ? 4 : 1)
#define B_ACROSS (GROUP_ITEMS * B_WIDTH < T_BN ? GROUP_ITEMS : T_BN / B_WIDTH)
#define B_PIXELS (T_BN / (B_ACROSS * B_WIDTH))
#define B_NEXT (B_ACROSS * B_WIDTH)
#define B_DOWN (GROUP_ITEMS / B_ACROSS < T_BK ? GROUP_ITEMS / B_ACROSS : T_BK)
#define B_TIMES (T_BK / B_DOWN)
#define B_PITCH T_BN
#endif
#if D_LOAD == LOAD_ONE
#define B_T ACC_T
#else
#define B_T ACC_4
#endif
#if D_FLAT || D_SRC_C == D_CHANNELS
#define IS_CHANNEL(c) true
#else
#define IS_CHANNEL(c) ((c) < D_SRC_C)
#endif

/* Where the steps stand: a tap and a channel, or with D_FLAT a term. */
typedef struct {
    tap_index tap;
    int c;
} step_place;

INLINE void next_step(step_place *at, const phase_taps *t)
{
    at->c += T_BK;
#if !D_FLAT
    if (at->c < D_CHANNELS)
        return;
    at->c = 0;
    if (++at->tap.w < t->w.count)
        return;
    at->tap.w = 0;
    if (++at->tap.h < t->h.count)
        return;
    at->tap.h = 0;
    at->tap.d++;
#endif
}

INLINE ACC_4 read_weights(global const ACC_T *packed, const phase_taps *t, const step_place *at,
                          const int row)
{
#if D_FLAT && D_BACKWARD
    const int term = at->c + row, terms = t->d.count * t->h.count * t->w.count * D_SRC_C;
    if (term >= terms)
        return (ACC_4)((ACC_T)0);
    const int from = filter_tap(t, tap_at(t, term / D_SRC_C)) * D_SRC_C + term % D_SRC_C;
#elif D_FLAT
    const int from = at->c + row;
#else
    const int from = filter_tap(t, at->tap) * D_CHANNELS + at->c + row;
#endif
    return vload4(0, packed + (INDEX_T)from * D_COLUMNS);
}

/* One element, or four, of the channel or term in `row` of the step. */
INLINE B_T read_source(global const SRC_T *src, const phase_taps *t, const pixel_place *p,
                       const INDEX_T from, const step_place *at, const int row)
{
#if D_FLAT
    const int term = at->c + row, terms = t->d.count * t->h.count * t->w.count * D_SRC_C;
    if (term >= terms)
        return 0;
    const INDEX_T element = source_of(p, tap_at(t, term / D_SRC_C));
    return element < 0 ? 0 : SRC_LOAD(src, element + (INDEX_T)(term % D_SRC_C) * D_SRC_CHANNEL);
#else
    const int c = at->c + row;
    if (from < 0)
        return (B_T)((ACC_T)0);
    if (!IS_CHANNEL(c))
        return (B_T)((ACC_T)0);
#if D_LOAD == LOAD_ONE
    return SRC_LOAD(src, from + (INDEX_T)c * D_SRC_CHANNEL);
#else
    return SRC_LOADN(4, src, from + (INDEX_T)c * D_SRC_CHANNEL);
#endif
#endif
}

/* ---- results ---- */

#if T_SPLIT > 1
/* Sums of a part, in the order part, group, phase, channel, pixel. */
#define PART_OF(part, group_phase, channel, pixel)                                                 \
    ((((INDEX_T)(part) * (P_GROUPS * PHASES) + (group_phase)) * D_DST_C + (channel)) * PIXELS +    \
     (pixel))
#define OUT_T ACC_T
#define OUT_PARAMS
#else
#define OUT_T DST_T
#define OUT_PARAMS EPILOGUE_PARAMS
#endif

kernel GROUP_SIZE(GROUP_ITEMS, 1, 1) void gemm(global const SRC_T *restrict src,
                                               global const ACC_T *restrict packed,
                                               global OUT_T *dst OUT_PARAMS)
{
    local ACC_T as[2][T_BK * T_BM] __attribute__((aligned(16)));
    local ACC_T bs[2][T_BK * B_PITCH] __attribute__((aligned(16)));
    const int tiles_m = (D_DST_C + T_BM - 1) / T_BM;
    const int item = get_local_id(0), tile = get_group_id(0), group_phase = get_group_id(1);
    const int m_first = tile % tiles_m * T_BM, n_first = tile / tiles_m * T_BN;
    const int group = group_phase / PHASES, phase = group_phase % PHASES;
    const phase_taps taps = taps_of_phase(phase);

    const int a_row = item / A_ACROSS, a_column = item % A_ACROSS * 4;
    packed += (INDEX_T)group * D_ROWS * D_COLUMNS + m_first + a_column;
#if D_LOAD == LOAD_CHANNELS
    const int b_row = item % (T_BK / 4) * 4, b_column = item / (T_BK / 4);
#else
    const int b_row = item / B_ACROSS, b_column = item % B_ACROSS * B_WIDTH;
#endif
    src += (INDEX_T)group * D_SRC_C * D_SRC_CHANNEL;
    pixel_place place[B_PIXELS];
    UNROLL
    for (int p = 0; p < B_PIXELS; p++)
        place[p] = place_of(&taps, n_first + b_column + p * B_NEXT);

    const int all_taps = taps.d.count * taps.h.count * taps.w.count;
    const int steps = D_FLAT ? (all_taps * D_SRC_C + T_BK - 1) / T_BK : all_taps * (D_CHANNELS / T_BK);
    const int part = get_group_id(2);
    const int first = (int)((long)steps * part / T_SPLIT),
              last = (int)((long)steps * (part + 1) / T_SPLIT);
    step_place at = {{0, 0, 0}, 0};
#if D_FLAT
    at.c = first * T_BK;
#else
    if (first < last) {
        at.tap = tap_at(&taps, first / (D_CHANNELS / T_BK));
        at.c = first % (D_CHANNELS / T_BK) * T_BK;
    }
#endif

    ACC_T sum[T_TM][T_TN];
    CLEAR_SUMS(sum)

    ACC_4 a_next[A_TIMES];
    B_T b_next[B_PIXELS * B_TIMES];
    for (int step = first - 1; step < last; step++) {
        const bool more = step + 1 < last;
        if (more) {
            if (A_READERS == GROUP_ITEMS || item < A_READERS) {
                UNROLL
                for (int i = 0; i < A_TIMES; i++)
                    a_next[i] = read_weights(packed, &taps, &at, a_row + i * A_DOWN);
            }
            UNROLL
            for (int p = 0; p < B_PIXELS; p++) {
                const INDEX_T from = D_FLAT ? 0 : source_of(&place[p], at.tap);
#if D_LOAD == LOAD_CHANNELS
                b_next[p] = read_source(src, &taps, &place[p], from, &at, b_row);
#else
                UNROLL
                for (int i = 0; i < B_TIMES; i++)
                    if (B_DOWN * B_ACROSS == GROUP_ITEMS || b_row < B_DOWN)
                        b_next[p * B_TIMES + i] =
                            read_source(src, &taps, &place[p], from, &at, b_row + i * B_DOWN);
#endif
            }
            next_step(&at, &taps);
        }
        if (step >= first)
            ADD_PRODUCTS(sum, as[step & 1], T_BM, bs[step & 1], B_PITCH);
        if (more) {
            local ACC_T *a_to = as[(step + 1) & 1] + a_column, *b_to = bs[(step + 1) & 1] + b_column;
            if (A_READERS == GROUP_ITEMS || item < A_READERS) {
                UNROLL
                for (int i = 0; i < A_TIMES; i++)
                    *(local ACC_4 *)(a_to + (a_row + i * A_DOWN) * T_BM) = a_next[i];
            }
            UNROLL
            for (int p = 0; p < B_PIXELS; p++) {
#if D_LOAD == LOAD_CHANNELS
                local ACC_T *to = b_to + b_row * B_PITCH + p * B_NEXT;
                to[0] = b_next[p].s0, to[B_PITCH] = b_next[p].s1;
                to[2 * B_PITCH] = b_next[p].s2, to[3 * B_PITCH] = b_next[p].s3;
#else
                UNROLL
                for (int i = 0; i < B_TIMES; i++)
                    if (B_DOWN * B_ACROSS == GROUP_ITEMS || b_row < B_DOWN)
                        *(local B_T *)(b_to + (b_row + i * B_DOWN) * B_PITCH + p * B_NEXT) =
                            b_next[p * B_TIMES + i];
#endif
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }

#if T_SPLIT > 1
    UNROLL
    for (int j = 0; j < T_TN; j++) {
        const int pixel = n_first + TILE_COLUMN(j);
        UNROLL
        for (int i = 0; i < T_TM; i++) {
            const int channel = m_first + TILE_ROW(i);
            if (channel < D_DST_C && pixel < PIXELS)
                dst[PART_OF(part, group_phase, channel, pixel)] = sum[i][j];
        }
    }
#elif D_STORE == STORE_PIXELS
    UNROLL
    for (int j = 0; j < T_TN; j += 4) {
        const INDEX_T to = result_of(n_first + TILE_COLUMN(j), 0);
        UNROLL
        for (int i = 0; i < T_TM; i++) {
            const int channel = m_first + TILE_ROW(i), own = group * D_DST_C + channel;
            const INDEX_T e = to + (INDEX_T)own * D_DST_CHANNEL;
            if (channel >= D_DST_C || to < 0)
                continue;
            const KILN_CAT(VAL_T, 4) v = {FINISH(sum[i][j], own, e), FINISH(sum[i][j + 1], own, e + 1),
                                          FINISH(sum[i][j + 2], own, e + 2),
                                          FINISH(sum[i][j + 3], own, e + 3)};
            DST_STOREN(4, dst, e, v);
        }
    }
#elif D_STORE == STORE_CHANNELS
    UNROLL
    for (int j = 0; j < T_TN; j++) {
        const INDEX_T to = result_of(n_first + TILE_COLUMN(j), phase);
        UNROLL
        for (int i = 0; i < T_TM; i += 4) {
            const int channel = m_first + TILE_ROW(i), own = group * D_DST_C + channel;
            const INDEX_T e = to + own;
            if (channel >= D_DST_C || to < 0)
                continue;
            const KILN_CAT(VAL_T, 4) v = {FINISH(sum[i][j], own, e), FINISH(sum[i + 1][j], own + 1, e + 1),
                                          FINISH(sum[i + 2][j], own + 2, e + 2),
                                          FINISH(sum[i + 3][j], own + 3, e + 3)};
            DST_STOREN(4, dst, e, v);
        }
    }
#else
    UNROLL
    for (int j = 0; j < T_TN; j++) {
        const INDEX_T to = result_of(n_first + TILE_COLUMN(j), phase);
        UNROLL
        for (int i = 0; i < T_TM; i++) {
            const int channel = m_first + TILE_ROW(i), own = group * D_DST_C + channel;
            const INDEX_T e = to + (INDEX_T)own * D_DST_CHANNEL;
            if (channel < D_DST_C && to >= 0)
                DST_STORE(dst, e, FINISH(sum[i][j], own, e));
        }
    }
#endif
}

#if T_SPLIT > 1
/* One element: pixels are neighbours. */
kernel void gemm_sum(global const ACC_T *restrict parts, global DST_T *dst EPILOGUE_PARAMS)
{
    const INDEX_T all = (INDEX_T)P_GROUPS * PHASES * D_DST_C * PIXELS, i = get_global_id(0);
    if (i >= all)
        return;
    const int pixel = i % PIXELS;
    const INDEX_T row = i / PIXELS, group_phase = row / D_DST_C;
    const int own = (int)(group_phase / PHASES) * D_DST_C + (int)(row % D_DST_C);
    const INDEX_T to = result_of(pixel, (int)(group_phase % PHASES));
    if (to < 0)
        return;
    ACC_T sum = 0;
    UNROLL
    for (int part = 0; part < T_SPLIT; part++)
        sum += parts[part * all + i];
    const INDEX_T e = to + (INDEX_T)own * D_DST_CHANNEL;
    DST_STORE(dst, e, FINISH(sum, own, e));
}
#endif
