/* image.cl: images whose pixels are four neighbouring channels each, and the epilogue of one of
 * D_CHANNELS channels; with D_IMAGE=1.
 *
 *   READ(image, x, y)                 a pixel as float4; zero outside, so x = -1 reads padding
 *   PUT_PIXEL(image, acc, block, at)  writes the epilogue of the sums of four channels,
 *                                     zero in channels past the last
 */
#include "epilogue.cl"

constant sampler_t kiln_sampler =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
#define READ(image, x, y) read_imagef(image, kiln_sampler, (int2)((int)(x), (int)(y)))

KILN_DEFINE_ACTIVATE(kiln_activate_pixel, float4)

#ifdef D_BIAS_IMAGE
#define kiln_bias_pixel(bias, block) READ(bias, block, 0)
#elif defined P_BIAS
static inline float4 kiln_bias_pixel(global const float *bias, int block)
{
    const int c = block * 4;
    if (D_CHANNELS % 4 == 0 || c + 4 <= D_CHANNELS)
        return vload4(block, bias);
    return (float4)(bias[c], c + 1 < D_CHANNELS ? bias[c + 1] : 0.0f,
                    c + 2 < D_CHANNELS ? bias[c + 2] : 0.0f, 0.0f);
}
#endif

static inline float4 kiln_finish_pixel(float4 v, int block, int2 at EPILOGUE_PARAMS)
{
    KILN_SCALE_AND_ADD(v, read_imagef(residual, kiln_sampler, at), kiln_bias_pixel(bias, block));
    v = kiln_activate_pixel(v);
#if D_CHANNELS % 4
    if (block == D_CHANNELS / 4)
        v = LANES(4) < D_CHANNELS % 4 ? v : 0.0f;
#endif
#if DST_TYPE == TYPE_F16
    /* Devices round differently when they write images, so the values need no rounding. */
    v = kiln_from_half4(kiln_to_half4(v));
#endif
    return v;
}

#define PUT_PIXEL(image, acc, block, at)                                                           \
    write_imagef(image, at, kiln_finish_pixel(acc, block, at EPILOGUE_PASS))
