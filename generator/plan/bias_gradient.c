/* Adds the stage for the gradient of the bias, which is the same for all solvers of backward
 * weights. */
#include "solver.h"

enum { GROUP = 64 };

/* Sums the caller's dy, which in a mirrored shape is x. */
void kiln_bias_gradient_emit(const kiln_shape *s, const kiln_device_facts *d, kiln_plan *plan)
{
    const int64_t *size = s->mirrored ? s->in : s->out;
    /* A power of two, as the tree of sums in the kernel needs. */
    const int64_t group = kiln_device_group(d, GROUP);
    const int64_t channels = s->mirrored ? s->c : s->k;
    kiln_plan_stage(plan, "bias_gradient.cl", "bias_gradient");
    kiln_define_types(plan, s);
    kiln_define(plan, "D_GROUP", group);
    kiln_arg_buffer(plan, s->mirrored ? KILN_ROLE_X : KILN_ROLE_Y);
    kiln_arg_buffer(plan, KILN_ROLE_BIAS);
    kiln_arg_index(plan, s, s->n);
    kiln_arg_index(plan, s, channels);
    kiln_arg_index(plan, s, size[0] * size[1] * size[2]);
    kiln_grid(plan, group, 1, 1, group * channels, 1, 1);
}
