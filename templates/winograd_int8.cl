/* winograd_int8.cl: 3x3 convolution of bytes with stride 1 by Winograd's minimal filtering, in
 * integers that are exact, shaped for a CPU.
 *
 * A tile is T_SIDE x T_SIDE elements of the destination. It depends on a patch of D_T x D_T
 * elements of the source, D_T = T_SIDE + 2, and with the matrices A, B, G below
 *
 *     D_SCALE * tile = A^T [ sum over c of (G w[c] G^T) * (B^T patch[c] B) ] A     (* by element)
 *
 * so that the sum over channels is D_T * D_T small matrix products instead of 9 * T_SIDE * T_SIDE
 * multiply-adds an element. Their factors are shorts, and two channels are multiplied at once.
 * Neighbouring patches share two columns and two rows:
 *
 *          lead   tile 0    tile 1    tile 2        a run of 3 tiles, T_SIDE = 4
 *           |   +---------+---------+---------+
 *         . . . . . . . . . . . . . . . . . . . .     D_T rows of the source, 3 * T_SIDE + 2
 *         . patch 0 . . .                             columns, zero outside of it
 *                 . patch 1 . . .
 *
 * F(2x2) is the usual one with G doubled: shorts are at most 512 and 1152. F(4x4) has the points 0,
 * infinity, 1, -1, 2, -1/2, and each row of G is multiplied so that one factor, 30 an axis, is left
 * for all results. Shorts are at most 14 * 14 * 128 and 15 * 15 * 128, and a sum of two products is
 * below 2^31. Everything behind is modulo 2^32: sums and A^T p A may wrap, and an odd factor is
 * undone by its inverse. What remains is a factor of 4, the same for both, so that results must be
 * below 2^29. (Of three points, two agree modulo 2, and 2 divides their difference. These six fall
 * into pairs, so that it divides 30 but once, where the points 0, 1, -1, 2, -2 and infinity have 24.)
 *
 * Tiles are counted over rows of tiles, then images. An item has T_TILES of them, and there are
 * three steps, all in local memory:
 *   1. B^T d B of the patches, all source channels, into v. A run's columns are transformed once,
 *      into `strip`, then each tile's rows.
 *   2. For each T_KV blocks of D_B destination channels: products of T_W tiles at a time into p.
 *   3. A^T p A, the exact division, the epilogue, the store.
 *
 *     v [D_E][source blocks][T_TILES][D_B]       u [tile of K][D_E][D_SRC_PAIRS][T_KV * D_B]
 *     p [D_E][T_KV][T_TILES][D_B]                both with pairs of channels as the halves of an int
 *
 * A source or destination whose pixels are neighbours (NCHW) is transposed D_B channels by D_B
 * columns at a time; others have D_B channels together (NCHW16c, NHWC). Lanes of v without a
 * channel may hold anything, as their filters are zero.
 *
 * Backward data is the same with dy as the source and `pack` turning the filter round.
 *
 * Grids, in groups of one item. `winograd_int8`: (items of T_TILES tiles, T_SPLIT). `pack`:
 * (D_SRC_PAIRS, D_DST_TILES * T_KV).
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
 *   D_BACKWARD            1: the filter is turned round
 *   D_TOGETHER=2, D_VNNI  see products.cl
 *   D_STREAM              1: results go past the caches (see caches.cl)
 *   T_SIDE T_TILES T_W T_KV T_SPLIT  above; T_W divides T_TILES
 */
#include "channels.cl"
#include "products.cl"
#include "rows.cl"
#include "transpose.cl"

#define D_T (T_SIDE + 2)
#define D_E (D_T * D_T)
#define D_KT (T_KV * D_B)
#define D_SRC_PAIRS ((D_SRC_C + 1) / 2)
#define D_SRC_VECTORS ((D_SRC_C + D_B - 1) / D_B)
#define D_DST_VECTORS ((D_DST_C + D_B - 1) / D_B)
#define D_DST_TILES ((D_DST_VECTORS + T_KV - 1) / T_KV)
#define D_SRC_ROWS (D_SRC_PIXEL == 1)
#define D_DST_ROWS (D_DST_PIXEL == 1)
/* One vector more than needed, so that planes do not meet in the same sets of a cache. */
#define D_V_PLANE (D_SRC_VECTORS * T_TILES + 1)
#define D_P_PLANE (T_KV * T_TILES + 1)
/* Vectors of D_B pixels may begin anywhere in a row of the strip, and end behind the last one. */
#define D_COLUMNS (T_SIDE * D_RUN + 2 > D_B ? T_SIDE * D_RUN + 2 : D_B)
#define D_STRIP (D_T * D_COLUMNS + D_B)

