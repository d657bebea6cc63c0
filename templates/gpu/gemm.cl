/* gemm.cl: a convolution as a product of matrices that is never laid out: weights times patches of
 * the source, tile by tile, for devices whose work-items share local memory.
 *
 *                         pixels of all images ->
 *                         +--------+--------+---
 *     terms               | bs     |            (channel and tap; gathered from the source)
 *       |                 +--------+--------+---
 *       v
 *     +--------+          +--------+--------+---
 *     | as     |  terms   | T_BM x |            a work-group's tile of the destination,
 *     +--------+          |  T_BN  |            T_TM x T_TN of it in each item's registers
 *     channels            +--------+--------+---
 *
 * A step takes T_BK terms: while the group multiplies one pair of pieces in local memory, each item
 * has its share of the next pair under way in registers. gemm_tile.cl has the product,
 * gemm_places.cl says where pixels and taps lie, gemm_pieces.cl reads, gemm_results.cl writes.
 *
 * Backward data is a forward pass over dy. With a stride, the pixels of dx fall into phases, one
 * for each remainder of the division by the stride; a phase has taps of its own and no others.
 *
 * Where tiles are fewer than the device's units, T_SPLIT groups share the terms of a tile; kernel
 * gemm_sum adds their sums in order and finishes them. D_SLICES slices of a group share the terms
 * of a step.
 *
 * Grid      gemm: (tiles of channels * tiles of pixels * items, groups * phases, T_SPLIT) in groups
 *           of (items, 1, 1), items = T_BM * T_BN / (T_TM * T_TN) * D_SLICES. Without the phases
 *           with D_SPREAD, D_MERGED. gemm_sum: as many as sums, in one dimension.
 * Defines   those of epilogue.cl, and
 *   P_SRC_a, P_DST_a, P_FILTER_a, P_STRIDE_a, P_DILATION_a, P_PAD_a    sizes along a = D, H, W
 *   P_IMAGES, P_GROUPS      D_SRC_C, D_DST_C: channels of one group
 *   D_BACKWARD              backward data
 *   D_STEP_a, D_MOVE_a      see gemm_places.cl; D_JUMP_a: taps from one of a phase to the next
 *   D_GRID_a                pixels of one phase; D_PHASES_a: phases
 *   D_SPREAD                1: phase 0 alone has taps; its groups write all phases
 *   D_MERGED                1: the phases of a channel are rows of a tile, of D_DST_C rows of a
 *                           group; taps are the pixels of the source that all phases meet together
 *   D_FLAT                  1: terms follow one another without a gap, whatever tap they are of;
 *                           0: the channels of a tap are filled up with zeros to D_CHANNELS
 *   D_TABLE                 1: the packed weights have, for each term, the way to its element of
 *                           the source
 *   D_CHANNELS              of a tap: D_SRC_C, or the next multiple of T_BK
 *   D_ROWS, D_COLUMNS       of a group's packed weights: terms, and channels filled up to T_BM
 *   D_LOAD                  how the source is read: see gemm_pieces.cl
 *   D_STORE                 how results are written: see gemm_results.cl
 *   D_SRC_IMAGE, _CHANNEL, _PLANE, _ROW, _PIXEL, D_DST_...    elements from one to the next
 *   T_BM, T_BN, T_BK, T_TM, T_TN, T_SPLIT, D_SLICES           above
 * Assumes   what gemm_tile.cl does.
 */
#include "epilogue.cl"
#include "gemm_tile.cl"
#include "gemm_places.cl"
#include "gemm_pieces.cl"
#include "gemm_results.cl"

