/* depthwise.cl: convolutions with one input channel per group on plain tensors, forward and
 * backward data.
 *
 * One item computes T_ROWS rows of T_PIX vectors of T_VEC columns of one image plane (and of every
 * output channel of its group), from the piece of the source that depthwise_source.cl keeps for it.
 *
 * Backward data is the same with dy as the source and offsets that run backwards, once for each
 * phase of dx (position modulo stride), summed over the output channels of the group.
 *
 * Grid: (ceil(D_GRID_W / (T_PIX * T_VEC)), ceil(D_GRID_H / T_ROWS), P_N * P_GROUPS * P_DST_D).
 *
 * Defines, besides those of the files included:
 *   D_ROW                 T_VEC unless that is 1
 *   T_GROUP               items of a group along a row
 */
#include "depthwise_source.cl"
#include "epilogue.cl"
#include "rows.cl"

/* Unrolled loops read each vector of the buffer once. Huge loops would only build slowly. */
#if P_FILTER_H * P_FILTER_W * T_ROWS <= 256 && D_PHASES_H * D_PHASES_W == 1
#define EACH_TAP _Pragma("unroll")
#else
#define EACH_TAP _Pragma("nounroll")
#endif

GROUP_SIZE(T_GROUP, 1, 1)
kernel void depthwise(global const SRC_T *restrict src, global const SRC_T *restrict w,
                      global DST_T *dst EPILOGUE_PARAMS)
{
    const int col0 = get_global_id(0) * (T_PIX * T_VEC), row0 = get_global_id(1) * T_ROWS;
    if (col0 >= D_GRID_W)
        return;
    const int z = get_global_id(2) % P_DST_D;
    const INDEX_T image = get_global_id(2) / P_DST_D, n = image / P_GROUPS;
    const int group = image % P_GROUPS;

    INDEX_T plane[D_SOURCES * P_FILTER_D];
    for (int m = 0; m < D_SOURCES; m++)
        for (int q = 0; q < P_FILTER_D; q++) {
            int d = source_depth(z, q);
            plane[m * P_FILTER_D + q] = d < 0 ? -1 : (image * D_SOURCES + m) * P_SRC_D + d;
        }
#if T_VEC > 1
    ACC_T buffer[D_BUFFER(D_SOURCES * P_FILTER_D)];
    for (int i = 0; i < D_SOURCES * P_FILTER_D; i++)
        if (plane[i] >= 0)
            fill(src, plane[i] * D_SRC_PLANE, buffer + i * D_SECTION, row0, col0);
#endif

    for (int out = 0; out < (D_BACKWARD ? 1 : D_MULTIPLE); out++) {
        const int channel = D_BACKWARD ? group : group * D_MULTIPLE + out;
        const INDEX_T to_plane =
            ((n * (D_BACKWARD ? P_GROUPS : P_GROUPS * D_MULTIPLE) + channel) * P_DST_D + z) *
            D_DST_PLANE;
        for (int ph = 0; ph < D_PHASES_H; ph++)
            for (int pw = 0; pw < D_PHASES_W; pw++)
                for (int i = 0; i < T_PIX; i++) {
                    ACC_V acc[T_ROWS];
#pragma unroll
                    for (int row = 0; row < T_ROWS; row++)
                        acc[row] = (ACC_V)(0);
                    for (int k = 0; k < D_SOURCES * P_FILTER_D; k++) {
                        if (plane[k] < 0)
                            continue;
                        global const SRC_T *tap =
                            w + ((INDEX_T)(group * D_MULTIPLE + out) * P_FILTER_D + k) * D_TAPS;
                        EACH_TAP
                        for (int s = FIRST(pw, W); s < P_FILTER_W; s += NEXT(W)) {
                            EACH_TAP
                            for (int r = FIRST(ph, H); r < P_FILTER_H; r += NEXT(H)) {
                                const ACC_V a = (ACC_V)(SRC_LOAD(tap, r * P_FILTER_W + s));
#pragma unroll
                                for (int row = 0; row < T_ROWS; row++)
                                    acc[row] += a * READ(k, SLOT(r, H), row + OFFSET(r, H),
                                                         SLOT(s, W), i * T_VEC + OFFSET(s, W));
                            }
                        }
                    }
                    const int t = col0 + i * T_VEC;
                    EACH_RESULT
                    for (int row = 0; row < T_ROWS; row++) {
                        const int y = PLACE(row0 + row, ph, H), x = PLACE(t, pw, W);
                        if (row0 + row >= D_GRID_H || y < 0 || y >= P_DST_H)
                            continue;
                        const INDEX_T at = to_plane + (INDEX_T)y * P_DST_W + x;
#if T_VEC == 1
                        if (x >= 0 && x < P_DST_W)
                            DST_STORE(dst, at, FINISH(acc[row], channel, at));
#else
#ifdef P_BETA
                        const int whole = T_VEC; /* residuals behind the row are not read */
#define OLD DST_LOADN(T_VEC, residual, at)
#else
                        const int whole = 1;
#define OLD (ROW_T)((VAL_T)0)
#endif
                        const int left = min(P_DST_W - x, D_GRID_W - t);
                        if (D_DENSE && left >= whole) {
                            STORE_SOME(dst, FINISH_ROW(acc[row], OLD, channel), min(left, T_VEC),
                                       at);
                            continue;
                        }
                        ACC_T lane[T_VEC];
                        STOREV(acc[row], lane);
#pragma nounroll
                        for (int l = 0; l < T_VEC; l++) {
                            const int step = D_BACKWARD ? l * P_STRIDE_W : l;
                            if (t + l < D_GRID_W && x + step >= 0 && x + step < P_DST_W)
                                DST_STORE(dst, at + step, FINISH(lane[l], channel, at + step));
                        }
#endif
                    }
                }
    }
}
