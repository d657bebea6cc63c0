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
 *         . . . . . . . . . . . . . . . . . . . .     D_TH rows of the source, 3 * D_MW + 2
 *         . patch 0 . . .                             columns, zero outside of it
 *                 . patch 1 . . .
 *
 * A convolution with stride 2 is the sum of the convolutions of its phases, every second row and
 * column of the source with every second tap: each phase adds as many channels, with stride 1. With
 * a dilation of d, every d-th row and column is an image of its own.
 *
 * Tiles are counted over rows of tiles, then images. An item has T_TILES of them, and there are
 * three steps:
 *   1. B^T d B of the patches, all source channels, into v. A run's columns are transformed once,
 *      into `strip`, then each tile's rows.
 *   2. For each T_KV blocks of D_B destination channels: products of T_W tiles at a time into p.
 *   3. A^T p A, the epilogue, the store.
 * In `winograd_fused` an item does all three, for one part of T_SPLIT of the destination's
 * channels, and v and p are local memory. With D_STAGED=1 they are buffers for all tiles, and each
 * step is a launch: `source`, `products`, `destination`.
 *
 *     v [D_E][blocks of rows][D_ROOM][D_B]     u [group][tile of K][D_E][D_CP][T_KV * D_B]
 *     p [D_E][T_KV, or all blocks][D_ROOM][D_B]
 *
 * Source and destination are plain (NCHW) or hold D_B neighbouring channels together (NCHW16c;
 * NHWC, where channels are multiples of D_B). Plain tensors are transposed D_B channels by D_B
 * columns at a time. Whatever the layout, a block's lanes without a channel are zero in v, and are
 * written as zero where the destination has them. Backward data is the same with dy as the source
 * and the filter rotated by 180 degrees by `pack`.
 *
 * Grids, all in groups of one item, or several (see items.cl). `winograd_fused`: (items of T_TILES
 * tiles, T_SPLIT, groups), the first two exchanged with T_ORDER=1. `source`, `destination`: (items,
 * blocks). `products`: (tiles of K, D_E, items). `pack`: (D_CP, groups * D_DST_TILES * T_KV).
 *
 * Defines, besides those of the files included:
 *   D_B                   channels of a block, lanes of a vector: 4, 8 or 16; D_ROW: the same,
 *                         for a plain destination
 *   P_SRC_H, P_SRC_W, P_DST_H, P_DST_W, P_GROUPS
 *   D_SRC_C, D_DST_C      channels of one group
 *   D_LEAD_H, D_LEAD_W    destination (0, 0) starts its patch at source (-D_LEAD_H, -D_LEAD_W)
 *   D_SRC_TOGETHER, D_DST_TOGETHER
 *                         1: blocks of D_B channels lie together, from one pixel to the next
 *                         D_SRC_PIXEL, one block D_SRC_BLOCK, one image D_SRC_IMAGE elements;
 *                         D_DST_ the same. 0: plain
 *   D_SRC_COUNT           elements of the source, plain only
 *   D_TILES, D_TILES_H, D_TILES_W  tiles of all images; of a column, a row of one
 *   D_RUN                 most tiles of a run
 *   P_FILTER_H, P_FILTER_W, P_STRIDE_H, P_STRIDE_W   strides are 1 or 2; 1 with D_BACKWARD
 *   P_DILATION_H, P_DILATION_W   1 with a stride
 *   D_BACKWARD            1: the filter is rotated
 *   D_STAGED              above; then P_GROUPS is 1
 *   D_LAUNCH              with it: 1, 2 or 3, the step whose kernel is wanted
 *   D_FILTERS_AHEAD       1: filters are fetched ahead; only with D_STAGED
 *   D_SOURCE_AHEAD        1: so is the source; plain only, stride 1
 *   D_STREAM              1: results go past the caches (see caches.cl)
 *   D_ROOM                tiles that v and p have room for: T_TILES, or all
 *   T_T T_TILES T_W T_KV  above; T_T is 4, 6, 8 or 10, T_W divides T_TILES
 *   T_SPLIT T_ORDER       above; not with D_STAGED
 */
