/* Adds the stage for the gradient of the bias, which is the same for all solvers of backward
 * weights. */
#include "solver.h"

enum { GROUP = 64 };

/* A power of two, as the tree of sums in the kernel needs. */
static int64_t group_size(const kiln_device_facts *d)
{
    int64_t group = GROUP;
    while (group > 1 && (group > d->max_group || group > d->max_local[0]))
        group /= 2;
    return group;
}

/* Sums the caller's dy, which in a mirrored shape is x. */
void kiln_bias_gradient_emit(const kiln_shape *s, const kiln_device_facts *d, kiln_plan *plan)
{
    const int64_t *size = s->mirrored ? s->in : s->out;
    const int64_t channels = s->mirrored ? s->c : s->k;
    kiln_plan_stage(plan, "bias_gradient.cl", "bias_gradient");
    kiln_define_types(plan, s);
    kiln_define(plan, "D_GROUP", group_size(d));
    kiln_arg_buffer(plan, s->mirrored ? KILN_ROLE_X : KILN_ROLE_Y);
    kiln_arg_buffer(plan, KILN_ROLE_BIAS);
    kiln_arg_index(plan, s, s->n);
    kiln_arg_index(plan, s, channels);
    kiln_arg_index(plan, s, size[0] * size[1] * size[2]);
    kiln_grid(plan, group_size(d), 1, 1, group_size(d) * channels, 1, 1);
}
