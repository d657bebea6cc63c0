/* gemm_mma.cl: a convolution as a product of matrices on tensor cores: patches of the source times
 * weights, tile by tile, forward and backward data.
 *
 *                  terms: channel and tap          a stage in local memory: the next T_BYTES bytes of
 *                 +-----+-----+-----+---           terms of T_ROWS pixels and T_COLUMNS channels,
 *     pixels      |  0  |  1  |  2  |              rows of T_BYTES bytes. 16 bytes stand where
 *     of all      |     |     |     |              16 * (place ^ TURN(row)) says, so that eight rows
 *     images      +-----+-----+-----+---           that are read at once lie in different banks
 *                    T_BYTES bytes each
 *
 * mma_tile.cl has the tile of a group: T_ROWS pixels by T_COLUMNS channels. With T_WGMMA the products
 * are those of wgmma.cl, which run beside the copies.
 *
 * While a group multiplies one stage, copies of the next STAGES_AHEAD are under way. A copy brings
 * D_UNIT bytes of a patch, channels of one tap of one pixel; past the border it brings zeros. Terms
 * follow one another without a gap: all channels of a tap, then those of the next tap; or, where the
 * channels fill whole steps, one step of each tap, then the next channels.
 *
 * Backward data is a forward pass over dy, phase by phase; gemm_places.cl says which pixels and taps
 * meet where. With D_MERGED a channel of the tile is a phase of a channel of the destination.
 *
 * Where tiles are fewer than the device's units, T_SPLIT groups share the terms of a tile; kernel
 * gemm_mma_sum adds their sums in order and finishes them.
 *
 * Grid      gemm_mma: (tiles of channels * tiles of pixels * items, groups * phases, T_SPLIT) in groups
 *           of (items, 1, 1), items = 32 * T_WARPS_R * T_WARPS_C.
 *           gemm_mma_sum: the destination's elements, one dimension.
 * Defines   those of epilogue.cl, gemm_places.cl and mma_tile.cl, and
 *   P_GROUPS            D_DST_C: channels of one group of the destination
 *   D_CHANNELS          of one group of the source, padding included
 *   D_TAPS_INNER        the second order of terms
 *   D_COLUMNS, D_ROW    of the packed weights of a group and phase: channels filled up to T_COLUMNS,
 *                       terms filled up to whole rows of T_BYTES bytes
 *   D_UNIT              16 or 8: divides the bytes of D_CHANNELS, and all distances in the source
 *   D_OUT_UNIT          bytes of results that are written at once: divides the bytes of D_DST_C, and
 *                       all distances in the destination; 0: pixels are neighbours, not channels
 *   D_DST_CHANNEL       elements from one channel of the destination to the next
 *   T_BYTES, T_STAGES, T_SPLIT    above
 * Assumes   128 items or more; the channels of a pixel of the source are neighbours.
 */
#include "epilogue.cl"
#include "gemm_places.cl"
#include "mma_tile.cl"
#include "wgmma.cl"

#define TERMS (T_BYTES / MMA_BYTES) /* of a step */

/* ---- a stage in local memory ---- */

#define TURN(row) (T_BYTES == 128 ? (row) & 7 : (row) >> 1 & 3)
#define PLACE(row, byte) ((row) * T_BYTES + ((((byte) >> 4) ^ TURN(row)) << 4) + ((byte) & 15))
#define STAGE_BYTES ((T_ROWS + T_COLUMNS) * T_BYTES)
#define WEIGHTS_AT (T_ROWS * T_BYTES)

/* Neighbouring items copy neighbouring units of a row; all items, rows that are so far apart. TURN is
 * the same for all rows of an item. */
#define SRC_ACROSS (T_BYTES / D_UNIT)
#define SRC_DOWN (GROUP_ITEMS / SRC_ACROSS)
#define SRC_TIMES ((T_ROWS + SRC_DOWN - 1) / SRC_DOWN)
#define W_ACROSS (T_BYTES / 16)
#define W_DOWN (GROUP_ITEMS / W_ACROSS)
#define W_TIMES ((T_COLUMNS + W_DOWN - 1) / W_DOWN)
#define IS_ROW(row, down, rows) ((rows) % (down) == 0 || (row) < (rows))

/* Where a pixel's patch begins; where there is no such pixel, it lies outside. */
typedef struct {
    INDEX_T element;
    int d, h, w;
} patch;

INLINE patch patch_of(const phase_taps *t, const int pixel)
{
    const pixel_place p = place_of(t, pixel);
    const patch q = {pixel < PIXELS ? p.image + element_of(p.d, p.h, p.w) : 0, p.d, p.h, p.w};
    return q;
}

