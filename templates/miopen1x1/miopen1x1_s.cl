/* miopen1x1_s.cl: 1x1 convolution, forward or backward data, any stride, any channels, NCHW.
 *
 * "In" is the tensor that is read, "out" the one written: in backward data dy and dx. A work-item
 * reads MLO_READ_UNIT pixels in a row of every input channel and computes MLO_N_LCL_OUT_MAPS output
 * channels of them.
 *
 *   forward, stride 2, READ_UNIT 2          backward data, stride 2, READ_UNIT 2
 *
 *      in: x . x .                             in: x x
 *          . . . .                                  |
 *             |                                     v
 *             v                               out: v 0 v 0     the values, and zeros (through the
 *     out: v v                                     0 0 0 0     epilogue) in the holes of its block
 *
 * Grid: MLO_BATCH_SZ * MLO_MAP_SZ4 work-items in groups of MLO_GRP_SZ0, rounded up and guarded
 * here; second dimension the blocks of output channels. MLO_OUT_WIDTH4 work-items make a row of the
 * image (strided only).
 *
 * Defines (MIOpen's; index 0 is horizontal, 1 vertical):
 *   MLO_DIR_FORWARD, MLO_FILTER_STRIDE0/1, MLO_IN_/OUT_WIDTH, _STRIDE (of a row), _CHANNEL_STRIDE,
 *   _BATCH_STRIDE, MLO_OUT_HEIGHT, MLO_BATCH_SZ, MLO_WEI_BSTRIDE, MLO_WEI_CHANNEL_STRIDE (w is
 *   [forward outputs][forward inputs])
 *   MLO_READ_UNIT            divides MLO_IN_WIDTH
 *   MLO_N_LCL_OUT_MAPS       divides the output channels
 *   MLO_N_LCL_IN_MAPS        channels loaded at a time; MLO_CLOOP0 times that is all of them
 *   MLO_VERT_/HORIZ_ALIGNED  backward data: dx is a whole number of strides high, wide
 */
#include "epilogue.cl"

#if MLO_DIR_FORWARD
#define D_WEIGHT(out, in) ((INDEX_T)(out) * MLO_WEI_BSTRIDE + (in) * MLO_WEI_CHANNEL_STRIDE)
#define D_IN_STEP MLO_FILTER_STRIDE0
#else
#define D_WEIGHT(out, in) ((INDEX_T)(in) * MLO_WEI_BSTRIDE + (out) * MLO_WEI_CHANNEL_STRIDE)
#define D_IN_STEP 1
#endif

/* A forward row may end inside a work-item's pixels; those past its end are not read or written. */
#define D_RAGGED (MLO_DIR_FORWARD && MLO_OUT_WIDTH % MLO_READ_UNIT != 0)

/* acc[o][i] = sum over the input channels; `in` is at the first pixel of the first one. */
static inline void sum_channels(const global SRC_T *in, const global SRC_T *w, int out_first,
                                int valid, float acc[][MLO_READ_UNIT])
{
    for (int o = 0; o < MLO_N_LCL_OUT_MAPS; ++o)
        for (int i = 0; i < MLO_READ_UNIT; ++i)
            acc[o][i] = 0;
    for (int step = 0; step < MLO_CLOOP0; ++step) {
        const int first = step * MLO_N_LCL_IN_MAPS;
        float dat[MLO_N_LCL_IN_MAPS][MLO_READ_UNIT];
#pragma unroll
        for (int c = 0; c < MLO_N_LCL_IN_MAPS; ++c)
#pragma unroll
            for (int i = 0; i < MLO_READ_UNIT; ++i)
                dat[c][i] = D_RAGGED && i >= valid
                                ? 0
                                : SRC_LOAD(in, (INDEX_T)(first + c) * MLO_IN_CHANNEL_STRIDE +
                                                   i * D_IN_STEP);
#pragma unroll
        for (int o = 0; o < MLO_N_LCL_OUT_MAPS; ++o)
#pragma unroll
            for (int c = 0; c < MLO_N_LCL_IN_MAPS; ++c) {
                const float weight = SRC_LOAD(w, D_WEIGHT(out_first + o, first + c));
#pragma unroll
                for (int i = 0; i < MLO_READ_UNIT; ++i)
                    acc[o][i] += dat[c][i] * weight;
            }
    }
}

#if MLO_FILTER_STRIDE0 == 1 && MLO_FILTER_STRIDE1 == 1

