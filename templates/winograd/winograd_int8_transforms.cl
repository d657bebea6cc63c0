/* winograd_int8_transforms.cl: Winograd's transforms of bytes in integers that are exact, along one
 * axis, for tiles of T_SIDE = 2 or 4 results and 3 taps.
 *
 *   times_b, times_a, times_g    B^T d in shorts, A^T p modulo 2^32, G w in ints
 *   D_INVERSE                    of D_SCALE / 4, modulo 2^32
 *
 * F(2x2) is the usual transform with G doubled: shorts are at most 512 and 1152. F(4x4) has the
 * points 0, infinity, 1, -1, 2, -1/2, and each row of G is multiplied so that one factor, 30 an
 * axis, is left for all results. Shorts are at most 14 * 14 * 128 and 15 * 15 * 128, and a sum of
 * two products is below 2^31. Everything behind is modulo 2^32: sums and A^T p A may wrap, and an
 * odd factor is undone by its inverse. What remains is a factor of 4, the same for both, so that
 * results must be below 2^29. (Of three points, two agree modulo 2, and 2 divides their difference.
 * These six fall into pairs, so that it divides 30 but once, where the points 0, 1, -1, 2, -2 and
 * infinity have 24.)
 */
#include "language.cl"

typedef KILN_CAT(short, D_B) short_v;
typedef KILN_CAT(uint, D_B) uint_v;

#if T_SIDE == 2
#define D_INVERSE 1u /* D_SCALE is 4 */

INLINE void times_b(const short_v *d, short_v *o)
{
    o[0] = d[0] - d[2];
    o[1] = d[1] + d[2];
    o[2] = d[2] - d[1];
    o[3] = d[1] - d[3];
}

INLINE void times_a(const uint_v *p, uint_v *o)
{
    o[0] = p[0] + p[1] + p[2];
    o[1] = p[1] - p[2] - p[3];
}

INLINE void times_g(const int *w, int *o)
{
    o[0] = 2 * w[0];
    o[1] = w[0] + w[1] + w[2];
    o[2] = w[0] - w[1] + w[2];
    o[3] = 2 * w[2];
}
#else
#define D_INVERSE 0x87654321u /* D_SCALE is 900 */

/* Row t is the product of (q x - p) over all points p / q but the t-th: the factors of 2 and -1/2
 * make 2 x^2 - 3 x - 2, which is f, the factors of 1 and -1 make x^2 - 1, which is g. */
INLINE void times_b(const short_v *d, short_v *o)
{
    short_v f[4], g[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        g[i] = d[i + 2] - d[i];
        f[i] = g[i] + g[i] - d[i + 1] - d[i + 1] - d[i + 1];
    }
    o[0] = f[2] - f[0];
    o[1] = f[2] + f[1];
    o[2] = f[2] - f[1];
    o[3] = g[2] + g[2] + g[1];
    o[4] = g[2] - g[1] - g[1];
    o[5] = f[3] - f[1];
}

INLINE void times_a(const uint_v *p, uint_v *o)
{
    const uint_v a = p[1] + p[2], b = p[1] - p[2];
    o[0] = p[0] + a + p[3] + (p[4] << 3);
    o[1] = b + (p[3] << 1) - (p[4] << 2);
    o[2] = a + (p[3] << 2) + (p[4] << 1);
    o[3] = b + (p[3] << 3) - p[4] + p[5];
}

INLINE void times_g(const int *w, int *o)
{
    const int even = 5 * (w[0] + w[2]), odd = 5 * w[1];
    o[0] = 15 * w[0];
    o[1] = -even - odd;
    o[2] = even - odd;
    o[3] = w[0] + 2 * w[1] + 4 * w[2];
    o[4] = 2 * w[1] - 4 * w[0] - w[2];
    o[5] = 15 * w[2];
}
#endif
