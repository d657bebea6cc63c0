/* pool.cl: pooling, and work on single elements:
 *
 *     y = activation(alpha * pool(x)), activation(alpha * pool(x) + beta * other),
 *         activation(alpha * pool(x) * beta * other)
 *
 * An item makes D_LANES channels of D_PIXELS neighbouring pixels. On a CPU these are the pixels of
 * a row, on a GPU it is one pixel, and neighbouring items have neighbouring elements.
 *
 *        x                            y
 *      . . . . .  (padding)
 *      . a b c d                   m0 m1        m0 = of a, b, e, f: the elements of the window that
 *      . e f g h      ---->        m2 m3             lie inside the image
 *      . i j k l
 *
 * Grid: (rows, ceil(channels / D_LANES), images); the first two exchanged with D_CHANNELS_FIRST=1,
 * and the first one rounded up. Rows are D_WALK_D * D_WALK_H * ceil(D_WALK_W / D_PIXELS).
 *
 * Defines, besides those of types.cl, items.cl and epilogue.cl (of which there are no P_BIAS and
 * P_BETA):
 *   P_POOL           a kiln_pool_kind: 0 the element itself, 1 largest, 2 average of the elements
 *                    inside the image, 3 average with padding
 *   P_IN_a, P_WINDOW_a, P_STRIDE_a, P_PAD_a, P_DILATION_a     with P_POOL
 *   P_WITH           a kiln_pool_with: 1 sum, 2 product; P_OTHER_FACTOR; P_OTHER_IS_ONE
 *   P_X_FIRST, P_Y_FIRST       the first channel in x and in y, which may have more channels
 *   D_X_AT, D_Y_AT, D_OTHER_AT offsets of an element over n, c, d, h, w
 *   D_WALK_a         cells of y along an axis, padding included
 *   P_N, P_C, P_OUT_a          elements of y, where some cells are padding, written as zeros
 *   D_LANES          1, 4, 8 or 16 channels that are neighbours in all tensors
 *   D_GRID           items along the first axis, where groups are rounded up
 */
#include "epilogue.cl"
#include "items.cl"

#if D_LANES == 1
#define VALUES float
#define LOAD(p, i) ((float)SRC_LOAD(p, i))
#define LOAD_OTHER(p, i) ((float)DST_LOAD(p, i))
#define PUT(p, i, v) DST_STORE(p, i, v)
#define ACTIVATE(v) kiln_activate(v)
#else
#define VALUES KILN_CAT(float, D_LANES)
#define LOAD(p, i) KILN_CAT(convert_float, D_LANES)(SRC_LOADN(D_LANES, p, i))
#define LOAD_OTHER(p, i) KILN_CAT(convert_float, D_LANES)(DST_LOADN(D_LANES, p, i))
#define PUT(p, i, v) DST_STOREN(D_LANES, p, i, v)
#define ACTIVATE(v) activate(v)
KILN_DEFINE_ACTIVATE(activate, VALUES)
#endif

#ifdef P_WITH
#define OTHER_PARAM , global const DST_T *other
#define OTHER_PASS , other
#else
#define OTHER_PARAM
#define OTHER_PASS
#endif

/* A place in the tensors: image, channel of the range, pixel. */
#define PLACE_PARAMS                                                                               \
    const INDEX_T n, const INDEX_T c, const INDEX_T d, const INDEX_T h, const INDEX_T w

static inline INDEX_T x_at(PLACE_PARAMS)
{
    return D_X_AT;
}

static inline INDEX_T y_at(PLACE_PARAMS)
{
    return D_Y_AT;
}

#if P_POOL == 0
static inline VALUES pooled(global const SRC_T *x, PLACE_PARAMS)
{
    return LOAD(x, x_at(n, c + P_X_FIRST, d, h, w));
}
#else

/* The taps of a window that lie inside the image, along an axis: from *begin to before *end. */
static inline void inside(const INDEX_T first, const INDEX_T window, const INDEX_T dilation,
                          const INDEX_T size, INDEX_T *begin, INDEX_T *end)
{
    *begin = first < 0 ? (-first + dilation - 1) / dilation : 0;
    *end = min(window, (size - first + dilation - 1) / dilation);
}

#if P_POOL == 1
#define NOTHING ((VALUES)(-INFINITY))
#define JOIN(all, v) all = (v) > all || (v) != (v) ? (v) : all
#else
#define NOTHING ((VALUES)(0))
#define JOIN(all, v) all += (v)
#endif

