/* direct_blocked_sums.cl: the sums of a tile of direct_blocked.cl, over taps and channels. */
#include "caches.cl"
#include "direct_blocked_elements.cl"
#include "direct_blocked_strip.cl"
#include "products.cl"
#include "taps.cl"

/* Weights of the next steps, and then weights of the next tile, follow in memory. */
#if D_WEIGHTS_AHEAD
#define FETCH_WEIGHTS(p) KILN_FETCH(p)
#else
#define FETCH_WEIGHTS(p)
#endif

/* Where a tile reads: the column of its first pixel, to which taps add theirs; the class of its
 * pixels, of D_UP_W classes; and the taps of the other axes that meet the source. */
typedef struct place {
    int column, phase;
    int d, d_end, h, h_end;
    int one; /* 1: see FOR_PIXELS() */
#if D_AHEAD
    INDEX_T ahead; /* first element, in the image, of the tile after the next */
    int tile_k;    /* the tile of channels */
    bool fetches;  /* whether to prefetch that tile's pixels in this step */
#endif
} place;

/* Over the pixels of a tile. `one` is 1. LLVM optimizes a function before it inlines it, and again
 * in each function around it. Unrolled, the sums of a tile would pass through all of them, which
 * took half of the front end's time. So the number lies in a structure that is passed in memory,
 * and these loops are unrolled where the structure is made. (With `<` LLVM 15 would unroll a part
 * of the iterations before, and an int would be extended in each of them.) */
#define FOR_PIXELS(i, one) for (long i = 0; i != T_W; i += (one))

/* Adds one tap: `elements` of each pixel, pixel i at x + i * next. With `check`, pixel i is there
 * only if column `at + i * P_STRIDE_W` is. `one` as FOR_PIXELS() has it. */
#define DEFINE_TAP(name, SPACE, TYPE, LOAD, AT, LOOP)                                              \
    PRODUCTS_INLINE void name(ACC_V *acc, SPACE const TYPE *x, global const ACC_T *w,              \
                              const int elements, const int next, const bool check, const int at,  \
                              const int one)                                                       \
    {                                                                                              \
        _Pragma(LOOP) for (int c = 0; c < elements; c++)                                           \
        {                                                                                          \
            ACC_V weight[T_KV];                                                                    \
            _Pragma("unroll") for (int k = 0; k < T_KV; k++)                                       \
            {                                                                                      \
                weight[k] = LOAD_V(w + c * D_KT + k * D_B);                                        \
                FETCH_WEIGHTS(w + (c + D_WEIGHTS_AHEAD) * D_KT + k * D_B);                         \
            }                                                                                      \
            UNROLL FOR_PIXELS(i, one)                                                              \
            {                                                                                      \
                const int column = at + (int)i * P_STRIDE_W;                                       \
                if (check && (column < 0 || column >= P_SRC_W))                                    \
                    continue;                                                                      \
                const ACC_V v = (ACC_V)(LOAD(x, i * next + AT(c)));                                \
                _Pragma("unroll") for (int k = 0; k < T_KV; k++)                                   \
                    ADD_PRODUCT(acc[i * T_KV + k], v, weight[k]);                                  \
            }                                                                                      \
        }                                                                                          \
    }

#if D_STRIP < 2
/* Sums of fourteen pixels by two vectors leave four registers: with more elements unrolled, the
 * compiler loads weights so early that it spills sums. */
#if T_W == 14 && T_KV == 2
DEFINE_TAP(add_whole, global, SRC_T, SRC_LOAD, STEP_AT, "unroll 2")
#else
DEFINE_TAP(add_whole, global, SRC_T, SRC_LOAD, STEP_AT, "unroll 4")
#endif
#if D_ACCUMULATORS > 1
/* A whole step of a tile with few sums. */
PRODUCTS_INLINE void add_accumulators(ACC_V *acc, global const SRC_T *x, global const ACC_T *w,
                                      const int next, const int one)
{
    ACC_V part[D_ACCUMULATORS * T_W * T_KV];
#pragma unroll
    for (int i = 0; i < D_ACCUMULATORS * T_W * T_KV; i++)
        part[i] = (ACC_V)((ACC_T)0);
#pragma unroll
    for (int c = 0; c < D_STEP; c++)
#pragma unroll
        for (int k = 0; k < T_KV; k++) {
            const ACC_V weight = LOAD_V(w + c * D_KT + k * D_B);
            UNROLL FOR_PIXELS(i, one) {
                const ACC_V v = (ACC_V)(SRC_LOAD(x, i * next + STEP_AT(c)));
                ADD_PRODUCT(part[(c % D_ACCUMULATORS * T_W + i) * T_KV + k], v, weight);
            }
        }
#pragma unroll
    for (int i = 0; i < T_W * T_KV; i++) {
#pragma unroll
        for (int j = 1; j < D_ACCUMULATORS; j++)
            part[i] += part[j * T_W * T_KV + i];
        acc[i] += part[i];
    }
}
#endif