typedef KILN_CAT(char, D_B) byte_v;
typedef KILN_CAT(short, D_B) short_v;
typedef KILN_CAT(uint, D_B) uint_v;

/* ---- the transforms along one axis ---- */

#if T_SIDE == 2
#define D_INVERSE 1u /* of D_SCALE / 4 */

INLINE void times_b(const short_v *d, short_v *o)
{
    o[0] = d[0] - d[2];
    o[1] = d[1] + d[2];
    o[2] = d[2] - d[1];
    o[3] = d[1] - d[3];
}

INLINE void times_a(const uint_v *p, uint_v *o)
{
    o[0] = p[0] + p[1] + p[2];
    o[1] = p[1] - p[2] - p[3];
}

INLINE void times_g(const int *w, int *o)
{
    o[0] = 2 * w[0];
    o[1] = w[0] + w[1] + w[2];
    o[2] = w[0] - w[1] + w[2];
    o[3] = 2 * w[2];
}
#else
#define D_INVERSE 0x87654321u /* of 225: D_SCALE is 900 */

/* Row t is the product of (q x - p) over all points p / q but the t-th: those of 2 and -1/2 make
 * 2 x^2 - 3 x - 2, which is f, those of 1 and -1 make x^2 - 1, which is g. */
INLINE void times_b(const short_v *d, short_v *o)
{
    short_v f[4], g[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        g[i] = d[i + 2] - d[i];
        f[i] = g[i] + g[i] - d[i + 1] - d[i + 1] - d[i + 1];
    }
    o[0] = f[2] - f[0];
    o[1] = f[2] + f[1];
    o[2] = f[2] - f[1];
    o[3] = g[2] + g[2] + g[1];
    o[4] = g[2] - g[1] - g[1];
    o[5] = f[3] - f[1];
}

INLINE void times_a(const uint_v *p, uint_v *o)
{
    const uint_v a = p[1] + p[2], b = p[1] - p[2];
    o[0] = p[0] + a + p[3] + (p[4] << 3);
    o[1] = b + (p[3] << 1) - (p[4] << 2);
    o[2] = a + (p[3] << 2) + (p[4] << 1);
    o[3] = b + (p[3] << 3) - p[4] + p[5];
}

INLINE void times_g(const int *w, int *o)
{
    const int even = 5 * (w[0] + w[2]), odd = 5 * w[1];
    o[0] = 15 * w[0];
    o[1] = -even - odd;
    o[2] = even - odd;
    o[3] = w[0] + 2 * w[1] + 4 * w[2];
    o[4] = 2 * w[1] - 4 * w[0] - w[2];
    o[5] = 15 * w[2];
}
#endif

/* ---- weights ---- */

/* G w G^T for source channel c and destination channel k. */
INLINE void filter_of(int *o, global const SRC_T *w, const int k, const int c)
{
    int mid[3][D_T], column[3], row[D_T];
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
    for (int i = 0; i < D_T; i++) {
        for (int s = 0; s < 3; s++)
            column[s] = mid[s][i];
        times_g(column, row);
        for (int j = 0; j < D_T; j++)
            o[i * D_T + j] = row[j];
    }
}

kernel GROUP_SIZE(1, 1, 1) void pack(global const SRC_T *restrict w, global int *restrict u)
{
    const int c = get_global_id(0) * 2, block = get_global_id(1);
    u += ((INDEX_T)(block / T_KV) * D_E * D_SRC_PAIRS + c / 2) * D_KT + block % T_KV * D_B;
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
            u[(INDEX_T)e * D_SRC_PAIRS * D_KT + lane] =
                as_int((short2)((short)first[e], (short)second[e]));
    }
}

/* ---- step 1: the source ---- */

