/* winograd.cl: convolution by Winograd's minimal filtering, shaped for a CPU.
 *
 * A tile is D_MH x D_MW elements of the destination. It depends on a patch of D_TH x D_TW elements
 * of the source: along an axis with D_TAPS_a > 1 taps, T_T elements for T_T - D_TAPS_a + 1 of the
 * destination; along one with a single tap, one for one. With the matrices A, B, G of
 * winograd_transforms.cl
 *
 *     tile = A^T [ sum over c of (G w[c] G^T) * (B^T patch[c] B) ] A          (* by element)
 *
 * so that the sum over channels is D_TH * D_TW small matrix products instead of a multiply-add for
 * every tap and element. Neighbouring patches share D_TAPS_W - 1 columns and D_TAPS_H - 1 rows:
 *
 *          lead   tile 0    tile 1    tile 2        a run of 3 tiles, D_MW = 4, 3 taps
 *           |   +---------+---------+---------+
 *         . . . . . . . . . . . . . . . . . . . .     D_TH rows of the source, 3 * D_MW + 2 columns,
 *         . patch 0 . . .                             zero outside of it
 *                 . patch 1 . . .
 *
 * A convolution with stride 2 is the sum of those of its phases, every second row and column of the
 * source with every second tap: as many times the channels, and stride 1. With a dilation of d, every
 * d-th row and column is an image of its own.
 *
 * Tiles are counted over rows of tiles, then images. An item has T_TILES of them, and there are
 * three steps:
 *   1. B^T d B of the patches, all source channels, into v. A run's columns are transformed once,
 *      into `strip`, then each tile's rows.
 *   2. For each T_KV blocks of D_B destination channels: products of T_W tiles at a time into p.
 *   3. A^T p A, the epilogue, the store.
 * In `winograd_fused` an item does all of them, for one part of T_SPLIT of the destination's
 * channels, and v and p are local memory. With D_STAGED=1 they are buffers for all tiles, and each
 * step is a launch: `source`, `products`, `destination`.
 *
 *     v [D_E][blocks of rows][D_ROOM][D_B]     u [group][tile of K][D_E][D_CP][T_KV * D_B]
 *     p [D_E][T_KV, or all blocks][D_ROOM][D_B]
 *
 * Source and destination are plain (NCHW) or hold D_B neighbouring channels together (NCHW16c).
 * Plain ones are transposed D_B channels by D_B columns at a time. Whatever the layout, a block's
 * lanes without a channel are zero in v, and are written as zero where the destination has them.
 * Backward data is the same with dy as the source and `pack` turning the filter round.
 *
 * Grids, all in groups of one item. `winograd_fused`: (items of T_TILES tiles, T_SPLIT, groups),
 * the first two exchanged with T_ORDER=1. `source`, `destination`: (items, blocks). `products`:
 * (tiles of K, D_E, items). `pack`: (D_CP, groups * D_DST_TILES * T_KV).
 *
 * Defines, besides those of the files included:
 *   D_B                   channels of a block, lanes of a vector: 4, 8 or 16; D_ROW: the same,
 *                         for a plain destination
 *   P_SRC_H, P_SRC_W, P_DST_H, P_DST_W, P_GROUPS
 *   D_SRC_C, D_DST_C      channels of one group
 *   D_LEAD_H, D_LEAD_W    destination (0, 0) starts its patch at source (-D_LEAD_H, -D_LEAD_W)
 *   D_SRC_BLOCKED, D_DST_BLOCKED   1: NCHW<D_B>c
 *   D_SRC_COUNT           elements of the source, plain only
 *   D_TILES, D_TILES_H, D_TILES_W  tiles of all images; of a column, a row of one
 *   D_RUN                 most tiles of a run
 *   P_FILTER_H, P_FILTER_W, P_STRIDE_H, P_STRIDE_W   strides are 1 or 2; 1 with D_BACKWARD
 *   P_DILATION_H, P_DILATION_W   1 with a stride or a plain tensor
 *   D_BACKWARD            1: the filter is turned round
 *   D_STAGED              above; then P_GROUPS is 1
 *   D_FILTERS_AHEAD       1: filters are fetched ahead; only with D_STAGED
 *   D_SOURCE_AHEAD        1: so is the source; plain only, stride 1
 *   D_STREAM              1: results go past the caches (see caches.cl)
 *   D_ROOM                tiles that v and p have room for: T_TILES, or all
 *   T_T T_TILES T_W T_KV  above; T_T is 4, 6, 8 or 10, T_W divides T_TILES
 *   T_SPLIT T_ORDER       above; not with D_STAGED
 */
