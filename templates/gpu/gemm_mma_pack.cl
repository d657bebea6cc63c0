/* gemm_mma_pack.cl: weights as gemm_mma.cl copies them: for each group and phase the channels of
 * the destination, and of each the terms of the phase's taps, filled up with zeros.
 *
 *     w[k][c][tap]  ->  packed[group][phase][k, D_COLUMNS of them][tap][c], D_ROW terms a channel
 *                       or ... [c / TERMS][tap][c % TERMS]
 *
 * Grid      (D_ROW, D_COLUMNS, groups * phases)
 * Defines   those of gemm_places.cl and mma.cl, and
 *   D_SRC_C, D_DST_C     channels of one group of the source and of the destination
 *   D_MERGED             1: a channel of the destination is a phase of one (gemm_merged.cl)
 *   D_CHANNELS           terms of a tap
 *   D_TOGETHER           groups of the weights that count as one: weights of other groups are 0
 *   D_TAPS_INNER         1: a step of T_BYTES of each tap, then the next channels
 *   D_W_GROUP, D_W_DST, D_W_SRC    strides of the weights over groups, and over channels of the
 *                        destination and the source
 *   D_COLUMNS, D_ROW     above
 */
#include "mma.cl"
#include "gemm_places.cl"
#include "gemm_merged.cl"

#define TERMS (T_BYTES / MMA_BYTES)

kernel void gemm_mma_pack(global const MMA_T *restrict w, global MMA_T *restrict packed)
{
    const int term = get_global_id(0), k = get_global_id(1), group_phase = get_global_id(2);
    if (term >= D_ROW || k >= D_COLUMNS)
        return;
#if D_MERGED
    const int group = group_phase, phase = k % PHASES, all_taps = MERGED_TAPS;
#else
    const int group = group_phase / PHASES, phase = group_phase % PHASES;
    const phase_taps taps = taps_of_phase(phase);
    const int all_taps = taps.d.count * taps.h.count * taps.w.count;
#endif
#if D_TAPS_INNER
    const int step = term / TERMS,
              c = all_taps ? step / all_taps * TERMS + term % TERMS : D_CHANNELS,
              i = all_taps ? step % all_taps : 0;
#else
    const int i = term / D_CHANNELS, c = term % D_CHANNELS;
#endif
    const int own = k * D_TOGETHER / D_DST_C; /* which of the groups that count as one */
    int tap = -1;
    if (i < all_taps && k < D_DST_C && c < D_SRC_C && c * D_TOGETHER / D_SRC_C == own)
#if D_MERGED
        tap = merged_tap(phase, i);
#else
        tap = filter_tap(&taps, tap_at(&taps, i));
#endif
    const int channel = (D_MERGED ? k / PHASES : k) % (D_DST_C / D_TOGETHER);
    MMA_T v = 0;
    if (tap >= 0)
        v = w[((INDEX_T)group * D_TOGETHER + own) * D_W_GROUP + (INDEX_T)channel * D_W_DST +
              (INDEX_T)(c % (D_SRC_C / D_TOGETHER)) * D_W_SRC + tap];
    packed[((INDEX_T)group_phase * D_COLUMNS + k) * D_ROW + term] = mma_factor(v);
}
