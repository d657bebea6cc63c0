/* gemm_pack.cl: weights as gemm.cl reads them: for each group [tap][source channel][channel of the
 * destination], converted, filled up with zeros.
 *
 *     w[k][c][tap]  ->  packed[group][tap][c, D_CHANNELS of them][k, D_COLUMNS of them]
 *
 * Grid      (D_COLUMNS, D_ROWS, P_GROUPS)
 * Defines   those of types.cl, and
 *   D_SRC_C, D_DST_C     channels of one group of the source and of the destination
 *   D_TAPS               of the filter
 *   D_W_DST, D_W_SRC     strides of the weights over channels of the destination and the source
 *   D_CHANNELS           rows of a tap; D_ROWS: of a group; D_COLUMNS: above
 */
#include "types.cl"

kernel void gemm_pack(global const SRC_T *restrict w, global ACC_T *restrict packed)
{
    const int k = get_global_id(0), row = get_global_id(1), group = get_global_id(2);
    if (k >= D_COLUMNS || row >= D_ROWS)
        return;
    const int tap = row / D_CHANNELS, c = row % D_CHANNELS;
    const bool real = k < D_DST_C && c < D_SRC_C && tap < D_TAPS;
    const INDEX_T from = (INDEX_T)group * D_DST_C * D_SRC_C * D_TAPS + (INDEX_T)k * D_W_DST +
                         (INDEX_T)c * D_W_SRC + tap;
    packed[((INDEX_T)group * D_ROWS + row) * D_COLUMNS + k] = real ? SRC_LOAD(w, from) : 0;
}