#include "caches.cl"
#include "channels.cl"
#include "rows.cl"
#include "winograd_transforms.cl"

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
/* Neighbouring elements of a patch are that far apart in the source. */
#define D_STEP_H (P_STRIDE_H * P_DILATION_H)
#define D_STEP_W (P_STRIDE_W * P_DILATION_W)
#define D_KT (T_KV * D_B)
/* Rows of v: the channels' phases. Those of a block of channels are neighbouring blocks, those of a
 * plain channel neighbouring rows. */
#if D_SRC_BLOCKED && D_PHASES > 1
#define D_SRC_ROWS ((D_SRC_C + D_B - 1) / D_B * D_B * D_PHASES)
#else
#define D_SRC_ROWS (D_SRC_C * D_PHASES)
#endif
#if D_SRC_BLOCKED
#define CHANNEL_OF(row) ((row) / (D_B * D_PHASES) * D_B + (row) % D_B)
#define PHASE_OF(row) ((row) / D_B % D_PHASES)
#else
#define CHANNEL_OF(row) ((row) / D_PHASES)
#define PHASE_OF(row) ((row) % D_PHASES)
#endif
#define D_CP ((D_SRC_ROWS + 3) / 4 * 4)
#define D_SRC_BLOCKS ((D_SRC_ROWS + D_B - 1) / D_B)
#define D_DST_BLOCKS ((D_DST_C + D_B - 1) / D_B)
#define D_DST_TILES ((D_DST_BLOCKS + T_KV - 1) / T_KV)
#define D_SRC_PLANE ((INDEX_T)P_SRC_H * P_SRC_W)
#define D_DST_PLANE ((INDEX_T)P_DST_H * P_DST_W)
/* One vector more than needed, so that planes do not meet in the same sets of a cache. */
#define D_V_PLANE (D_SRC_BLOCKS * D_ROOM + 1)
#if D_STAGED
#define D_P_PLANE (D_DST_TILES * T_KV * D_ROOM + 1)
#define KEPT global
#else
#define D_P_PLANE (T_KV * D_ROOM + 1)
#define KEPT local
#endif
#define D_COLUMNS (D_MW * D_RUN + D_TAPS_W - 1 > D_B ? D_MW * D_RUN + D_TAPS_W - 1 : D_B)
/* The last row of a strip is written and read up to whole vectors. */
#define D_STRIP (D_TH * D_COLUMNS + (D_SRC_BLOCKED && D_DST_BLOCKED ? 0 : D_B))

/* Rows become columns: dealing out two halves in turns, log2(D_B) times. It takes the compiler as
 * long as all the rest, so there is one copy of it. (PoCL 3.1 crashes if that works on local
 * memory.) */
static __attribute__((noinline)) void transpose(private ACC_V *square)
{
    ACC_V r[D_B];
#pragma unroll
    for (int i = 0; i < D_B; i++)
        r[i] = square[i];
#pragma unroll
    for (int s = 1; s < D_B; s *= 2) {
        ACC_V t[D_B];
#pragma unroll
        for (int i = 0; i < D_B / 2; i++) {
            t[2 * i].even = r[i].lo;
            t[2 * i].odd = r[i + D_B / 2].lo;
            t[2 * i + 1].even = r[i].hi;
            t[2 * i + 1].odd = r[i + D_B / 2].hi;
        }
#pragma unroll
        for (int i = 0; i < D_B; i++)
            r[i] = t[i];
    }
#pragma unroll
    for (int i = 0; i < D_B; i++)
        square[i] = r[i];
}

/* ---- weights ---- */

