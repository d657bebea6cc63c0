/* gemm_pack.cl: weights as gemm.cl reads them: for each group [tap][source channel][row of the
 * destination], converted, filled up with zeros.
 *
 *     w[k][c][tap]  ->  packed[group][tap][c, `channels` of them][k, `columns` of them]
 *
 * A row of the destination is a channel, or with D_MERGED a phase of a channel; taps are then the
 * pixels of the source that all phases meet together, and each phase has zeros for pixels that it
 * does not meet.
 *
 * Grid      (columns, rows, groups)
 * Defines   those of types.cl, and
 *   D_TABLE              1: behind the weights the table of terms, `rows` of (d, h, w, channel),
 *                        where a term's element lies from the first one of a patch: `moves` from
 *                        tap to tap of the `filter`
 *   D_MERGED             above; 1: and those of gemm_merged.cl
 *
 * Sizes are arguments, so that layers of all sizes share the program: rows of the destination with
 * (columns) and without zeros, channels of the source with (channels) and without zeros, rows of a
 * group, taps of the filter, strides of the weights over channels of the destination and of the
 * source, and where the table begins.
 */
#include "types.cl"
#include "gemm_merged.cl"

#if D_MERGED
#define TAPS MERGED_TAPS
#define filter_tap merged_tap
#else
#define PHASES 1
#define TAPS taps
#define filter_tap(phase, tap) (tap)
#endif

#if D_TABLE
/* Terms behind the last one lie outside. */
INLINE int4 way_of(const int row, const int src_channels, const int4 filter, const int4 moves)
{
    const int tap = row / src_channels;
    if (tap >= filter.x * filter.y * filter.z)
        return (int4)(1 << 30, 0, 0, 0);
    return (int4)(tap / (filter.y * filter.z) * moves.x, tap / filter.z % filter.y * moves.y,
                  tap % filter.z * moves.z, row % src_channels);
}
#define TABLE_PARAMS                                                                               \
    , const int filter_d, const int filter_h, const int filter_w, const int move_d,                \
        const int move_h, const int move_w, const long table
#else
#define TABLE_PARAMS
#endif

kernel void gemm_pack(global const SRC_T *restrict w, global ACC_T *restrict packed,
                      const int columns, const int dst_rows, const int channels,
                      const int src_channels, const int rows, const int taps, const long next_dst,
                      const long next_src TABLE_PARAMS)
{
    const int column = get_global_id(0), row = get_global_id(1), group = get_global_id(2);
    if (column >= columns || row >= rows)
        return;
#if D_TABLE
    if (column == 0 && group == 0)
        vstore4(way_of(row, src_channels, (int4)(filter_d, filter_h, filter_w, 0),
                       (int4)(move_d, move_h, move_w, 0)),
                row, (global int *)(packed + table));
#endif
    const int k = column / PHASES, c = row % channels;
    const int tap = row / channels < TAPS ? filter_tap(column % PHASES, row / channels) : -1;
    const bool real = column < dst_rows && c < src_channels && tap >= 0;
    const long from = (long)group * (dst_rows / PHASES) * src_channels * taps + k * next_dst +
                      c * next_src + tap;
    packed[((long)group * rows + row) * columns + column] = real ? SRC_LOAD(w, from) : 0;
}
