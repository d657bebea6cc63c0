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
 * and kiln's:
 *   D_LANES                     1, or 16 where work-items do not run as one vector (a CPU): every
 *                               16th work-item then computes the pixels of 16 in a float16, the
 *                               others rest. Grid, sums and results stay the same.
 * H, W, C and K are macros here: nothing may bear those names.
 */
#include "epilogue.cl"

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

#if D_LANES == 16
typedef float16 pixels;
#else
typedef float pixels;
#endif

/* Where the lanes' pixels are: offsets into x and y without the channel, and how many exist. */
typedef struct place {
    INDEX_T from[D_LANES], to[D_LANES];
    int count;
    bool whole; /* all there, and neighbours in x */
} place;

static inline place find(size_t pixel)
{
    place p;
    p.count = 0;
    p.whole = true;
    for (int i = 0; i < D_LANES; ++i) {
        const INDEX_T image = (INDEX_T)((pixel + i) / D_OUT_PIXELS);
        const INDEX_T at = (INDEX_T)((pixel + i) % D_OUT_PIXELS);
#if MLO_FILTER_STRIDE0 == 1 && MLO_FILTER_STRIDE1 == 1
        const INDEX_T from = at;
#else
        const INDEX_T from = at / W_out * MLO_FILTER_STRIDE1 * W + at % W_out * MLO_FILTER_STRIDE0;
#endif
        const bool there = image < BATCHSIZE;
        p.count += there;
        p.from[i] = there ? image * MLO_N_INPUTS * D_IN_PIXELS + from : p.from[0];
        p.to[i] = image * MLO_N_OUTPUTS * D_OUT_PIXELS + at;
        p.whole = p.whole && there && p.from[i] == p.from[0] + i;
    }
    return p;
}

static inline pixels load_pixels(const global float *x, const place *p)
{
#if D_LANES == 16
    if (p->whole)
        return vload16(0, x + p->from[0]);
    float lane[16];
    for (int i = 0; i < 16; ++i)
        lane[i] = x[p->from[i]];
    return vload16(0, lane);
#else
    return x[p->from[0]];
#endif
}

static inline void load(pixels *dat, const global float *x, const place *p)
{
#pragma unroll
    for (int i = 0; i < MLO_N_LCL_IN_MAPS_ONCE; ++i)
        dat[i] = load_pixels(x + i * D_IN_PIXELS, p);
}

static inline void store(pixels sum, int channel, const place *p, global float *y EPILOGUE_PARAMS)
{
#if D_LANES == 16
    float lane[16];
    vstore16(sum, 0, lane);
#else
    const float lane[1] = {sum};
#endif
    for (int j = 0; j < p->count; ++j) {
        const INDEX_T i = p->to[j] + channel * D_OUT_PIXELS;
#if MLO_N_IN_GROUPS > 1
        atomic_add_float(y + i, lane[j]);
#else
        DST_STORE(y, i, FINISH(lane[j], channel, i));
#endif
    }
}

kernel GROUP_SIZE(64, 1, 1)
void MIOpenConv1x1(const global float *restrict x, const global float *restrict w,
                   global float *y EPILOGUE_PARAMS)
{
    if (get_local_id(0) % D_LANES)
        return;
    const size_t group = get_group_id(0);
    const int out_first = (int)(group % D_OUT_BLOCKS) * MLO_N_LCL_OUT_MAPS;
    const int in_block = (int)(group / D_OUT_BLOCKS % MLO_N_IN_GROUPS);
    const int in_first = in_block * MLO_N_LCL_IN_MAPS;
    const place p = find(group / D_OUT_BLOCKS / MLO_N_IN_GROUPS * 64 + get_local_id(0));
    if (p.count == 0)
        return;
    x += in_first * D_IN_PIXELS;
    w += (INDEX_T)out_first * MLO_N_INPUTS + in_first;

    int steps = in_block == MLO_N_IN_GROUPS - 1 ? MLO_CLOOP2 : MLO_CLOOP0;
#if MLO_CHEAT_SHADER_COMPILER == 1
    steps += (int)get_group_id(2); /* always 0 */
#endif

    pixels acc[MLO_N_LCL_OUT_MAPS];
#pragma unroll
    for (int o = 0; o < MLO_N_LCL_OUT_MAPS; ++o)
        acc[o] = 0;
    pixels dat[MLO_N_LCL_IN_MAPS_ONCE], next[MLO_N_LCL_IN_MAPS_ONCE];
    load(next, x, &p);
    for (int step = 0; step < steps; ++step) {
#pragma unroll
        for (int i = 0; i < MLO_N_LCL_IN_MAPS_ONCE; ++i)
            dat[i] = next[i];
        x += MLO_N_LCL_IN_MAPS_ONCE * D_IN_PIXELS;
        if (step + 1 < steps)
            load(next, x, &p);
#pragma unroll
        for (int o = 0; o < MLO_N_LCL_OUT_MAPS; ++o)
#pragma unroll
            for (int i = 0; i < MLO_N_LCL_IN_MAPS_ONCE; ++i)
                acc[o] += dat[i] * w[(INDEX_T)o * MLO_N_INPUTS + i];
        w += MLO_N_LCL_IN_MAPS_ONCE;
    }
#pragma unroll
    for (int o = 0; o < MLO_N_LCL_OUT_MAPS; ++o)
        store(acc[o], out_first + o, &p, y EPILOGUE_PASS);
}