kernel GROUP_SIZE(1, 1, 1) void pack(global const SRC_T *restrict w, global ACC_T *restrict u)
{
    const int index = get_global_id(0), block = get_global_id(1);
    const int group = block / (D_DST_TILES * T_KV), k0 = block % (D_DST_TILES * T_KV) * D_B;
    const int c = CHANNEL_OF(index), phase = PHASE_OF(index);
    const int channels = c < D_SRC_C ? min(D_B, D_DST_C - k0) : 0;
    ACC_T taps[D_TAPS_H * D_TAPS_W][D_B];
#pragma nounroll
    for (int k = 0; k < D_B; k++)
#pragma nounroll
        for (int tap = 0; tap < D_TAPS_H * D_TAPS_W; tap++) {
            const int r = tap / D_TAPS_W * P_STRIDE_H + phase / D_PHASES_W;
            const int s = tap % D_TAPS_W * P_STRIDE_W + phase % D_PHASES_W;
            const bool there = k < channels && r < P_FILTER_H && s < P_FILTER_W;
#if D_BACKWARD
            const INDEX_T filter = ((INDEX_T)group * D_SRC_C + c) * D_DST_C + k0 + k;
            const INDEX_T at = (filter + 1) * (P_FILTER_H * P_FILTER_W) - 1 - r * P_FILTER_W - s;
#else
            const INDEX_T filter = ((INDEX_T)group * D_DST_C + k0 + k) * D_SRC_C + c;
            const INDEX_T at = (filter * P_FILTER_H + r) * P_FILTER_W + s;
#endif
            taps[tap][k] = there ? SRC_LOAD(w, at) : 0;
        }
    ACC_V mid[D_TAPS_W][D_TH], column[T_T], row[D_TW];
#pragma nounroll
    for (int s = 0; s < D_TAPS_W; s++) {
#pragma unroll
        for (int r = 0; r < D_TAPS_H; r++)
            column[r] = KILN_CAT(vload, D_B)(0, taps[D_TAPS_W * r + s]);
        times_g(D_TAPS_H, column, mid[s]);
    }
    u += ((INDEX_T)(block / T_KV) * D_E * D_CP + index) * D_KT + block % T_KV * D_B;
#pragma nounroll
    for (int i = 0; i < D_TH; i++) {
#pragma unroll
        for (int s = 0; s < D_TAPS_W; s++)
            column[s] = mid[s][i];
        times_g(D_TAPS_W, column, row);
#pragma unroll
        for (int j = 0; j < D_TW; j++)
            KILN_CAT(vstore, D_B)(row[j], 0, u + (INDEX_T)(i * D_TW + j) * D_CP * D_KT);
    }
}

/* ---- step 1: the source ---- */

/* `run` tiles of one row of tiles; `first` counts from the item's first tile. */
typedef struct {
    int n, y, x; /* image; tile row, tile column */
    int y1, x1;  /* the first row and column that count, with a dilation */
    int first, tiles;
} run;

INLINE run run_at(const int tile, const int first, const int count)
{
    run r;
    const int plane = (tile + first) / (D_TILES_H * D_TILES_W);
    r.n = plane / (P_DILATION_H * P_DILATION_W);
    r.y1 = plane / P_DILATION_W % P_DILATION_H;
    r.x1 = plane % P_DILATION_W;
    r.y = (tile + first) / D_TILES_W % D_TILES_H;
    r.x = (tile + first) % D_TILES_W;
    r.first = first;
    r.tiles = min(min(D_RUN, D_TILES_W - r.x), count - first);
    return r;
}

#if D_SRC_BLOCKED
#define PIXEL(r, i) SRC_LOAD_V(src, ((y0 + (r) * D_STEP_H) * P_SRC_W + x0 + (i) * D_STEP_W) * D_B)
#else
#define PIXEL(r, i) strip[(r) * D_COLUMNS + (i)]

/* Element (y, x) of the patches of a run, in a row of v: its index, be it outside of the image. */
typedef struct {
    INDEX_T at;
    int y, x;
} pixel;

INLINE pixel pixel_of(const run r, const int group, const int row, const int y, const int x)
{
    const INDEX_T image = (INDEX_T)r.n * P_GROUPS + group;
    pixel p;
    p.y = (r.y * D_MH + y) * P_STRIDE_H + PHASE_OF(row) / D_PHASES_W - D_LEAD_H;
    p.x = (r.x * D_MW + x) * P_STRIDE_W + PHASE_OF(row) % D_PHASES_W - D_LEAD_W;
    p.at = (image * D_SRC_C + CHANNEL_OF(row)) * D_SRC_PLANE + (INDEX_T)p.y * P_SRC_W + p.x;
    return p;
}

