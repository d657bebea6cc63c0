/* direct_blocked.cl: register-tiled direct convolution where neighbouring channels of a pixel are
 * neighbours in memory: all of them (NHWC), or blocks of them (NC/16HW16); or from and to plain
 * layouts, where neighbouring pixels are (D_PLAIN): sums are transposed before they are stored.
 *
 * A vector is D_B neighbouring destination channels of one pixel, whatever the layout keeps
 * together; a weight vector is loaded once for T_W pixels, and a source element is a broadcast. One
 * item computes
 *
 *                     T_W pixels of one row              weights of one source channel
 *     T_KV vectors  [ acc ][ acc ][ acc ] ...              [ vector ]
 *     of channels   [ acc ][ acc ][ acc ] ...              [ vector ]
 *
 * as a sum over steps of D_STEP source channels, filter taps and the channels of a step. The last
 * tile of a row and the last of the channels start earlier instead of being smaller: what they share
 * with their neighbours is computed by both and stored by one.
 *
 * Padding is not in memory. Filter rows and planes outside the source are left out. At the ends of
 * a row the pixels that a tap does not reach are left out as well (D_END), or the vectors that taps
 * read are first copied with zeros in the place of padding (a strip). Where the source has to be
 * converted, a strip does that for all pixels and channels that read it.
 *
 * Backward data is the same sum over dy, with the filter turned round (which `pack` sees to), the
 * padding that remains of it, and with a stride, D_UP, as if dy had D_UP - 1 zeros between its
 * elements. The pixels of a tile are then D_UP_W apart, so that each tap reads dy for all or none.
 *
 * Grid of `direct_blocked`: (tiles of rows, groups * D_TILES_K, images), the first two exchanged
 * with T_ORDER=1, the last two with T_ORDER=2; groups of (T_GROUP, 1, 1), of which D_ITEMS along the first axis are needed. Of
 * `pack`: (steps of a group, groups * D_TILES_K).
 *
 * Defines, besides those of the files included; _a stands for each of _D, _H, _W:
 *   D_B, D_CHANNELS     lanes of a vector, destination channels
 *   P_SRC_a, P_DST_a    sizes; P_FILTER_a, P_STRIDE_a, P_DILATION_a
 *   D_UP_a              above; 1 forward
 *   D_NEXT_a            taps from one that reads dy at a whole coordinate to the next; 1 forward
 *   D_LEAD_a            source coordinate (times D_UP_a) of destination element 0, tap 0, is -D_LEAD_a
 *   D_GROUPS, D_SRC_C, D_DST_C    groups and the channels of one
 *   D_SRC_IMAGE, _BLOCK, _PLANE, _ROW, _PIXEL, _CHANNEL    elements from one to the next
 *   D_DST_IMAGE, _BLOCK, _PLANE, _ROW, _PIXEL              the same; channels are neighbours
 *                       (but see D_PLAIN)
 *   D_SRC_NEIGHBOURS, _BLOCKS    channels of a block; blocks; D_DST_ the same
 *   D_DST_PADDED        destination channels with the padding of the layout
 *   D_STEP              source channels of a step; more than a block only if it is whole ones
 *   D_TOGETHER          2 or 4: the source is bytes, and D_STRIP 2: as many channels are multiplied
 *                       at once (see products.cl); 4 only where all D_UP_a are 1. Else 1
 *   D_STRIP             0 never, 1 at the ends of a row, 2 everywhere
 *   D_STRIP_ROWS        1: rows of a strip are pixels, as in a plain source; 0: elements of a pixel
 *   D_STRIP_LOAD        1, 4, 8 or 16: neighbours that a strip takes at once; with D_STRIP_OVER=1
 *                       also where the last of them are padding
 *   D_END               at the ends of a row: 1 pixels are left out as the compiler finds that they
 *                       are (taps unrolled), 2 as the item does; 0 neither
 *   D_FIRST, D_LAST     1: the first, last tile is at an end
 *   D_BACKWARD          1: the filter is turned round
 *   D_AHEAD             1: of a filter with one tap, pixels of a tile ahead are fetched
 *   D_TILES_W, D_TILES_K   tiles of a row (of each D_UP_W-th pixel), of the channels of a group
 *   D_DST_VECTORS       vectors of a group's destination channels, its padding included
 *   D_PIECE             1, 4, 8 or 16: lanes of a vector that lie together wherever it starts
 *   D_WHOLE             1: all lanes of every vector are stored
 *   D_PLAIN             1: the destination's pixels are neighbours, its channels D_DST_CHANNEL apart
 *   T_W, T_KV           tile of one item; T_W <= P_DST_W / D_UP_W, T_KV <= D_DST_VECTORS
 *   T_ORDER, T_GROUP    above
 *   T_STREAM            1: stores go past the caches (see caches.cl)
 */
