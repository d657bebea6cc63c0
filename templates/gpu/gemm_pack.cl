/* gemm_pack.cl: weights as gemm.cl reads them: for each group [tap][source channel][row of the
 * destination], converted, filled up with zeros.
 *
 *     w[k][c][tap]  ->  packed[group][tap][c, D_CHANNELS of them][k, D_COLUMNS of them]
 *
 * A row of the destination is a channel, or with D_MERGED a phase of a channel; taps are then the pixels
 * of the source that all phases meet together, and each phase has zeros for those that it does not meet.
 *
 * Grid      (D_COLUMNS, D_ROWS, P_GROUPS)
 * Defines   those of types.cl, and
 *   D_SRC_C, D_DST_C     channels and rows of one group of the source and of the destination
 *   P_TAPS               of the filter
 *   D_W_DST, D_W_SRC     strides of the weights over channels of the destination and the source
 *   D_CHANNELS           rows of a tap; D_ROWS: of a group; D_COLUMNS: above
 *   D_TABLE              1: behind the weights the table of terms, D_ROWS of (d, h, w, channel), where a
 *                        term's element lies from the first one of a patch; D_TAPS_a, D_MOVE_a
 *   with D_MERGED also those of gemm_merged.cl
 */
#include "types.cl"
#include "gemm_merged.cl"

#if D_MERGED
#define TAPS MERGED_TAPS
#define filter_tap merged_tap
#else
#define PHASES 1
#define TAPS P_TAPS
#define filter_tap(phase, tap) (tap)
#endif

#if D_TABLE
/* Terms behind the last one lie outside. */
INLINE int4 way_of(const int row)
{
    const int tap = row / D_SRC_C;
    if (tap >= D_TAPS_D * D_TAPS_H * D_TAPS_W)
        return (int4)(1 << 30, 0, 0, 0);
    return (int4)(tap / (D_TAPS_H * D_TAPS_W) * D_MOVE_D, tap / D_TAPS_W % D_TAPS_H * D_MOVE_H,
                  tap % D_TAPS_W * D_MOVE_W, row % D_SRC_C);
}
#endif

kernel void gemm_pack(global const SRC_T *restrict w, global ACC_T *restrict packed)
{
    const int column = get_global_id(0), row = get_global_id(1), group = get_global_id(2);
    if (column >= D_COLUMNS || row >= D_ROWS)
        return;
#if D_TABLE
    if (column == 0 && group == 0)
        vstore4(way_of(row), row,
                (global int *)(packed + (INDEX_T)P_GROUPS * D_ROWS * D_COLUMNS));
#endif
    const int k = column / PHASES, c = row % D_CHANNELS;
    const int tap = row / D_CHANNELS < TAPS ? filter_tap(column % PHASES, row / D_CHANNELS) : -1;
    const bool real = column < D_DST_C && c < D_SRC_C && tap >= 0;
    const INDEX_T from = (INDEX_T)group * (D_DST_C / PHASES) * D_SRC_C * P_TAPS +
                         (INDEX_T)k * D_W_DST + (INDEX_T)c * D_W_SRC + tap;
    packed[((INDEX_T)group * D_ROWS + row) * D_COLUMNS + column] = real ? SRC_LOAD(w, from) : 0;
}
