/* depthwise_plain_weights.cl: backward weights of convolutions with one input channel per group, on
 * plain tensors.
 *
 * One item sums D_TAP_ROWS rows of the filter of one output channel over its share of the rows of
 * all images, in the pieces of depthwise_source.cl; lanes are added up at the end. With T_SPLIT > 1
 * shares, the sums stay apart and sum_parts.cl adds them.
 *
 * Grid: (P_FILTER_D * ceil(P_FILTER_H / D_TAP_ROWS), P_GROUPS * D_MULTIPLE, T_SPLIT).
 *
 * Defines, besides those of the files included:
 *   P_N, D_TAP_ROWS   above
 *   D_W_GROUP, D_W_K, D_W_TAP   elements of dw from a group, an output channel of a group, and a
 *                     tap to the next one; a part lies as dw does
 */
#include "depthwise_source.cl"
#include "parts.cl"

/* Rows row0 .. of one plane of dy from column col0, zeros outside. */
#if T_VEC > 1
static void fill_dy(global const SRC_T *dy, private ACC_T *to, int row0, int col0)
{
    for (int row = 0; row < T_ROWS; row++, to += T_PIX * T_VEC) {
        const int high = row0 + row < D_GRID_H ? min(D_GRID_W - col0, T_PIX * T_VEC) : 0;
        global const SRC_T *from = dy + (INDEX_T)(row0 + row) * D_GRID_W + col0;
        int v = 0;
        for (; v + T_VEC <= high; v += T_VEC)
            STOREV(SRC_LOADN(T_VEC, from, v), to + v);
        for (; v < high; v++)
            to[v] = SRC_LOAD(from, v);
        for (; v < T_PIX * T_VEC; v++)
            to[v] = 0;
    }
}
#endif

#define D_ROW_BLOCKS ((D_GRID_H + T_ROWS - 1) / T_ROWS)
#define D_TAP_BLOCKS ((P_FILTER_H + D_TAP_ROWS - 1) / D_TAP_ROWS)

/* One item: D_TAP_ROWS rows of the filter of one output channel, over one part of its rows. */
kernel void depthwise_weights(global const SRC_T *restrict x, global const SRC_T *restrict dy,
                              global OUT_T *restrict out)
{
    const int q = get_global_id(0) / D_TAP_BLOCKS, part = get_global_id(2);
    const int r0 = D_TAP_BLOCKS == 1 ? 0 : get_global_id(0) % D_TAP_BLOCKS * D_TAP_ROWS;
    const INDEX_T k = get_global_id(1), group = k / D_MULTIPLE;
    ACC_V acc[D_TAP_ROWS * P_FILTER_W];
#pragma unroll
    for (int i = 0; i < D_TAP_ROWS * P_FILTER_W; i++)
        acc[i] = (ACC_V)(0);

    const INDEX_T blocks = (INDEX_T)P_N * D_GRID_D * D_ROW_BLOCKS;
    const INDEX_T each = (blocks + T_SPLIT - 1) / T_SPLIT, end = min((part + 1) * each, blocks);
    for (INDEX_T block = part * each; block < end; block++) {
        const int row0 = block % D_ROW_BLOCKS * T_ROWS, z = block / D_ROW_BLOCKS % D_GRID_D;
        const INDEX_T n = block / D_ROW_BLOCKS / D_GRID_D;
        const int d = source_depth(z, q);
        if (d < 0)
            continue;
        const INDEX_T plane_at = ((n * P_GROUPS + group) * P_SRC_D + d) * D_SRC_PLANE;
        global const SRC_T *grad = dy + ((n * P_GROUPS * D_MULTIPLE + k) * D_GRID_D + z) *
                                            ((INDEX_T)D_GRID_H * D_GRID_W);
        for (int col0 = 0; col0 < D_GRID_W; col0 += T_PIX * T_VEC) {
#if T_VEC > 1
            ACC_T buffer[D_BUFFER(1)], dy_buffer[T_ROWS * T_PIX * T_VEC];
            fill(x, plane_at, buffer, row0, col0);
            fill_dy(grad, dy_buffer, row0, col0);
#else
            global const SRC_T *src = x + plane_at;
            const INDEX_T plane[1] = {0};
#endif
            for (int i = 0; i < T_PIX; i++) {
                ACC_V a[T_ROWS];
#pragma unroll
                for (int row = 0; row < T_ROWS; row++)
#if T_VEC > 1
                    a[row] = LOADV(dy_buffer + (row * T_PIX + i) * T_VEC);
#else
                    a[row] = row0 + row < D_GRID_H
                                 ? SRC_LOAD(grad, (INDEX_T)(row0 + row) * D_GRID_W + col0)
                                 : 0;
#endif
#pragma unroll
                for (int s = 0; s < P_FILTER_W; s++)
#pragma unroll
                    for (int j = 0; j < D_TAP_ROWS; j++) {
                        const int r = min(r0 + j, P_FILTER_H - 1);
#pragma unroll
                        for (int row = 0; row < T_ROWS; row++)
                            acc[j * P_FILTER_W + s] +=
                                a[row] * READ(0, SLOT(r, H), row + OFFSET(r, H), SLOT(s, W),
                                              i * T_VEC + OFFSET(s, W));
                    }
            }
        }
    }

    out += part * (INDEX_T)(P_GROUPS * D_MULTIPLE) * P_FILTER_D * D_TAPS + group * D_W_GROUP +
           k % D_MULTIPLE * D_W_K + (INDEX_T)q * D_TAPS * D_W_TAP;
#pragma unroll
    for (int i = 0; i < D_TAP_ROWS * P_FILTER_W; i++) {
#if T_VEC == 1
        const ACC_T sum = acc[i];
#else
        ACC_T lane[T_VEC], sum = 0;
        STOREV(acc[i], lane);
        for (int l = 0; l < T_VEC; l++)
            sum += lane[l];
#endif
        if (r0 + i / P_FILTER_W < P_FILTER_H)
            OUT_STORE(out, (INDEX_T)(r0 * P_FILTER_W + i) * D_W_TAP, sum);
    }
}