/* Were few channels unrolled, the compiler would keep their elements in registers from tap to tap,
 * and spill the sums. */
DEFINE_TAP(add_part, global, SRC_T, SRC_LOAD, STEP_AT, "nounroll")

/* Where tiles under channel blocking are whole rows, clang 14 keeps a pointer for each pixel and
 * element of a step, most of them in memory: one more load for two products. A volatile variable
 * hides from the compiler where a tap begins. */
INLINE global const SRC_T *begin_of_tap(global const SRC_T *x)
{
#if D_CHANNEL_BLOCKING > 1 && D_TILES_W == 1
    global const SRC_T *volatile begin = x;
    return begin;
#else
    return x;
#endif
}

PRODUCTS_INLINE void add_tap(ACC_V *acc, global const SRC_T *x, global const ACC_T *w,
                             const int channels, const bool check, const int at, const int one)
{
    const int next = P_STRIDE_W * D_SRC_PIXEL;
    x = begin_of_tap(x);
#if D_ACCUMULATORS > 1
    if (channels == D_STEP && !check) {
        add_accumulators(acc, x, w, next, one);
        return;
    }
#endif
    if (channels == D_STEP)
        add_whole(acc, x, w, channels, next, check, at, one);
    else
        add_part(acc, x, w, channels, next, check, at, one);
}
#endif

#if D_STRIP
#define STRIP_LOAD(p, i) ((p)[i])

#if D_TOGETHER > 1 || D_STRIP_ROWS
/* Were it unrolled, the compiler would add products of several elements before the sums, in more
 * registers than there are. */
DEFINE_TAP(add_strip, private, ACC_T, STRIP_LOAD, STRIP_AT, "nounroll")
#else
DEFINE_TAP(add_strip, private, ACC_T, STRIP_LOAD, STRIP_AT, "unroll 4")
#endif
#endif

/* Along an axis, where tap 0 of a destination element is at coordinate `at` (times `up`): the first
 * tap at a whole coordinate. Others are `next` taps apart. */
INLINE int first_meeting(const int at, const int dilation, const int up, const int next)
{
    for (int tap = 0; tap < next; tap++)
        if ((at + tap * dilation) % up == 0)
            return tap;
    return INT_MAX / 2;
}

/* The first such tap inside the source, from tap `first` on. */
INLINE int first_meeting_inside(const int at, const int dilation, const int first, const int next)
{
    const int tap = first_tap(at, dilation);
    return tap <= first ? first : first + (tap - first + next - 1) / next * next;
}

