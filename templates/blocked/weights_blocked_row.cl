/* weights_blocked_row.cl: adds a row of dy, or a strip of it, to the sums of a tile of
 * weights_blocked.cl.
 *
 *   SUMS, SUM(i, s, j)    how many sums a tile has; the sum of unit i of x at tap s, unit j of dy
 *   add_row(acc, x, dy, left, right, at)   adds pixels from `left` on, before `right`; `x` is where
 *                         pixel 0 finds its first tap, column `at`
 */
#include "caches.cl"
#include "products.cl"
#include "taps.cl"
#include "vectors.cl"

#define SUMS (T_X * T_S * T_Y)
#define SUM(i, s, j) (((i) * T_S + (s)) * T_Y + (j))

#define VECTOR(p) SRC_LOAD_V(p, 0)
#define ELEMENT(p) ((ACC_V)(SRC_LOAD(p, 0)))

/* Elements between units of x, and of dy. */
#if D_LANES == 0
#define UNIT_X D_SRC_BLOCK
#define UNIT_Y D_DST_CHANNEL
#else
#define UNIT_X D_SRC_CHANNEL
#define UNIT_Y D_DST_BLOCK
#endif

/* With D_AHEAD=1 the next chunk is prefetched while this one is summed: it comes from memory, in
 * pieces too short for the prefetchers of the core. */
#if D_STRIPS > 1
#define AHEAD_X (D_STRIP * P_STRIDE_W * D_SRC_PIXEL)
#define AHEAD_Y (D_STRIP * D_DST_PIXEL)
#elif P_DST_H > 1
#define AHEAD_X (D_CHUNK * P_STRIDE_H * D_SRC_ROW)
#define AHEAD_Y (D_CHUNK * D_DST_ROW)
#else
#define AHEAD_X (D_CHUNK * (INDEX_T)D_SRC_IMAGE)
#define AHEAD_Y (D_CHUNK * (INDEX_T)D_DST_IMAGE)
#endif

/* With `two` of pixels as pairs: OF(f, p, next) is f of an element and of the next pixel's, ADD_OF
 * adds the products of both. */
#define X_NEXT (P_STRIDE_W * D_SRC_PIXEL)
#if D_TOGETHER == 2
#define OF(f, p, next) (two ? PAIR(f(p), f((p) + (next))) : f(p))
#define ADD_OF(acc, a, b)                                                                          \
    if (two)                                                                                       \
        ADD_PRODUCT(acc, a, b);                                                                    \
    else                                                                                           \
        acc += (a) * (b)
#else
#define OF(f, p, next) f(p)
#define ADD_OF(acc, a, b) acc += (a) * (b)
#endif

/* Adds a pixel, or two, of which all taps are inside. */
INLINE void add_inside(ACC_V *acc, global const SRC_T *x, global const SRC_T *dy, const bool two)
{
#if D_LANES == 0
    ACC_V v[T_X * T_S];
    KILN_FETCH(dy + AHEAD_Y);
#pragma unroll
    for (int i = 0; i < T_X; i++) {
        KILN_FETCH(x + i * UNIT_X + AHEAD_X);
        if (two) {
            KILN_FETCH(x + i * UNIT_X + AHEAD_X + X_NEXT);
        }
#pragma unroll
        for (int s = 0; s < T_S; s++)
            v[i * T_S + s] =
                OF(VECTOR, x + i * UNIT_X + s * (P_DILATION_W * D_SRC_PIXEL), X_NEXT);
    }
#pragma unroll
    for (int j = 0; j < T_Y; j++) {
        const ACC_V a = OF(ELEMENT, dy + j * UNIT_Y, D_DST_PIXEL);
#pragma unroll
        for (int i = 0; i < T_X * T_S; i++)
            ADD_OF(acc[i * T_Y + j], v[i], a);
    }
#else
    ACC_V v[T_Y];
    KILN_FETCH(x + AHEAD_X);
#pragma unroll
    for (int j = 0; j < T_Y; j++) {
        KILN_FETCH(dy + j * UNIT_Y + AHEAD_Y);
        if (two) {
            KILN_FETCH(dy + j * UNIT_Y + AHEAD_Y + D_DST_PIXEL);
        }
        v[j] = OF(VECTOR, dy + j * UNIT_Y, D_DST_PIXEL);
    }
#pragma unroll
    for (int i = 0; i < T_X; i++)
#pragma unroll
        for (int s = 0; s < T_S; s++) {
            const ACC_V a = OF(ELEMENT, x + i * UNIT_X + s * (P_DILATION_W * D_SRC_PIXEL), X_NEXT);
#pragma unroll
            for (int j = 0; j < T_Y; j++)
                ADD_OF(acc[SUM(i, s, j)], v[j], a);
        }
#endif
}