constant int lanes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/* D_B columns, P_STRIDE_W apart, of the image's row that p lies in; zero outside of the image. */
INLINE ACC_V load_row(global const SRC_T *src, const pixel p)
{
    ACC_V v;
    if (p.at >= 0 && p.at + D_B * P_STRIDE_W <= D_SRC_COUNT) {
#if P_STRIDE_W == 1
        v = SRC_LOAD_V(src, p.at);
#else
        const ACC_V a = SRC_LOAD_V(src, p.at), b = SRC_LOAD_V(src, p.at + D_B);
        v = (ACC_V)(a.even, b.even);
#endif
    } else {
        ACC_T lane[D_B];
#pragma nounroll
        for (int i = 0; i < D_B; i++) {
            const INDEX_T at = p.at + i * P_STRIDE_W;
            lane[i] = at >= 0 && at < D_SRC_COUNT ? SRC_LOAD(src, at) : 0;
        }
        v = KILN_CAT(vload, D_B)(0, lane);
    }
    if (p.x >= 0 && p.x + (D_B - 1) * P_STRIDE_W < P_SRC_W)
        return v;
    const KILN_CAT(int, D_B) x = p.x + KILN_CAT(vload, D_B)(0, lanes) * P_STRIDE_W;
    return select((ACC_V)(0), v, x >= 0 && x < P_SRC_W);
}

/* All pixels of the strip: block b of v's rows. The run `next` and its block `soon` come next. */
INLINE void load_rows(local ACC_V *strip, global const SRC_T *src, const run r, const int group,
                      const int b, const int columns, const run next, const int soon)
{
    ACC_V square[D_B];
#pragma nounroll
    for (int y = 0; y < D_TH; y++)
#pragma nounroll
        for (int i = 0; i < columns; i += D_B) {
            /* The last D_B columns start earlier instead of being fewer, if there are so many. */
            const int x = max(min(i, columns - D_B), 0);
#pragma nounroll
            for (int c = 0; c < D_B; c++) {
                const int row = b * D_B + c;
                const pixel p = pixel_of(r, group, row, y, x);
                const bool there = row < D_SRC_ROWS && p.y >= 0 && p.y < P_SRC_H;
                square[c] = there ? load_row(src, p) : (ACC_V)(0);
#if D_SOURCE_AHEAD
                KILN_FETCH(src + pixel_of(next, group, soon * D_B + c, y, x).at);
#endif
            }
            transpose(square);
#pragma unroll
            for (int j = 0; j < D_B; j++)
                strip[y * D_COLUMNS + x + j] = square[j];
        }
}
#endif

/* Columns `from` to `to` - 1 of the strip; `all`: no row lies outside the source. */
INLINE void columns_of(local ACC_V *strip, global const SRC_T *src, const int y0, const int x0,
                       const int from, const int to, const bool all)
{
#pragma nounroll
    for (int i = from; i < to; i++) {
        ACC_V d[D_TH], o[D_TH];
#pragma unroll
        for (int r = 0; r < D_TH; r++)
            {
            const int y = y0 + r * D_STEP_H;
            d[r] = all || (y >= 0 && y < P_SRC_H) ? PIXEL(r, i) : (ACC_V)(0);
        }
        times_b(D_TAPS_H, d, o);
#pragma unroll
        for (int r = 0; r < D_TH; r++)
            strip[r * D_COLUMNS + i] = o[r];
    }
}

/* Fills the strip of a run: B^T times the columns of block b of v's rows. In a plain source, the
 * run `next` and its block `soon` come next. */
INLINE void fill_strip(local ACC_V *strip, global const SRC_T *src, const run r, const int group,
                       const int b, const run next, const int soon)
{
    const int all = r.tiles * D_MW + D_TAPS_W - 1;
#if D_SRC_BLOCKED
    const int phase = b % D_PHASES;
    const int y0 = r.y * D_MH * D_STEP_H + phase / D_PHASES_W + r.y1 - D_LEAD_H;
    const int x0 = r.x * D_MW * D_STEP_W + phase % D_PHASES_W + r.x1 - D_LEAD_W;
    const int from = clamp((-x0 + D_STEP_W - 1) / D_STEP_W, 0, all);
    const int to = clamp((P_SRC_W - x0 + D_STEP_W - 1) / D_STEP_W, from, all);
    src += (((INDEX_T)r.n * P_GROUPS + group) * (D_SRC_BLOCKS / D_PHASES) + b / D_PHASES) *
           D_SRC_PLANE * D_B;
    if (y0 >= 0 && y0 + (D_TH - 1) * D_STEP_H < P_SRC_H)
        columns_of(strip, src, y0, x0, from, to, true);
    else
        columns_of(strip, src, y0, x0, from, to, false);
#pragma nounroll
    for (int i = 0; i < all; i++)
        if (i < from || i >= to)
#pragma nounroll
            for (int j = 0; j < D_TH; j++)
                strip[j * D_COLUMNS + i] = (ACC_V)(0);
#else
    load_rows(strip, src, r, group, b, all, next, soon);
    columns_of(strip, src, 0, 0, 0, all, true);
#endif
}

