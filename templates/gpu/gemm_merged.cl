/* gemm_merged.cl: which tap of the filter a phase has at each of the pixels of the source that all
 * phases of a merged product meet together.
 *
 *   MERGED_TAPS              the number of these pixels
 *   merged_tap(phase, tap)   the filter's tap; -1: the phase does not meet the pixel
 *
 * Defines   D_MERGED: 0: there is none of this; P_FILTER_a, P_DILATION_a, D_PHASES_a, D_TAPS_a
 *           along a = D, H, W, and
 *   D_AT_a, D_AT_PHASE_a, D_AT_TAP_a    the filter's tap times dilation: D_AT + phase * D_AT_PHASE
 *                                       + tap * D_AT_TAP
 */
#include "language.cl"

#if D_MERGED
#ifndef PHASES
#define PHASES (D_PHASES_D * D_PHASES_H * D_PHASES_W)
#endif
#define MERGED_TAPS (D_TAPS_D * D_TAPS_H * D_TAPS_W)

/* -1: none. */
INLINE int tap_along(const int at, const int dilation, const int filter)
{
    return at >= 0 && at % dilation == 0 && at / dilation < filter ? at / dilation : -1;
}
#define TAP_ALONG(A, phase, tap)                                                                   \
    tap_along(D_AT_##A + (phase) * D_AT_PHASE_##A + (tap) * D_AT_TAP_##A, P_DILATION_##A,          \
              P_FILTER_##A)

INLINE int merged_tap(const int phase, const int tap)
{
    const int d = TAP_ALONG(D, phase / (D_PHASES_H * D_PHASES_W), tap / (D_TAPS_H * D_TAPS_W));
    const int h = TAP_ALONG(H, phase / D_PHASES_W % D_PHASES_H, tap / D_TAPS_W % D_TAPS_H);
    const int w = TAP_ALONG(W, phase % D_PHASES_W, tap % D_TAPS_W);
    return d < 0 || h < 0 || w < 0 ? -1 : (d * P_FILTER_H + h) * P_FILTER_W + w;
}
#endif
