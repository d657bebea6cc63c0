/* winograd_int8.cl: 3x3 convolution of bytes with stride 1 by Winograd's minimal filtering, in
 * integers that are exact, shaped for a CPU.
 *
 * A tile is T_SIDE x T_SIDE elements of the destination. It depends on a patch of T_T x T_T
 * elements of the source, T_T = T_SIDE + 2, and with the matrices A, B, G of
 * winograd_int8_transforms.cl
 *
 *     D_SCALE * tile = A^T [ sum over c of (G w[c] G^T) * (B^T patch[c] B) ] A     (* by element)
 *
 * so that the sum over channels is T_T * T_T small matrix products instead of 9 * T_SIDE * T_SIDE
 * multiply-adds an element. Their factors are shorts, and two channels are multiplied at once.
 * Neighbouring patches share two columns and two rows:
 *
 *          lead   tile 0    tile 1    tile 2        a run of 3 tiles, T_SIDE = 4
 *           |   +---------+---------+---------+
 *         . . . . . . . . . . . . . . . . . . . .     T_T rows of the source, 3 * T_SIDE + 2
 *         . patch 0 . . .                             columns, zero outside of it
 *                 . patch 1 . . .
 *
 * winograd_int8_transforms.cl says how the integers stay exact, and why results must be below 2^29.
 *
 * Tiles are counted over rows of tiles, then images. An item has T_TILES of them, and there are
 * three steps, all in local memory:
 *   1. B^T d B of the patches, all source channels, into v. A run's columns are transformed once,
 *      into `strip`, then each tile's rows.
 *   2. For each T_KV blocks of D_B destination channels: products of T_W tiles at a time into p.
 *   3. A^T p A, the exact division, the epilogue, the store.
 *
 *     v [D_E][source blocks][T_TILES][D_B]       u [tile of K][D_E][D_CP][T_KV * D_B]
 *     p [D_E][T_KV][T_TILES][D_B]                both with pairs of channels as halves of an int
 *
 * A source or destination whose pixels are neighbours (NCHW) is transposed D_B channels by D_B
 * columns at a time; others have D_B channels together (NCHW16c, NHWC). Lanes of v without a
 * channel may hold anything, as their filters are zero.
 *
 * Backward data is the same with dy as the source and the filter rotated by 180 degrees by `pack`.
 *
 * Grids, in groups of one item. `winograd_int8`: (items of T_TILES tiles, T_SPLIT). `pack`:
 * (D_CP, D_DST_TILES * T_KV).
 *
 * Defines, besides those of the files included; _a stands for _H and _W:
 *   D_B, D_ROW            channels of a block, lanes of a vector: 4, 8 or 16
 *   P_SRC_a, P_DST_a      sizes
 *   D_LEAD_a              destination 0 starts its patch at source -D_LEAD_a
 *   D_SRC_C, D_DST_C      channels
 *   D_SRC_IMAGE, _BLOCK, _ROW, _PIXEL, _CHANNEL    elements from one to the next; of D_DST_ too.
 *                         Either _PIXEL or _CHANNEL is 1
 *   D_SRC_COUNT           elements of the source with its padding
 *   D_DST_WHOLE           1: blocks of the destination are whole, their padding included
 *   D_TILES, D_TILES_H, D_TILES_W  tiles of all images; of a column, a row of one
 *   D_RUN                 most tiles of a run
 *   D_BACKWARD            1: the filter is rotated
 *   D_TOGETHER=2, D_VNNI  see products.cl
 *   D_STREAM              1: results go past the caches (see caches.cl)
 *   T_SIDE T_TILES T_W T_KV T_SPLIT  above; T_W divides T_TILES
 */
#include "channels.cl"
#include "rows.cl"
#include "transpose.cl"
#include "winograd_int8_transforms.cl"

#define T_T (T_SIDE + 2)
#define D_ROOM T_TILES
#define D_CP ((D_SRC_C + 1) / 2)
#define D_SRC_PLAIN (D_SRC_PIXEL == 1)
#define D_DST_PLAIN (D_DST_PIXEL == 1)
/* One vector more than needed, so that planes do not meet in the same sets of a cache. */
#define D_P_PLANE (T_KV * D_ROOM + 1)
/* Vectors of D_B pixels may end behind the last one. */
#define D_STRIP (D_TH * D_COLUMNS + D_B)

typedef KILN_CAT(char, D_B) byte_v;

/* D_B neighbouring elements, which may reach beyond the last element of the source. */
INLINE byte_v load_bytes(global const SRC_T *src, const INDEX_T at)
{
#if D_SRC_PLAIN || D_SRC_C % D_B
    if (at + D_B > D_SRC_COUNT) {
        SRC_T lane[D_B] __attribute__((aligned(16)));
#pragma nounroll
        for (int i = 0; i < D_B; i++)
            lane[i] = at + i < D_SRC_COUNT ? src[at + i] : 0;
        return *(private const byte_v *)lane;
    }
#endif
    return KILN_CAT(vload, D_B)(0, src + at);
}

