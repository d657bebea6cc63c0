/* gemm_mma.cl: a convolution as a product of matrices on tensor cores: patches of the source times
 * weights, tile by tile, forward and backward data.
 *
 *                  terms: channel and tap         a stage in local memory: the next T_BYTES bytes
 *                 +-----+-----+-----+---          of terms of T_ROWS pixels and T_COLUMNS channels,
 *     pixels      |  0  |  1  |  2  |             rows of ROW_BYTES bytes. 16 bytes stand where
 *     of all      |     |     |     |             16 * (place ^ TURN(row)) says, so that eight rows
 *     images      +-----+-----+-----+---          that are read at once lie in different banks
 *                    T_BYTES bytes each
 *
 * Where T_BYTES is more than 128, a row holds 128 of them for each of several teams of warps. A
 * team multiplies its own terms, and at last the sums of all teams are added in order: a group has
 * more warps at work where tiles are few.
 *
 * mma_tile.cl has the tile of a team: T_ROWS pixels by T_COLUMNS channels. With T_WGMMA the
 * products are those of wgmma.cl, which run beside the copies.
 *
 * While a group multiplies one stage, copies of the next STAGES_AHEAD are under way. A copy brings
 * D_UNIT bytes of a patch, channels of one tap of one pixel; past the border it brings zeros. Terms
 * follow one another without a gap: all channels of a tap, then those of the next tap; or, where
 * the channels fill whole steps, one step of each tap, then the next channels.
 *
 * Backward data is a forward pass over dy, phase by phase; gemm_places.cl says which pixels and
 * taps meet where. With D_MERGED a channel of the tile is a phase of a channel of the destination.
 *
 * Neighbouring groups may share a tile, and count as one group here: D_TOGETHER of them. Products
 * of one group's channels and another's are left out.
 *
 * Where tiles are fewer than the device's units, T_SPLIT groups share the terms of a tile; kernel
 * gemm_mma_sum adds their sums in order and finishes them.
 *
 * Grid      gemm_mma: (tiles of channels * tiles of pixels * items, groups * phases, T_SPLIT) in
 *           groups of (items, 1, 1), items = 32 * T_WARPS_R * T_WARPS_C for each team.
 *           gemm_mma_sum: the destination's elements, one dimension.
 * Defines   those of epilogue.cl, gemm_places.cl and mma_tile.cl, and
 *   P_GROUPS            D_DST_C: channels of one group of the destination
 *   D_CHANNELS          of one group of the source, padding included
 *   D_TOGETHER          above; where more than 1, 16 divides the bytes of a group's channels, or 8
 *                       does and they are integers; their sum divides ROW_BYTES, 8 divides a
 *                       group's channels of the destination, whose sum T_COLUMNS holds, and
 *                       T_WARPS_C is 1
 *   D_TAPS_INNER        the second order of terms
 *   D_COLUMNS, D_ROW    of the packed weights of a group and phase: channels filled up to
 *                       T_COLUMNS, terms filled up to whole rows of T_BYTES bytes
 *   D_UNIT              16 or 8: divides the bytes of D_CHANNELS, and all distances in the source
 *   D_OUT_UNIT          bytes of results that are written at once: divides the bytes of D_DST_C,
 *                       and all distances in the destination; 0: pixels are neighbours, not
 *                       channels
 *   D_SRC_NEIGHBOURS, _BLOCK, _BLOCKS    where D_SRC_BLOCKS is more than 1, so many channels are
 *                       neighbours, and so many elements from one block of them to the next;
 *                       D_UNIT divides the bytes of a block
 *   D_DST_CHANNEL, _NEIGHBOURS, _BLOCK, _BLOCKS    the same, and elements from one channel of the
 *                       destination to the next
 *   T_BYTES, T_STAGES, T_SPLIT    above
 * Assumes   a team has 128 items or more; the channels of a pixel of the source are neighbours.
 */
#include "epilogue.cl"
#include "gemm_places.cl"
#include "mma_tile.cl"
#include "wgmma.cl"

