/* gemm_mma_pack.cl: weights as gemm_mma.cl copies them: for each group and phase the channels of the
 * destination, and of each the terms of the phase's taps, filled up with zeros.
 *
 *     w[k][c][tap]  ->  packed[group][phase][k, D_COLUMNS of them][tap][c], D_ROW terms a channel
 *                       or ... [c / TERMS][tap][c % TERMS]
 *
 * Grid      (D_ROW, D_COLUMNS, groups * phases)
 * Defines   those of gemm_places.cl and mma.cl, and
 *   D_SRC_C, D_DST_C     channels of one group of the source and of the destination
 *   D_CHANNELS           terms of a tap
 *   D_TAPS_INNER         1: a step of T_BYTES of each tap, then the next channels
 *   D_TAPS               of the filter
 *   D_W_DST, D_W_SRC     strides of the weights over channels of the destination and the source
 *   D_COLUMNS, D_ROW     above
 */
#include "mma.cl"
#include "gemm_places.cl"

#define TERMS (T_BYTES / MMA_BYTES)

kernel void gemm_mma_pack(global const MMA_T *restrict w, global MMA_T *restrict packed)
{
    const int term = get_global_id(0), k = get_global_id(1), group_phase = get_global_id(2);
    if (term >= D_ROW || k >= D_COLUMNS)
        return;
    const phase_taps taps = taps_of_phase(group_phase % PHASES);
    const int all_taps = taps.d.count * taps.h.count * taps.w.count;
#if D_TAPS_INNER
    const int step = term / TERMS, c = all_taps ? step / all_taps * TERMS + term % TERMS : D_CHANNELS,
              i = all_taps ? step % all_taps : 0;
#else
    const int i = term / D_CHANNELS, c = term % D_CHANNELS;
#endif
    MMA_T v = 0;
    if (i < all_taps && k < D_DST_C && c < D_SRC_C) {
        const INDEX_T group = group_phase / PHASES;
        v = w[group * D_DST_C * D_SRC_C * D_TAPS + (INDEX_T)k * D_W_DST + (INDEX_T)c * D_W_SRC +
              filter_tap(&taps, tap_at(&taps, i))];
    }
#if MMA_BYTES == 4
    uint rounded;
    __asm__("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(v));
    v = as_float(rounded);
#endif
    packed[((INDEX_T)group_phase * D_COLUMNS + k) * D_ROW + term] = v;
}
