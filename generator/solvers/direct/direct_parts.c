/* What the direct solvers over plain tensors share: channels and taps of a group, the stage that
 * packs weights in blocks of channels, and a limit on memory. */
#include "generator/base/integers.h"
#include "generator/geometry/pack_channels.h"

#include "direct.h"

int64_t kiln_direct_dst_channels(const kiln_shape *s)
{
    return (s->direction == KILN_BACKWARD_DATA ? s->c : s->k) / s->g;
}

int64_t kiln_direct_src_channels(const kiln_shape *s)
{
    return (s->direction == KILN_BACKWARD_DATA ? s->k : s->c) / s->g;
}

int64_t kiln_direct_taps(const kiln_shape *s)
{
    return s->filter[0] * s->filter[1] * s->filter[2];
}

int64_t kiln_direct_packed(const kiln_shape *s, int t_k)
{
    const int64_t blocks = s->g * divide_up(kiln_direct_dst_channels(s), t_k);
    return blocks * t_k * kiln_direct_src_channels(s) * kiln_direct_taps(s);
}

void kiln_direct_define_weights(const kiln_shape *s, kiln_plan *plan)
{
    const bool backward = s->direction == KILN_BACKWARD_DATA;
    const int64_t taps = kiln_direct_taps(s), across = s->c / s->g * taps;
    kiln_define(plan, "P_GROUPS", s->g);
    kiln_define(plan, "D_DST_C", kiln_direct_dst_channels(s));
    kiln_define(plan, "D_SRC_C", kiln_direct_src_channels(s));
    kiln_define(plan, "D_TAPS", taps);
    kiln_define(plan, "D_W_DST", backward ? taps : across);
    kiln_define(plan, "D_W_SRC", backward ? across : taps);
}

int kiln_direct_together(const kiln_shape *s, const kiln_device_facts *d, int vec)
{
    return d->has_bf16 && s->w_type == KILN_BF16 && s->math != KILN_MATH_EXACT && vec == 16 &&
                   kiln_direct_src_channels(s) > 1
               ? 2
               : 1;
}

void kiln_direct_pack_emit(const kiln_shape *s, int t_k, int together, bool zeros, kiln_plan *plan)
{
    const int64_t channels = kiln_direct_dst_channels(s), blocks = divide_up(channels, t_k);
    const kiln_packing packing = {.lanes = t_k,
                                  .spans = s->g,
                                  .tiles = blocks,
                                  .channels = channels,
                                  .latest = (zeros ? blocks * t_k : channels) - t_k,
                                  .step = together,
                                  .together = together};
    kiln_pack_channels_emit(s, &packing, plan);
}

bool kiln_direct_keeps_too_much(int64_t scratch, const char *of, const kiln_device_facts *d,
                                kiln_why *why)
{
    return scratch > d->local_memory / 4 &&
           kiln_no(
               why,
               "an item would keep %lld elements of %s; the device has %lld bytes of local memory",
               (long long)scratch, of, (long long)d->local_memory);
}
