/* taps.cl: finds the taps of a filter that lie inside the source, along an axis.
 *
 *   first_tap(), end_tap()    the first tap inside, and the one behind the last
 *   LEAVES(a)                 whether any tap of any pixel is outside along axis a. If not, kernels
 *                             have no checks, which leaves their registers to the sums
 */
#include "language.cl"

#define LEAVES(a)                                                                                  \
    (D_LEAD_##a > 0 || (P_DST_##a - 1) * P_STRIDE_##a - D_LEAD_##a +                               \
                               (P_FILTER_##a - 1) * P_DILATION_##a >                               \
                           (P_SRC_##a - 1) * D_UP_##a)

/* The least number of steps of `b` from 0 to `a` or beyond. */
INLINE int divide_up(const int a, const int b)
{
    return a > 0 ? (a + b - 1) / b : 0;
}

/* Tap 0 is at coordinate `at`. */
INLINE int first_tap(const int at, const int dilation)
{
    return at < 0 ? (dilation - 1 - at) / dilation : 0;
}

INLINE int end_tap(const int at, const int size, const int taps, const int dilation)
{
    return at < size ? min(taps, (size - 1 - at) / dilation + 1) : 0;
}
