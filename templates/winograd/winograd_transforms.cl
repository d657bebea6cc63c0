/* winograd_transforms.cl: Winograd's transforms (Lavin and Gray, Fast Algorithms for Convolutional
 * Neural Networks) of floats, with the points 0, 1, -1 (2, -2 (1/2, -1/2 (3/4, -3/4))) and
 * infinity.
 *
 *   times_b, times_a, times_g    B^T d and A^T p and G w, along one axis, in vectors ACC_V
 *
 * F(m, taps) has T_T = 4, 6, 8 or 10 products, m = T_T - taps + 1. B depends on the points alone,
 * rows of G and columns of A are the powers of a point. Points p and -p share the even and the odd
 * powers. Along an axis with one tap there is nothing to transform.
 */
#include "vectors.cl"

/* What the rows of G are scaled by, so that those of B are small integers or quarters of them. */
#if T_T == 4
#define G_0 1.0f
#define G_1 0.5f
#elif T_T == 6
#define G_0 0.25f
#define G_1 (-1.0f / 6)
#define G_2 (1.0f / 24)
#elif T_T == 8
#define G_0 1.0f
#define G_1 (-2.0f / 9)
#define G_2 (1.0f / 90)
#define G_HALF (1.0f / 45) /* and A by 32 */
#else
#define G_0 (16.0f / 9)
#define G_1 (-32.0f / 63)
#define G_2 (8.0f / 2475)
#define G_HALF (-16.0f / 225) /* and A by 32 */
#define G_3_4 (32768.0f / 17325)
#endif

INLINE float power(const float base, const int n)
{
    float v = 1;
#pragma unroll
    for (int i = 0; i < n; i++)
        v *= base;
    return v;
}

/* B^T d */
INLINE void times_b(const int taps, const ACC_V *d, ACC_V *o)
{
    if (taps == 1) {
        o[0] = d[0];
        return;
    }
#if T_T == 4
    o[0] = d[0] - d[2];
    o[1] = d[1] + d[2];
    o[2] = d[2] - d[1];
    o[3] = d[1] - d[3];
#elif T_T == 6
    const ACC_V a = d[4] - 4.0f * d[2], b = d[3] - 4.0f * d[1];
    const ACC_V e = d[4] - d[2], f = 2.0f * (d[3] - d[1]);
    o[0] = 4.0f * d[0] - 5.0f * d[2] + d[4];
    o[1] = a + b;
    o[2] = a - b;
    o[3] = e + f;
    o[4] = e - f;
    o[5] = 4.0f * d[1] - 5.0f * d[3] + d[5];
#elif T_T == 8
    const ACC_V a = d[2] + d[6] - 4.25f * d[4], b = d[1] + d[5] - 4.25f * d[3];
    const ACC_V e = 0.25f * d[2] - 1.25f * d[4] + d[6], f = 0.5f * d[1] - 2.5f * d[3] + 2.0f * d[5];
    const ACC_V g = 4.0f * d[2] - 5.0f * d[4] + d[6], h = 2.0f * d[1] - 2.5f * d[3] + 0.5f * d[5];
    o[0] = d[0] - d[6] + 5.25f * (d[4] - d[2]);
    o[1] = a + b;
    o[2] = a - b;
    o[3] = e + f;
    o[4] = e - f;
    o[5] = g + h;
    o[6] = g - h;
    o[7] = d[7] - d[1] + 5.25f * (d[3] - d[5]);
#else
    /* The points +-p have x (x +- p) times the product of (x^2 - q^2) of the other ones. */
#define PAIR(at, p, r0, r1, r2)                                                                    \
    {                                                                                              \
        const ACC_V even = d[8] + r2 * d[6] + r1 * d[4] + r0 * d[2];                               \
        const ACC_V odd = p * (d[7] + r2 * d[5] + r1 * d[3] + r0 * d[1]);                          \
        o[at] = even + odd;                                                                        \
        o[at + 1] = even - odd;                                                                    \
    }
    o[0] = d[8] - 5.8125f * d[6] + 8.203125f * d[4] - 3.953125f * d[2] + 0.5625f * d[0];
    PAIR(1, 1.0f, -0.5625f, 3.390625f, -4.8125f)
    PAIR(3, 2.0f, -0.140625f, 0.953125f, -1.8125f)
    PAIR(5, 0.5f, -2.25f, 6.8125f, -5.5625f)
    PAIR(7, 0.75f, -1.0f, 5.25f, -5.25f)
    o[9] = d[9] - 5.8125f * d[7] + 8.203125f * d[5] - 3.953125f * d[3] + 0.5625f * d[1];
#endif
}

/* A^T p, m of them. */
INLINE void times_a(const int taps, const ACC_V *p, ACC_V *o)
{
    if (taps == 1) {
        o[0] = p[0];
        return;
    }
    const int m = T_T - taps + 1;
#pragma unroll
    for (int i = 0; i < m; i++) {
        o[i] = i % 2 ? p[1] - p[2] : p[1] + p[2];
#if T_T >= 6
        o[i] += (float)(1 << i) * (i % 2 ? p[3] - p[4] : p[3] + p[4]);
#endif
#if T_T >= 8
        o[i] += (32.0f / (1 << i)) * (i % 2 ? p[5] - p[6] : p[5] + p[6]);
#endif
#if T_T >= 10
        o[i] += power(0.75f, i) * (i % 2 ? p[7] - p[8] : p[7] + p[8]);
#endif
    }
    o[0] += p[0];
#if T_T == 4
    o[m - 1] -= p[T_T - 1]; /* this row of B has its published signs, which are opposite */
#else
    o[m - 1] += p[T_T - 1];
#endif
}

/* G w */
INLINE void times_g(const int taps, const ACC_V *w, ACC_V *o)
{
    if (taps == 1) {
        o[0] = w[0];
        return;
    }
    ACC_V even = w[0], odd = w[1];
#pragma unroll
    for (int j = 2; j < taps; j += 2)
        even += w[j];
#pragma unroll
    for (int j = 3; j < taps; j += 2)
        odd += w[j];
    o[0] = G_0 * w[0];
    o[1] = G_1 * (even + odd);
    o[2] = G_1 * (even - odd);
#if T_T >= 6
    even = w[0], odd = 2.0f * w[1];
#pragma unroll
    for (int j = 2; j < taps; j += 2)
        even += (float)(1 << j) * w[j];
#pragma unroll
    for (int j = 3; j < taps; j += 2)
        odd += (float)(1 << j) * w[j];
    o[3] = G_2 * (even + odd);
    o[4] = G_2 * (even - odd);
#endif
#if T_T >= 8
    even = w[0], odd = 0.5f * w[1];
#pragma unroll
    for (int j = 2; j < taps; j += 2)
        even += 1.0f / (1 << j) * w[j];
#pragma unroll
    for (int j = 3; j < taps; j += 2)
        odd += 1.0f / (1 << j) * w[j];
    o[5] = G_HALF * (even + odd);
    o[6] = G_HALF * (even - odd);
#endif
#if T_T >= 10
    even = w[0], odd = 0.75f * w[1];
#pragma unroll
    for (int j = 2; j < taps; j += 2)
        even += power(0.75f, j) * w[j];
#pragma unroll
    for (int j = 3; j < taps; j += 2)
        odd += power(0.75f, j) * w[j];
    o[7] = G_3_4 * (even + odd);
    o[8] = G_3_4 * (even - odd);
#endif
    o[T_T - 1] = w[taps - 1];
}
