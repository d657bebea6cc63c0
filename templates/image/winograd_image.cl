/* winograd_image.cl: 3x3 convolution with stride 1 by Winograd's minimal filtering, all of it in
 * images: four kernels, one after the other.
 *
 * A tile is T_M x T_M pixels of the destination; it depends on a patch of T_T x T_T pixels of the
 * source, T_T = T_M + 2. With the matrices A, B, G of winograd_transforms.cl, t one of D_E =
 * T_T * T_T elements of a patch (rows outside), p a tile (images outside, then rows):
 *
 *     filter         U[t][k][c] = (G w[k][c] G^T)[t]
 *     source         V[t][c][p] = (B^T patch[p][c] B)[t]
 *     product        M[t][k][p] = sum over c of U[t][k][c] * V[t][c][p]
 *     destination    tile[p][k] = epilogue(A^T M[.][k][p] A)
 *
 * Images, with x to the right and y down:
 *     source, destination   (c / 4 * width + w, n * height + h), lane c % 4
 *     U   (c / 4, t * K + k), lane c % 4                    width-major
 *     V   (p, t * D_SRC_ALL + c / 4), lane c % 4            height-major
 *     M   (p, t * D_DST_ALL + k / 4), lane k % 4            height-major
 *
 * The weights are plain, or an image as direct_image.cl has it:
 *     w   (c, k / 4 * 9 + tap), lane k % 4; with D_FLAT (tap * D_FLAT + c, k / 4)
 *
 * Lanes past the last channel hold zero everywhere: in U and V because they do in the weights and
 * the source, in M because `product` leaves them out: behind the last row of U of one t lies the
 * first row of the next.
 *
 * `product` computes T_P tiles by four channels a block, T_KV blocks, of one t:
 *
 *                   V: T_P pixels of one block of c
 *     U: a pixel    [ 4 ][ 4 ] ...      sums of products lane by lane, added up across the lanes at
 *     for each k    [ 4 ][ 4 ] ...      the end
 *
 * Grids: filter (source blocks of a group, D_CHANNELS); source (D_TILES, D_SRC_ALL); product
 * (D_TILES / T_P, groups * D_TILES_K, D_E); destination (D_TILES, D_DST_ALL); all rounded up.
 *
 * Defines, besides those of the files included:
 *   P_SRC_H, P_SRC_W, P_DST_H, P_DST_W, P_PAD_H, P_PAD_W
 *   D_SRC_C, D_DST_C       channels of a group; multiples of four if there are several groups
 *   D_GROUPS               channel groups
 *   D_TILES, D_TILES_H, D_TILES_W   tiles of all images; of a column, a row of one
 *   D_TILES_K              tiles of T_KV blocks of a group's channels
 *   D_FILTER_IMAGE=1, D_FLAT   weights in an image; its columns from tap to tap, 0: not flat
 *   T_M, T_P, T_KV         above
 *   T_GROUP_0, T_GROUP_1   work-group, of every kernel
 */
#include "image.cl"
#include "winograd_transforms.cl"

#define D_E (T_T * T_T)
#define D_SRC_BLOCKS ((D_SRC_C + 3) / 4)
#define D_DST_BLOCKS ((D_DST_C + 3) / 4)
#define D_SRC_ALL (D_GROUPS * D_SRC_BLOCKS)
#define D_DST_ALL (D_GROUPS * D_DST_BLOCKS)
#define GROUP GROUP_SIZE(T_GROUP_0, T_GROUP_1, 1)

/* ---- filter ---- */

#ifdef D_FILTER_IMAGE
#define FILTER_PARAM read_only image2d_t w
static inline float weight(FILTER_PARAM, int k, int c, int tap)
{
#if D_FLAT
    const float4 f = READ(w, tap * D_FLAT + c, k / 4);
#else
    const float4 f = READ(w, c, k / 4 * 9 + tap);
#endif
    return k % 4 == 0 ? f.x : k % 4 == 1 ? f.y : k % 4 == 2 ? f.z : f.w;
}
#else
#define FILTER_PARAM global const SRC_T *w
static inline float weight(FILTER_PARAM, int k, int c, int tap)
{
    return SRC_LOAD(w, ((INDEX_T)k * D_SRC_C + c) * 9 + tap);
}
#endif

/* Four channels of one tap. */
static inline float4 weights(FILTER_PARAM, int k, int c, int tap)
{
    return (float4)(weight(w, k, c, tap), c + 1 < D_SRC_C ? weight(w, k, c + 1, tap) : 0.0f,
                    c + 2 < D_SRC_C ? weight(w, k, c + 2, tap) : 0.0f,
                    c + 3 < D_SRC_C ? weight(w, k, c + 3, tap) : 0.0f);
}

kernel GROUP void filter(FILTER_PARAM, write_only image2d_t u)
{
    const int block = get_global_id(0), k = get_global_id(1);
    if (block >= D_SRC_BLOCKS || k >= D_CHANNELS)
        return;
    float4 mid[3][T_T];
    UNROLL for (int s = 0; s < 3; s++)
    {
        float4 column[3];
        UNROLL for (int r = 0; r < 3; r++) column[r] = weights(w, k, block * 4, 3 * r + s);
        times_g(3, column, mid[s]);
    }
    UNROLL for (int i = 0; i < T_T; i++)
    {
        float4 column[3], row[T_T];
        UNROLL for (int s = 0; s < 3; s++) column[s] = mid[s][i];
        times_g(3, column, row);
        UNROLL for (int j = 0; j < T_T; j++)
            write_imagef(u, (int2)(block, (i * T_T + j) * D_CHANNELS + k), row[j]);
    }
}

