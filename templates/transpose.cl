/* transpose.cl: transposes squares of D_B vectors of D_B lanes, so that rows become lanes.
 *
 *   KILN_DEFINE_TRANSPOSE(name, V)    defines void name(V *t), for vectors V of ints or floats
 *   KILN_DEFINE_DEALT(how, name, V)   the same, declared `how`, by interleaving: for vectors of
 *                                     bytes, and for functions that are not inlined
 */
#include "language.cl"

#if D_B == 16
#define KILN_LOW_LANES 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29
#define KILN_HIGH_LANES 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31
#define KILN_LOW_QUADS 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27
#define KILN_HIGH_QUADS 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31
#elif D_B == 8
#define KILN_LOW_LANES 0, 8, 1, 9, 4, 12, 5, 13
#define KILN_HIGH_LANES 2, 10, 3, 11, 6, 14, 7, 15
#define KILN_LOW_QUADS 0, 1, 2, 3, 8, 9, 10, 11
#define KILN_HIGH_QUADS 4, 5, 6, 7, 12, 13, 14, 15
#elif D_B == 4
#define KILN_LOW_LANES 0, 4, 1, 5
#define KILN_HIGH_LANES 2, 6, 3, 7
#define KILN_LOW_QUADS KILN_LOW_LANES /* one quad has no rounds */
#define KILN_HIGH_QUADS KILN_HIGH_LANES
#endif

/* Each pair of rows that are `apart` exchanges half its lanes, or quads of them. */
#define KILN_EXCHANGE(V, t, apart, what)                                                           \
    _Pragma("unroll") for (int i = 0; i < D_B; i++) if (!(i & (apart)))                            \
    {                                                                                              \
        const V a = t[i], b = t[i + (apart)];                                                      \
        t[i] = KILN_SHUFFLE(D_B, a, b, KILN_LOW_##what);                                           \
        t[i + (apart)] = KILN_SHUFFLE(D_B, a, b, KILN_HIGH_##what);                                \
    }

/* First within quads of lanes, then whole quads: each round is
 * one instruction a row. */
#define KILN_DEFINE_TRANSPOSE(name, V)                                                             \
    INLINE void name(V *t)                                                                         \
    {                                                                                              \
        KILN_EXCHANGE(V, t, 2, LANES)                                                              \
        KILN_EXCHANGE(V, t, 1, LANES)                                                              \
        _Pragma("unroll") for (int apart = 4; apart < D_B; apart *= 2)                             \
            KILN_EXCHANGE(V, t, apart, QUADS)                                                      \
    }

/* Interleaves two halves, log2(D_B) times. */
#define KILN_DEFINE_DEALT(how, name, V)                                                            \
    how void name(private V *square)                                                               \
    {                                                                                              \
        V r[D_B];                                                                                  \
        UNROLL for (int i = 0; i < D_B; i++) r[i] = square[i];                                     \
        UNROLL for (int s = 1; s < D_B; s *= 2)                                                    \
        {                                                                                          \
            V t[D_B];                                                                              \
            UNROLL for (int i = 0; i < D_B / 2; i++)                                               \
            {                                                                                      \
                t[2 * i].even = r[i].lo;                                                           \
                t[2 * i].odd = r[i + D_B / 2].lo;                                                  \
                t[2 * i + 1].even = r[i].hi;                                                       \
                t[2 * i + 1].odd = r[i + D_B / 2].hi;                                              \
            }                                                                                      \
            UNROLL for (int i = 0; i < D_B; i++) r[i] = t[i];                                      \
        }                                                                                          \
        UNROLL for (int i = 0; i < D_B; i++) square[i] = r[i];                                     \
    }
