/* Computes what the depthwise solvers share whose vectors are neighbouring channels. */
#include "depthwise.h"

#include "generator/base/integers.h"
#include "generator/base/names.h"
#include "generator/problem/problem_layout.h"

#include <string.h>

/* Returns the channels of a vector: the channels of a block, or as many as the device's vectors
 * hold if a pixel has as many. */
static int lanes_of(const kiln_blocked *b, const kiln_device_facts *d)
{
    const kiln_pitch *src = &b->src_pitch, *dst = &b->dst_pitch;
    if (src->blocks != 1 || dst->blocks != 1)
        return (int)(dst->blocks != 1 ? dst->neighbours : src->neighbours);
    int lanes = d->simd_floats >= 16 ? 16 : d->simd_floats >= 8 ? 8 : 4;
    while (lanes > 4 && (lanes > src->neighbours || lanes > dst->neighbours))
        lanes /= 2;
    /* One block of which narrow vectors would leave some without a channel is a vector, as the
     * blocks of more channels are. */
    const int64_t stored = dst->neighbours, channels = b->dst_c * b->groups;
    if (src->neighbours == stored && stored <= 16 && stored > divide_up(channels, lanes) * lanes)
        return (int)stored;
    return lanes;
}

kiln_blocked kiln_depthwise_of(const kiln_shape *s, const kiln_device_facts *d)
{
    kiln_blocked b = kiln_blocked_of(s);
    b.block = lanes_of(&b, d);
    return b;
}

static int64_t channels_of(const kiln_blocked *b)
{
    return b->dst_c * b->groups;
}

int64_t kiln_depthwise_vectors(const kiln_blocked *b)
{
    return divide_up(channels_of(b), b->block);
}

void kiln_depthwise_prefer(const kiln_solver *self, kiln_shape *s, const kiln_device_facts *d)
{
    char *layouts[2] = {s->x_layout, s->y_layout};
    for (int i = 0; i < 2; i++)
        if (!kiln_layout_is_any(layouts[1 - i]) &&
            strcmp(layouts[1 - i], kiln_plain_data_layout(s->rank)) != 0)
            kiln_prefer_layout(layouts[i], layouts[1 - i]);
    kiln_blocked_prefer(s, d, false);
}

/* Whether a tensor's channels lie together, a vector of them at a time. */
static bool keeps_together(const kiln_pitch *p, int64_t channels, int lanes)
{
    int64_t stored = p->neighbours * p->blocks;
    return p->channel == 1 && p->neighbours >= lanes &&
           (p->blocks == 1 || p->neighbours == lanes) &&
           (stored == channels || stored == divide_up(channels, lanes) * lanes);
}

bool kiln_depthwise_layouts(const kiln_shape *s, const kiln_device_facts *d, kiln_why *why)
{
    kiln_blocked b = kiln_depthwise_of(s, d);
    const kiln_pitch *src = &b.src_pitch, *dst = &b.dst_pitch;
    bool fit = (b.block == 4 || b.block == 8 || b.block == 16) &&
               keeps_together(src, b.src_c * b.groups, b.block) &&
               keeps_together(dst, b.dst_c * b.groups, b.block);
    if (!fit || (src->neighbours != dst->neighbours && channels_of(&b) % b.block))
        return kiln_no(why,
                       "it works on layouts that keep 4, 8 or 16 channels together in the same "
                       "way, NC/16HW16, NHWC and their kin; these are %s and %s, and there are "
                       "%lld channels",
                       s->x_layout, s->y_layout, (long long)s->c);
    return false;
}

void kiln_depthwise_define(const kiln_blocked *b, kiln_plan *plan)
{
    const kiln_pitch *src = &b->src_pitch, *dst = &b->dst_pitch;
    kiln_blocked_define(b, plan);
    kiln_define(plan, "D_VECTORS", kiln_depthwise_vectors(b));
    kiln_define(plan, "D_SRC_VECTOR", src->blocks == 1 ? b->block : src->block);
    kiln_define(plan, "D_DST_VECTOR", dst->blocks == 1 ? b->block : dst->block);
    kiln_define(plan, "D_EARLIER", dst->neighbours % b->block != 0);
}