#include "gemm_mma_stage.cl"
#include "gemm_mma_results.cl"

/* ---- products ---- */

#if T_WGMMA
/* Products of a stage are done after the next stage's have begun: a stage is free two steps
 * later. */
#define STAGES_AHEAD (T_STAGES - 2)

/* `left` and `right` are the addresses of the rows of the item's four warps, and of the columns. */
INLINE void add_stage(ACC_T sum[SUMS_R][SUMS_C][4], const uint left, const uint right)
{
    WGMMA_BEGIN;
    UNROLL
    for (int i = 0; i < SUMS_R; i++)
        wgmma(sum[i], left + i * 64 * ROW_BYTES, right);
    WGMMA_END;
}
#else
#define STAGES_AHEAD (T_STAGES - 1)
#define SLICES (ROW_BYTES / 32)

/* Where groups of channels share a tile: whether some of 16 of a slice's bytes, and product j's
 * columns, are of the same group. */
#define GROUP_BYTES (D_CHANNELS * MMA_BYTES / D_TOGETHER)
#define FIRST_BYTE(k, half) (((k)*32 + (half)*16) % (D_CHANNELS * MMA_BYTES))
#define GROUP_OF_COLUMNS(j) ((j)*8 * D_TOGETHER / D_DST_C)
#define MEETS(k, half, j)                                                                          \
    (D_TOGETHER == 1 || (FIRST_BYTE(k, half) < (GROUP_OF_COLUMNS(j) + 1) * GROUP_BYTES &&          \
                         FIRST_BYTE(k, half) + 16 > GROUP_OF_COLUMNS(j) * GROUP_BYTES))
#define MEETS_ANY(k, j) (MEETS(k, 0, j) || MEETS(k, 1, j))

/* `left` and `right` are the addresses of the item's row, without its turn. */
INLINE void read_slice(slice *s, const uint left, const uint right, const int lane, const int k)
{
    UNROLL
    for (int i = 0; i < SUMS_R; i++)
        read_left(s->left[i], left + i * 16 * ROW_BYTES +
                              PLACE(ROW_OF_LEFT(lane), k * 32 + BYTE_OF_LEFT(lane)));
    UNROLL
    for (int j = 0; j < SUMS_C / 2; j++)
        if (MEETS_ANY(k, 2 * j) || MEETS_ANY(k, 2 * j + 1))
            read_right(s->right[j], right + j * 16 * ROW_BYTES +
                                        PLACE(ROW_OF_RIGHT(lane), k * 32 + BYTE_OF_RIGHT(lane)));
}

/* Adds the products of slice k whose factors meet. */
INLINE void add_met(ACC_T sum[SUMS_R][SUMS_C][4], const slice *s, const int k)
{
    UNROLL
    for (int i = 0; i < SUMS_R; i++)
        UNROLL
        for (int j = 0; j < SUMS_C; j++) {
            const uint *left = s->left[i], *right = &s->right[j / 2][j % 2 * 2];
            if (MEETS(k, 0, j) && MEETS(k, 1, j))
                multiply(sum[i][j], left, right);
            else if (MEETS(k, 0, j))
                multiply_half(sum[i][j], left, right);
            else if (MEETS(k, 1, j))
                multiply_half(sum[i][j], left + 2, right + 1);
        }
}

/* The next slice is read while one is multiplied. */
INLINE void add_stage(ACC_T sum[SUMS_R][SUMS_C][4], const uint left, const uint right,
                      const int lane)
{
    slice s[2];
    read_slice(&s[0], left, right, lane, 0);
    UNROLL
    for (int k = 0; k < SLICES; k++) {
        if (k + 1 < SLICES)
            read_slice(&s[(k + 1) % 2], left, right, lane, k + 1);
        add_met(sum, &s[k % 2], k);
    }
}
#endif

