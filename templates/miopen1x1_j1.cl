/* miopen1x1_j1.cl: forward 1x1 convolution, f32, NCHW; input and output channels multiples of 16.
 *
 * A work-item computes MLO_N_LCL_OUT_MAPS channels of one output pixel, a group 64 pixels in a row
 * (the images' pixels lie end to end). The input channels may be split over MLO_N_IN_GROUPS groups;
 * then y must be zero before the launch and the partial sums are added to it atomically.
 *
 *        x: MLO_N_LCL_IN_MAPS channels               y: MLO_N_LCL_OUT_MAPS channels
 *           of 64 pixels                                of the same 64 pixels
 *        +--------64--------+
 *   ONCE | in use           |                        +--------64--------+
 *        +------------------+   * w[OUT][IN]   ->    | sums in registers|
 *   ONCE | being loaded     |                        +------------------+
 *        +------------------+
 *        | ... MLO_CLOOP0 steps, MLO_CLOOP2 for the last group of channels
 *
 * Grid: 64 * (pixel blocks * MLO_N_IN_GROUPS * output blocks), 1, 1 in groups of 64; the output
 * block is the fastest, so that neighbours read the same pixels.
 *
 * Defines (MIOpen's; index 0 is horizontal, 1 vertical):
 *   BATCHSIZE, H, W, H_out, W_out, MLO_N_INPUTS, MLO_N_OUTPUTS, MLO_FILTER_STRIDE0/1
 *   MLO_N_LCL_OUT_MAPS          divides MLO_N_OUTPUTS
 *   MLO_N_LCL_IN_MAPS, MLO_N_LCL_IN_MAPS_ONCE, MLO_N_IN_GROUPS, MLO_CLOOP0, MLO_CLOOP2
 *                               the steps times ONCE cover MLO_N_INPUTS exactly; any count from 1
 *   MLO_CHEAT_SHADER_COMPILER   1: hide the number of steps from the compiler
 * H, W, C and K are macros here: nothing may bear those names.
 */
#define D_IN_PIXELS ((INDEX_T)H * W)
#define D_OUT_PIXELS ((INDEX_T)H_out * W_out)
#define D_OUT_BLOCKS (MLO_N_OUTPUTS / MLO_N_LCL_OUT_MAPS)

/* Adds without an atomic float add, which OpenCL 1.2 does not have. */
static inline void atomic_add_float(global float *p, float v)
{
    volatile global uint *bits = (volatile global uint *)p;
    uint old = *bits, seen;
    while ((seen = atomic_cmpxchg(bits, old, as_uint(as_float(old) + v))) != old)
        old = seen;
}

static inline void load(float *dat, const global float *x)
{
#pragma unroll
    for (int i = 0; i < MLO_N_LCL_IN_MAPS_ONCE; ++i)
        dat[i] = x[i * D_IN_PIXELS];
}

kernel GROUP_SIZE(64, 1, 1)
void MIOpenConv1x1(const global float *restrict x, const global float *restrict w,
                   global float *y EPILOGUE_PARAMS)
{
    const size_t group = get_group_id(0);
    const int out_first = (int)(group % D_OUT_BLOCKS) * MLO_N_LCL_OUT_MAPS;
    const int in_block = (int)(group / D_OUT_BLOCKS % MLO_N_IN_GROUPS);
    const int in_first = in_block * MLO_N_LCL_IN_MAPS;
    const size_t pixel = group / D_OUT_BLOCKS / MLO_N_IN_GROUPS * 64 + get_local_id(0);
    const INDEX_T image = (INDEX_T)(pixel / D_OUT_PIXELS), at = (INDEX_T)(pixel % D_OUT_PIXELS);
    if (image >= BATCHSIZE)
        return;

#if MLO_FILTER_STRIDE0 == 1 && MLO_FILTER_STRIDE1 == 1
    const INDEX_T from = at;
#else
    const INDEX_T from = at / W_out * MLO_FILTER_STRIDE1 * W + at % W_out * MLO_FILTER_STRIDE0;
#endif
    x += (image * MLO_N_INPUTS + in_first) * D_IN_PIXELS + from;
    w += (INDEX_T)out_first * MLO_N_INPUTS + in_first;

    int steps = in_block == MLO_N_IN_GROUPS - 1 ? MLO_CLOOP2 : MLO_CLOOP0;
#if MLO_CHEAT_SHADER_COMPILER == 1
    steps += (int)get_group_id(2); /* always 0 */
#endif

    float acc[MLO_N_LCL_OUT_MAPS] = {0};
    float dat[MLO_N_LCL_IN_MAPS_ONCE], next[MLO_N_LCL_IN_MAPS_ONCE];
    load(next, x);
    for (int step = 0; step < steps; ++step) {
#pragma unroll
        for (int i = 0; i < MLO_N_LCL_IN_MAPS_ONCE; ++i)
            dat[i] = next[i];
        x += MLO_N_LCL_IN_MAPS_ONCE * D_IN_PIXELS;
        if (step + 1 < steps)
            load(next, x);
#pragma unroll
        for (int o = 0; o < MLO_N_LCL_OUT_MAPS; ++o)
#pragma unroll
            for (int i = 0; i < MLO_N_LCL_IN_MAPS_ONCE; ++i)
                acc[o] += dat[i] * w[(INDEX_T)o * MLO_N_INPUTS + i];
        w += MLO_N_LCL_IN_MAPS_ONCE;
    }

    const INDEX_T to = (image * MLO_N_OUTPUTS + out_first) * D_OUT_PIXELS + at;
#pragma unroll
    for (int o = 0; o < MLO_N_LCL_OUT_MAPS; ++o) {
        const INDEX_T i = to + o * D_OUT_PIXELS;
#if MLO_N_IN_GROUPS > 1
        atomic_add_float(y + i, acc[o]);
#else
        DST_STORE(y, i, FINISH(acc[o], out_first + o, i));
#endif
    }
}
