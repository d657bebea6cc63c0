/* winograd_gemm.cl: convolution of P_TAPS x P_TAPS filters with stride 1 by Winograd's minimal
 * filtering, for devices whose work-items share local memory: the transforms round the product of
 * gemm.cl.
 *
 * A tile is T_M x T_M pixels of the destination; it depends on a patch of T_T x T_T pixels of the
 * source, T_T = T_M + P_TAPS - 1. With the matrices A, B, G of winograd_transforms.cl, e one of the
 * T_T * T_T elements of a patch, p a tile (images outside, then rows):
 *
 *     filter    U[e][c][k] = (G w[k][c] G^T)[e]                       packed weights of gemm.cl
 *     source    V[e][c][p] = (B^T patch[p][c] B)[e]                   winograd_patches.cl has it
 *     gemm      M[e][k][p] = sum over c of U[e][c][k] * V[e][c][p]    elements are gemm.cl's groups
 *     result    tile[p][k] = epilogue(A^T M[.][k][p] A)
 *
 *         source, T_T = 6, T_M = 4:      . . . . . .
 *                                        . # # # # .     patches overlap by P_TAPS - 1 pixels,
 *                                        . # # # # .     tiles (#) lie side by side
 *                                        . # # # # .
 *                                        . # # # # .
 *                                        . . . . . .
 *
 * Grids     filter (D_COLUMNS, D_ROWS, P_GROUPS); source (D_TILES, channels); result (D_TILES,
 *           channels); rounded up to groups of T_GROUP_0 x T_GROUP_1.
 * Defines   those of epilogue.cl and vectors.cl (D_B = 1), and
 *   P_SRC_H, P_SRC_W, P_DST_H, P_DST_W
 *   D_LEAD_H, D_LEAD_W     the first tile's patch begins so far before the source
 *   P_GROUPS               D_SRC_C, D_DST_C: channels of one group
 *   D_BACKWARD             backward data: the filter is turned round
 *   D_W_DST, D_W_SRC       strides of the weights over channels of the destination and the source
 *   D_ROWS, D_COLUMNS      of the packed weights of a group and an element
 *   D_REAL_TILES           tiles; D_TILES: the next multiple of four, D_TILES_H, D_TILES_W: of an
 *                          image
 *   D_SRC_IMAGE, _CHANNEL, _ROW, _PIXEL, D_DST_...    elements from one to the next
 *   T_T, T_M, T_GROUP_0, T_GROUP_1                    above
 */
#include "epilogue.cl"
#include "winograd_patches.cl"

#define FILTER (P_TAPS * P_TAPS)

kernel GROUP void filter(global const SRC_T *restrict w, global ACC_T *restrict u)
{
    const int k = get_global_id(0), c = get_global_id(1), group = get_global_id(2);
    if (k >= D_COLUMNS || c >= D_ROWS)
        return;
    const bool real = k < D_DST_C && c < D_SRC_C;
    const INDEX_T from = (INDEX_T)group * D_DST_C * D_SRC_C * FILTER + (INDEX_T)k * D_W_DST +
                         (INDEX_T)c * D_W_SRC;
    ACC_T mid[P_TAPS][T_T];
    UNROLL
    for (int s = 0; s < P_TAPS; s++) {
        ACC_T column[P_TAPS];
        UNROLL
        for (int r = 0; r < P_TAPS; r++) {
            const int tap = P_TAPS * r + s;
            column[r] = real ? SRC_LOAD(w, from + (D_BACKWARD ? FILTER - 1 - tap : tap)) : 0;
        }
        times_g(P_TAPS, column, mid[s]);
    }
    UNROLL
    for (int i = 0; i < T_T; i++) {
        ACC_T column[P_TAPS], row[T_T];
        UNROLL
        for (int s = 0; s < P_TAPS; s++)
            column[s] = mid[s][i];
        times_g(P_TAPS, column, row);
        UNROLL
        for (int j = 0; j < T_T; j++)
            u[(((INDEX_T)(i * T_T + j) * P_GROUPS + group) * D_ROWS + c) * D_COLUMNS + k] = row[j];
    }
}

kernel GROUP void result(global const ACC_T *restrict m, global DST_T *dst EPILOGUE_PARAMS)
{
    const int tile = get_global_id(0), k = get_global_id(1);
    if (tile >= D_REAL_TILES || k >= P_GROUPS * D_DST_C)
        return;
    const int y0 = tile / D_TILES_W % D_TILES_H * T_M, x0 = tile % D_TILES_W * T_M;
    const INDEX_T to = (INDEX_T)(tile / (D_TILES_H * D_TILES_W)) * D_DST_IMAGE +
                       (INDEX_T)k * D_DST_CHANNEL;
    ACC_T mid[T_T][T_M];
    UNROLL
    for (int j = 0; j < T_T; j++) {
        ACC_T p[T_T];
        UNROLL
        for (int i = 0; i < T_T; i++)
            p[i] = m[((INDEX_T)(i * T_T + j) * (P_GROUPS * D_DST_C) + k) * D_TILES + tile];
        times_a(P_TAPS, p, mid[j]);
    }
    UNROLL
    for (int i = 0; i < T_M; i++) {
        ACC_T p[T_T], o[T_M];
        UNROLL
        for (int j = 0; j < T_T; j++)
            p[j] = mid[j][i];
        times_a(P_TAPS, p, o);
        UNROLL
        for (int j = 0; j < T_M; j++) {
            const INDEX_T e =
                to + (INDEX_T)(y0 + i) * D_DST_ROW + (INDEX_T)(x0 + j) * D_DST_PIXEL;
            if (y0 + i < P_DST_H && x0 + j < P_DST_W)
                DST_STORE(dst, e, FINISH(o[j], k, e));
        }
    }
}