kernel GROUP_SIZE(ALL_ITEMS, 1, 1) void gemm_mma(global const MMA_T *restrict src,
                                                   global const MMA_T *restrict packed,
                                                   global OUT_T *dst OUT_PARAMS)
{
    local uint4 pieces[LOCAL_BYTES / 16] __attribute__((aligned(1024)));
    const int team = TEAMS > 1 ? get_local_id(0) / TEAM_ITEMS : 0,
              item = get_local_id(0) - team * TEAM_ITEMS, lane = item % 32, warp = item / 32;
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

    const uint base = LOCAL_ADDRESS(pieces) + team * TEAM_BYTES;
    const int src_row = SRC_ROW(item), src_byte = SRC_BYTE(item),
              src_term = (team * ROW_BYTES + src_byte) / MMA_BYTES;
    const int w_row = item / W_ACROSS, w_byte = item % W_ACROSS * 16;
    const uint src_to = base + PLACE(src_row, src_byte),
               w_to = base + WEIGHTS_AT + PLACE(w_row, w_byte);
    const int c_first = group * D_CHANNELS;
    packed += ((INDEX_T)group_phase * D_COLUMNS + n_first + w_row) * D_ROW +
              (INDEX_T)first * TERMS + (team * ROW_BYTES + w_byte) / MMA_BYTES;
    patch patches[SRC_TIMES];
    UNROLL
    for (int i = 0; i < SRC_TIMES; i++)
        patches[i] = patch_of(&taps, m_first + src_row + i * SRC_DOWN);
    terms_place at = {0, 0, 0, 0, 0, 0};
    if (first < last) {
#if D_TAPS_INNER
        at.channel = first / all_taps * TERMS + src_term;
        set_tap(&at, &taps, first % all_taps);
#else
        const int term = first * TERMS + src_term;
        at.channel = term % D_CHANNELS;
        set_tap(&at, &taps, term / D_CHANNELS);
#endif
    }

#define START_STAGE(step)                                                                          \
    if ((step) < last) {                                                                           \
        const uint slot = (uint)((step) - first) % T_STAGES * STAGE_BYTES;                         \
        copy_source(src_to + slot, src, patches, &at, c_first, src_row, all_taps);                 \
        copy_weights(w_to + slot, packed, w_row);                                                  \
        packed += TERMS;                                                                           \
        next_terms(&at, &taps, all_taps);                                                          \
    }                                                                                              \
    COPY_COMMIT
    UNROLL
    for (int i = 0; i < STAGES_AHEAD; i++) {
        START_STAGE(first + i);
    }
#if T_WGMMA
    const uint left = base + WARP_ROW(warp / 4 * 4) * ROW_BYTES, right = base + WEIGHTS_AT;
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
    const uint left = base + WARP_ROW(warp) * ROW_BYTES,
               right = base + WEIGHTS_AT + WARP_COLUMN(warp) * ROW_BYTES;
    for (int step = first; step < last; step++) {
        COPY_WAIT(STAGES_AHEAD - 1);
        barrier(CLK_LOCAL_MEM_FENCE);
        START_STAGE(step + STAGES_AHEAD);
        const uint slot = (uint)(step - first) % T_STAGES * STAGE_BYTES;
        add_stage(sum, left + slot, right + slot, lane);
    }
#endif

#if TEAMS > 1
    COPY_WAIT(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    add_teams(sum, (local ACC_T *)pieces, team, item);
#endif
    const int m = m_first + WARP_ROW(warp),
              n = n_first + WARP_COLUMN(warp);
#if T_SPLIT > 1
    if (team == 0)
        put_parts(dst, sum, m, n, part, group_phase, lane);
#elif D_MERGED
    if (team == 0)
        put_phases(dst, sum, m, n, group, lane EPILOGUE_PASS);
#else
    COPY_WAIT(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    local BITS_T *results = (local BITS_T *)pieces;
    if (team == 0)
        finish_results(results + (m - m_first) * BITS_PITCH + n - n_first, sum, m, n, group, phase,
                       lane EPILOGUE_PASS);
    barrier(CLK_LOCAL_MEM_FENCE);
    write_results(dst, results, get_local_id(0), m_first, n_first, group, phase);
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
