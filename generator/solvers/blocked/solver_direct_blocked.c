/* The blocked direct solver: vectors of neighbouring channels, packed weights, register tiles; and
 * nhwc_direct, the same from NHWC to NHWC with all channels as one block. There vectors are
 * channels of a pixel, loaded and stored in place; only weights are reordered. */
#include "generator/base/names.h"
#include "generator/problem/problem_layout.h"

#include "direct_blocked.h"

#include <string.h>

/* Blocks that the caller named for one tensor decide for the other tensor. */
static void prefer_blocks(const kiln_solver *self, kiln_shape *s, const kiln_device_facts *d)
{
    char *layouts[2] = {s->x_layout, s->y_layout};
    for (int i = 0; i < 2; i++) {
        const char *other = layouts[1 - i];
        bool few = i == 0 && s->c <= d->simd_floats / 4;
        if (!few && !kiln_layout_is_any(other) &&
            !kiln_direct_blocked_is_last(s, i == 0 ? 'y' : 'x') &&
            strcmp(other, kiln_plain_data_layout(s->rank)) != 0)
            kiln_prefer_layout(layouts[i], other);
    }
    if (is_cpu(d))
        kiln_blocked_prefer(s, d, true);
}

/* The strips of a CPU are copied from neighbouring channels or neighbouring pixels. */
static bool reads(const kiln_blocked *b, const kiln_device_facts *d)
{
    const kiln_pitch *p = &b->src_pitch;
    return p->blocks && (p->channel == 1 || p->pixel == 1 || !is_cpu(d));
}

/* Vectors of pixels are stored to a plain destination: only a CPU transposes vectors of channels to
 * these. */
static bool writes(const kiln_blocked *b, const kiln_device_facts *d)
{
    const kiln_pitch *p = &b->dst_pitch;
    return p->blocks && (p->channel == 1 || (is_cpu(d) && p->pixel == 1));
}

static bool reject_but_blocks(const kiln_solver *self, const kiln_shape *s,
                              const kiln_device_facts *d, kiln_why *why)
{
    const kiln_blocked b = kiln_blocked_of(s);
    if (kiln_direct_blocked_is_last(s, 'x') && kiln_direct_blocked_is_last(s, 'y'))
        return kiln_no(why, "nhwc_direct takes layouts of whole pixels; they are %s and %s",
                       s->x_layout, s->y_layout);
    if (!reads(&b, d) || !writes(&b, d) || (kiln_shape_is_plain_layout(s) && !is_cpu(d)))
        return kiln_no(why,
                       "it works on layouts that keep channels together, NHWC, NC/16HW16 and their "
                       "kin, or reads a plain one, and writes one on a CPU; the layouts are %s and "
                       "%s",
                       s->x_layout, s->y_layout);
    return kiln_direct_blocked_refuses(s, why);
}

/* The layout that the caller named for one tensor decides for the other. With neither named, blocks
 * are faster: the next vectors of a pixel follow one another there. */
static void prefer_pixels(const kiln_solver *self, kiln_shape *s, const kiln_device_facts *d)
{
    if (kiln_direct_blocked_is_last(s, 'y'))
        kiln_prefer_layout(s->x_layout, s->y_layout);
    if (kiln_direct_blocked_is_last(s, 'x'))
        kiln_prefer_layout(s->y_layout, s->x_layout);
}

static bool reject_but_pixels(const kiln_solver *self, const kiln_shape *s,
                              const kiln_device_facts *d, kiln_why *why)
{
    if (!kiln_direct_blocked_is_last(s, 'x') || !kiln_direct_blocked_is_last(s, 'y'))
        return kiln_no(why,
                       "it works on layouts of whole pixels, NHWC and its kin; the layouts are %s "
                       "and %s",
                       s->x_layout, s->y_layout);
    return kiln_direct_blocked_refuses(s, why);
}

/* What the solvers share. */
#define SHARED                                                                                     \
    .algorithm = 1, .params = kiln_direct_blocked_params, .nparams = BLOCKED_PARAMS,               \
    .illegal = kiln_direct_blocked_illegal, .skip = kiln_direct_blocked_skip,                      \
    .guess = kiln_direct_blocked_guess, .predict = kiln_direct_blocked_predict,                    \
    .emit = kiln_direct_blocked_emit

const kiln_solver kiln_solver_direct_blocked = {
    .name = "direct_blocked",
    .id = 1010,
    .version = 4,
    .prefer = prefer_blocks,
    .reject = reject_but_blocks,
    SHARED,
};

const kiln_solver kiln_solver_nhwc_direct = {
    .name = "nhwc_direct",
    .id = 1016,
    .version = 1,
    .prefer = prefer_pixels,
    .reject = reject_but_pixels,
    SHARED,
};