kernel GROUP_SIZE(GROUP_ITEMS, 1, 1) void gemm(global const SRC_T *restrict src,
                                               global const ACC_T *restrict packed,
                                               global OUT_T *dst OUT_PARAMS)
{
    local ACC_T room[ROOM] __attribute__((aligned(16)));
    local ACC_T *as = room, *bs = room + 2 * T_BK * T_BM;
    const int tiles_m = (D_DST_C + T_BM - 1) / T_BM;
    const int item = get_local_id(0), tile = get_group_id(0), group_phase = get_group_id(1);
    const int m_first = tile % tiles_m * T_BM, n_first = tile / tiles_m * T_BN;
    const int group = group_phase / GROUP_PHASES, phase = group_phase % GROUP_PHASES;
    const phase_taps taps = taps_of_phase(phase);

    const int a_row = item / A_ACROSS, a_column = item % A_ACROSS * 4;
    global const int *table = (global const int *)(packed + (INDEX_T)P_GROUPS * D_ROWS * D_COLUMNS);
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
    const int steps =
        D_FLAT ? (all_taps * D_SRC_C + T_BK - 1) / T_BK : all_taps * (D_CHANNELS / T_BK);
    const int part = get_group_id(2);
    const int first = (int)((long)steps * part / T_SPLIT),
              last = (int)((long)steps * (part + 1) / T_SPLIT);
    step_place at = {{0, 0, 0}, 0};
#if D_FLAT
    at.c = first * T_BK;
#else
    if (first < last) {
        at.tap = tap_at(&taps, first % all_taps);
        at.c = first / all_taps * T_BK;
    }
#endif

    ACC_T sum[T_TM][T_TN];
    CLEAR_SUMS(sum)

    ACC_4 a_next[A_TIMES];
    B_T b_next[B_PIXELS * B_TIMES];
    /* Never skipped, and not to be a `for`: it has a barrier, and PoCL 5.0 mistakes the values of
     * all items but the first where such a loop might be skipped. */
    int step = first - 1;
    do {
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
                b_next[p] = read_source(src, table, &taps, &place[p], from, &at, b_row);
#else
                UNROLL
                for (int i = 0; i < B_TIMES; i++)
                    if (B_DOWN * B_ACROSS == GROUP_ITEMS || b_row < B_DOWN)
                        b_next[p * B_TIMES + i] = read_source(src, table, &taps, &place[p], from,
                                                              &at, b_row + i * B_DOWN);
#endif
            }
            next_step(&at, &taps);
        }
        if (step >= first)
            ADD_PRODUCTS(sum, as + (step & 1) * (T_BK * T_BM), T_BM,
                         bs + (step & 1) * (T_BK * B_PITCH), B_PITCH);
        if (more) {
            local ACC_T *a_to = as + ((step + 1) & 1) * (T_BK * T_BM) + a_column;
            local ACC_T *b_to = bs + ((step + 1) & 1) * (T_BK * B_PITCH) + b_column;
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
    } while (++step < last);

    ADD_SLICES(sum, room);
    const tile_place at_tile = {m_first, n_first, group, phase, part};
    store_tile(dst, sum, item, at_tile, room OUT_PASS);
}

#if T_SPLIT > 1
/* One sum: pixels are neighbours. */
kernel void gemm_sum(global const ACC_T *restrict parts, global DST_T *dst EPILOGUE_PARAMS)
{
    const INDEX_T all = (INDEX_T)P_GROUPS * GROUP_PHASES * D_DST_C * PIXELS, i = get_global_id(0);
    if (i >= all)
        return;
    const int pixel = i % PIXELS;
    const INDEX_T row = i / PIXELS, group_phase = row / D_DST_C;
    const int tile_row = row % D_DST_C;
    const int own = ((int)(group_phase / GROUP_PHASES) * D_DST_C + tile_row) / ROW_PHASES;
    const int first = D_MERGED ? tile_row % PHASES : (int)(group_phase % GROUP_PHASES);
    ACC_T sum = 0;
    UNROLL
    for (int part = 0; part < T_SPLIT; part++)
        sum += parts[part * all + i];
    for (int phase = 0; phase < (D_SPREAD ? PHASES : 1); phase++) {
        const INDEX_T to = result_of(pixel, first + phase);
        const INDEX_T e = to + (INDEX_T)own * D_DST_CHANNEL;
        if (to >= 0)
            DST_STORE(dst, e, FINISH(phase ? 0 : sum, own, e));
    }
}
#endif