INLINE void transform_source(KEPT ACC_V *v, local ACC_V *strip, global const SRC_T *src,
                             const int tile, const int count, const int group, const int from,
                             const int end)
{
#pragma nounroll
    for (int first = 0; first < count;) {
        const run r = run_at(tile, first, count), next = run_at(tile, first + r.tiles, count);
#pragma nounroll
        for (int b = from; b < end; b++) {
            const bool last = b + 1 == end;
            fill_strip(strip, src, r, group, b, last ? next : r, last ? from : b + 1);
            KEPT ACC_V *to = v + b * D_ROOM + first;
#pragma nounroll
            for (int t = 0; t < r.tiles; t++)
#pragma nounroll
                for (int i = 0; i < D_TH; i++) {
                    ACC_V d[D_TW], o[D_TW];
#pragma unroll
                    for (int j = 0; j < D_TW; j++)
                        d[j] = strip[i * D_COLUMNS + t * D_MW + j];
                    times_b(D_TAPS_W, d, o);
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
                v[e * D_V_PLANE + b * D_ROOM + t] = (ACC_V)(0);
}

/* ---- step 2: the products ---- */

/* The filters of the next item come from memory while these are multiplied: each group of T_W tiles
 * fetches some vectors of every row. */
#if D_FILTERS_AHEAD
#define D_TURNS (T_TILES / T_W)
#define D_FETCHED ((T_KV + D_TURNS - 1) / D_TURNS)
#else
#define D_FETCHED 0
#endif

INLINE void add_channels(ACC_V *acc, KEPT const ACC_T *v, global const ACC_T *u,
                         const int channels, global const ACC_T *next)
{
#pragma unroll 4
    for (int c = 0; c < channels; c++) {
#pragma unroll
        for (int k = 0; k < D_FETCHED; k++)
            KILN_FETCH(next + c * D_KT + k * D_B);
        ACC_V w[T_KV];
#pragma unroll
        for (int k = 0; k < T_KV; k++)
            w[k] = LOAD_V(u + c * D_KT + k * D_B);
#pragma unroll
        for (int i = 0; i < T_W; i++) {
            const ACC_V a = (ACC_V)(v[i * D_B + c]);
#pragma unroll
            for (int k = 0; k < T_KV; k++)
                acc[i * T_KV + k] += a * w[k];
        }
    }
}

/* One of the D_E products: v, p and u start where those of its elements do, `next` where the u of
 * the next item does. */
INLINE void multiply(KEPT ACC_V *p, KEPT const ACC_V *v, global const ACC_T *u,
                     global const ACC_T *next, const int count)
{
#pragma nounroll
    for (int t = 0; t < count; t += T_W) {
        ACC_V acc[T_W * T_KV];
#pragma unroll
        for (int i = 0; i < T_W * T_KV; i++)
            acc[i] = (ACC_V)(0);
        KEPT const ACC_T *from = (KEPT const ACC_T *)(v + t);
        global const ACC_T *row = u;
        global const ACC_T *soon = next + min(t / T_W * D_FETCHED, T_KV - D_FETCHED) * D_B;
#pragma nounroll
        for (int b = 0; b < D_CP / D_B; b++) {
            add_channels(acc, from, row, D_B, soon);
            from += D_ROOM * D_B;
            row += D_B * D_KT;
            soon += D_B * D_KT;
        }
        if (D_CP % D_B)
            add_channels(acc, from, row, D_CP % D_B, soon);
#pragma unroll
        for (int i = 0; i < T_W; i++)
#pragma unroll
            for (int k = 0; k < T_KV; k++)
                p[k * D_ROOM + t + i] = acc[i * T_KV + k];
    }
}

/* ---- step 3: the destination ---- */

/* A^T p A of one tile and block. */
INLINE void tile_of(ACC_V o[D_MH][D_MW], KEPT const ACC_V *p)
{
    ACC_V mid[D_TW][D_MH], d[T_T];
#pragma unroll
    for (int j = 0; j < D_TW; j++) {
#pragma unroll
        for (int i = 0; i < D_TH; i++)
            d[i] = p[(i * D_TW + j) * D_P_PLANE];
        times_a(D_TAPS_H, d, mid[j]);
    }
#pragma unroll
    for (int i = 0; i < D_MH; i++) {
#pragma unroll
        for (int j = 0; j < D_TW; j++)
            d[j] = mid[j][i];
        times_a(D_TAPS_W, d, o[i]);
    }
}

#if D_DST_BLOCKED
INLINE void store_run(global DST_T *dst, local ACC_V *strip, KEPT const ACC_V *p, const run r,
                      const int group, const int block EPILOGUE_PARAMS)
{
    const int all = group * D_DST_BLOCKS + block; /* of the channels of all groups */
    const INDEX_T image =
        ((INDEX_T)r.n * (P_GROUPS * D_DST_BLOCKS) + all) * D_DST_PLANE * D_B;
#pragma nounroll
    for (int t = 0; t < r.tiles; t++) {
        const int y0 = r.y * D_MH, x0 = (r.x + t) * D_MW;
        ACC_V o[D_MH][D_MW];
        tile_of(o, p + r.first + t);
#pragma nounroll
        for (int i = 0; i < D_MH; i++)
#pragma nounroll
            for (int j = 0; j < D_MW; j++) {
                const int y = (y0 + i) * P_DILATION_H + r.y1, x = (x0 + j) * P_DILATION_W + r.x1;
                if (y < P_DST_H && x < P_DST_W)
                    PUT(dst, o[i][j], all, image + ((INDEX_T)y * P_DST_W + x) * D_B);
            }
    }
}
#else
#ifdef P_BETA
/* `columns` elements, and zero. */
INLINE VAL_V load_some(global const DST_T *p, const INDEX_T at, const int columns)
{
    if (columns == D_B)
        return DST_LOADN(D_B, p, at);
    VAL_T lane[D_B];
#pragma nounroll
    for (int l = 0; l < D_B; l++)
        lane[l] = l < columns ? DST_LOAD(p, at + l) : 0;
    return KILN_CAT(vload, D_B)(0, lane);
}
#endif

/* The first `columns` of D_B neighbouring elements of one channel. */
INLINE void store_row(global DST_T *dst, const INDEX_T at, const ACC_V value, const int columns,
                      const int channel EPILOGUE_PARAMS)
{
#ifdef P_BETA
    const VAL_V old = load_some(residual, at, columns);
#else
    const VAL_V old = (VAL_V)(0);
#endif
    STORE_SOME(dst, FINISH_ROW(value, old, channel), columns, at);
}

INLINE void store_run(global DST_T *dst, local ACC_V *strip, KEPT const ACC_V *p, const run r,
                      const int group, const int block EPILOGUE_PARAMS)
{
#pragma nounroll
    for (int t = 0; t < r.tiles; t++) {
        ACC_V o[D_MH][D_MW];
        tile_of(o, p + r.first + t);
#pragma unroll
        for (int i = 0; i < D_MH; i++)
#pragma unroll
            for (int j = 0; j < D_MW; j++)
                strip[i * D_COLUMNS + t * D_MW + j] = o[i][j];
    }
    const int y0 = r.y * D_MH, x0 = r.x * D_MW, all = min(r.tiles * D_MW, P_DST_W - x0);
    const int channel = group * D_DST_C + block * D_B, channels = min(D_B, D_DST_C - block * D_B);
    const INDEX_T image = ((INDEX_T)r.n * (P_GROUPS * D_DST_C) + channel) * D_DST_PLANE;
    ACC_V square[D_B]; /* what lies behind the last column is not stored */
#pragma nounroll
    for (int i = 0; i < D_MH && y0 + i < P_DST_H; i++)
#pragma nounroll
        for (int j = 0; j < all; j += D_B) {
#ifdef P_BETA
            const int at = j; /* a residual that is the destination is added once */
#else
            /* The last D_B columns start earlier instead of being fewer, if there are so many. */
            const int at = all >= D_B ? min(j, all - D_B) : j;
#endif
            const INDEX_T row = image + (INDEX_T)(y0 + i) * P_DST_W + x0 + at;
#pragma unroll
            for (int l = 0; l < D_B; l++)
                square[l] = strip[i * D_COLUMNS + at + l];
            transpose(square);
#pragma nounroll
            for (int k = 0; k < channels; k++)
                store_row(dst, row + k * D_DST_PLANE, square[k], min(D_B, all - at),
                          channel + k EPILOGUE_PASS);
        }
}
#endif

/* Stores blocks `from` to `to - 1` of the item's tiles; p starts at the first one's. */
INLINE void store(global DST_T *dst, local ACC_V *strip, KEPT const ACC_V *p, const int tile,
                  const int count, const int group, const int from, const int to EPILOGUE_PARAMS)
{
#pragma nounroll
    for (int first = 0; first < count;) {
        const run r = run_at(tile, first, count);
#pragma nounroll
        for (int k = from; k < to; k++)
            store_run(dst, strip, p + (k - from) * D_ROOM, r, group, k EPILOGUE_PASS);
        first += r.tiles;
    }
}

/* ---- all steps in one launch ---- */

#if !D_STAGED
kernel GROUP_SIZE(1, 1, 1) void winograd_fused(global const SRC_T *restrict src,
                                               global const ACC_T *restrict u,
                                               global DST_T *dst EPILOGUE_PARAMS)
{
    local ACC_V v[D_E * D_V_PLANE];
    local ACC_V p[D_E * D_P_PLANE];
    local ACC_V strip[D_STRIP];
    const int tile = (int)get_global_id(T_ORDER) * T_TILES, part = get_global_id(!T_ORDER);
    const int group = get_global_id(2), count = min(T_TILES, D_TILES - tile);
    const int from = (int)((long)D_DST_TILES * part / T_SPLIT);
    const int to = (int)((long)D_DST_TILES * (part + 1) / T_SPLIT);
    transform_source(v, strip, src, tile, count, group, 0, D_SRC_BLOCKS);
    u += ((INDEX_T)group * D_DST_TILES + from) * (D_E * D_CP * D_KT);
#pragma nounroll
    for (int kt = from; kt < to; kt++) {
#pragma nounroll
        for (int e = 0; e < D_E; e++, u += D_CP * D_KT)
            multiply(p + e * D_P_PLANE, v + e * D_V_PLANE, u, u, count);
        store(dst, strip, p, tile, count, group, kt * T_KV, min(kt * T_KV + T_KV, D_DST_BLOCKS)
              EPILOGUE_PASS);
    }
}
#else

/* ---- a launch for each step ---- */

kernel GROUP_SIZE(1, 1, 1) void source(global const SRC_T *restrict src, global ACC_V *restrict v)
{
    local ACC_V strip[D_STRIP];
    const int tile = (int)get_global_id(0) * T_TILES, b = get_global_id(1);
    transform_source(v + tile, strip, src, tile, min(T_TILES, D_TILES - tile), 0, b, b + 1);
}

kernel GROUP_SIZE(1, 1, 1) void products(global const ACC_V *restrict v,
                                         global const ACC_T *restrict u, global ACC_V *restrict p)
{
    const int kt = get_global_id(0), e = get_global_id(1), tile = (int)get_global_id(2) * T_TILES;
    const int next = min(kt + 1, D_DST_TILES - 1);
    multiply(p + e * D_P_PLANE + kt * T_KV * D_ROOM + tile, v + e * D_V_PLANE + tile,
             u + ((INDEX_T)kt * D_E + e) * (D_CP * D_KT),
             u + ((INDEX_T)next * D_E + e) * (D_CP * D_KT), min(T_TILES, D_TILES - tile));
}

kernel GROUP_SIZE(1, 1, 1) void destination(global const ACC_V *restrict p,
                                            global DST_T *dst EPILOGUE_PARAMS)
{
    local ACC_V strip[D_STRIP];
    const int tile = (int)get_global_id(0) * T_TILES, k = get_global_id(1);
    store(dst, strip, p + k * D_ROOM + tile, tile, min(T_TILES, D_TILES - tile), 0, k, k + 1
          EPILOGUE_PASS);
}
#endif