#include "channels.cl"
#include "items.cl"
#include "winograd_transforms.cl"

#define D_CP ((D_SRC_ROWS + 3) / 4 * 4)
#define D_SRC_PLANE ((INDEX_T)P_SRC_H * P_SRC_W)
#define D_DST_PLANE ((INDEX_T)P_DST_H * P_DST_W)
/* One vector more than needed, so that planes do not meet in the same sets of a cache. */
#if D_STAGED
#define D_P_PLANE (D_DST_TILES * T_KV * D_ROOM + 1)
#define KEPT global
/* The workspace may be the caller's memory, aligned as its elements are. */
#define KEPT_SUM_V kiln_loose_acc
#else
#define D_P_PLANE (T_KV * D_ROOM + 1)
#define KEPT local
#define KEPT_SUM_V ACC_V
#endif
#define KEPT_PATCH_V KEPT_SUM_V
/* The last row of a strip of plain tensors is written and read up to whole vectors. */
#define D_STRIP (D_TH * D_COLUMNS + (D_SRC_TOGETHER && D_DST_TOGETHER ? 0 : D_B))

#define PATCH_V ACC_V
#if D_SRC_TOGETHER
#define PIXEL(r, i)                                                                                \
    SRC_LOAD_V(src,                                                                                \
               (INDEX_T)((y + (r) * D_STEP_H) * P_SRC_W + (int)at + (i) * D_STEP_W) * D_SRC_PIXEL)
#else
#define PIXEL(r, i) strip[(r) * D_COLUMNS + (i)]
#endif
#define SUM_V ACC_V
#define TO_SUM(v) (v)
#define FROM_SUM(v) (v)
#define TIMES_B(a, d, o) times_b(D_TAPS_##a, d, o)
#define TIMES_A(a, p, o) times_a(D_TAPS_##a, p, o)
#include "winograd_tiles.cl"
#include "winograd_steps.cl"
#include "winograd_plain.cl"

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

/* ---- blocks of channels ---- */

#if D_SRC_TOGETHER
INLINE void fill_strip(local ACC_V *strip, global const SRC_T *src, const run r, const int group,
                       const int b, const run next, const int soon)
{
    const int all = columns_of(r), phase = b % D_PHASES;
    const int x = first_column(r, phase), from = first_inside(x, all);
    src += (INDEX_T)r.n * D_SRC_IMAGE +
           (INDEX_T)(group * (D_SRC_VECTORS / D_PHASES) + b / D_PHASES) * D_SRC_BLOCK;
    make_strip(strip, src, first_row(r, phase), x, from, end_inside(x, from, all), all);
}
#endif

#if D_DST_TOGETHER
INLINE void store_run(global DST_T *dst, local ACC_V *strip, KEPT const KEPT_SUM_V *p, const run r,
                      const int group, const int block EPILOGUE_PARAMS)
{
    const int all = group * D_DST_VECTORS + block; /* of the channels of all groups */
    const INDEX_T origin = (INDEX_T)r.n * D_DST_IMAGE + (INDEX_T)all * D_DST_BLOCK;
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
                    PUT(dst, o[i][j], all, origin + ((INDEX_T)y * P_DST_W + x) * D_DST_PIXEL);
            }
    }
}
#endif

/* ---- all steps in one launch, or one in each ---- */

#if !D_STAGED
#define V_SIZE (D_E * D_V_PLANE)
#define P_SIZE (D_E * D_P_PLANE)
#define PIECE(from) ((local ACC_V *)scratch + (from))
#define ITEM_HERE                                                                                  \
    all_steps(PIECE(0), PIECE(V_SIZE), PIECE(V_SIZE + P_SIZE), src, u, dst,                        \
              (int)ITEM(T_ORDER) * T_TILES, ITEM(!T_ORDER), ITEM(2) EPILOGUE_PASS)