/* The terms that an item copies in a step: a tap, as a distance from the patch's beginning, and a
 * channel. */
typedef struct {
    int tap, channel;
    INDEX_T element;
    int d, h, w;
} terms_place;

INLINE void set_tap(terms_place *p, const phase_taps *t, const int tap)
{
    const tap_index i = tap_at(t, tap);
    p->tap = tap;
    p->d = i.d * D_MOVE_D;
    p->h = i.h * D_MOVE_H;
    p->w = i.w * D_MOVE_W;
    p->element = element_of(p->d, p->h, p->w);
}

INLINE void next_terms(terms_place *p, const phase_taps *t, const int taps)
{
#if D_TAPS_INNER
    int tap = p->tap + 1;
    if (tap == taps) {
        tap = 0;
        p->channel += TERMS;
    }
#else
    int tap = p->tap + TERMS / D_CHANNELS;
    p->channel += TERMS % D_CHANNELS;
    if (p->channel >= D_CHANNELS) {
        p->channel -= D_CHANNELS;
        tap++;
    }
#endif
    if (tap != p->tap)
        set_tap(p, t, tap);
}

/* All taps of one step's channels follow one another: the first cache has most of them. */
#if T_WGMMA && D_TAPS_INNER && D_CHANNELS == TERMS
#define COPY_SOURCE(to, from, given) COPY_ASYNC_OF("ca", D_UNIT, to, from, given)
#else
#define COPY_SOURCE(to, from, given) COPY_ASYNC(D_UNIT, to, from, given)
#endif

INLINE void copy_source(const uint to, global const MMA_T *src, const patch *patches,
                        const terms_place *at, const int row, const int taps)
{
    UNROLL
    for (int i = 0; i < SRC_TIMES; i++) {
        const patch *p = &patches[i];
        const bool inside =
            is_inside(p->d + at->d, p->h + at->h, p->w + at->w) && at->tap < taps;
        const INDEX_T element = inside ? p->element + at->element + at->channel : 0;
        if (IS_ROW(row + i * SRC_DOWN, SRC_DOWN, T_ROWS))
            COPY_SOURCE(to + i * SRC_DOWN * T_BYTES, src + element, inside ? D_UNIT : 0);
    }
}

INLINE void copy_weights(const uint to, global const MMA_T *packed, const int row)
{
    UNROLL
    for (int i = 0; i < W_TIMES; i++)
        if (IS_ROW(row + i * W_DOWN, W_DOWN, T_COLUMNS))
            COPY_ASYNC(16, to + i * W_DOWN * T_BYTES, packed + (INDEX_T)i * W_DOWN * D_ROW, 16);
}

/* ---- products ---- */

#if T_WGMMA
/* Products of a stage are done after the next stage's have begun: a stage is free two steps later. */
#define STAGES_AHEAD (T_STAGES - 2)

/* `left` and `right` are the addresses of the rows of the item's four warps, and of the columns. */
INLINE void add_stage(ACC_T sum[SUMS_R][SUMS_C][4], const uint left, const uint right)
{
    WGMMA_BEGIN;
    UNROLL
    for (int i = 0; i < SUMS_R; i++)
        wgmma(sum[i], left + i * 64 * T_BYTES, right);
    WGMMA_END;
}
#else
#define STAGES_AHEAD (T_STAGES - 1)
#define SLICES (T_BYTES / 32)

/* `left` and `right` are the addresses of the item's row, without its turn. */
INLINE void read_slice(slice *s, const uint left, const uint right, const int lane, const int k)
{
    UNROLL
    for (int i = 0; i < SUMS_R; i++)
        read_left(s->left[i],
                  left + i * 16 * T_BYTES + PLACE(ROW_OF_LEFT(lane), k * 32 + BYTE_OF_LEFT(lane)));
    UNROLL
    for (int j = 0; j < SUMS_C / 2; j++)
        read_right(s->right[j],
                   right + j * 16 * T_BYTES + PLACE(ROW_OF_RIGHT(lane), k * 32 + BYTE_OF_RIGHT(lane)));
}

/* The next slice is read while one is multiplied. */
INLINE void add_stage(ACC_T sum[SUMS_R][SUMS_C][4], const uint left, const uint right, const int lane)
{
    slice s[2];
    read_slice(&s[0], left, right, lane, 0);
    UNROLL
    for (int k = 0; k < SLICES; k++) {
        if (k + 1 < SLICES)
            read_slice(&s[(k + 1) % 2], left, right, lane, k + 1);
        add_slice(sum, &s[k % 2]);
    }
}
#endif