#define TO_SHORTS(v) KILN_CAT(convert_short, D_B)(v)

#define KEPT local
#define PATCH_V short_v
#define KEPT_PATCH_V PATCH_V
#define KEPT_SUM_V ACC_V
#if D_SRC_PLAIN
#define PIXEL(r, i) strip[(r) * D_COLUMNS + (i)]
#else
#define PIXEL(r, i)                                                                                \
    TO_SHORTS(load_bytes(src, at + (INDEX_T)(r) * D_SRC_ROW + (INDEX_T)(i) * D_SRC_PIXEL))
#endif
#define SUM_V uint_v
#define TO_SUM(v) __builtin_astype(v, uint_v)
#define FROM_SUM(v) (__builtin_astype((v) * D_INVERSE, ACC_V) >> 2)
#define TIMES_B(a, d, o) times_b(d, o)
#define TIMES_A(a, p, o) times_a(p, o)
#include "winograd_tiles.cl"
#include "winograd_steps.cl"

/* ---- weights ---- */

/* G w G^T for source channel c and destination channel k. */
INLINE void filter_of(int *o, global const SRC_T *w, const int k, const int c)
{
    int mid[3][T_T], column[3], row[T_T];
#if D_BACKWARD
    w += ((INDEX_T)c * D_DST_C + k) * 9;
#else
    w += ((INDEX_T)k * D_SRC_C + c) * 9;
#endif
    for (int s = 0; s < 3; s++) {
        for (int r = 0; r < 3; r++)
            column[r] = w[D_BACKWARD ? 8 - 3 * r - s : 3 * r + s];
        times_g(column, mid[s]);
    }
    for (int i = 0; i < T_T; i++) {
        for (int s = 0; s < 3; s++)
            column[s] = mid[s][i];
        times_g(column, row);
        for (int j = 0; j < T_T; j++)
            o[i * T_T + j] = row[j];
    }
}

kernel GROUP_SIZE(1, 1, 1) void pack(global const SRC_T *restrict w, global int *restrict u)
{
    const int c = get_global_id(0) * 2, block = get_global_id(1);
    u += ((INDEX_T)(block / T_KV) * D_E * D_CP + c / 2) * D_KT + block % T_KV * D_B;
#pragma nounroll
    for (int lane = 0; lane < D_B; lane++) {
        const int k = block * D_B + lane;
        int first[D_E], second[D_E];
        for (int e = 0; e < D_E; e++)
            first[e] = second[e] = 0;
        if (k < D_DST_C)
            filter_of(first, w, k, c);
        if (k < D_DST_C && c + 1 < D_SRC_C)
            filter_of(second, w, k, c + 1);
        for (int e = 0; e < D_E; e++)
            u[(INDEX_T)e * D_CP * D_KT + lane] =
                as_int((short2)((short)first[e], (short)second[e]));
    }
}

/* ---- the source ---- */

#if D_SRC_PLAIN
/* Each round of this transposition is one instruction a row. */
KILN_DEFINE_DEALT(INLINE, transpose_bytes, byte_v)

/* Makes pixels `from` to `to` of each row of the strip, and others behind them. Patches begin in
 * row `y`, at element `at`, even if that is before the image. */
INLINE void load_rows(local short_v *strip, global const SRC_T *src, const INDEX_T at,
                      const int channels, const int y, const int from, const int to)
{
#pragma nounroll
    for (int r = max(0, -y); r < min(T_T, P_SRC_H - y); r++)
#pragma nounroll
        for (int i = from; i < to; i += D_B) {
            /* The last D_B columns start earlier instead of being fewer, if there are so many. */
            const int first = to - from >= D_B ? min(i, to - D_B) : i;
            byte_v square[D_B];
#pragma nounroll
            for (int c = 0; c < channels; c++)
                square[c] =
                    load_bytes(src, at + r * D_SRC_ROW + first + (INDEX_T)c * D_SRC_CHANNEL);
#pragma nounroll
            for (int c = channels; c < D_B; c++)
                square[c] = (byte_v)((char)0);
            transpose_bytes(square);
#pragma unroll
            for (int j = 0; j < D_B; j++)
                strip[r * D_COLUMNS + first + j] = TO_SHORTS(square[j]);
        }
}
#endif

INLINE void fill_strip(local short_v *strip, global const SRC_T *src, const run r, const int group,
                       const int b, const run next, const int soon)
{
    const int all = columns_of(r), y = first_row(r, 0), x = first_column(r, 0);
    const int from = first_inside(x, all), to = end_inside(x, from, all);
    const INDEX_T at = (INDEX_T)r.n * D_SRC_IMAGE + (INDEX_T)b * D_SRC_BLOCK +
                       (INDEX_T)y * D_SRC_ROW + (INDEX_T)x * D_SRC_PIXEL;
#if D_SRC_PLAIN
    load_rows(strip, src, at, min(D_B, D_SRC_C - b * D_B), y, from, to);
#endif
    make_strip(strip, src, y, at, from, to, all);
}

