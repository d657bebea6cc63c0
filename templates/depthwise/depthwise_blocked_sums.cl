/* depthwise_blocked_sums.cl: adds one plane of the filter to the sums of a tile of
 * depthwise_blocked.cl.
 *
 *   FROM(a), TO(tile, a)   the least and the largest source element, from that of the tile, that a
 *                          tap meets
 *   add_plane(acc, plane, row0, w, y, x, check)   adds; pixel 0 of the tile is row y, column x, and
 *                          `plane` begins with source row `row0`. Without `check` all columns are
 *                          there
 */
#include "caches.cl"
#include "depthwise_blocked_elements.cl"
#include "products.cl"
#include "taps.cl"

#define FLOOR(a, b) ((a) >= 0 ? (a) / (b) : -((-(a) + (b)-1) / (b)))
#define FROM(a) FLOOR(D_UP_##a - 1 - D_LEAD_##a, D_UP_##a)
#define TO(tile, a)                                                                                \
    FLOOR(((tile)-1) * P_STRIDE_##a + (P_FILTER_##a - 1) * P_DILATION_##a - D_LEAD_##a, D_UP_##a)

#if D_UNROLL
/* Source rows between tiles of neighbouring rows. */
#define D_NEXT_ROWS (TILE_H * P_STRIDE_H / D_UP_H)

/* Few weights are loaded once for a tile: registers hold them anyway, and the compiler need not
 * find out which of the taps' loads are the same. More weights would have to leave their registers
 * for the stack. */
#if P_FILTER_H * P_FILTER_W * D_ELEMENTS <= 9
typedef private const SUM_V *weights;
#define WEIGHT(w, i) ((w)[i])
#define PLANE_WEIGHTS(name, from)                                                                  \
    SUM_V name[P_FILTER_H * P_FILTER_W * D_ELEMENTS];                                              \
    UNROLL for (int i = 0; i < P_FILTER_H * P_FILTER_W * D_ELEMENTS; i++)                          \
        name[i] = LOAD_W((from) + i * D_B)
#else
typedef global const SUM_T *weights;
#define WEIGHT(w, i) LOAD_W((w) + (i)*D_B)
#define PLANE_WEIGHTS(name, from) const weights name = from
#endif

/* Adds element c of source column i of a row to pixels of row h of the tile by filter row r. */
PRODUCTS_INLINE void add_taps(SUM_V *acc, const SUM_V v, weights w, const int i, const int h,
                              const int r, const int c)
{
#pragma unroll
    for (int s = 0; s < P_FILTER_W; s++) {
        const int at = i * D_UP_W + D_LEAD_W - s * P_DILATION_W;
        if (at >= 0 && at % P_STRIDE_W == 0 && at / P_STRIDE_W < TILE_W)
            ADD_PRODUCT(acc[h * TILE_W + at / P_STRIDE_W], v,
                        WEIGHT(w, (r * P_FILTER_W + s) * D_ELEMENTS + c));
    }
}

/* Whether a row or column of the source, which may be padding, adds to the sums. */
#define COUNTS(there) (D_OFFSETS > 0 || (there))

PRODUCTS_INLINE void add_plane(SUM_V *acc, source plane, const int row0, global const SUM_T *w,
                               const int y, const int x, const bool check)
{
    PLANE_WEIGHTS(kept, w);
    const int y0 = y * P_STRIDE_H / D_UP_H, x0 = x * P_STRIDE_W / D_UP_W;
#pragma unroll
    for (int j = FROM(H); j <= TO(TILE_H, H); j++) {
        const bool row_there = y0 + j >= 0 && y0 + j < P_SRC_H;
        if (!COUNTS(row_there))
            continue;
        const source row =
            plane + (INDEX_T)(y0 + j - row0) * D_SRC_ROW + (INDEX_T)x0 * D_SRC_PIXEL;
#pragma unroll
        for (int i = FROM(W); i <= TO(TILE_W, W); i++) {
            const bool there = !check || (x0 + i >= 0 && x0 + i < P_SRC_W);
            if (!COUNTS(there))
                continue;
#if D_AHEAD && !D_PLAIN
            if (j > TO(TILE_H, H) - D_NEXT_ROWS)
                KILN_FETCH(row + 2 * D_NEXT_ROWS * D_SRC_ROW + i * D_SRC_PIXEL);
#endif
            const SOURCE_V v = LOAD_IF(row_there && there, row, i * D_SRC_PIXEL);
#pragma unroll
            for (int c = 0; c < D_ELEMENTS; c++)
#pragma unroll
                for (int h = 0; h < TILE_H; h++) {
                    const int at = j * D_UP_H + D_LEAD_H - h * P_STRIDE_H;
                    if (at >= 0 && at % P_DILATION_H == 0 && at / P_DILATION_H < P_FILTER_H)
                        add_taps(acc, SPREAD(v, c), kept, i, h, at / P_DILATION_H, c);
                }
        }
    }
}
#else
/* Adds one tap of the filter to a row of a tile whose pixel 0 meets it at column `at`. Without
 * `check` all columns are there. */
INLINE void add_tap(SUM_V *acc, source row, global const SUM_T *w, const int at, const bool check)
{
    SUM_V weight[D_GROUP];
#pragma unroll
    for (int c = 0; c < D_GROUP; c++)
        weight[c] = LOAD_W(w + c * D_B);
    /* Offsets that are constants: they are part of the instructions. */
    const source first = check ? row : row + (INDEX_T)at * D_SRC_PIXEL;
#pragma unroll
    for (int i = 0; i < TILE_W; i++) {
        const int up = at + i * P_STRIDE_W, column = check ? up / D_UP_W : i * P_STRIDE_W;
        if (check && (up < 0 || up % D_UP_W || column >= P_SRC_W))
            continue;
        const SUM_V v = LOAD_SRC(first, (INDEX_T)column * D_SRC_PIXEL);
#pragma unroll
        for (int c = 0; c < D_GROUP; c++)
            acc[i] += SPREAD(v, c) * weight[c];
    }
}

/* Adds one row of the filter to a row of a tile whose pixel 0, tap 0, is at column `at`. */
INLINE void add_row(SUM_V *acc, source row, global const SUM_T *w, const int at)
{
    int s = 0;
#if D_UP_W == 1
    const int last = at + (TILE_W - 1) * P_STRIDE_W;
    const int first = first_tap(at, P_DILATION_W),
              end = end_tap(last, P_SRC_W, P_FILTER_W, P_DILATION_W);
#pragma nounroll
    for (; s < min(first, end); s++)
        add_tap(acc, row, w + s * D_GROUP * D_B, at + s * P_DILATION_W, true);
#pragma nounroll
    for (; s < end; s++)
        add_tap(acc, row, w + s * D_GROUP * D_B, at + s * P_DILATION_W, false);
#endif
#pragma nounroll
    for (; s < P_FILTER_W; s++)
        add_tap(acc, row, w + s * D_GROUP * D_B, at + s * P_DILATION_W, true);
}

INLINE void add_plane(SUM_V *acc, source plane, const int row0, global const SUM_T *w, const int y,
                      const int x, const bool check)
{
#pragma unroll
    for (int h = 0; h < TILE_H; h++) {
        const int at = (y + h) * P_STRIDE_H - D_LEAD_H;
        const int end = end_tap(at, (P_SRC_H - 1) * D_UP_H + 1, P_FILTER_H, P_DILATION_H);
#pragma nounroll
        for (int r = first_tap(at, P_DILATION_H); r < end; r++) {
            const int up = at + r * P_DILATION_H;
            if (up % D_UP_H == 0)
                add_row(acc + h * TILE_W, plane + (INDEX_T)(up / D_UP_H - row0) * D_SRC_ROW,
                        w + r * P_FILTER_W * D_GROUP * D_B, x * P_STRIDE_W - D_LEAD_W);
        }
    }
}
#endif
