/* quant_taps.cl: which taps of a filter meet the source at a place of the destination.
 *
 *   meets_a(p, tap)   whether tap `tap` meets the source at place p of the destination on axis a
 *   source_a(p, tap)  where, if it does
 *   class_of(d, h, w) the number of the way in which borders cut taps off there
 *   place_a(c)        a place with that number along axis a, class_a(p) the way back
 *
 * Defines   P_BACKWARD: 0 forward, 1 backward data; P_SIZE_a, P_SOURCE_a: the destination's and the
 *           source's sizes along axis a = D, H, W; P_FILTER_a, P_STRIDE_a, P_DILATION_a, P_PAD_a.
 *           Places 0 .. D_LOW_a - 1 and the last D_HIGH_a have classes of their own, those between
 *           repeat with D_PERIOD_a.
 */
#include "types.cl"

#define CLASSES(a) (D_LOW_##a + D_PERIOD_##a + D_HIGH_##a)

#if P_BACKWARD
#define KILN_AXIS(a)                                                                               \
    static inline bool meets_##a(INDEX_T p, INDEX_T tap)                                           \
    {                                                                                              \
        const INDEX_T at = p + P_PAD_##a - tap * P_DILATION_##a;                                   \
        return at >= 0 && at % P_STRIDE_##a == 0 && at / P_STRIDE_##a < P_SOURCE_##a;              \
    }                                                                                              \
    static inline INDEX_T source_##a(INDEX_T p, INDEX_T tap)                                       \
    {                                                                                              \
        return (p + P_PAD_##a - tap * P_DILATION_##a) / P_STRIDE_##a;                              \
    }                                                                                              \
    KILN_CLASS(a)
#else
#define KILN_AXIS(a)                                                                               \
    static inline INDEX_T source_##a(INDEX_T p, INDEX_T tap)                                       \
    {                                                                                              \
        return p * P_STRIDE_##a + tap * P_DILATION_##a - P_PAD_##a;                                \
    }                                                                                              \
    static inline bool meets_##a(INDEX_T p, INDEX_T tap)                                           \
    {                                                                                              \
        const INDEX_T at = source_##a(p, tap);                                                     \
        return at >= 0 && at < P_SOURCE_##a;                                                       \
    }                                                                                              \
    KILN_CLASS(a)
#endif

#define KILN_CLASS(a)                                                                              \
    static inline INDEX_T class_##a(INDEX_T p)                                                     \
    {                                                                                              \
        const INDEX_T end = P_SIZE_##a - D_HIGH_##a;                                               \
        const INDEX_T period = max((INDEX_T)D_PERIOD_##a, (INDEX_T)1);                             \
        return p < D_LOW_##a ? p                                                                   \
               : p >= end    ? p - end + D_LOW_##a + D_PERIOD_##a                                  \
                             : D_LOW_##a + (p - D_LOW_##a) % period;                               \
    }                                                                                              \
    static inline INDEX_T place_##a(INDEX_T c)                                                     \
    {                                                                                              \
        return c < D_LOW_##a + D_PERIOD_##a                                                        \
                   ? c                                                                             \
                   : c - D_LOW_##a - D_PERIOD_##a + P_SIZE_##a - D_HIGH_##a;                       \
    }
KILN_AXIS(D)
KILN_AXIS(H)
KILN_AXIS(W)

static inline INDEX_T class_of(INDEX_T d, INDEX_T h, INDEX_T w)
{
    return (class_D(d) * CLASSES(H) + class_H(h)) * CLASSES(W) + class_W(w);
}