kernel GROUP_SIZE(MLO_GRP_SZ0, 1, 1)
void MIOpenConv1x1(const global SRC_T *restrict in, const global SRC_T *restrict w,
                   global DST_T *out EPILOGUE_PARAMS)
{
    const size_t item = get_global_id(0);
    const int out_first = (int)get_group_id(1) * MLO_N_LCL_OUT_MAPS;
    const INDEX_T image = (INDEX_T)(item / MLO_MAP_SZ4);
    const INDEX_T at = (INDEX_T)(item % MLO_MAP_SZ4) * MLO_READ_UNIT;
    if (image >= MLO_BATCH_SZ)
        return;

    float acc[MLO_N_LCL_OUT_MAPS][MLO_READ_UNIT];
    sum_channels(in + image * MLO_IN_BATCH_STRIDE + at, w, out_first, MLO_READ_UNIT, acc);

    const INDEX_T to = image * MLO_OUT_BATCH_STRIDE + at;
#pragma unroll
    for (int o = 0; o < MLO_N_LCL_OUT_MAPS; ++o)
#pragma unroll
        for (int i = 0; i < MLO_READ_UNIT; ++i) {
            const INDEX_T k = to + (INDEX_T)(out_first + o) * MLO_OUT_CHANNEL_STRIDE + i;
            DST_STORE(out, k, FINISH(acc[o][i], out_first + o, k));
        }
}

#else

kernel GROUP_SIZE(MLO_GRP_SZ0, 1, 1)
void MIOpenConv1x1pquv(const global SRC_T *restrict in, const global SRC_T *restrict w,
                       global DST_T *out EPILOGUE_PARAMS)
{
    const size_t item = get_global_id(0);
    const int out_first = (int)get_group_id(1) * MLO_N_LCL_OUT_MAPS;
    const INDEX_T image = (INDEX_T)(item / MLO_MAP_SZ4);
    const INDEX_T at = (INDEX_T)(item % MLO_MAP_SZ4);
    if (image >= MLO_BATCH_SZ)
        return;
    const int row = (int)(at / MLO_OUT_WIDTH4);
    const int column = (int)(at % MLO_OUT_WIDTH4) * MLO_READ_UNIT;

    float acc[MLO_N_LCL_OUT_MAPS][MLO_READ_UNIT];
#if MLO_DIR_FORWARD
    const int valid = MLO_OUT_WIDTH - column;
    const INDEX_T from = (INDEX_T)row * MLO_FILTER_STRIDE1 * MLO_IN_STRIDE +
                         (INDEX_T)column * MLO_FILTER_STRIDE0;
    sum_channels(in + image * MLO_IN_BATCH_STRIDE + from, w, out_first, valid, acc);

    const INDEX_T to = image * MLO_OUT_BATCH_STRIDE + (INDEX_T)row * MLO_OUT_STRIDE + column;
    for (int o = 0; o < MLO_N_LCL_OUT_MAPS; ++o)
#pragma unroll
        for (int i = 0; i < MLO_READ_UNIT; ++i)
            if (!D_RAGGED || i < valid) {
                const INDEX_T k = to + (INDEX_T)(out_first + o) * MLO_OUT_CHANNEL_STRIDE + i;
                DST_STORE(out, k, FINISH(acc[o][i], out_first + o, k));
            }
#else
    const INDEX_T from = (INDEX_T)row * MLO_IN_STRIDE + column;
    sum_channels(in + image * MLO_IN_BATCH_STRIDE + from, w, out_first, MLO_READ_UNIT, acc);

    const int top = row * MLO_FILTER_STRIDE1, left = column * MLO_FILTER_STRIDE0;
    const INDEX_T to = image * MLO_OUT_BATCH_STRIDE + (INDEX_T)top * MLO_OUT_STRIDE + left;
#pragma unroll
    for (int o = 0; o < MLO_N_LCL_OUT_MAPS; ++o)
        for (int v = 0; v < MLO_FILTER_STRIDE1; ++v) {
            if (!MLO_VERT_ALIGNED && top + v >= MLO_OUT_HEIGHT)
                break;
#pragma unroll
            for (int i = 0; i < MLO_READ_UNIT; ++i)
                for (int u = 0; u < MLO_FILTER_STRIDE0; ++u) {
                    const int x = i * MLO_FILTER_STRIDE0 + u;
                    if (!MLO_HORIZ_ALIGNED && left + x >= MLO_OUT_WIDTH)
                        break;
                    const INDEX_T k = to + (INDEX_T)(out_first + o) * MLO_OUT_CHANNEL_STRIDE +
                                      (INDEX_T)v * MLO_OUT_STRIDE + x;
                    const float sum = v == 0 && u == 0 ? acc[o][i] : 0;
                    DST_STORE(out, k, FINISH(sum, out_first + o, k));
                }
        }
#endif
}

#endif
