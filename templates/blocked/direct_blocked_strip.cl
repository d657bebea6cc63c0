/* direct_blocked_strip.cl: makes direct_blocked.cl's strips: copies of what the taps of a row read,
 * converted, with zeros in the place of padding.
 */
#include "direct_blocked_elements.cl"

#if D_STRIP
/* One strip for all taps of a row, unless they leave most of it out. */
#define D_REACH ((T_W - 1) * P_STRIDE_W + (P_FILTER_W - 1) * P_DILATION_W + 1)
#define D_APART (P_DILATION_W >= T_W * P_STRIDE_W) /* no two taps read the same pixel */
#define D_SHARED (D_UP_W == 1 && D_REACH <= P_FILTER_W * T_W * (D_STRIP_ROWS && !D_APART ? 4 : 1))
#define D_STRIP_PIXELS (D_SHARED ? D_REACH : T_W)

/* Element c of pixel i is at i * STRIP_PIXEL + STRIP_AT(c). Copies of whole vectors may reach past
 * both ends of a row. */
#if D_STRIP_ROWS
#define STRIP_ROW (((D_STRIP_PIXELS + D_STRIP_LOAD - 1) / D_STRIP_LOAD + 2) * D_STRIP_LOAD)
#define STRIP_PIXEL 1
#define STRIP_AT(c) ((c) * STRIP_ROW + D_STRIP_LOAD)
#define STRIP_SIZE (STRIP_ROW * D_STEP_ELEMENTS)
#else
#define STRIP_PIXEL D_STEP_ELEMENTS
#define STRIP_AT(c) (c)
#define STRIP_SIZE (D_STRIP_PIXELS * D_STEP_ELEMENTS)
#endif
#if D_STRIP_ROWS
/* An element of one pixel, or of `n` neighbouring ones, from column i of its first channel's row
 * on. There are `left` channels; the first stands in for the channels behind them. */
#define CHANNEL_LOAD(j, row, i, left) SRC_LOAD(row, ((j) < (left) ? (j) * D_SRC_CHANNEL : 0) + (i))
#define CHANNEL_LOADN(n, j, row, i, left)                                                          \
    SRC_LOADN(n, row, ((j) < (left) ? (j) * D_SRC_CHANNEL : 0) + (i))
#if D_TOGETHER == 4
#define TO_ELEMENT(a, b, c, d)                                                                     \
    ((((a) & 255) | ((b) & 255) << 8 | ((c) & 255) << 16 | (d) << 24) ^ ELEMENT_ZERO)
#define PIXEL_LOAD(row, i, left)                                                                   \
    TO_ELEMENT(CHANNEL_LOAD(0, row, i, left), CHANNEL_LOAD(1, row, i, left),                       \
               CHANNEL_LOAD(2, row, i, left), CHANNEL_LOAD(3, row, i, left))
#define PIXEL_LOADN(n, row, i, left)                                                               \
    TO_ELEMENT(CHANNEL_LOADN(n, 0, row, i, left), CHANNEL_LOADN(n, 1, row, i, left),               \
               CHANNEL_LOADN(n, 2, row, i, left), CHANNEL_LOADN(n, 3, row, i, left))
#elif D_TOGETHER == 2 && SRC_TYPE == TYPE_BF16
/* A missing channel is zero here: an infinity times a weight of zero is a NaN. */
#define BITS_LOADN(n, row, i) KILN_CAT(convert_uint, n)(KILN_CAT(vload, n)(0, (row) + (i)))
#define PIXEL_LOAD(row, i, left)                                                                   \
    as_float((ushort2)((row)[i], (left) > 1 ? (row)[D_SRC_CHANNEL + (i)] : (ushort)0))
#define PIXEL_LOADN(n, row, i, left)                                                               \
    KILN_CAT(as_float, n)(BITS_LOADN(n, row, i) |                                                  \
                          ((left) > 1 ? BITS_LOADN(n, row, D_SRC_CHANNEL + (i)) << 16              \
                                      : (KILN_CAT(uint, n))(0)))
#elif D_TOGETHER == 2
#define TO_ELEMENT(a, b) (((a) & 0xffff) | ((b) << 16))
#define PIXEL_LOAD(row, i, left)                                                                   \
    TO_ELEMENT(CHANNEL_LOAD(0, row, i, left), CHANNEL_LOAD(1, row, i, left))
#define PIXEL_LOADN(n, row, i, left)                                                               \
    TO_ELEMENT(CHANNEL_LOADN(n, 0, row, i, left), CHANNEL_LOADN(n, 1, row, i, left))
#else
#define PIXEL_LOAD(row, i, left) SRC_LOAD(row, i)
#define PIXEL_LOADN(n, row, i, left) SRC_LOADN(n, row, i)
#endif