#include "caches.cl"
#include "channels.cl"
#include "products.cl"
#include "rows.cl"
#include "transpose.cl"

#define D_KT (T_KV * D_B)
#define D_TAPS (P_FILTER_D * P_FILTER_H * P_FILTER_W)

/* Strips and packed weights consist of elements: channels, or D_TOGETHER neighbouring ones as parts
 * of an int. Where channels are missing for the last, its weights are zero. */
#if D_TOGETHER > 1
#define ELEMENTS(channels) (((channels) + D_TOGETHER - 1) / D_TOGETHER)
#define ADD_PRODUCT(acc, a, b) acc = ADD_PRODUCTS(acc, a, b)
#else
#define ELEMENTS(channels) (channels)
#define ADD_PRODUCT(acc, a, b) acc += (a) * (b)
#endif

/* A strip has bytes as shorts, or, where four are multiplied at once, with 128 added, which leaves
 * none below 0. What that adds to the sums is taken from them by the filter's rows; see `pack`. */
#if D_TOGETHER == 4
#define STRIP_T char
#define STRIP_ZERO (-128)
#define ELEMENT_ZERO ((int)0x80808080)
#define TO_STRIP(n, p, i) (KILN_CAT(vload, n)(0, (p) + (i)) ^ (KILN_CAT(char, n))((char)-128))
#define D_OFFSETS (P_FILTER_D * P_FILTER_H)
#elif D_TOGETHER == 2
#define STRIP_T short
#define TO_STRIP(n, p, i) KILN_CAT(convert_short, n)(SRC_LOADN(n, p, i))
#else
#define STRIP_T ACC_T
#define TO_STRIP(n, p, i) SRC_LOADN(n, p, i)
#endif
#ifndef D_OFFSETS
#define STRIP_ZERO 0
#define ELEMENT_ZERO 0
#define D_OFFSETS 0
#endif
/* Of a step, of a group, and from a pixel of a strip to the next. */
#define D_STEP_ELEMENTS ELEMENTS(D_STEP)
#define D_ELEMENTS (D_SRC_C / D_STEP * D_STEP_ELEMENTS + ELEMENTS(D_SRC_C % D_STEP))

/* Elements from channel 0 of a pixel to channel c. */
#if D_SRC_BLOCKS == 1
#define SRC_AT(c) ((INDEX_T)(c) * D_SRC_CHANNEL)
#else
#define SRC_AT(c) ((INDEX_T)((c) / D_SRC_NEIGHBOURS) * D_SRC_BLOCK + (c) % D_SRC_NEIGHBOURS)
#endif
#if D_DST_BLOCKS == 1
#define DST_AT(c) (c)
#else
#define DST_AT(c) ((INDEX_T)((c) / D_DST_NEIGHBOURS) * D_DST_BLOCK + (c) % D_DST_NEIGHBOURS)
#endif
/* The same from the first channel of a step. */
#if D_SRC_BLOCKS == 1 || D_STEP <= D_SRC_NEIGHBOURS
#define STEP_AT(c) ((c) * D_SRC_CHANNEL)
#else
#define STEP_AT(c) ((c) / D_SRC_NEIGHBOURS * D_SRC_BLOCK + (c) % D_SRC_NEIGHBOURS)
#endif

/* ---- weights as [group and tile][step][tap][element][D_KT], zero where there is no channel; before
 * the first step of a tile, what each of D_OFFSETS rows of the filter adds to the sums for the
 * source's offset ---- */

static inline ACC_T weight(global const SRC_T *w, const INDEX_T group, const int k, const int c,
                           const int tap)
{
    if (k >= D_DST_C || c >= D_SRC_C)
        return 0;
#if D_BACKWARD
    return SRC_LOAD(w, ((group * D_SRC_C + c) * D_DST_C + k) * D_TAPS + D_TAPS - 1 - tap);
#else
    return SRC_LOAD(w, ((group * D_DST_C + k) * D_SRC_C + c) * D_TAPS + tap);
#endif
}