DEFINE_ITEM(ITEM_HERE, (global const SRC_T *src, global const ACC_T *u,
                        global DST_T *dst EPILOGUE_PARAMS))

kernel GROUP_SIZE(1, 1, 1) void winograd_fused(global const SRC_T *restrict src,
                                               global const ACC_T *restrict u,
                                               global DST_T *dst EPILOGUE_PARAMS ITEMS_PARAM)
{
    local ACC_V scratch[V_SIZE + P_SIZE + D_STRIP];
    EACH_ITEM_WITH(scratch, ITEM_HERE, (src, u, dst EPILOGUE_PASS))
}
#elif D_LAUNCH == 1
INLINE void source_item(global const SRC_T *src, global KEPT_SUM_V *v, local ACC_V *strip,
                        const int item, const int b)
{
    const int tile = item * T_TILES;
    transform_source(v + tile, strip, src, tile, min(T_TILES, D_TILES - tile), 0, b, b + 1);
}

#define ITEM_HERE source_item(src, v, (local ACC_V *)scratch, ITEM(0), ITEM(1))
DEFINE_ITEM(ITEM_HERE, (global const SRC_T *restrict src, global KEPT_SUM_V *restrict v))

kernel GROUP_SIZE(1, 1, 1) void source(global const SRC_T *restrict src,
                                       global KEPT_SUM_V *restrict v ITEMS_PARAM)
{
    local ACC_V scratch[D_STRIP];
    EACH_ITEM_WITH(scratch, ITEM_HERE, (src, v))
}
#elif D_LAUNCH == 2
INLINE void products_item(global const KEPT_SUM_V *v, global const ACC_T *u, global KEPT_SUM_V *p,
                          const int kt, const int e, const int item)
{
    const int next = min(kt + 1, D_DST_TILES - 1), tile = item * T_TILES;
    multiply(p + e * D_P_PLANE + kt * T_KV * D_ROOM + tile, v + e * D_V_PLANE + tile,
             u + ((INDEX_T)kt * D_E + e) * (D_CP * D_KT),
             u + ((INDEX_T)next * D_E + e) * (D_CP * D_KT), min(T_TILES, D_TILES - tile));
}

#define ITEM_HERE products_item(v, u, p, ITEM(0), ITEM(1), ITEM(2))
DEFINE_ITEM(ITEM_HERE, (global const KEPT_SUM_V *restrict v, global const ACC_T *restrict u,
                        global KEPT_SUM_V *restrict p))

kernel GROUP_SIZE(1, 1, 1) void products(global const KEPT_SUM_V *restrict v,
                                         global const ACC_T *restrict u,
                                         global KEPT_SUM_V *restrict p ITEMS_PARAM)
{
    EACH_ITEM(ITEM_HERE, (v, u, p))
}
#elif D_LAUNCH == 3
INLINE void destination_item(global const KEPT_SUM_V *p, global DST_T *dst, local ACC_V *strip,
                             const int item, const int k EPILOGUE_PARAMS)
{
    const int tile = item * T_TILES;
    store(dst, strip, p + k * D_ROOM + tile, tile, min(T_TILES, D_TILES - tile), 0, k, k + 1
          EPILOGUE_PASS);
}

#define ITEM_HERE                                                                                  \
    destination_item(p, dst, (local ACC_V *)scratch, ITEM(0), ITEM(1) EPILOGUE_PASS)
DEFINE_ITEM(ITEM_HERE, (global const KEPT_SUM_V *restrict p, global DST_T *dst EPILOGUE_PARAMS))

kernel GROUP_SIZE(1, 1, 1) void destination(global const KEPT_SUM_V *restrict p,
                                            global DST_T *dst EPILOGUE_PARAMS ITEMS_PARAM)
{
    local ACC_V scratch[D_STRIP];
    EACH_ITEM_WITH(scratch, ITEM_HERE, (p, dst EPILOGUE_PASS))
}
#endif