#if D_STRIP_LOAD > 1
typedef KILN_CAT(ACC_T, D_STRIP_LOAD) __attribute__((aligned(4))) strip_vector;

/* Copies neighbours, the first at column `at`, in vectors that lie inside the source even where the
 * strip does not. A vector without any element of the strip is copied to the place before it. */
INLINE void copy_neighbours(ACC_T *to, global const SRC_T *row, const int left, const int at)
{
    if (at < 0 || at + D_STRIP_PIXELS > P_SRC_W)
#pragma unroll
        for (int i = 0; i < D_STRIP_PIXELS; i += D_STRIP_LOAD)
            *(private strip_vector *)(to + i) = (strip_vector)((ACC_T)ELEMENT_ZERO);
#pragma unroll
    for (int i = 0; i < D_STRIP_PIXELS; i += D_STRIP_LOAD) {
        const int column = clamp(at + i, 0, P_SRC_W - D_STRIP_LOAD);
        const bool meets = at + i > -D_STRIP_LOAD && at + i < P_SRC_W;
        *(private strip_vector *)(to + (meets ? column - at : -D_STRIP_LOAD)) =
            PIXEL_LOADN(D_STRIP_LOAD, row, column, left);
    }
}
#endif

/* Copies pixels that are `apart` columns apart, the first at column `at`. */
INLINE void make_strip(ACC_T *strip, global const SRC_T *step, const int channels, const int at,
                       const int apart)
{
#pragma nounroll
    for (int e = 0; e < ELEMENTS(channels); e++) {
        const int c = e * D_TOGETHER, left = channels - c;
        global const SRC_T *row = step + (INDEX_T)c * D_SRC_CHANNEL;
        private ACC_T *to = strip + STRIP_AT(e);
#if D_STRIP_LOAD > 1
        if (apart == 1) {
            copy_neighbours(to, row, left, at);
            continue;
        }
#endif
        for (int i = 0; i < D_STRIP_PIXELS; i++) {
            const int column = at + i * apart;
            to[i] = column >= 0 && column < P_SRC_W ? PIXEL_LOAD(row, column, left)
                                                    : (ACC_T)ELEMENT_ZERO;
        }
    }
}
#else
/* Copies pixels that are `apart` columns apart, the first at column `at`. */
INLINE void make_strip(ACC_T *strip, global const SRC_T *row, const int channels, const int at,
                       const int apart)
{
#pragma nounroll
    for (int i = 0; i < D_STRIP_PIXELS; i++) {
        const int column = at + i * apart;
        const bool inside = column >= 0 && column < P_SRC_W;
        global const SRC_T *pixel = row + (INDEX_T)(inside ? column : 0) * D_SRC_PIXEL;
        private ACC_T *to = strip + i * D_STEP_ELEMENTS;
#if D_STRIP_LOAD > 1
        if (channels == D_STEP || D_STRIP_OVER) {
#pragma unroll
            for (int c = 0; c < channels; c += D_STRIP_LOAD) {
                const KILN_CAT(STRIP_T, D_STRIP_LOAD) v =
                    inside ? TO_STRIP(D_STRIP_LOAD, pixel, STEP_AT(c))
                           : (KILN_CAT(STRIP_T, D_STRIP_LOAD))((STRIP_T)STRIP_ZERO);
                *(private KILN_CAT(STRIP_T, D_STRIP_LOAD) *)((private STRIP_T *)to + c) = v;
            }
            continue;
        }
#endif
#define PIXEL_LOAD(c) (inside && (c) < channels ? SRC_LOAD(pixel, STEP_AT(c)) : (ACC_T)0)
#pragma unroll
        for (int e = 0; e < ELEMENTS(channels); e++)
#if D_TOGETHER == 4
            to[e] = as_int((char4)((char)PIXEL_LOAD(4 * e), (char)PIXEL_LOAD(4 * e + 1),
                                   (char)PIXEL_LOAD(4 * e + 2), (char)PIXEL_LOAD(4 * e + 3))) ^
                    ELEMENT_ZERO;
#elif D_TOGETHER == 2 && SRC_TYPE == TYPE_BF16
#define BITS_LOAD(c) (inside && (c) < channels ? pixel[STEP_AT(c)] : (ushort)0)
            to[e] = as_float((ushort2)(BITS_LOAD(2 * e), BITS_LOAD(2 * e + 1)));
#elif D_TOGETHER == 2
            to[e] = as_int((short2)(PIXEL_LOAD(2 * e), PIXEL_LOAD(2 * e + 1)));
#else
            to[e] = PIXEL_LOAD(e);
#endif
    }
}
#endif
#endif