/* `tiles` tiles of one row of tiles; `first` counts from the item's first tile. */
typedef struct run {
    int n, y, x; /* image; tile row, tile column */
    int first, tiles;
} run;

INLINE run run_at(const int tile, const int first, const int count)
{
    run r;
    r.n = (tile + first) / (D_TILES_H * D_TILES_W);
    r.y = (tile + first) / D_TILES_W % D_TILES_H;
    r.x = (tile + first) % D_TILES_W;
    r.first = first;
    r.tiles = min(min(D_RUN, D_TILES_W - r.x), count - first);
    return r;
}

/* D_B neighbouring elements, which may reach beyond the last one that there is. */
INLINE byte_v load_bytes(global const SRC_T *src, const INDEX_T at)
{
#if D_SRC_ROWS || D_SRC_C % D_B
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

#if D_SRC_ROWS
#define PIXEL(r, i) strip[(r) * D_COLUMNS + (i)]

/* Rows become columns: dealing out two halves in turns, log2(D_B) times, each an instruction. */
INLINE void transpose_bytes(byte_v *r)
{
#pragma unroll
    for (int s = 1; s < D_B; s *= 2) {
        byte_v t[D_B];
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
}

/* Pixels `from` to `to` of each row of the strip, and others behind them; the first row begins at
 * element `origin`, be it before the image. */
INLINE void load_rows(local short_v *strip, global const SRC_T *src, const INDEX_T origin,
                      const int channels, const int y0, const int from, const int to)
{
#pragma nounroll
    for (int r = max(0, -y0); r < min(D_T, P_SRC_H - y0); r++)
#pragma nounroll
        for (int i = from; i < to; i += D_B) {
            /* The last D_B columns start earlier instead of being fewer, if there are so many. */
            const int at = to - from >= D_B ? min(i, to - D_B) : i;
            byte_v square[D_B];
#pragma nounroll
            for (int c = 0; c < channels; c++)
                square[c] =
                    load_bytes(src, origin + r * D_SRC_ROW + at + (INDEX_T)c * D_SRC_CHANNEL);
#pragma nounroll
            for (int c = channels; c < D_B; c++)
                square[c] = (byte_v)((char)0);
            transpose_bytes(square);
#pragma unroll
            for (int j = 0; j < D_B; j++)
                strip[r * D_COLUMNS + at + j] = TO_SHORTS(square[j]);
        }
}
#else
#define PIXEL(r, i)                                                                                \
    TO_SHORTS(load_bytes(src, origin + (INDEX_T)(r) * D_SRC_ROW + (INDEX_T)(i) * D_SRC_PIXEL))
#endif

/* Columns `from` to `to` - 1 of the strip; `all`: no row lies outside the source. */
INLINE void columns_of(local short_v *strip, global const SRC_T *src, const INDEX_T origin,
                       const int y0, const int from, const int to, const bool all)
{
#pragma nounroll
    for (int i = from; i < to; i++) {
        short_v d[D_T], o[D_T];
#pragma unroll
        for (int r = 0; r < D_T; r++)
            d[r] = all || (y0 + r >= 0 && y0 + r < P_SRC_H) ? PIXEL(r, i) : (short_v)((short)0);
        times_b(d, o);
#pragma unroll
        for (int r = 0; r < D_T; r++)
            strip[r * D_COLUMNS + i] = o[r];
    }
}

/* Fills the strip of a run: B^T times the columns of source block b. */
INLINE void fill_strip(local short_v *strip, global const SRC_T *src, const run r, const int b)
{
    const int y0 = r.y * T_SIDE - D_LEAD_H, x0 = r.x * T_SIDE - D_LEAD_W;
    const int all = r.tiles * T_SIDE + 2;
    const int from = clamp(-x0, 0, all), to = clamp(P_SRC_W - x0, from, all);
    const INDEX_T origin = (INDEX_T)r.n * D_SRC_IMAGE + (INDEX_T)b * D_SRC_BLOCK +
                           (INDEX_T)y0 * D_SRC_ROW + (INDEX_T)x0 * D_SRC_PIXEL;
#if D_SRC_ROWS
    load_rows(strip, src, origin, min(D_B, D_SRC_C - b * D_B), y0, from, to);
#endif
    if (y0 >= 0 && y0 + D_T <= P_SRC_H)
        columns_of(strip, src, origin, y0, from, to, true);
    else
        columns_of(strip, src, origin, y0, from, to, false);
#pragma nounroll
    for (int i = 0; i < all; i++)
        if (i < from || i >= to)
#pragma nounroll
            for (int j = 0; j < D_T; j++)
                strip[j * D_COLUMNS + i] = (short_v)((short)0);
}

INLINE void transform_source(local short_v *v, local short_v *strip, global const SRC_T *src,
                             const int tile, const int count)
{
#pragma nounroll
    for (int first = 0; first < count;) {
        const run r = run_at(tile, first, count);
#pragma nounroll
        for (int b = 0; b < D_SRC_VECTORS; b++) {
            fill_strip(strip, src, r, b);
            local short_v *to = v + b * T_TILES + first;
#pragma nounroll
            for (int t = 0; t < r.tiles; t++)
#pragma nounroll
                for (int i = 0; i < D_T; i++) {
                    short_v d[D_T], o[D_T];
#pragma unroll
                    for (int j = 0; j < D_T; j++)
                        d[j] = strip[i * D_COLUMNS + t * T_SIDE + j];
                    times_b(d, o);
#pragma unroll
                    for (int j = 0; j < D_T; j++)
                        to[(i * D_T + j) * D_V_PLANE + t] = o[j];
                }
        }
        first += r.tiles;
    }
    /* Up to whole groups of T_W. */
    for (int t = count; t < (count + T_W - 1) / T_W * T_W; t++)
        for (int e = 0; e < D_E; e++)
            for (int b = 0; b < D_SRC_VECTORS; b++)
                v[e * D_V_PLANE + b * T_TILES + t] = (short_v)((short)0);
}

/* ---- step 2: the products ---- */

/* Were it unrolled, the compiler would add products of several pairs before the sums, in more
 * registers than there are. */
PRODUCTS_INLINE void add_pairs(ACC_V *acc, local const int *v, global const int *u,
                               const int pairs)
{
#pragma nounroll
    for (int c = 0; c < pairs; c++) {
        ACC_V w[T_KV];
#pragma unroll
        for (int k = 0; k < T_KV; k++)
            w[k] = LOAD_V(u + c * D_KT + k * D_B);
#pragma unroll
        for (int i = 0; i < T_W; i++) {
            const ACC_V a = (ACC_V)(v[i * (D_B / 2) + c]);
#pragma unroll
            for (int k = 0; k < T_KV; k++)
                acc[i * T_KV + k] = ADD_PRODUCTS(acc[i * T_KV + k], a, w[k]);
        }
    }
}

/* One of the D_E products: v, p and u start where those of its elements do. */
PRODUCTS_FUNCTION void multiply(local ACC_V *p, local const short_v *v, global const int *u,
                                const int count)
{
#pragma nounroll
    for (int t = 0; t < count; t += T_W) {
        ACC_V acc[T_W * T_KV];
#pragma unroll
        for (int i = 0; i < T_W * T_KV; i++)
            acc[i] = (ACC_V)(0);
        local const int *from = (local const int *)(v + t);
        global const int *row = u;
#pragma nounroll
        for (int b = 0; b < D_SRC_C / D_B; b++) {
            add_pairs(acc, from, row, D_B / 2);
            from += T_TILES * D_B / 2;
            row += D_B / 2 * D_KT;
        }
        if (D_SRC_C % D_B)
            add_pairs(acc, from, row, D_SRC_PAIRS % (D_B / 2) ? D_SRC_PAIRS % (D_B / 2) : D_B / 2);
#pragma unroll
        for (int i = 0; i < T_W; i++)
#pragma unroll
            for (int k = 0; k < T_KV; k++)
                p[k * T_TILES + t + i] = acc[i * T_KV + k];
    }
}

/* ---- step 3: the destination ---- */

/* A^T p A of one tile and block, divided. */
INLINE void tile_of(ACC_V o[T_SIDE][T_SIDE], local const ACC_V *p)
{
    uint_v mid[D_T][T_SIDE], d[D_T], row[T_SIDE];
#pragma unroll
    for (int j = 0; j < D_T; j++) {
#pragma unroll
        for (int i = 0; i < D_T; i++)
            d[i] = __builtin_astype(p[(i * D_T + j) * D_P_PLANE], uint_v);
        times_a(d, mid[j]);
    }
#pragma unroll
    for (int i = 0; i < T_SIDE; i++) {
#pragma unroll
        for (int j = 0; j < D_T; j++)
            d[j] = mid[j][i];
        times_a(d, row);
#pragma unroll
        for (int j = 0; j < T_SIDE; j++)
            o[i][j] = __builtin_astype(row[j] * D_INVERSE, ACC_V) >> 2;
    }
}

#ifdef P_BETA
/* The first `count` of D_B neighbouring elements, and zero. */
INLINE VAL_V load_some(global const DST_T *p, const INDEX_T at, const int count)
{
    if (count == D_B)
        return DST_LOADN(D_B, p, at);
    VAL_T lane[D_B] __attribute__((aligned(64)));
#pragma nounroll
    for (int l = 0; l < D_B; l++)
        lane[l] = l < count ? DST_LOAD(p, at + l) : 0;
    return *(private const VAL_V *)lane;
}
#define OLD(at, count) load_some(residual, at, count)
#else
#define OLD(at, count) ((VAL_V)((VAL_T)0))
#endif

#if !D_DST_ROWS
/* Stores block `block` of a pixel, whose channel 0 of that block is element `at`. */
INLINE void put(global DST_T *dst, const ACC_V acc, const int block,
                const INDEX_T at EPILOGUE_PARAMS)
{
    const int lanes = min(D_B, D_DST_C - block * D_B);
    if (D_DST_WHOLE || lanes == D_B)
        PUT(dst, acc, block, at);
    else
        STORE_SOME(dst, FINISH_V(acc, OLD(at, lanes), block * D_B), lanes, at);
}

INLINE void store_run(global DST_T *dst, local const ACC_V *p, const run r,
                      const int block EPILOGUE_PARAMS)
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
        STORE_SOME(dst, FINISH_ROW(square[k], OLD(row, columns), channel + k), columns, row);
    }
}