/* ---- results ---- */

/* Phases that have groups of their own, and that are columns of the tile. */
#define GROUP_PHASES (D_MERGED ? 1 : PHASES)
#define COLUMN_PHASES (D_MERGED ? PHASES : 1)
#define PHASE_OF(column) (D_MERGED ? (column) % PHASES : phase)

/* Finishes a sum and stores it, if the pixel exists. */
INLINE void put_result(global DST_T *dst, const int pixel, const int phase, const int own,
                       const ACC_T sum EPILOGUE_PARAMS)
{
    const INDEX_T to = result_of(pixel, phase), e = to + (INDEX_T)own * D_DST_CHANNEL;
    if (to >= 0)
        DST_STORE(dst, e, FINISH(sum, own, e));
}
#define PUT_RESULT(pixel, column, sum)                                                             \
    put_result(dst, pixel, PHASE_OF(column), (group * D_DST_C + (column)) / COLUMN_PHASES,         \
               sum EPILOGUE_PASS)

#if T_SPLIT > 1
/* Sums of a part, in the order part, group, phase, pixel, channel. */
#define PART_OF(part, group_phase, pixel, channel)                                                 \
    ((((INDEX_T)(part) * (P_GROUPS * GROUP_PHASES) + (group_phase)) * PIXELS + (pixel)) * D_DST_C + \
     (channel))
#define OUT_T ACC_T
#define OUT_PARAMS
#else
#define OUT_T DST_T
#define OUT_PARAMS EPILOGUE_PARAMS
#endif

#if DST_TYPE == TYPE_I8
#define DST_BYTES 1
#elif DST_TYPE == TYPE_F16 || DST_TYPE == TYPE_BF16
#define DST_BYTES 2
#else
#define DST_BYTES 4
#endif

/* No more stages than steps. */
#define PIECES_BYTES ((T_STAGES < D_ROW / TERMS ? T_STAGES : D_ROW / TERMS) * STAGE_BYTES)

/* Results pass through local memory, so that neighbouring items write long runs: narrow ones always,
 * others where there is room. */
#define BITS_PITCH (T_COLUMNS + (D_OUT_UNIT ? 16 : DST_BYTES == 4 ? 8 : 4) / DST_BYTES)
#define RESULT_BYTES (T_ROWS * BITS_PITCH * DST_BYTES)
#if T_SPLIT == 1 && !D_MERGED && (DST_BYTES < 4 || RESULT_BYTES <= PIECES_BYTES)
#define EXCHANGED 1
#define LOCAL_BYTES (PIECES_BYTES > RESULT_BYTES ? PIECES_BYTES : RESULT_BYTES)
#else
#define EXCHANGED 0
#define LOCAL_BYTES PIECES_BYTES
#endif

