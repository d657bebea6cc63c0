/* winograd_gemm_weights.cl: the gradient of P_TAPS x P_TAPS filters with stride 1 by Winograd's
 * minimal filtering: tiles of T_M x T_M pixels of dy are the filters of patches of T_T x T_T pixels
 * of x, and a gradient is the sum of their P_TAPS x P_TAPS results over all tiles.
 *
 *     source      V[e][c][p] = (B^T patch[p][c] B)[e]          winograd_patches.cl has it
 *     gradient    U[e][k][p] = (G tile[p][k] G^T)[e]           of dy, zero beyond its borders
 *     gemm_weights  M[e][k][c] = sum over p of U[e][k][p] * V[e][c][p]
 *     weights     dw[k][c] = A^T M[.][k][c] A
 *
 * F(3x3, 4x4):
 *         x:  . . . . . .      dy:  # # # #       dw:  o o o
 *             . . . . . .           # # # #            o o o
 *             . . . . . .           # # # #            o o o
 *             . . . . . .           # # # #
 *             . . . . . .
 *             . . . . . .
 *
 * Grids     gradient (D_TILES, channels of dy); weights (D_SRC_C, channels of dy); rounded up to
 *           groups of T_GROUP_0 x T_GROUP_1.
 * Defines   those of winograd_patches.cl, and
 *   P_DST_H, P_DST_W, D_DST_IMAGE, _CHANNEL, _ROW, _PIXEL    of dy
 *   D_DST_C                                                  channels of one group of dy
 */
#include "winograd_patches.cl"

kernel GROUP void gradient(global const SRC_T *restrict dy, global ACC_T *restrict u)
{
    const int tile = get_global_id(0), k = get_global_id(1);
    if (tile >= D_TILES || k >= P_GROUPS * D_DST_C)
        return;
    const int y0 = tile / D_TILES_W % D_TILES_H * T_M, x0 = tile % D_TILES_W * T_M;
    dy += (INDEX_T)(tile / (D_TILES_H * D_TILES_W)) * D_DST_IMAGE + (INDEX_T)k * D_DST_CHANNEL;
    ACC_T mid[T_M][T_T];
    UNROLL
    for (int j = 0; j < T_M; j++) {
        const bool column = x0 + j < P_DST_W && tile < D_REAL_TILES;
        ACC_T d[T_M];
        UNROLL
        for (int i = 0; i < T_M; i++)
            d[i] =
                column && y0 + i < P_DST_H
                    ? SRC_LOAD(dy, (INDEX_T)(y0 + i) * D_DST_ROW + (INDEX_T)(x0 + j) * D_DST_PIXEL)
                    : 0;
        times_g(T_M, d, mid[j]);
    }
    UNROLL
    for (int i = 0; i < T_T; i++) {
        ACC_T d[T_M], o[T_T];
        UNROLL
        for (int j = 0; j < T_M; j++)
            d[j] = mid[j][i];
        times_g(T_M, d, o);
        UNROLL
        for (int j = 0; j < T_T; j++)
            u[((INDEX_T)(i * T_T + j) * (P_GROUPS * D_DST_C) + k) * D_TILES + tile] = o[j];
    }
}

kernel GROUP void weights(global const ACC_T *restrict m, global DST_T *restrict dw)
{
    const int c = get_global_id(0), k = get_global_id(1);
    if (c >= D_SRC_C || k >= P_GROUPS * D_DST_C)
        return;
    ACC_T mid[T_T][P_TAPS];
    UNROLL
    for (int j = 0; j < T_T; j++) {
        ACC_T p[T_T];
        UNROLL
        for (int i = 0; i < T_T; i++)
            p[i] = m[((INDEX_T)(i * T_T + j) * (P_GROUPS * D_DST_C) + k) * D_SRC_C + c];
        times_a(T_M, p, mid[j]);
    }
    UNROLL
    for (int i = 0; i < P_TAPS; i++) {
        ACC_T p[T_T], o[P_TAPS];
        UNROLL
        for (int j = 0; j < T_T; j++)
            p[j] = mid[j][i];
        times_a(T_M, p, o);
        UNROLL
        for (int j = 0; j < P_TAPS; j++)
            DST_STORE(dw, (INDEX_T)k * D_W_K + (INDEX_T)c * D_W_C + (i * P_TAPS + j) * D_W_TAP,
                      o[j]);
    }
}