#define D_TILE_WEIGHTS ((D_ELEMENTS * D_TAPS + D_OFFSETS) * D_KT)

/* The last step, which has no channels, is the offsets. */
kernel GROUP_SIZE(1, 1, 1) void pack(global const SRC_T *restrict w, global ACC_T *restrict packed)
{
    const int step = get_global_id(0), tile = get_global_id(1);
    const int k0 = min(tile % D_TILES_K * T_KV, D_DST_VECTORS - T_KV) * D_B;
    const int c0 = step * D_STEP, elements = ELEMENTS(min(D_STEP, D_SRC_C - c0));
    const INDEX_T group = tile / D_TILES_K;
    packed += (INDEX_T)tile * D_TILE_WEIGHTS;
#if D_OFFSETS
    if (c0 >= D_SRC_C) {
        for (int k = 0; k < D_KT; k++)
            for (int row = 0; row < D_OFFSETS; row++) {
                int sum = 0;
                for (int c = 0; c < D_SRC_C; c++)
                    for (int s = 0; s < P_FILTER_W; s++)
                        sum += weight(w, group, k0 + k, c, row * P_FILTER_W + s);
                packed[row * D_KT + k] = -128 * sum;
            }
        return;
    }
#endif
    packed += (D_OFFSETS + step * D_STEP_ELEMENTS * D_TAPS) * D_KT;
    for (int k = 0; k < D_KT; k++)
        for (int i = 0; i < elements; i++)
            for (int tap = 0; tap < D_TAPS; tap++) {
#define WEIGHT(j) weight(w, group, k0 + k, c0 + D_TOGETHER * i + (j), tap)
#if D_TOGETHER == 4
                const ACC_T all =
                    as_int((char4)((char)WEIGHT(0), (char)WEIGHT(1), (char)WEIGHT(2), (char)WEIGHT(3)));
#elif D_TOGETHER == 2
                const ACC_T all = as_int((short2)((short)WEIGHT(0), (short)WEIGHT(1)));
#else
                const ACC_T all = WEIGHT(0);
#endif
                packed[(tap * elements + i) * D_KT + k] = all;
            }
}

/* ---- sums ---- */

/* Adds one tap: `elements` of each pixel, pixel i at x + i * next. With `check`, pixel i is there
 * only if column `at + i * P_STRIDE_W` is. */
#define DEFINE_TAP(name, SPACE, TYPE, LOAD, AT, LOOP)                                              \
    PRODUCTS_INLINE void name(ACC_V *acc, SPACE const TYPE *x, global const ACC_T *w,              \
                              const int elements, const int next, const bool check, const int at)  \
    {                                                                                              \
        _Pragma(LOOP) for (int c = 0; c < elements; c++)                                           \
        {                                                                                          \
            ACC_V weight[T_KV];                                                                    \
            _Pragma("unroll") for (int k = 0; k < T_KV; k++) weight[k] =                           \
                LOAD_V(w + c * D_KT + k * D_B);                                                    \
            _Pragma("unroll") for (int i = 0; i < T_W; i++)                                        \
            {                                                                                      \
                const int column = at + i * P_STRIDE_W;                                            \
                if (check && (column < 0 || column >= P_SRC_W))                                    \
                    continue;                                                                      \
                const ACC_V v = (ACC_V)(LOAD(x, i * next + AT(c)));                                \
                _Pragma("unroll") for (int k = 0; k < T_KV; k++)                                   \
                    ADD_PRODUCT(acc[i * T_KV + k], v, weight[k]);                                  \
            }                                                                                      \
        }                                                                                          \
    }

#if D_STRIP < 2
DEFINE_TAP(add_whole, global, SRC_T, SRC_LOAD, STEP_AT, "unroll 4")
/* Were few channels unrolled, the compiler would keep their elements in registers from tap to tap,
 * and the sums not. */
DEFINE_TAP(add_part, global, SRC_T, SRC_LOAD, STEP_AT, "nounroll")

PRODUCTS_INLINE void add_tap(ACC_V *acc, global const SRC_T *x, global const ACC_T *w,
                             const int channels, const bool check, const int at)
{
    if (channels == D_STEP)
        add_whole(acc, x, w, channels, P_STRIDE_W * D_SRC_PIXEL, check, at);
    else
        add_part(acc, x, w, channels, P_STRIDE_W * D_SRC_PIXEL, check, at);
}
#endif

