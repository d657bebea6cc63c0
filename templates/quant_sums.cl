/* quant_sums.cl: the sums that correct a convolution of quantised tensors for their zero points.
 *
 * weight_sums   for each class of places and each channel of the destination, the sum of the
 *               weights at the taps that meet the source there
 *   grid      {classes * P_CHANNELS}
 *   D_PLACE   a weight's offset over o, i (and m with P_MULTIPLIER), d, h, w
 *   D_FIRST   the table's first int in its buffer
 *
 * source_sums   for each image, group and place of the destination, the sum of x - x_zero under the
 *               filter
 *   grid      {P_COUNT}
 *   D_PLACE   an element's offset over n, c, d, h, w
 *   P_X_ZERO, or with D_X_ZERO_BUFFER=1 that and an int of a buffer: the zero point of what is read
 *
 * Defines   those of quant_taps.cl; P_CHANNELS of the destination, P_GROUPS, P_TERMS: channels of
 *           the source in a group. Sums are modulo 2^32.
 */
#include "quant_taps.cl"

#define EACH_TAP(a, p, at)                                                                         \
    for (INDEX_T at = 0; at < P_FILTER_##a; at++)                                                  \
        if (meets_##a(p, at))

#ifndef P_COUNT
kernel void weight_sums(global const SRC_T *weights, global int *sums)
{
    const INDEX_T id = get_global_id(0), channel = id % P_CHANNELS;
    INDEX_T class = id / P_CHANNELS;
    const INDEX_T class_w = class % CLASSES(W);
    class /= CLASSES(W);
    const INDEX_T class_h = class % CLASSES(H), class_d = class / CLASSES(H);
    if (class_d >= CLASSES(D))
        return;
    const INDEX_T at_d = place_D(class_d), at_h = place_H(class_h), at_w = place_W(class_w);
    uint sum = 0;
    for (INDEX_T t = 0; t < P_TERMS; t++)
        EACH_TAP(D, at_d, d) EACH_TAP(H, at_h, h) EACH_TAP(W, at_w, w)
        {
#if P_BACKWARD
            INDEX_T o = channel / (P_CHANNELS / P_GROUPS) * P_TERMS + t;
            INDEX_T i = channel % (P_CHANNELS / P_GROUPS);
#else
            INDEX_T o = channel, i = t;
#endif
#ifdef P_MULTIPLIER
            const INDEX_T m = o % P_MULTIPLIER;
            i = o / P_MULTIPLIER;
#endif
            sum += SRC_LOAD(weights, D_PLACE);
        }
    sums[D_FIRST + id] = (int)sum;
}
#else
kernel void source_sums(global const SRC_T *source, global int *sums
#ifdef D_X_ZERO_BUFFER
                        , global const int *x_zero
#endif
)
{
    const INDEX_T id = get_global_id(0);
    if (id >= P_COUNT)
        return;
#ifdef D_X_ZERO_BUFFER
    const int zero = x_zero[0] + P_X_ZERO;
#else
    const int zero = P_X_ZERO;
#endif
    const INDEX_T at_w = id % P_SIZE_W, at_h = id / P_SIZE_W % P_SIZE_H;
    const INDEX_T at_d = id / P_SIZE_W / P_SIZE_H % P_SIZE_D;
    const INDEX_T image = id / P_SIZE_W / P_SIZE_H / P_SIZE_D;
    const INDEX_T n = image / P_GROUPS, first = image % P_GROUPS * P_TERMS;
    uint sum = 0;
    EACH_TAP(D, at_d, i) EACH_TAP(H, at_h, j) EACH_TAP(W, at_w, k)
    {
        const INDEX_T d = source_D(at_d, i), h = source_H(at_h, j), w = source_W(at_w, k);
        (void)d, (void)h;
        for (INDEX_T c = first; c < first + P_TERMS; c++)
            sum += SRC_LOAD(source, D_PLACE) - zero;
    }
    sums[id] = (int)sum;
}
#endif
