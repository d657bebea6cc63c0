/* winograd_patches.cl: the patches of a tensor that Winograd's tiles depend on, transformed.
 *
 *     V[e][c][p] = (B^T patch[p][c] B)[e]        e: one of T_T * T_T elements, c: channel, p: tile
 *
 * Tiles are T_M pixels apart, images outside, then rows; the first patch begins D_LEAD_H, D_LEAD_W
 * before the first pixel.
 *
 * Grid      source: (D_TILES, channels), rounded up to groups of T_GROUP_0 x T_GROUP_1.
 * Defines   those of vectors.cl, with D_B = 1, and
 *   P_SRC_H, P_SRC_W, D_SRC_IMAGE, _CHANNEL, _ROW, _PIXEL    sizes, and elements from one to the
 *                          next
 *   P_GROUPS, D_SRC_C      channels are P_GROUPS * D_SRC_C
 *   D_REAL_TILES           tiles; D_TILES: a multiple of four from there on, D_TILES_H, D_TILES_W:
 *                          of an image
 *   P_TAPS                 of the filter along an axis
 *   T_T, T_M, T_GROUP_0, T_GROUP_1                           above
 */
#include "winograd_transforms.cl"

#define GROUP GROUP_SIZE(T_GROUP_0, T_GROUP_1, 1)

/* Tiles past the last one are zero: they are multiplied, too. */
kernel GROUP void source(global const SRC_T *restrict src, global ACC_T *restrict v)
{
    const int tile = get_global_id(0), c = get_global_id(1);
    if (tile >= D_TILES || c >= P_GROUPS * D_SRC_C)
        return;
    const int y0 = tile / D_TILES_W % D_TILES_H * T_M - D_LEAD_H;
    const int x0 = tile % D_TILES_W * T_M - D_LEAD_W;
    src += (INDEX_T)(tile / (D_TILES_H * D_TILES_W)) * D_SRC_IMAGE + (INDEX_T)c * D_SRC_CHANNEL;
    ACC_T mid[T_T][T_T];
    UNROLL
    for (int j = 0; j < T_T; j++) {
        const bool column = (uint)(x0 + j) < P_SRC_W && tile < D_REAL_TILES;
        ACC_T d[T_T];
        UNROLL
        for (int i = 0; i < T_T; i++)
            d[i] =
                column && (uint)(y0 + i) < P_SRC_H
                    ? SRC_LOAD(src, (INDEX_T)(y0 + i) * D_SRC_ROW + (INDEX_T)(x0 + j) * D_SRC_PIXEL)
                    : 0;
        times_b(P_TAPS, d, mid[j]);
    }
    UNROLL
    for (int i = 0; i < T_T; i++) {
        ACC_T d[T_T], o[T_T];
        UNROLL
        for (int j = 0; j < T_T; j++)
            d[j] = mid[j][i];
        times_b(P_TAPS, d, o);
        UNROLL
        for (int j = 0; j < T_T; j++)
            v[((INDEX_T)(i * T_T + j) * (P_GROUPS * D_SRC_C) + c) * D_TILES + tile] = o[j];
    }
}