/* ---- the destination ---- */

#if !D_DST_PLAIN
/* Stores block `block` of a pixel, whose channel 0 of that block is element `at`. */
INLINE void put(global DST_T *dst, const ACC_V acc, const int block,
                const INDEX_T at EPILOGUE_PARAMS)
{
    const int lanes = min(D_B, D_DST_C - block * D_B);
    if (D_DST_WHOLE || lanes == D_B)
        PUT(dst, acc, block, at);
    else
        STORE_SOME(dst, FINISH_V(acc, OLD_SOME(lanes, at), block * D_B), lanes, at);
}

INLINE void store_run(global DST_T *dst, local short_v *strip, KEPT const KEPT_SUM_V *p,
                      const run r, const int group, const int block EPILOGUE_PARAMS)
{
    const INDEX_T origin = (INDEX_T)r.n * D_DST_IMAGE + (INDEX_T)block * D_DST_BLOCK;
#pragma nounroll
    for (int t = 0; t < r.tiles; t++) {
        const int y0 = r.y * T_SIDE, x0 = (r.x + t) * T_SIDE;
        ACC_V o[T_SIDE][T_SIDE];
        tile_of(o, p + r.first + t);
#pragma nounroll
        for (int i = 0; i < T_SIDE; i++)
#pragma nounroll
            for (int j = 0; j < T_SIDE; j++)
                if (y0 + i < P_DST_H && x0 + j < P_DST_W)
                    put(dst, o[i][j], block,
                        origin + (INDEX_T)(y0 + i) * D_DST_ROW + (INDEX_T)(x0 + j) * D_DST_PIXEL
                            EPILOGUE_PASS);
    }
}
#else
KILN_DEFINE_TRANSPOSE(transpose_sums, ACC_V)

/* Stores columns `from` to `to` - 1 of the rows of D_B columns that start at element `at`; columns
 * of p begin with the first. */
INLINE void store_square(global DST_T *dst, ACC_V *square, const int channel, const int channels,
                         const int columns, const INDEX_T at EPILOGUE_PARAMS)
{
    transpose_sums(square);
#pragma nounroll
    for (int k = 0; k < channels; k++) {
        const INDEX_T row = at + (INDEX_T)k * D_DST_CHANNEL;
        STORE_SOME(dst, FINISH_ROW(square[k], OLD_SOME(columns, row), channel + k), columns, row);
    }
}

/* Rows of D_B / T_SIDE tiles are transposed at once. */
INLINE void store_run(global DST_T *dst, local short_v *strip, KEPT const KEPT_SUM_V *p,
                      const run r, const int group, const int block EPILOGUE_PARAMS)
{
    const int channel = block * D_B, channels = min(D_B, D_DST_C - channel);
    const INDEX_T origin = (INDEX_T)r.n * D_DST_IMAGE + (INDEX_T)channel * D_DST_CHANNEL;
#pragma nounroll
    for (int t = 0; t < r.tiles; t += D_B / T_SIDE) {
        const int y0 = r.y * T_SIDE, x0 = (r.x + t) * T_SIDE;
        const int columns = min(D_B, min(P_DST_W, (r.x + r.tiles) * T_SIDE) - x0);
        ACC_V square[T_SIDE][D_B];
#pragma nounroll
        for (int i = 0; i < min(D_B / T_SIDE, r.tiles - t); i++) {
            ACC_V o[T_SIDE][T_SIDE];
            tile_of(o, p + r.first + t + i);
#pragma unroll
            for (int y = 0; y < T_SIDE; y++)
#pragma unroll
                for (int x = 0; x < T_SIDE; x++)
                    square[y][i * T_SIDE + x] = o[y][x];
        }
#pragma nounroll
        for (int y = 0; y < min(T_SIDE, P_DST_H - y0); y++)
            store_square(dst, square[y], channel, channels, columns,
                         origin + (INDEX_T)(y0 + y) * D_DST_ROW + x0 EPILOGUE_PASS);
    }
}
#endif

kernel GROUP_SIZE(1, 1, 1) void winograd_int8(global const SRC_T *restrict src,
                                              global const int *restrict u,
                                              global DST_T *dst EPILOGUE_PARAMS)
{
    local short_v v[D_E * D_V_PLANE];
    local ACC_V p[D_E * D_P_PLANE];
    local short_v strip[D_STRIP];
    all_steps(v, p, strip, src, u, dst, (int)get_global_id(0) * T_TILES, get_global_id(1),
              0 EPILOGUE_PASS);
}
