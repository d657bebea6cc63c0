/* Adds the stage for the gradient of the bias. */
#include "bias_gradient.h"

#include "blocked.h"

enum { GROUP = 64 };

/* Sums the caller's dy, which in a mirrored shape is x. */
void kiln_bias_gradient_emit(const kiln_shape *s, const kiln_device_facts *d, kiln_plan *plan)
{
    const kiln_pitch p = kiln_pitch_of(s, s->mirrored ? 'x' : 'y');
    const int64_t *size = s->mirrored ? s->in : s->out;
    /* A power of two, as the tree of sums in the kernel needs. */
    const int64_t group = kiln_device_group(d, GROUP);
    const int64_t channels = s->mirrored ? s->c : s->k;
    /* Short rows would leave items idle: what follows at one distance is one row. */
    int64_t planes = size[0], rows = size[1], columns = size[2], row = p.row;
    if (rows == 1 || row == columns * p.pixel) {
        columns *= rows;
        rows = planes, row = p.plane, planes = 1;
        if (rows == 1 || row == columns * p.pixel)
            columns *= rows, rows = 1;
    }
    kiln_plan_stage(plan, "bias_gradient.cl", "bias_gradient");
    kiln_define_types(plan, s);
    kiln_define(plan, "D_GROUP", group);
    kiln_arg_buffer(plan, s->mirrored ? KILN_ROLE_X : KILN_ROLE_Y);
    kiln_arg_buffer(plan, KILN_ROLE_BIAS);
    const int64_t arg[] = {s->n, planes,  rows,         columns, p.image,  p.plane,
                           row,  p.pixel, p.neighbours, p.block, p.channel};
    for (size_t i = 0; i < sizeof arg / sizeof *arg; i++)
        kiln_arg_index(plan, s, arg[i]);
    kiln_grid(plan, group, 1, 1, group * channels, 1, 1);
}
