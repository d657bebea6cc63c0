/* channels.cl: the epilogue and stores of vectors of D_B neighbouring channels of a pixel.
 *
 *   VAL_V                               D_B times VAL_T
 *   FINISH_V(acc, residual, channel)    the results for the sums of D_B channels from `channel` on;
 *                                       zero past the last of the D_CHANNELS (D_DST_PADDED with the
 *                                       padding of a layout)
 *   PUT(p, acc, block, i)               stores FINISH_V() of channel block * D_B at element i, by
 *                                       KILN_STORE
 */
#include "caches.cl"
#include "epilogue.cl"
#include "vectors.cl"

#define VAL_V KILN_CAT(VAL_T, D_B)
typedef KILN_LOOSE(VAL_T, D_B) kiln_loose_val;
typedef KILN_LOOSE(KILN_BITS_T, D_B) kiln_loose_dst;

#ifdef P_BIAS
/* Biases from `channel` on; there may be fewer than D_B. */
static inline VAL_V kiln_bias(global const float *bias, int channel)
{
    if (channel + D_B <= D_CHANNELS)
        return *(global const kiln_loose_val *)(bias + channel);
    float b[D_B];
    for (int i = 0; i < D_B; i++)
        b[i] = channel + i < D_CHANNELS ? bias[channel + i] : 0.0f;
    return *(private const kiln_loose_val *)b;
}
#endif

#if DST_TYPE != TYPE_I32
KILN_DEFINE_ACTIVATE(kiln_activate_block, VAL_V)
#endif

static inline VAL_V kiln_finish_vector(ACC_V acc, VAL_V residual, int channel KILN_BIAS_PARAM)
{
    VAL_V v = KILN_CAT(convert_, VAL_V)(acc);
#if DST_TYPE != TYPE_I32
    KILN_SCALE_AND_ADD(v, residual, kiln_bias(bias, channel));
    v = kiln_activate_block(v);
#endif
#if D_CHANNELS % D_B || D_DST_PADDED > D_CHANNELS
    if (channel + D_B > D_CHANNELS)
        v = LANES(D_B) < D_CHANNELS - channel ? v : (VAL_V)((VAL_T)0);
#endif
    return v;
}

#define FINISH_V(acc, residual, channel) kiln_finish_vector(acc, residual, channel KILN_BIAS_PASS)

static inline void kiln_put(global DST_T *dst, ACC_V acc, int channel, INDEX_T i EPILOGUE_PARAMS)
{
#ifdef P_BETA
    const VAL_V v = FINISH_V(acc, DST_LOADN(D_B, residual, i), channel);
#else
    const VAL_V v = FINISH_V(acc, (VAL_V)((VAL_T)0), channel);
#endif
    KILN_STORE(D_B, kiln_loose_dst, dst + i, v);
}

#define PUT(p, acc, block, i) kiln_put(p, acc, (block) * D_B, i EPILOGUE_PASS)