#if D_STRIP
/* One strip for all taps of a row, unless they leave most of it out. */
#define D_REACH ((T_W - 1) * P_STRIDE_W + (P_FILTER_W - 1) * P_DILATION_W + 1)
#define D_SHARED (D_UP_W == 1 && D_REACH <= P_FILTER_W * T_W * (D_STRIP_ROWS ? 4 : 1))
#define D_STRIP_PIXELS (D_SHARED ? D_REACH : T_W)

/* Where element c of pixel i is: at i * STRIP_PIXEL + STRIP_AT(c). What is copied in whole vectors
 * may reach past both ends of a row. */
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
#define STRIP_LOAD(p, i) ((p)[i])

#if D_TOGETHER > 1 || D_STRIP_ROWS
/* Were it unrolled, the compiler would add products of several elements before the sums, in more
 * registers than there are. */
DEFINE_TAP(add_strip, private, ACC_T, STRIP_LOAD, STRIP_AT, "nounroll")
#else
DEFINE_TAP(add_strip, private, ACC_T, STRIP_LOAD, STRIP_AT, "unroll 4")
#endif

#if D_STRIP_ROWS
/* An element of one pixel, or of `n` neighbouring ones, from column i of its first channel's row on.
 * There are `left` channels; in the place of those behind them stands the first. */
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

/* Copies neighbours, the first at column `at`, in vectors that lie inside the source wherever the
 * strip does not. One that has nothing for the strip goes before it. */
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
#elif D_TOGETHER == 2
            to[e] = as_int((short2)(PIXEL_LOAD(2 * e), PIXEL_LOAD(2 * e + 1)));
#else
            to[e] = PIXEL_LOAD(e);
#endif
    }
}
#endif
#endif

/* ---- taps ---- */

/* Where a tile reads: the column of its first pixel, before what the taps add to it; which of the
 * D_UP_W classes its pixels are of; and the taps of the other axes that meet the source. */
typedef struct place {
    int column, phase;
    int d, d_end, h, h_end;
} place;

/* Along an axis, where tap 0 of a destination element is at coordinate `at` (times `up`): the first
 * tap at a whole coordinate. Others are `next` taps apart. */
INLINE int first_meeting(const int at, const int dilation, const int up, const int next)
{
    for (int tap = 0; tap < next; tap++)
        if ((at + tap * dilation) % up == 0)
            return tap;
    return INT_MAX / 2;
}

/* The first of them inside the source, from tap `first` on, and where taps leave it. */
INLINE int first_tap(const int at, const int dilation, const int first, const int next)
{
    const int tap = at < 0 ? (dilation - 1 - at) / dilation : 0;
    return tap <= first ? first : first + (tap - first + next - 1) / next * next;
}

INLINE int end_tap(const int at, const int size, const int taps, const int dilation)
{
    return at < size ? min(taps, (size - 1 - at) / dilation + 1) : 0;
}