#if EXCHANGED
#if DST_BYTES == 1
#define BITS_T uchar
#define BITS_PAIR_T uchar2
#define BITS_PAIR(a, b) as_uchar2((char2)(kiln_to_char(a), kiln_to_char(b)))
#elif DST_BYTES == 4
#define BITS_T uint
#define BITS_PAIR_T uint2
#define BITS_PAIR(a, b) ((uint2)(as_uint(a), as_uint(b)))
#else
#define BITS_T ushort
#define BITS_PAIR_T uint
INLINE uint kiln_narrow_pair(const float a, const float b)
{
    uint both;
#if DST_TYPE == TYPE_F16
    __asm__("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(b), "f"(a));
#else
    __asm__("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(b), "f"(a));
#endif
    return both;
}
#define BITS_PAIR(a, b) kiln_narrow_pair(a, b)
#endif
#define UNIT_T_16 uint4
#define UNIT_T_8 uint2
#define UNIT_T_4 uint
#define UNIT_T_2 ushort
#define UNIT_T_1 uchar
#define UNIT_T KILN_CAT(UNIT_T_, D_OUT_UNIT)

INLINE void write_results(global DST_T *dst, local const BITS_T *tile, const int item,
                          const int m_first, const int n_first, const int group, const int phase)
{
    global BITS_T *to = (global BITS_T *)dst;
#if D_OUT_UNIT
    const int elements = D_OUT_UNIT / DST_BYTES, across = T_COLUMNS / elements;
    for (int i = item; i < T_ROWS * across; i += GROUP_ITEMS) {
        const int row = i / across, channel = i % across * elements;
        const INDEX_T at = result_of(m_first + row, phase);
        if (at >= 0 && n_first + channel < D_DST_C)
            *(global UNIT_T *)(to + at + group * D_DST_C + n_first + channel) =
                *(local const UNIT_T *)(tile + row * BITS_PITCH + channel);
    }
#else
    const int rows = min(GROUP_ITEMS, T_ROWS), down = max(GROUP_ITEMS / T_ROWS, 1);
    for (int row = item % rows; row < T_ROWS; row += rows) {
        const INDEX_T at = result_of(m_first + row, phase);
        for (int c = item / rows; c < T_COLUMNS; c += down)
            if (at >= 0 && n_first + c < D_DST_C)
                to[at + (INDEX_T)(group * D_DST_C + n_first + c) * D_DST_CHANNEL] =
                    tile[row * BITS_PITCH + c];
    }
#endif
}
#endif

kernel GROUP_SIZE(GROUP_ITEMS, 1, 1) void gemm_mma(global const MMA_T *restrict src,
                                                   global const MMA_T *restrict packed,
                                                   global OUT_T *dst OUT_PARAMS)
{
    local uint4 pieces[LOCAL_BYTES / 16] __attribute__((aligned(1024)));
    const int item = get_local_id(0), lane = item % 32, warp = item / 32;
    const int tile = get_group_id(0), group_phase = get_group_id(1), part = get_group_id(2);
    const int tiles_n = D_COLUMNS / T_COLUMNS;
    const int n_first = tile % tiles_n * T_COLUMNS, m_first = tile / tiles_n * T_ROWS;
    const int group = group_phase / GROUP_PHASES, phase = group_phase % GROUP_PHASES;
    const phase_taps taps = taps_of_phase(phase);
    const int all_taps = taps.d.count * taps.h.count * taps.w.count;
    const int steps = (all_taps * D_CHANNELS + TERMS - 1) / TERMS;
    const int first = (int)((long)steps * part / T_SPLIT),
              last = (int)((long)steps * (part + 1) / T_SPLIT);

    ACC_T sum[SUMS_R][SUMS_C][4];
    CLEAR_SUMS(sum)

    const uint base = LOCAL_ADDRESS(pieces);
    const int src_row = item / SRC_ACROSS, src_byte = item % SRC_ACROSS * D_UNIT;
    const int w_row = item / W_ACROSS, w_byte = item % W_ACROSS * 16;
    const uint src_to = base + PLACE(src_row, src_byte),
               w_to = base + WEIGHTS_AT + PLACE(w_row, w_byte);
    src += (INDEX_T)group * D_CHANNELS;
    packed += ((INDEX_T)group_phase * D_COLUMNS + n_first + w_row) * D_ROW +
              (INDEX_T)first * TERMS + w_byte / MMA_BYTES;
    patch patches[SRC_TIMES];
    UNROLL
    for (int i = 0; i < SRC_TIMES; i++)
        patches[i] = patch_of(&taps, m_first + src_row + i * SRC_DOWN);
    terms_place at = {0, 0, 0, 0, 0, 0};
    if (first < last) {
#if D_TAPS_INNER
        at.channel = first / all_taps * TERMS + src_byte / MMA_BYTES;
        set_tap(&at, &taps, first % all_taps);
#else
        const int term = first * TERMS + src_byte / MMA_BYTES;
        at.channel = term % D_CHANNELS;
        set_tap(&at, &taps, term / D_CHANNELS);
#endif
    }

#define START_STAGE(step)                                                                          \
    if ((step) < last) {                                                                           \
        const uint slot = (uint)((step) - first) % T_STAGES * STAGE_BYTES;                         \
        copy_source(src_to + slot, src, patches, &at, src_row, all_taps);                          \
        copy_weights(w_to + slot, packed, w_row);                                                  \
        packed += TERMS;                                                                           \
        next_terms(&at, &taps, all_taps);                                                                    \
    }                                                                                              \
    COPY_COMMIT
    UNROLL
    for (int i = 0; i < STAGES_AHEAD; i++) {
        START_STAGE(first + i);
    }
#if T_WGMMA
    const uint left = base + WARP_ROW(warp / 4 * 4) * T_BYTES, right = base + WEIGHTS_AT;
    for (int step = first; step < last; step++) {
        COPY_WAIT(STAGES_AHEAD - 1);
        WGMMA_FENCE_COPIES;
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint slot = (uint)(step - first) % T_STAGES * STAGE_BYTES;
        add_stage(sum, left + slot, right + slot);
        START_STAGE(step + STAGES_AHEAD);
        WGMMA_WAIT(1);
    }
    WGMMA_WAIT(0);
    UNROLL
    for (int i = 0; i < SUMS_R; i++)
        wgmma_settle(sum[i]);
#else
    const uint left = base + WARP_ROW(warp) * T_BYTES,
               right = base + WEIGHTS_AT + WARP_COLUMN(warp) * T_BYTES;
    for (int step = first; step < last; step++) {
        COPY_WAIT(STAGES_AHEAD - 1);
        barrier(CLK_LOCAL_MEM_FENCE);
        START_STAGE(step + STAGES_AHEAD);
        const uint slot = (uint)(step - first) % T_STAGES * STAGE_BYTES;
        add_stage(sum, left + slot, right + slot, lane);
    }
#endif

    const int m = m_first + WARP_ROW(warp),
              n = n_first + WARP_COLUMN(warp);
#if T_SPLIT > 1
    UNROLL
    for (int i = 0; i < SUM_ROWS; i++) {
        const int pixel = m + SUM_ROW(i);
        UNROLL
        for (int j = 0; j < SUMS_C; j++)
            UNROLL
            for (int e = 0; e < 2; e++)
                if (pixel < PIXELS && n + SUM_COLUMN(j) + e < D_DST_C)
                    dst[PART_OF(part, group_phase, pixel, n + SUM_COLUMN(j) + e)] =
                        SUM_AT(sum, i, j, e);
    }
#elif D_MERGED
    UNROLL
    for (int i = 0; i < SUM_ROWS; i++)
        UNROLL
        for (int j = 0; j < SUMS_C; j++)
            UNROLL
            for (int e = 0; e < 2; e++)
                if (n + SUM_COLUMN(j) + e < D_DST_C)
                    PUT_RESULT(m + SUM_ROW(i), n + SUM_COLUMN(j) + e, SUM_AT(sum, i, j, e));
#else
#if EXCHANGED
    COPY_WAIT(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    local BITS_T *results = (local BITS_T *)pieces;
#endif
    UNROLL
    for (int i = 0; i < SUM_ROWS; i++) {
        const INDEX_T to = result_of(m + SUM_ROW(i), phase);
        UNROLL
        for (int j = 0; j < SUMS_C; j++) {
            const int channel = n + SUM_COLUMN(j), own = group * D_DST_C + channel;
            VAL_T v[2] = {0, 0};
            UNROLL
            for (int e = 0; e < 2; e++)
                if (to >= 0 && channel + e < D_DST_C)
                    v[e] = FINISH(SUM_AT(sum, i, j, e), own + e,
                                  to + (INDEX_T)(own + e) * D_DST_CHANNEL);
#if EXCHANGED
            *(local BITS_PAIR_T *)(results + (m - m_first + SUM_ROW(i)) * BITS_PITCH + n - n_first +
                                   SUM_COLUMN(j)) = BITS_PAIR(v[0], v[1]);
#else
            const INDEX_T element = to + (INDEX_T)own * D_DST_CHANNEL;
#if D_OUT_UNIT >= 8
            if (to >= 0 && channel < D_DST_C)
                DST_STOREN(2, dst, element, ((KILN_CAT(VAL_T, 2))(v[0], v[1])));
#else
            UNROLL
            for (int e = 0; e < 2; e++)
                if (to >= 0 && channel + e < D_DST_C)
                    DST_STORE(dst, element + (INDEX_T)e * D_DST_CHANNEL, v[e]);
#endif
#endif
        }
    }
#if EXCHANGED
    barrier(CLK_LOCAL_MEM_FENCE);
    write_results(dst, results, item, m_first, n_first, group, phase);
#endif
#endif
}

#if T_SPLIT > 1
/* One element: channels are neighbours. */
kernel void gemm_mma_sum(global const ACC_T *restrict parts, global DST_T *dst EPILOGUE_PARAMS)
{
    const INDEX_T all = (INDEX_T)P_GROUPS * GROUP_PHASES * PIXELS * D_DST_C, i = get_global_id(0);
    if (i >= all)
        return;
    const INDEX_T row = i / D_DST_C;
    const int group_phase = (int)(row / PIXELS);
    const int group = group_phase / GROUP_PHASES, phase = group_phase % GROUP_PHASES;
    ACC_T sum = 0;
    UNROLL
    for (int part = 0; part < T_SPLIT; part++)
        sum += parts[part * all + i];
    PUT_RESULT((int)(row % PIXELS), (int)(i % D_DST_C), sum);
}
#endif
