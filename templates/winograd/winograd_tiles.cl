/* winograd_tiles.cl: Winograd's tiles on a CPU: their sizes, runs of them, the transform of their
 * patches. winograd.cl and winograd_int8.cl, which share them, have the picture and the defines.
 *
 * winograd.cl and winograd_int8.cl define:
 *   PATCH_V             D_B channels of an element of a patch, in the strip and in v
 *   KEPT                the address space of v and p: local or global
 *   KEPT_PATCH_V, KEPT_SUM_V  their vectors: PATCH_V and ACC_V, or such that need no alignment
 *   TIMES_B(a, d, o)    B^T d along axis a
 *   PIXEL(r, i)         row r, column i of patches, for make_columns(): of the strip, or of `src`
 *                       from row `y` and `at` on
 *   fill_strip()        below
 */
#include "language.cl"

#define D_PHASES_H (P_STRIDE_H < P_FILTER_H ? P_STRIDE_H : P_FILTER_H)
#define D_PHASES_W (P_STRIDE_W < P_FILTER_W ? P_STRIDE_W : P_FILTER_W)
#define D_PHASES (D_PHASES_H * D_PHASES_W)
#define D_TAPS_H ((P_FILTER_H + P_STRIDE_H - 1) / P_STRIDE_H)
#define D_TAPS_W ((P_FILTER_W + P_STRIDE_W - 1) / P_STRIDE_W)
#define D_TH (D_TAPS_H > 1 ? T_T : 1)
#define D_TW (D_TAPS_W > 1 ? T_T : 1)
#define D_MH (D_TH - D_TAPS_H + 1)
#define D_MW (D_TW - D_TAPS_W + 1)
#define D_E (D_TH * D_TW)
/* Distance in the source of neighbouring elements of a patch. */
#define D_STEP_H (P_STRIDE_H * P_DILATION_H)
#define D_STEP_W (P_STRIDE_W * P_DILATION_W)
#define D_KT (T_KV * D_B)
/* Rows of v: the phases of channels. The phases of a block of channels are neighbouring blocks, the
 * phases of a plain channel neighbouring rows. */
#if D_SRC_TOGETHER
#define CHANNEL_OF(row) ((row) / (D_B * D_PHASES) * D_B + (row) % D_B)
#define PHASE_OF(row) ((row) / D_B % D_PHASES)
#else
#define CHANNEL_OF(row) ((row) / D_PHASES)
#define PHASE_OF(row) ((row) % D_PHASES)
#endif
#if D_SRC_TOGETHER && D_PHASES > 1
#define D_SRC_ROWS ((D_SRC_C + D_B - 1) / D_B * D_B * D_PHASES)
#else
#define D_SRC_ROWS (D_SRC_C * D_PHASES)
#endif
#define D_SRC_VECTORS ((D_SRC_ROWS + D_B - 1) / D_B)
#define D_DST_VECTORS ((D_DST_C + D_B - 1) / D_B)
#define D_DST_TILES ((D_DST_VECTORS + T_KV - 1) / T_KV)
/* One vector more than needed, so that planes do not meet in the same sets of a cache. */
#define D_V_PLANE (D_SRC_VECTORS * D_ROOM + 1)
/* Vectors of D_B columns may begin anywhere in a row of the strip. */
#define D_COLUMNS (D_MW * D_RUN + D_TAPS_W - 1 > D_B ? D_MW * D_RUN + D_TAPS_W - 1 : D_B)

/* `tiles` tiles of one row of tiles; `first` counts from the item's first tile. */
typedef struct run {
    int n, y, x; /* image; tile row, tile column */
    int y1, x1;  /* the first row and column that count, with a dilation */
    int first, tiles;
} run;

/* (Oclgrind finds no kernels beside functions that return large structures.) */
INLINE void find_run(run *r, const int tile, const int first, const int count)
{
    const int plane = (tile + first) / (D_TILES_H * D_TILES_W);
    r->n = plane / (P_DILATION_H * P_DILATION_W);
    r->y1 = plane / P_DILATION_W % P_DILATION_H;
    r->x1 = plane % P_DILATION_W;
    r->y = (tile + first) / D_TILES_W % D_TILES_H;
    r->x = (tile + first) % D_TILES_W;
    r->first = first;
    r->tiles = min(min(D_RUN, D_TILES_W - r->x), count - first);
}

/* Row and column of the source where the patches of a run begin, even if these are outside of it.
 */