/* The sum of a row is made before it joins the others: long sums stay precise. */
static inline VALUES pooled(global const SRC_T *x, PLACE_PARAMS)
{
    const INDEX_T d0 = d * P_STRIDE_D - P_PAD_D, h0 = h * P_STRIDE_H - P_PAD_H;
    const INDEX_T w0 = w * P_STRIDE_W - P_PAD_W;
    INDEX_T db, de, hb, he, wb, we;
    inside(d0, P_WINDOW_D, P_DILATION_D, P_IN_D, &db, &de);
    inside(h0, P_WINDOW_H, P_DILATION_H, P_IN_H, &hb, &he);
    inside(w0, P_WINDOW_W, P_DILATION_W, P_IN_W, &wb, &we);
    VALUES all = NOTHING;
    for (INDEX_T i = db; i < de; i++)
        for (INDEX_T j = hb; j < he; j++) {
            VALUES row = NOTHING;
            for (INDEX_T k = wb; k < we; k++) {
                const VALUES v = LOAD(x, x_at(n, c + P_X_FIRST, d0 + i * P_DILATION_D,
                                              h0 + j * P_DILATION_H, w0 + k * P_DILATION_W));
                JOIN(row, v);
            }
            JOIN(all, row);
        }
#if P_POOL == 2
    all /= (float)((de - db) * (he - hb) * (we - wb));
#elif P_POOL == 3
    all /= (float)((INDEX_T)P_WINDOW_D * P_WINDOW_H * P_WINDOW_W);
#endif
    return all;
}
#endif

#ifdef P_WITH
static inline INDEX_T other_at(PLACE_PARAMS)
{
    return D_OTHER_AT;
}

/* The other tensor may be y itself: it is read before the store. */
static inline VALUES other_value(global const DST_T *other, PLACE_PARAMS)
{
#if P_OTHER_IS_ONE
    return LOAD_OTHER(other, other_at(n, c, 0, 0, 0));
#else
    return LOAD_OTHER(other, other_at(n, c, d, h, w));
#endif
}
#endif

/* What stands at a place of y; zeros in padding. */
static inline VALUES result(global const SRC_T *x OTHER_PARAM, PLACE_PARAMS)
{
#ifdef P_C
    if (n >= P_N || c >= P_C || d >= P_OUT_D || h >= P_OUT_H || w >= P_OUT_W)
        return (VALUES)(0);
#endif
    VALUES v = pooled(x, n, c, d, h, w);
    KILN_SCALE(v);
#ifdef P_WITH
    const VALUES more = P_OTHER_FACTOR * other_value(other, n, c, d, h, w);
#if P_WITH == 1
    v += more;
#else
    v *= more;
#endif
#endif
    v = ACTIVATE(v);
#if defined P_C && D_LANES > 1 && P_C % D_LANES
    v = LANES(D_LANES) + (int)c < (int)P_C ? v : (VALUES)(0);
#endif
    return v;
}

INLINE void item(global const SRC_T *x, global DST_T *y OTHER_PARAM, const INDEX_T row,
                 const INDEX_T vector, const INDEX_T n)
{
    const INDEX_T parts = (D_WALK_W + D_PIXELS - 1) / D_PIXELS;
    const INDEX_T c = vector * D_LANES, line = row / parts, begin = row % parts * D_PIXELS;
    const INDEX_T h = line % D_WALK_H, d = line / D_WALK_H;
    const INDEX_T end = min(begin + D_PIXELS, (INDEX_T)D_WALK_W);
    for (INDEX_T w = begin; w < end; w++) {
        const VALUES v = result(x OTHER_PASS, n, c, d, h, w);
        PUT(y, y_at(n, c + P_Y_FIRST, d, h, w), v);
    }
}

#if D_CHANNELS_FIRST
#define ITEM_HERE item(x, y OTHER_PASS, ITEM(1), ITEM(0), ITEM(2))
#else
#define ITEM_HERE item(x, y OTHER_PASS, ITEM(0), ITEM(1), ITEM(2))
#endif
DEFINE_ITEM(ITEM_HERE, (global const SRC_T *x, global DST_T *y OTHER_PARAM))

kernel void pool(global const SRC_T *restrict x, global DST_T *y OTHER_PARAM ITEMS_PARAM)
{
#ifdef D_GRID
    if (get_global_id(0) >= D_GRID)
        return;
#endif
    EACH_ITEM(ITEM_HERE, (x, y OTHER_PASS))
}
