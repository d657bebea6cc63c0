/* The direct solver from NHWC to NHWC: direct_blocked with all channels as one block. Vectors are
 * channels of a pixel, loaded and stored in place; only weights are reordered. */
#include "direct_blocked.h"

/* The layout that the caller named for one tensor decides for the other. With neither named, blocks
 * are faster: the next vectors of a pixel follow one another there. */
static void prefer(const kiln_solver *self, kiln_shape *s, const kiln_device_facts *d)
{
    if (kiln_direct_blocked_is_last(s, 'y'))
        kiln_prefer_layout(s->x_layout, s->y_layout);
    if (kiln_direct_blocked_is_last(s, 'x'))
        kiln_prefer_layout(s->y_layout, s->x_layout);
}

static bool reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why)
{
    if (!kiln_direct_blocked_is_last(s, 'x') || !kiln_direct_blocked_is_last(s, 'y'))
        return kiln_no(why,
                       "it works on layouts of whole pixels, NHWC and its kin; the layouts are %s "
                       "and %s",
                       s->x_layout, s->y_layout);
    return kiln_direct_blocked_refuses(s, why);
}

const kiln_solver kiln_solver_nhwc_direct = {
    .name = "nhwc_direct",
    .id = 1016,
    .algorithm = 1,
    .version = 1,
    .params = kiln_direct_blocked_params,
    .nparams = BLOCKED_PARAMS,
    .prefer = prefer,
    .reject = reject,
    .illegal = kiln_direct_blocked_illegal,
    .skip = kiln_direct_blocked_skip,
    .guess = kiln_direct_blocked_guess,
    .predict = kiln_direct_blocked_predict,
    .emit = kiln_direct_blocked_emit,
};