INLINE int first_row(const run r, const int phase)
{
    return r.y * D_MH * D_STEP_H + phase / D_PHASES_W + r.y1 - D_LEAD_H;
}

INLINE int first_column(const run r, const int phase)
{
    return r.x * D_MW * D_STEP_W + phase % D_PHASES_W + r.x1 - D_LEAD_W;
}

/* Columns of the strip of a run; the first column inside the source, where the patches begin in
 * column `x`, and the column behind the last. */
INLINE int columns_of(const run r)
{
    return r.tiles * D_MW + D_TAPS_W - 1;
}

INLINE int first_inside(const int x, const int all)
{
    return clamp((-x + D_STEP_W - 1) / D_STEP_W, 0, all);
}

INLINE int end_inside(const int x, const int from, const int all)
{
    return clamp((P_SRC_W - x + D_STEP_W - 1) / D_STEP_W, from, all);
}

/* Makes columns `from` to `to` - 1 of the strip, of patches that begin in row `y` of the source and
 * at what PIXEL calls `at`; `all`: no row lies outside. */
INLINE void make_columns(local PATCH_V *strip, global const SRC_T *src, const int y,
                         const INDEX_T at, const int from, const int to, const bool all)
{
#pragma nounroll
    for (int i = from; i < to; i++) {
        PATCH_V d[D_TH], o[D_TH];
#pragma unroll
        for (int r = 0; r < D_TH; r++) {
            const int row = y + r * D_STEP_H;
            d[r] = all || (row >= 0 && row < P_SRC_H) ? PIXEL(r, i) : (PATCH_V)(0);
        }
        TIMES_B(H, d, o);
#pragma unroll
        for (int r = 0; r < D_TH; r++)
            strip[r * D_COLUMNS + i] = o[r];
    }
}

/* Makes all columns, of which `from` to `to` - 1 are inside the source; the others are zero. */
INLINE void make_strip(local PATCH_V *strip, global const SRC_T *src, const int y,
                       const INDEX_T at, const int from, const int to, const int all)
{
    if (y >= 0 && y + (D_TH - 1) * D_STEP_H < P_SRC_H)
        make_columns(strip, src, y, at, from, to, true);
    else
        make_columns(strip, src, y, at, from, to, false);
#pragma nounroll
    for (int i = 0; i < all; i++)
        if (i < from || i >= to)
#pragma nounroll
            for (int j = 0; j < D_TH; j++)
                strip[j * D_COLUMNS + i] = (PATCH_V)(0);
}

/* Fills the strip of a run: B^T times the columns of block `b` of v's rows. The run `next` and its
 * block `soon` come next. */
INLINE void fill_strip(local PATCH_V *strip, global const SRC_T *src, const run r, const int group,
                       const int b, const run next, const int soon);

/* B^T d B of blocks `from` to `end` - 1 of the patches of `count` tiles, into v. */
INLINE void transform_source(KEPT KEPT_PATCH_V *v, local PATCH_V *strip, global const SRC_T *src,
                             const int tile, const int count, const int group, const int from,
                             const int end)
{
#pragma nounroll
    for (int first = 0; first < count;) {
        run r, next;
        find_run(&r, tile, first, count);
        find_run(&next, tile, first + r.tiles, count);
#pragma nounroll
        for (int b = from; b < end; b++) {
            const bool last = b + 1 == end;
            fill_strip(strip, src, r, group, b, last ? next : r, last ? from : b + 1);
            KEPT KEPT_PATCH_V *to = v + b * D_ROOM + first;
#pragma nounroll
            for (int t = 0; t < r.tiles; t++)
#pragma nounroll
                for (int i = 0; i < D_TH; i++) {
                    PATCH_V d[D_TW], o[D_TW];
#pragma unroll
                    for (int j = 0; j < D_TW; j++)
                        d[j] = strip[i * D_COLUMNS + t * D_MW + j];
                    TIMES_B(W, d, o);
#pragma unroll
                    for (int j = 0; j < D_TW; j++)
                        to[(i * D_TW + j) * D_V_PLANE + t] = o[j];
                }
        }
        first += r.tiles;
    }
    /* Up to whole groups of T_W. */
    for (int t = count; t < (count + T_W - 1) / T_W * T_W; t++)
        for (int e = 0; e < D_E; e++)
            for (int b = from; b < end; b++)
                v[e * D_V_PLANE + b * D_ROOM + t] = (PATCH_V)(0);
}
