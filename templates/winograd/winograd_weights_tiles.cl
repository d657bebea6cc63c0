/* winograd_weights_tiles.cl: the first two steps of winograd_weights.cl, which explains them and
 * has the defines: they transform a row of tiles.
 *
 *   D_C_BLOCKS, D_K_BLOCKS   blocks of channels of x, of dy
 *   D_V_PLANE, D_U_PLANE     elements of one of the 36 planes of v, of u
 *   source_row(x, v, row, to, block)      of one block of channels, into row `to` of v
 *   gradient_row(dy, u, row, to, block)   the same of dy
 *   TAPS                     of F(3x3, 4x4) along an axis: 4, those of a tile of dy
 */
#define TAPS 4
#define T_T 6 /* products along an axis; a parameter in forward and backward data */

#include "vectors.cl"
#include "winograd_transforms.cl"

#define D_C_BLOCKS ((D_SRC_C + D_B - 1) / D_B)
#define D_K_BLOCKS ((D_DST_C + D_B - 1) / D_B)
/* One vector more than needed, so that planes do not meet in the same sets of a cache. */
#define D_V_PLANE ((INDEX_T)(D_C_BLOCKS * (INDEX_T)D_ROOM + 1) * D_B)
#define D_U_PLANE ((INDEX_T)(D_K_BLOCKS * (INDEX_T)D_ROOM + 1) * D_B)

/* ---- rows of tiles ---- */

/* Row `row` of tiles becomes row `to` of the D_ROOM tiles. */
INLINE void source_row(global const SRC_T *x, global ACC_T *v, const int row, const int to,
                       const int block)
{
    const int n = row / D_TILES_H, y0 = row % D_TILES_H * 4 - D_LEAD_H;
    x += ((INDEX_T)n * D_C_BLOCKS + block) * P_SRC_H * P_SRC_W * D_B;
    v += ((INDEX_T)block * D_ROOM + (INDEX_T)to * D_TILES_W) * D_B;
    ACC_V mid[6][6];
#pragma nounroll
    for (int tx = 0; tx < D_TILES_W; tx++, v += D_B) {
        /* The last two columns of a patch are the first of the next. */
#pragma unroll
        for (int i = 0; i < 6; i++) {
            mid[i][0] = mid[i][4];
            mid[i][1] = mid[i][5];
        }
        for (int j = tx ? 2 : 0; j < 6; j++) {
            const int column = tx * 4 + j - D_LEAD_W;
            ACC_V d[6], o[6];
#pragma unroll
            for (int i = 0; i < 6; i++) {
                const int y = y0 + i;
                const bool inside = column >= 0 && column < P_SRC_W && y >= 0 && y < P_SRC_H;
                d[i] = inside ? SRC_LOAD_V(x, (y * P_SRC_W + column) * D_B) : (ACC_V)(0);
            }
            times_b(TAPS, d, o);
#pragma unroll
            for (int i = 0; i < 6; i++)
                mid[i][j] = o[i];
        }
#pragma unroll
        for (int i = 0; i < 6; i++) {
            ACC_V o[6];
            times_b(TAPS, mid[i], o);
#pragma unroll
            for (int j = 0; j < 6; j++)
                STORE_V(v + (i * 6 + j) * D_V_PLANE, o[j]);
        }
    }
}

INLINE void gradient_row(global const SRC_T *dy, global ACC_T *u, const int row, const int to,
                         const int block)
{
    const int n = row / D_TILES_H, y0 = row % D_TILES_H * 4;
    dy += ((INDEX_T)n * D_K_BLOCKS + block) * P_DST_H * P_DST_W * D_B;
    u += ((INDEX_T)block * D_ROOM + (INDEX_T)to * D_TILES_W) * D_B;
#pragma nounroll
    for (int tx = 0; tx < D_TILES_W; tx++, u += D_B) {
        ACC_V mid[6][4];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const int column = tx * 4 + j;
            ACC_V d[4], o[6];
#pragma unroll
            for (int i = 0; i < 4; i++)
                d[i] = column < P_DST_W && y0 + i < P_DST_H
                           ? SRC_LOAD_V(dy, ((y0 + i) * P_DST_W + column) * D_B)
                           : (ACC_V)(0);
            times_g(TAPS, d, o);
#pragma unroll
            for (int i = 0; i < 6; i++)
                mid[i][j] = o[i];
        }
#pragma unroll
        for (int i = 0; i < 6; i++) {
            ACC_V o[6];
            times_g(TAPS, mid[i], o);
#pragma unroll
            for (int j = 0; j < 6; j++)
                STORE_V(u + (i * 6 + j) * D_U_PLANE, o[j]);
        }
    }
}
