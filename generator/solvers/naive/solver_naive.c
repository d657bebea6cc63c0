/* The fallback for every convolution: one program for each direction, types and epilogue. The
 * program takes the sizes as arguments, so that a new shape costs no compile. It is also the
 * reference on the device. */
#include "generator/base/integers.h"
#include "generator/geometry/bias_gradient.h"
#include "generator/plan/solver.h"

#include <math.h>
#include <string.h>

enum { GROUP = 64 };

static bool reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why)
{
    const struct {
        kiln_type type;
        int64_t count;
        char name;
    } tensors[3] = {
        {s->x_type, s->x_count, s->mirrored ? 'y' : 'x'},
        {s->w_type, s->w_count, 'w'},
        {s->y_type, s->y_count, s->mirrored ? 'x' : 'y'},
    };
    if (!kiln_shape_is_plain_layout(s))
        return kiln_no(why,
                       "naive takes plain layouts (NCHW, OIHW) only, not \"%s\", \"%s\", \"%s\"",
                       s->mirrored ? s->y_layout : s->x_layout, s->w_layout,
                       s->mirrored ? s->x_layout : s->y_layout);
    for (int i = 0; i < 3; i++) {
        int64_t bytes = tensors[i].count * (int64_t)kiln_type_size(tensors[i].type);
        if (bytes > d->max_alloc)
            return kiln_no(why,
                           "tensor %c takes %lld bytes, and the device's largest buffer "
                           "has %lld",
                           tensors[i].name, (long long)bytes, (long long)d->max_alloc);
    }
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

static void emit_convolution(const kiln_shape *s, const kiln_device_facts *d, kiln_plan *plan)
{
    static const int roles[3][3] = {
        [KILN_FORWARD] = {KILN_ROLE_X, KILN_ROLE_W, KILN_ROLE_Y},
        [KILN_BACKWARD_DATA] = {KILN_ROLE_Y, KILN_ROLE_W, KILN_ROLE_X},
        [KILN_BACKWARD_WEIGHTS] = {KILN_ROLE_X, KILN_ROLE_Y, KILN_ROLE_W},
    };
    const int64_t count = kiln_shape_out_count(s);
    const bool epilogue =
        s->direction != KILN_BACKWARD_WEIGHTS; /* in backward weights the bias is a result */
    kiln_plan_stage(plan, "naive.cl", "naive");
    kiln_define_types(plan, s);
    kiln_define(plan, "P_DIRECTION", s->direction);
    if (kiln_shape_sums_long(s))
        kiln_define(plan, "D_LONG_SUMS", 1);
    kiln_define(plan, "D_GROUP", kiln_device_group(d, GROUP));
    if (epilogue)
        kiln_define_epilogue(plan, s);
    for (int i = 0; i < 3; i++)
        kiln_arg_buffer(plan, roles[s->direction][i]);
    const int64_t sizes[] = {count, s->n, s->g, s->c / s->g, s->k / s->g};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        kiln_arg_index(plan, s, sizes[i]);
    for (int a = 0; a < 3; a++) {
        const int64_t axis[] = {s->in[a],
                                s->out[a],
                                s->filter[a],
                                s->stride[a],
                                s->dilation[a],
                                s->pad[a],
                                s->stride[a] / gcd(s->stride[a], s->dilation[a])};
        for (size_t i = 0; i < sizeof axis / sizeof *axis; i++)
            kiln_arg_index(plan, s, axis[i]);
    }
    if (epilogue)
        kiln_arg_epilogue(plan, s);
    kiln_grid(plan, kiln_device_group(d, GROUP), 1, 1, count, 1, 1);
}

static void emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c, kiln_plan *plan)
{
    emit_convolution(s, d, plan);
    if (s->direction == KILN_BACKWARD_WEIGHTS && s->epilogue.bias)
        kiln_bias_gradient_emit(s, d, plan);
}

/* PoCL reaches some 5 GFLOP/s of a peak of some 300. To find its place an element takes the time of
 * about fifty multiply-adds. A GPU gets a little further once it has enough elements. */
static double predict(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c)
{
    const double elements = (double)kiln_shape_out_count(s), flops = s->flops + 100 * elements;
    const double bytes = (double)s->x_count * (double)kiln_type_size(s->x_type) +
                         (double)s->w_count * (double)kiln_type_size(s->w_type) +
                         (double)s->y_count * (double)kiln_type_size(s->y_type);
    double efficiency = 0.015;
    if (d->kind == KILN_DEVICE_GPU)
        efficiency = 0.03 * fmin(1, elements / (1024.0 * d->compute_units));
    const double compute = flops / (efficiency * d->peak_gflops * 1e6);
    const double launch = 0.03 * kiln_device_pace(d); /* as fitted, with so many arguments */
    return launch + fmax(compute, bytes / (d->bandwidth_gbs * 1e6));
}

const kiln_solver kiln_solver_naive = {
    .name = "naive",
    .id = 1000,
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