#define FIRST_MEETING(a, at) first_meeting(at, P_DILATION_##a, D_UP_##a, D_NEXT_##a)
#define FIRST_TAP(a, at)                                                                           \
    (LEAVES(a) ? first_meeting_inside(at, P_DILATION_##a, FIRST_MEETING(a, at), D_NEXT_##a)        \
               : FIRST_MEETING(a, at))
#define END_TAP(a, at)                                                                             \
    (LEAVES(a) ? end_tap(at, (P_SRC_##a - 1) * D_UP_##a + 1, P_FILTER_##a, P_DILATION_##a)         \
               : P_FILTER_##a)

/* The first tap of a row that a class of pixels has, and the column that a tap adds. */
#define FIRST_OF_ROW(phase) FIRST_MEETING(W, (phase) - D_LEAD_W)
#define COLUMN(phase, s) (((phase) - D_LEAD_W + (s) * P_DILATION_W) / D_UP_W)

/* Whether a tap that reads `column` for the first pixel of a tile meets the source for any pixel.
 * With offsets all taps count, since offsets are added for padding too. */
#define COLUMN_OF_LAST(column) ((column) + (T_W - 1) * P_STRIDE_W)
#define MEETS(column) (D_OFFSETS > 0 || (COLUMN_OF_LAST(column) >= 0 && (column) < P_SRC_W))

/* The taps of a row that meet pixels of a tile. If a loop can skip sums, clang 14 moves all of them
 * to memory and back with each element, so that the loop has no tap to leave out. */
#if D_OFFSETS
#define FIRST_OF_TILE(at) 0
#define END_OF_TILE(at) P_FILTER_W
#else
#define AT_OF_TILE(at) ((at).column * D_UP_W + (at).phase - D_LEAD_W)
#define FIRST_OF_TILE(at)                                                                          \
    first_meeting_inside(AT_OF_TILE(at) + (T_W - 1) * P_STRIDE_W * D_UP_W, P_DILATION_W,           \
                         FIRST_OF_ROW((at).phase), D_NEXT_W)
#define END_OF_TILE(at)                                                                            \
    end_tap(AT_OF_TILE(at), (P_SRC_W - 1) * D_UP_W + 1, P_FILTER_W, P_DILATION_W)
#endif

#if D_AHEAD
/* Rows of the source that a row of tiles reads and the one before it did not. */
#define NEW_ROWS (P_FILTER_H < P_STRIDE_H ? P_FILTER_H : P_STRIDE_H)
#define FIRST_NEW_ROW ((P_FILTER_H - 1) * P_DILATION_H - D_LEAD_H - (NEW_ROWS - 1))
/* Pixels of such a row: a filter of one tap does not read the pixels that its stride leaves out. */
#define AHEAD_NEXT (P_FILTER_W > 1 ? 1 : P_STRIDE_W)
#define AHEAD_PIXELS ((T_W * P_STRIDE_W + AHEAD_NEXT - 1) / AHEAD_NEXT)

/* The first element that the tile after the next reads and other tiles did not, in the next image
 * if this one has no such tile. The place need not be exact at the ends of rows and images: a
 * prefetch changes no result. */
INLINE INDEX_T place_ahead(const int tile)
{
    const int rows = P_DST_D * P_DST_H, next = tile + 2 * D_UP_W;
    const int row = next / D_UP_W / D_TILES_W, pixels = P_DST_W / D_UP_W;
    const int first = min((next / D_UP_W - row * D_TILES_W) * T_W, pixels - T_W);
    const int z = row % rows / P_DST_H, y = row % P_DST_H;
    return (INDEX_T)(row / rows) * D_SRC_IMAGE +
           (INDEX_T)(z * P_STRIDE_D / D_UP_D) * D_SRC_PLANE +
           (INDEX_T)(y * P_STRIDE_H / D_UP_H + FIRST_NEW_ROW) * D_SRC_ROW +
           (INDEX_T)first * P_STRIDE_W * D_SRC_PIXEL;
}

/* Prefetches that tile's elements of one step, a part with each tap of the present tile: memory
 * takes long, and a core waits for few lines at a time. */
#define AHEAD_LINES (NEW_ROWS * AHEAD_ROW_LINES)
#define AHEAD_TAP_LINES ((AHEAD_LINES + D_TAPS - 1) / D_TAPS)
#if D_SRC_CHANNEL == 1
#define AHEAD_ROW_LINES AHEAD_PIXELS
#define AHEAD_LINE(i) ((i) * AHEAD_NEXT * D_SRC_PIXEL)
#else
#define AHEAD_ROW_LINES (D_STEP * ((AHEAD_PIXELS * AHEAD_NEXT + 15) / 16))
#define AHEAD_LINE(i) ((i) % D_STEP * D_SRC_CHANNEL + (i) / D_STEP * 16)
#endif

INLINE void fetch_ahead(global const SRC_T *step, const int tap)
{
#pragma unroll
    for (int i = 0; i < AHEAD_TAP_LINES; i++) {
        const int line = tap * AHEAD_TAP_LINES + i;
        if (AHEAD_LINES % D_TAPS == 0 || line < AHEAD_LINES)
            KILN_FETCH(step + line / AHEAD_ROW_LINES * D_SRC_ROW +
                       AHEAD_LINE(line % AHEAD_ROW_LINES));
    }
}
#define FETCH_AHEAD(step, at, tap)                                                                 \
    if ((at).fetches)                                                                              \
    fetch_ahead((step) + (at).ahead, tap)
#else
#define FETCH_AHEAD(step, at, tap)
#endif

/* How a tile reads its rows. */
#define INSIDE 0 /* without checks */
#define CHECKED 1
#define STRIPS 2

/* Adds one row of the filter; `number` is the number of its first tap. */
PRODUCTS_INLINE void add_row(ACC_V *acc, global const SRC_T *step, global const SRC_T *row,
                             global const ACC_T *w, const int channels, const place at,
                             const int number, const int how)
{
#if D_STRIP
    if (how == STRIPS) {
        const int elements = ELEMENTS(channels);
        ACC_T strip[STRIP_SIZE] __attribute__((aligned(64)));
#if D_SHARED
        make_strip(strip, row, channels, at.column + COLUMN(0, 0), 1);
        /* Few taps meet nothing but zeros. */
#pragma nounroll
        for (int s = FIRST_OF_ROW(at.phase); s < P_FILTER_W; s += D_NEXT_W)
            add_strip(acc, strip + s * P_DILATION_W * STRIP_PIXEL, w + s * elements * D_KT,
                      elements, P_STRIDE_W * STRIP_PIXEL, false, 0, at.one);
#else
#pragma nounroll
        for (int s = FIRST_OF_TILE(at); s < END_OF_TILE(at); s += D_NEXT_W) {
            const int column = at.column + COLUMN(at.phase, s);
            global const ACC_T *tap = w + s * elements * D_KT;
#if D_STRIP < 2
            if (column >= 0 && COLUMN_OF_LAST(column) < P_SRC_W) {
                add_tap(acc, row + (INDEX_T)column * D_SRC_PIXEL, tap, channels, false, 0, at.one);
                continue;
            }
#endif
            make_strip(strip, row, channels, column, P_STRIDE_W);
            add_strip(acc, strip, tap, elements, STRIP_PIXEL, false, 0, at.one);
        }
#endif
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
            if (!MEETS(column))
                continue;
            FETCH_AHEAD(step, at, number + s);
            add_tap(acc, row + (INDEX_T)column * D_SRC_PIXEL, w + s * channels * D_KT, channels,
                    true, column, at.one);
        }
        return;
    }
#endif
#if D_STRIP < 2
#pragma nounroll
    for (int s = FIRST_OF_ROW(at.phase); s < P_FILTER_W; s += D_NEXT_W) {
        FETCH_AHEAD(step, at, number + s);
        add_tap(acc, row + (INDEX_T)(at.column + COLUMN(at.phase, s)) * D_SRC_PIXEL,
                w + s * channels * D_KT, channels, false, 0, at.one);
    }
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
            add_row(acc, step,
                    step + (INDEX_T)((z + d * P_DILATION_D) / D_UP_D) * D_SRC_PLANE +
                        (INDEX_T)((y + h * P_DILATION_H) / D_UP_H) * D_SRC_ROW,
                    w + (d * P_FILTER_H + h) * P_FILTER_W * ELEMENTS(channels) * D_KT, channels, at,
                    (d * P_FILTER_H + h) * P_FILTER_W, how);
}

/* Adds channels `from` to `end` of a group, whose first one is `first`; only the last call's may
 * end within a step. */
PRODUCTS_INLINE void add_channels(ACC_V *acc, global const SRC_T *src, const int first,
                                  global const ACC_T *w, place at, const int y, const int z,
                                  const int how, const int from, const int end)
{
    w += from / D_STEP * (D_TAPS * D_STEP_ELEMENTS * D_KT);
    const int whole = min(end, D_SRC_C / D_STEP * D_STEP);
#pragma nounroll
    for (int c = from; c < whole; c += D_STEP) {
#if D_AHEAD
        /* Items that share a tile of pixels each prefetch some steps, so that memory is as busy
         * during the last of these items as during the first. */
        at.fetches =
            T_ORDER == 3 ? at.tile_k % D_PART == 0
                         : at.tile_k % D_TILES_K == (T_ORDER == 1 ? c / D_STEP % D_TILES_K : 0);
#endif
        add_step(acc, src + SRC_AT(first + c), w, D_STEP, at, y, z, how);
        w += D_TAPS * D_STEP_ELEMENTS * D_KT;
    }
#if D_SRC_C % D_STEP
    if (end == D_SRC_C)
        add_step(acc, src + SRC_AT(first + D_SRC_C / D_STEP * D_STEP), w, D_SRC_C % D_STEP, at, y,
                 z, how);
#endif
}

#if D_OFFSETS
/* Adds the corrections of the filter rows for the offset. */
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

/* With more classes of pixels the code would be too long. */
#define MOST_PHASES 4

#if D_STRIP == 0 && D_END < 2 && D_UP_W <= MOST_PHASES
/* Adds channels where the compiler knows the class of the tile's pixels, which has `pixels` pixels
 * in a row, and so the columns of the tiles at the ends. */
PRODUCTS_INLINE void add_phase(ACC_V *acc, global const SRC_T *src, const int first,
                               global const ACC_T *w, place at, const int y, const int z,
                               const int phase, const int pixels, const int from,
                               const int end)
{
    at.phase = phase;
    if (FIRST_OF_ROW(phase) >= P_FILTER_W)
        return;
#if D_FIRST
    if (at.column == 0) {
        at.column = 0;
        add_channels(acc, src, first, w, at, y, z, CHECKED, from, end);
        return;
    }
#endif
#if D_LAST && D_TILES_W > 1
    if (at.column == (pixels - T_W) * P_STRIDE_W) {
        at.column = (pixels - T_W) * P_STRIDE_W;
        add_channels(acc, src, first, w, at, y, z, CHECKED, from, end);
        return;
    }
#endif
#if D_TILES_W > D_FIRST + D_LAST
    add_channels(acc, src, first, w, at, y, z, INSIDE, from, end);
#endif
}
#endif