/* Adds a pixel whose tap 0 is at `column`, and whose taps may be outside the row. */
INLINE void add_checked(ACC_V *acc, global const SRC_T *x, global const SRC_T *dy, const int column)
{
#pragma unroll
    for (int s = 0; s < T_S; s++) {
        const int at = column + s * P_DILATION_W;
        if (at < 0 || at >= P_SRC_W)
            continue;
#pragma unroll
        for (int i = 0; i < T_X; i++) {
            global const SRC_T *from = x + i * UNIT_X + s * (P_DILATION_W * D_SRC_PIXEL);
#pragma unroll
            for (int j = 0; j < T_Y; j++)
#if D_LANES == 0
                acc[SUM(i, s, j)] += VECTOR(from) * ELEMENT(dy + j * UNIT_Y);
#else
                acc[SUM(i, s, j)] += ELEMENT(from) * VECTOR(dy + j * UNIT_Y);
#endif
        }
    }
}

/* Where a tile has all taps of a row: how many pixels come before the first pixel that meets all of
 * them, and behind the last. With D_ENDS=1 the compiler knows which taps these pixels meet. */
#define D_REACH_W ((P_FILTER_W - 1) * P_DILATION_W)
#define D_BEFORE (D_LEAD_W > 0 ? (D_LEAD_W + P_STRIDE_W - 1) / P_STRIDE_W : 0)
#define D_LAST ((P_SRC_W - 1 - D_REACH_W + D_LEAD_W) / P_STRIDE_W)
#define D_AFTER (D_LAST < P_DST_W - 1 ? P_DST_W - 1 - D_LAST : 0)
#define D_LAST_STRIP (P_DST_W - (D_STRIPS - 1) * D_STRIP)
#define D_ENDS                                                                                     \
    (LEAVES(W) && T_S == P_FILTER_W && P_SRC_W + D_LEAD_W > D_REACH_W &&                           \
     D_BEFORE + D_AFTER < D_LAST_STRIP && (D_BEFORE + D_AFTER) * SUMS <= 600)

/* Adds pixels from i on, before `high`; one or more. The compiler leaves sums in their registers if
 * the loop always runs. */
INLINE void add_pixels(ACC_V *acc, global const SRC_T *x, global const SRC_T *dy, int i,
                       const int high)
{
    const int step = P_STRIDE_W * D_SRC_PIXEL;
#if D_TOGETHER == 2
    if ((high - i) % 2)
        add_inside(acc, x + i * step, dy + i * D_DST_PIXEL, false);
#pragma nounroll
    for (i += (high - i) % 2; i < high; i += 2)
        add_inside(acc, x + i * step, dy + i * D_DST_PIXEL, true);
#else
#pragma nounroll
    do
        add_inside(acc, x + i * step, dy + i * D_DST_PIXEL, false);
    while (++i < high);
#endif
}

INLINE void add_row(ACC_V *acc, global const SRC_T *x, global const SRC_T *dy, const int left,
                    const int right, const int at)
{
    const int step = P_STRIDE_W * D_SRC_PIXEL;
#if !LEAVES(W)
    add_pixels(acc, x, dy, left, right);
#elif D_ENDS
    if (left == 0)
#pragma unroll
        for (int i = 0; i < D_BEFORE; i++)
            add_checked(acc, x + i * step, dy + i * D_DST_PIXEL, i * P_STRIDE_W - D_LEAD_W);
    const int high = right == P_DST_W ? right - D_AFTER : right;
    add_pixels(acc, x, dy, left == 0 ? D_BEFORE : left, high);
    if (right == P_DST_W)
#pragma unroll
        for (int i = P_DST_W - D_AFTER; i < P_DST_W; i++)
            add_checked(acc, x + i * step, dy + i * D_DST_PIXEL, i * P_STRIDE_W - D_LEAD_W);
#else
    const int reach = (T_S - 1) * P_DILATION_W;
    const int low = clamp(divide_up(-at, P_STRIDE_W), left, right);
    const int high = clamp(divide_up(P_SRC_W - reach - at, P_STRIDE_W), low, right);
#if T_S > 1
#pragma nounroll
    for (int i = left; i < low; i++)
        add_checked(acc, x + i * step, dy + i * D_DST_PIXEL, at + i * P_STRIDE_W);
#endif
#if D_TOGETHER == 2
    if (low < high)
        add_pixels(acc, x, dy, low, high);
#else
#pragma nounroll
    for (int i = low; i < high; i++)
        add_inside(acc, x + i * step, dy + i * D_DST_PIXEL, false);
#endif
#if T_S > 1
#pragma nounroll
    for (int i = high; i < right; i++)
        add_checked(acc, x + i * step, dy + i * D_DST_PIXEL, at + i * P_STRIDE_W);
#endif
#endif
}
