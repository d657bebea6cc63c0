/* A forward pass in any layout with a pitch, by one program for each types and epilogue: it takes
 * the sizes as arguments. An operation runs through it until its own program is compiled
 * (settings.first_use). */
#include "generator/geometry/blocked.h"

#include <string.h>

enum { GROUP = 64 };

/* Returns the cells that items write: elements, and padding of blocks of channels. */
static int64_t cells_of(const kiln_shape *s, const kiln_pitch *y)
{
    return s->n * y->blocks * y->neighbours * s->out[0] * s->out[1] * s->out[2];
}

static bool reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why)
{
    kiln_shape plain = *s;
    const int64_t limit = INT32_MAX;
    if (s->direction != KILN_FORWARD)
        return kiln_no(why, "general computes forward passes only");
    memcpy(plain.x_layout, "NCHW", sizeof "NCHW");
    memcpy(plain.y_layout, "NCHW", sizeof "NCHW");
    if (!kiln_shape_is_plain_layout(&plain))
        return kiln_no(why, "general takes plain weights (OIHW) only, not \"%s\"", s->w_layout);
    const kiln_pitch x = kiln_pitch_of(s, 'x'), y = kiln_pitch_of(s, 'y');
    if (x.blocks == 0 || y.blocks == 0 || y.cells != cells_of(s, &y))
        return kiln_no(why,
                       "general takes layouts that are plain or in blocks of channels, not "
                       "\"%s\", \"%s\"",
                       s->x_layout, s->y_layout);
    if (s->wide || x.cells > limit || y.cells > limit)
        return kiln_no(why, "general indexes tensors of less than 2^31 elements");
    return false;
}

static bool illegal(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    return false;
}

static void guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                  kiln_config *c)
{
    memset(c, 0, sizeof *c);
}

static void add_pitch(const kiln_shape *s, const kiln_pitch *p, kiln_plan *plan)
{
    const int64_t all[] = {p->image, p->block,   p->plane,     p->row,
                           p->pixel, p->channel, p->neighbours};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        kiln_arg_index(plan, s, all[i]);
}

static void emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c, kiln_plan *plan)
{
    const kiln_pitch x = kiln_pitch_of(s, 'x'), y = kiln_pitch_of(s, 'y');
    const int64_t count = cells_of(s, &y);
    const int64_t sizes[] = {count, s->g, s->c / s->g, s->k / s->g, y.blocks};
    kiln_plan_stage(plan, "general.cl", "general");
    kiln_define_types(plan, s);
    if (kiln_shape_sums_long(s))
        kiln_define(plan, "D_LONG_SUMS", 1);
    kiln_define(plan, "D_GROUP", kiln_device_group(d, GROUP));
    kiln_define_epilogue(plan, s);
    kiln_arg_buffer(plan, KILN_ROLE_X);
    kiln_arg_buffer(plan, KILN_ROLE_W);
    kiln_arg_buffer(plan, KILN_ROLE_Y);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        kiln_arg_index(plan, s, sizes[i]);
    add_pitch(s, &x, plan);
    add_pitch(s, &y, plan);
    for (int a = 0; a < 3; a++) {
        const int64_t axis[] = {s->in[a],     s->out[a],      s->filter[a],
                                s->stride[a], s->dilation[a], s->pad[a]};
        for (size_t i = 0; i < sizeof axis / sizeof *axis; i++)
            kiln_arg_index(plan, s, axis[i]);
    }
    kiln_arg_epilogue(plan, s);
    kiln_grid(plan, kiln_device_group(d, GROUP), 1, 1, count, 1, 1);
}

/* Sizes that a compiler does not know make it several times as slow as kernels that nobody is to
 * choose before it. */
static double predict(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c)
{
    const double elements = (double)kiln_shape_out_count(s), flops = s->flops + 200 * elements;
    return 0.05 * kiln_device_pace(d) + flops / (0.003 * d->peak_gflops * 1e6);
}

const kiln_solver kiln_solver_general = {
    .name = "general",
    .id = 1003,
    .algorithm = 1,
    .version = 1,
    .any_type = true,
    .sums_long = true,
    .reject = reject,
    .illegal = illegal,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