/* Whether an axis has taps outside the source: the compiler knows. */
#define LEAVES(a)                                                                                  \
    (D_LEAD_##a > 0 || (P_DST_##a - 1) * P_STRIDE_##a - D_LEAD_##a +                               \
                               (P_FILTER_##a - 1) * P_DILATION_##a >                               \
                           (P_SRC_##a - 1) * D_UP_##a)
#define FIRST_MEETING(a, at) first_meeting(at, P_DILATION_##a, D_UP_##a, D_NEXT_##a)
#define FIRST_TAP(a, at)                                                                           \
    (LEAVES(a) ? first_tap(at, P_DILATION_##a, FIRST_MEETING(a, at), D_NEXT_##a)                   \
               : FIRST_MEETING(a, at))
#define END_TAP(a, at)                                                                             \
    (LEAVES(a) ? end_tap(at, (P_SRC_##a - 1) * D_UP_##a + 1, P_FILTER_##a, P_DILATION_##a)         \
               : P_FILTER_##a)

/* The taps of a row that a class of pixels has, and the columns they add. */
#define FIRST_OF_ROW(phase) FIRST_MEETING(W, (phase) - D_LEAD_W)
#define COLUMN(phase, s) (((phase) - D_LEAD_W + (s) * P_DILATION_W) / D_UP_W)

/* How a tile reads its rows. */
#define INSIDE 0 /* without looking */
#define CHECKED 1
#define STRIPS 2

/* Adds one row of the filter. */
PRODUCTS_INLINE void add_row(ACC_V *acc, global const SRC_T *row, global const ACC_T *w,
                             const int channels, const place at, const int how)
{
#if D_STRIP
    if (how == STRIPS) {
        const int elements = ELEMENTS(channels);
        ACC_T strip[STRIP_SIZE] __attribute__((aligned(64)));
#if D_SHARED
        make_strip(strip, row, channels, at.column + COLUMN(0, 0), 1);
#endif
#pragma nounroll
        for (int s = FIRST_OF_ROW(at.phase); s < P_FILTER_W; s += D_NEXT_W) {
#if D_SHARED
            add_strip(acc, strip + s * P_DILATION_W * STRIP_PIXEL, w + s * elements * D_KT, elements,
                      P_STRIDE_W * STRIP_PIXEL, false, 0);
#else
            make_strip(strip, row, channels, at.column + COLUMN(at.phase, s), P_STRIDE_W);
            add_strip(acc, strip, w + s * elements * D_KT, elements, STRIP_PIXEL, false, 0);
#endif
        }
        return;
    }
#endif
#if D_END
    if (how == CHECKED) {
#if D_END == 1
#pragma unroll
#else
#pragma nounroll
#endif
        for (int s = FIRST_OF_ROW(at.phase); s < P_FILTER_W; s += D_NEXT_W) {
            const int column = at.column + COLUMN(at.phase, s);
            add_tap(acc, row + (INDEX_T)column * D_SRC_PIXEL, w + s * channels * D_KT, channels,
                    true, column);
        }
        return;
    }
#endif
#if D_STRIP < 2
#pragma nounroll
    for (int s = FIRST_OF_ROW(at.phase); s < P_FILTER_W; s += D_NEXT_W)
        add_tap(acc, row + (INDEX_T)(at.column + COLUMN(at.phase, s)) * D_SRC_PIXEL,
                w + s * channels * D_KT, channels, false, 0);
#endif
}

/* Adds one step of source channels; y and z are the coordinates of tap 0. */
PRODUCTS_INLINE void add_step(ACC_V *acc, global const SRC_T *step, global const ACC_T *w,
                              const int channels, const place at, const int y, const int z,
                              const int how)
{
#pragma nounroll
    for (int d = at.d; d < at.d_end; d += D_NEXT_D)
#pragma nounroll
        for (int h = at.h; h < at.h_end; h += D_NEXT_H)
            add_row(acc,
                    step + (INDEX_T)((z + d * P_DILATION_D) / D_UP_D) * D_SRC_PLANE +
                        (INDEX_T)((y + h * P_DILATION_H) / D_UP_H) * D_SRC_ROW,
                    w + (d * P_FILTER_H + h) * P_FILTER_W * ELEMENTS(channels) * D_KT, channels, at,
                    how);
}

#if D_AHEAD
/* Fetches what the tile after the next reads in one step: memory is that far away. Items that share a tile of pixels each do
 * some steps, so that memory is as busy with the last of them as with the first. */
INLINE void fetch_ahead(global const SRC_T *step, const place at, const int y, const int z)
{
    step += (INDEX_T)z * D_SRC_PLANE + (INDEX_T)y * D_SRC_ROW + (INDEX_T)at.column * D_SRC_PIXEL;
#pragma unroll
    for (int i = 2 * T_W; i < 3 * T_W; i++)
        KILN_FETCH(step + i * P_STRIDE_W * D_SRC_PIXEL);
}
#endif

/* Adds all channels of a group, whose first one is `first`. */
PRODUCTS_INLINE void add_all(ACC_V *acc, global const SRC_T *src, const int first,
                             global const ACC_T *w, const place at, const int y, const int z,
                             const int how)
{
#pragma nounroll
    for (int c = 0; c < D_SRC_C / D_STEP * D_STEP; c += D_STEP) {
#if D_AHEAD
        if (c / D_STEP % D_TILES_K == get_global_id(0) % D_TILES_K)
            fetch_ahead(src + SRC_AT(first + c), at, y, z);
#endif
        add_step(acc, src + SRC_AT(first + c), w, D_STEP, at, y, z, how);
        w += D_TAPS * D_STEP_ELEMENTS * D_KT;
    }
#if D_SRC_C % D_STEP
    add_step(acc, src + SRC_AT(first + D_SRC_C / D_STEP * D_STEP), w, D_SRC_C % D_STEP, at, y, z,
             how);
#endif
}

#if D_OFFSETS
/* Adds what the rows of the filter add for the offset. */
INLINE void add_offsets(ACC_V *acc, global const ACC_T *offsets, const place at)
{
#pragma nounroll
    for (int d = at.d; d < at.d_end; d++)
#pragma nounroll
        for (int h = at.h; h < at.h_end; h++)
#pragma unroll
            for (int k = 0; k < T_KV; k++) {
                const ACC_V offset = LOAD_V(offsets + (d * P_FILTER_H + h) * D_KT + k * D_B);
#pragma unroll
                for (int i = 0; i < T_W; i++)
                    acc[i * T_KV + k] += offset;
            }
}
#endif

/* More classes of pixels would be too much code. */
#define MOST_PHASES 4

#if D_STRIP == 0 && D_END < 2 && D_UP_W <= MOST_PHASES
/* The same where the compiler knows the class of the tile's pixels, which has `pixels` in a row,
 * and so the columns of the tiles at the ends. */
PRODUCTS_INLINE void add_phase(ACC_V *acc, global const SRC_T *src, const int first,
                               global const ACC_T *w, place at, const int y, const int z,
                               const int phase, const int pixels)
{
    at.phase = phase;
    if (FIRST_OF_ROW(phase) >= P_FILTER_W)
        return;
#if D_FIRST
    if (at.column == 0) {
        at.column = 0;
        add_all(acc, src, first, w, at, y, z, CHECKED);
        return;
    }
#endif
#if D_LAST && D_TILES_W > 1
    if (at.column == (pixels - T_W) * P_STRIDE_W) {
        at.column = (pixels - T_W) * P_STRIDE_W;
        add_all(acc, src, first, w, at, y, z, CHECKED);
        return;
    }
#endif
#if D_TILES_W > D_FIRST + D_LAST
    add_all(acc, src, first, w, at, y, z, INSIDE);
#endif
}
#endif

/* ---- results ---- */

/* Stores the first `lanes` of the D_B channels from `channel` on, of the pixel at element `at`. */
INLINE void put_part(global DST_T *dst, const ACC_V acc, const int channel, const int lanes,
                     const INDEX_T at EPILOGUE_PARAMS)
{
    VAL_T lane[D_B] __attribute__((aligned(64)));
    private VAL_V *all = (private VAL_V *)lane;
    *all = (VAL_V)((VAL_T)0);
#if D_PIECE > 1 && D_PIECE < D_B
#ifdef P_BETA
#pragma unroll
    for (int p = 0; p < D_B; p += D_PIECE)
        if (D_WHOLE || p < lanes)
            KILN_CAT(vstore, D_PIECE)(DST_LOADN(D_PIECE, residual, at + DST_AT(channel + p)), 0,
                                      lane + p);
#endif
    *all = FINISH_V(acc, *all, channel);
#pragma unroll
    for (int p = 0; p < D_B; p += D_PIECE)
        if (D_WHOLE || p < lanes)
            DST_STOREN(D_PIECE, dst, at + DST_AT(channel + p),
                       KILN_CAT(vload, D_PIECE)(0, lane + p));
#else
#ifdef P_BETA
#pragma nounroll
    for (int i = 0; i < min(lanes, D_B); i++)
        lane[i] = DST_LOAD(residual, at + DST_AT(channel + i));
#endif
    *all = FINISH_V(acc, *all, channel);
#pragma nounroll
    for (int i = 0; i < min(lanes, D_B); i++)
        DST_STORE(dst, at + DST_AT(channel + i), lane[i]);
#endif
}

#ifdef P_BETA
#define RESIDUAL_FROM(at) , residual + (at)
#else
#define RESIDUAL_FROM(at)
#endif

/* The same for the pixel `further` elements behind that: whole vectors next to one another are
 * stored at constant distances from one address. */
INLINE void put(global DST_T *dst, const ACC_V acc, const int channel, const int lanes,
                const INDEX_T at, const int further EPILOGUE_PARAMS)
{
#if D_PIECE == D_B
    if (D_WHOLE || lanes >= D_B) {
        const INDEX_T whole = at + DST_AT(channel);
        kiln_put(dst + whole, acc, channel, further KILN_BIAS_PASS RESIDUAL_FROM(whole));
        return;
    }
#endif
    put_part(dst, acc, channel, lanes, at + further EPILOGUE_PASS);
}

/* Curves are long: once in the code, not for each vector. */
#if P_ACTIVATION >= 4
#define EACH_VECTOR _Pragma("nounroll")
#else
#define EACH_VECTOR _Pragma("unroll")
#endif

/* ---- results, where neighbours are pixels ---- */

#if D_PLAIN
/* Pixels by which the last tile of a row starts earlier. */
#define D_SHIFT (D_TILES_W * T_W - P_DST_W)

/* Lanes `first` to `end` of a vector are pixels of a row, lane 0 at element `at`. */
#ifdef P_BETA
INLINE VAL_V get_row(global const DST_T *row, const int first, const int end, const INDEX_T at)
{
    VAL_T lane[D_B] __attribute__((aligned(64)));
    *(private VAL_V *)lane = (VAL_V)((VAL_T)0);
#pragma unroll
    for (int i = 0; i < D_B; i++)
        if (i >= first && i < end)
            lane[i] = DST_LOAD(row, at + (INDEX_T)i * D_UP_W);
    return *(private const VAL_V *)lane;
}
#endif

#if D_UP_W > 1
INLINE void put_row(global DST_T *row, const VAL_V v, const int first, const int end,
                    const INDEX_T at)
{
    VAL_T lane[D_B] __attribute__((aligned(64)));
    *(private VAL_V *)lane = v;
#pragma nounroll
    for (int i = first; i < end; i++)
        DST_STORE(row, at + (INDEX_T)i * D_UP_W, lane[i]);
}
#else
/* `first` is 0. */
INLINE void put_row(global DST_T *row, const VAL_V v, const int first, const int end,
                    const INDEX_T at)
{
    STORE_SOME(row, v, end, at);
}
#endif

KILN_DEFINE_TRANSPOSE(transpose, ACC_V)

/* Stores a vector of channels, of which `lanes` are there, of the tile's pixels from `first` on, but
 * for the first `skip` of them; pixel 0 of channel 0 is element `at`. */
INLINE void put_rows(global DST_T *dst, const ACC_V *acc, const int channel, const int lanes,
                     const int first, const int skip, const INDEX_T at EPILOGUE_PARAMS)
{
#pragma unroll
    for (int i0 = first; i0 < T_W; i0 += D_B) {
        const int begin = skip > i0 ? skip - i0 : 0, end = i0 + D_B < T_W ? D_B : T_W - i0;
        ACC_V t[D_B];
#pragma unroll
        for (int i = 0; i < D_B; i++)
            t[i] = i < end ? acc[(i0 + i) * T_KV] : (ACC_V)((ACC_T)0);
        transpose(t);
EACH_VECTOR
        for (int c = 0; c < D_B; c++) {
            if (!D_WHOLE && c >= lanes)
                continue;
            const INDEX_T to =
                at + (INDEX_T)(channel + c) * D_DST_CHANNEL + (INDEX_T)i0 * D_UP_W;
#ifdef P_BETA
            const VAL_V old = get_row(residual, begin, end, to);
#else
            const VAL_V old = (VAL_V)((VAL_T)0);
#endif
            put_row(dst, FINISH_ROW(t[c], old, channel + c), begin, end, to);
        }
    }
}
#endif

/* One item: a tile of pixels of image n, and one of channels. (Oclgrind does not know what becomes of
 * `restrict` in an inlined function.) */
PRODUCTS_FUNCTION void item(global const SRC_T *src, global const ACC_T *w, global DST_T *dst,
                            const int tile, const int tile_k, const INDEX_T n EPILOGUE_PARAMS)
{
    const int phase = tile % D_UP_W, pixels = (P_DST_W - phase + D_UP_W - 1) / D_UP_W;
    const int row = P_DST_H * P_DST_D > 1 ? tile / D_UP_W / D_TILES_W : 0;
    const int own_x = (tile / D_UP_W - row * D_TILES_W) * T_W;
    const int group = D_GROUPS > 1 ? tile_k / D_TILES_K : 0;
    const int own_k = (tile_k - group * D_TILES_K) * T_KV;
    const int first = min(own_x, pixels - T_W), k0 = min(own_k, D_DST_VECTORS - T_KV);
    const int x = phase + first * D_UP_W, y = row % P_DST_H, z = row / P_DST_H;

    src += n * D_SRC_IMAGE;
    w += (INDEX_T)tile_k * D_TILE_WEIGHTS;
    const int tap_y = y * P_STRIDE_H - D_LEAD_H, tap_z = z * P_STRIDE_D - D_LEAD_D;
    const place at = {.column = first * P_STRIDE_W,
                      .phase = phase,
                      .d = FIRST_TAP(D, tap_z),
                      .d_end = END_TAP(D, tap_z),
                      .h = FIRST_TAP(H, tap_y),
                      .h_end = END_TAP(H, tap_y)};
    ACC_V acc[T_W * T_KV];
#pragma unroll
    for (int i = 0; i < T_W * T_KV; i++)
        acc[i] = (ACC_V)((ACC_T)0);
#if D_OFFSETS
    add_offsets(acc, w, at);
    w += D_OFFSETS * D_KT;
#endif
    const int c0 = group * D_SRC_C;
    if (at.d < at.d_end && at.h < at.h_end) {
#if D_STRIP == 2
        add_all(acc, src, c0, w, at, tap_y, tap_z, STRIPS);
#elif D_STRIP == 1 || D_END == 2 || D_UP_W > MOST_PHASES
        const int tap_x = x * P_STRIDE_W - D_LEAD_W;
        const int reach = (T_W - 1) * P_STRIDE_W * D_UP_W + (P_FILTER_W - 1) * P_DILATION_W;
        if (D_STRIP + D_END == 0 ||
            (tap_x >= 0 && tap_x + reach <= (P_SRC_W - 1) * D_UP_W))
            add_all(acc, src, c0, w, at, tap_y, tap_z, INSIDE);
        else
            add_all(acc, src, c0, w, at, tap_y, tap_z, D_STRIP ? STRIPS : CHECKED);
#else
#define PHASE(p)                                                                                   \
    if (D_UP_W > p && phase == p)                                                                  \
        add_phase(acc, src, c0, w, at, tap_y, tap_z, p, (P_DST_W - p + D_UP_W - 1) / D_UP_W);
        PHASE(0)
        PHASE(1)
        PHASE(2)
        PHASE(3)
#endif
    }

    const INDEX_T to = n * D_DST_IMAGE + (INDEX_T)z * D_DST_PLANE + (INDEX_T)y * D_DST_ROW +
                       (INDEX_T)x * D_DST_PIXEL;
    /* The padding of the layout belongs to the last group. */
    const int end = D_DST_C + (group == D_GROUPS - 1 ? D_DST_PADDED - D_CHANNELS : 0);
#if D_PLAIN
#pragma unroll
    for (int k = 0; k < T_KV; k++) {
        if (D_DST_VECTORS % T_KV && k0 + k < own_k)
            continue;
        const int channel = group * D_DST_C + (k0 + k) * D_B, lanes = end - (k0 + k) * D_B;
#if D_UP_W > 1
        put_rows(dst, acc + k, channel, lanes, 0, own_x - first, to EPILOGUE_PASS);
#else
        if (D_SHIFT > 0 && first < own_x)
            put_rows(dst, acc + k, channel, lanes, D_SHIFT, 0, to EPILOGUE_PASS);
        else
            put_rows(dst, acc + k, channel, lanes, 0, 0, to EPILOGUE_PASS);
#endif
    }
#else
EACH_VECTOR
    for (int i = 0; i < T_W; i++) {
        if (P_DST_W % (T_W * D_UP_W) && first + i < own_x)
            continue;
#pragma unroll
        for (int k = 0; k < T_KV; k++)
            if (D_DST_VECTORS % T_KV == 0 || k0 + k >= own_k)
                put(dst, acc[i * T_KV + k], group * D_DST_C + (k0 + k) * D_B, end - (k0 + k) * D_B,
                    to, i * D_UP_W * D_DST_PIXEL EPILOGUE_PASS);
    }
#endif
}

kernel GROUP_SIZE(T_GROUP, 1, 1) void direct_blocked(global const SRC_T *restrict src,
                                                     global const ACC_T *restrict w,
                                                     global DST_T *dst EPILOGUE_PARAMS)
{
    if (T_GROUP > 1 && get_global_id(0) >= D_ITEMS)
        return;
    item(src, w, dst, get_global_id(T_ORDER == 1),
         get_global_id(T_ORDER == 0 ? 1 : T_ORDER == 1 ? 0 : 2),
         get_global_id(T_ORDER == 2 ? 1 : 2) EPILOGUE_PASS);
}
