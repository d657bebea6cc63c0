/* pack_blocks.cl: packs weights as [group][block of T_K][source channel][tap][T_K], and converts
 * them. Where the channels of a group are no multiple of T_K, its last block starts earlier or,
 * with D_ZEROS=1, has zeros for the missing channels.
 *
 * Grid: (D_SRC_C * D_TAPS, P_GROUPS * D_BLOCKS).
 *
 * Defines, besides those of types.cl:
 *   P_GROUPS            groups; D_DST_C, D_SRC_C: channels of one
 *   D_TAPS              of the filter; D_BLOCKS: of a group
 *   D_W_DST, D_W_SRC    strides of the weights over channels of the destination and the source
 *   D_ZEROS             above
 *   T_K                 above; T_K <= D_DST_C unless D_ZEROS=1
 */
#include "types.cl"

kernel void pack(global const SRC_T *restrict w, global ACC_T *restrict packed)
{
    const INDEX_T i = get_global_id(0), terms = (INDEX_T)D_SRC_C * D_TAPS; /* channel and tap */
    const int block = get_global_id(1);
    if (i >= terms || block >= P_GROUPS * D_BLOCKS)
        return;
    const int k_own = block % D_BLOCKS * T_K, k0 = D_ZEROS ? k_own : min(k_own, D_DST_C - T_K);
    const INDEX_T from = block / D_BLOCKS * D_DST_C * terms +
                         (INDEX_T)k0 * D_W_DST + i / D_TAPS * D_W_SRC + i % D_TAPS;
    const INDEX_T to = ((INDEX_T)block * terms + i) * T_K;
    for (int k = 0; k < T_K; k++)
        packed[to + k] = k0 + k < D_DST_C ? SRC_LOAD(w, from + (INDEX_T)k * D_W_DST) : 0;
}