/* Rows of D_B / T_SIDE tiles are transposed at once. */
INLINE void store_run(global DST_T *dst, local const ACC_V *p, const run r,
                      const int block EPILOGUE_PARAMS)
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

/* Stores blocks `from` to `to - 1` of the item's tiles; p starts at the first one's. */
INLINE void store(global DST_T *dst, local const ACC_V *p, const int tile, const int count,
                  const int from, const int to EPILOGUE_PARAMS)
{
#pragma nounroll
    for (int first = 0; first < count;) {
        const run r = run_at(tile, first, count);
#pragma nounroll
        for (int k = from; k < to; k++)
            store_run(dst, p + (k - from) * T_TILES, r, k EPILOGUE_PASS);
        first += r.tiles;
    }
}

kernel GROUP_SIZE(1, 1, 1) void winograd_int8(global const SRC_T *restrict src,
                                              global const int *restrict u,
                                              global DST_T *dst EPILOGUE_PARAMS)
{
    local short_v v[D_E * D_V_PLANE];
    local ACC_V p[D_E * D_P_PLANE];
    local short_v strip[D_STRIP];
    const int tile = (int)get_global_id(0) * T_TILES, part = get_global_id(1);
    const int count = min(T_TILES, D_TILES - tile);
    const int from = (int)((long)D_DST_TILES * part / T_SPLIT);
    const int to = (int)((long)D_DST_TILES * (part + 1) / T_SPLIT);
    transform_source(v, strip, src, tile, count);
    u += (INDEX_T)from * (D_E * D_SRC_PAIRS * D_KT);
#pragma nounroll
    for (int kt = from; kt < to; kt++) {
#pragma nounroll
        for (int e = 0; e < D_E; e++, u += D_SRC_PAIRS * D_KT)
            multiply(p + e * D_P_PLANE, v + e * D_V_PLANE, u, count);
        store(dst, p, tile, count, kt * T_KV, min(kt * T_KV + T_KV, D_DST_VECTORS) EPILOGUE_PASS);
    }
}