/* ---- source ---- */

kernel GROUP void source(read_only image2d_t src, write_only image2d_t v)
{
    const int tile = get_global_id(0), block = get_global_id(1);
    if (tile >= D_TILES || block >= D_SRC_ALL)
        return;
    const int n = tile / (D_TILES_H * D_TILES_W);
    const int y0 = tile / D_TILES_W % D_TILES_H * T_M - P_PAD_H;
    const int x0 = tile % D_TILES_W * T_M - P_PAD_W;
    float4 mid[T_T][T_T];
    UNROLL for (int j = 0; j < T_T; j++)
    {
        /* A pixel in padding is read at x = -1: a pixel beside a row belongs to other channels. */
        const bool column = x0 + j >= 0 && x0 + j < P_SRC_W;
        float4 d[T_T];
        UNROLL for (int i = 0; i < T_T; i++)
        {
            const bool inside = column && y0 + i >= 0 && y0 + i < P_SRC_H;
            d[i] = READ(src, inside ? block * P_SRC_W + x0 + j : -1, n * P_SRC_H + y0 + i);
        }
        times_b(3, d, mid[j]);
    }
    UNROLL for (int i = 0; i < T_T; i++)
    {
        float4 d[T_T], o[T_T];
        UNROLL for (int j = 0; j < T_T; j++) d[j] = mid[j][i];
        times_b(3, d, o);
        UNROLL for (int j = 0; j < T_T; j++)
            write_imagef(v, (int2)(tile, (i * T_T + j) * D_SRC_ALL + block), o[j]);
    }
}

/* ---- product ---- */

static inline float across(float4 v)
{
    return (v.x + v.y) + (v.z + v.w);
}

kernel GROUP void product(read_only image2d_t u, read_only image2d_t v, write_only image2d_t m)
{
    const int p0 = get_global_id(0) * T_P, tile_k = get_global_id(1), t = get_global_id(2);
    if (p0 >= D_TILES || tile_k >= D_GROUPS * D_TILES_K)
        return;
    const int group = tile_k / D_TILES_K, block0 = tile_k % D_TILES_K * T_KV;
    const int row = t * D_CHANNELS + group * D_DST_C + block0 * 4;
    const int plane = t * D_SRC_ALL + group * D_SRC_BLOCKS;
    float4 acc[T_KV * 4][T_P];
    UNROLL for (int k = 0; k < T_KV * 4; k++)
        UNROLL for (int i = 0; i < T_P; i++) acc[k][i] = 0.0f;
    for (int c = 0; c < D_SRC_BLOCKS; c++) {
        float4 d[T_P];
        UNROLL for (int i = 0; i < T_P; i++) d[i] = READ(v, p0 + i, plane + c);
        UNROLL for (int k = 0; k < T_KV * 4; k++)
        {
            const float4 w = READ(u, c, row + k);
            UNROLL for (int i = 0; i < T_P; i++) acc[k][i] += w * d[i];
        }
    }
    UNROLL for (int b = 0; b < T_KV; b++)
        UNROLL for (int i = 0; i < T_P; i++)
        {
            float4 sum = (float4)(across(acc[4 * b][i]), across(acc[4 * b + 1][i]),
                                  across(acc[4 * b + 2][i]), across(acc[4 * b + 3][i]));
#if D_DST_C % 4
            if (block0 + b == D_DST_C / 4)
                sum = (int4)(0, 1, 2, 3) < D_DST_C % 4 ? sum : 0.0f;
#endif
            if (block0 + b < D_DST_BLOCKS && p0 + i < D_TILES)
                write_imagef(m, (int2)(p0 + i, t * D_DST_ALL + group * D_DST_BLOCKS + block0 + b),
                             sum);
        }
}

/* ---- destination ---- */

kernel GROUP void destination(read_only image2d_t m, write_only image2d_t dst EPILOGUE_PARAMS)
{
    const int tile = get_global_id(0), block = get_global_id(1);
    if (tile >= D_TILES || block >= D_DST_ALL)
        return;
    const int n = tile / (D_TILES_H * D_TILES_W);
    const int y0 = tile / D_TILES_W % D_TILES_H * T_M, x0 = tile % D_TILES_W * T_M;
    float4 mid[T_T][T_M];
    UNROLL for (int j = 0; j < T_T; j++)
    {
        float4 p[T_T];
        UNROLL for (int i = 0; i < T_T; i++) p[i] =
            READ(m, tile, (i * T_T + j) * D_DST_ALL + block);
        times_a(3, p, mid[j]);
    }
    UNROLL for (int i = 0; i < T_M; i++)
    {
        float4 p[T_T], o[T_M];
        UNROLL for (int j = 0; j < T_T; j++) p[j] = mid[j][i];
        times_a(3, p, o);
        UNROLL for (int j = 0; j < T_M; j++)
            if (y0 + i < P_DST_H && x0 + j < P_DST_W)
                PUT_PIXEL(dst, o[j], block,
                          (int2)(block * P_DST_W + x0 + j, n * P_DST_H + y0 + i));
    }
}
