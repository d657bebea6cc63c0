/* Completes and checks a problem; every size rule of the library is here. */
#include "kiln_problem.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static kiln_status bad(char *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

static kiln_status bad(char *why, const char *format, ...)
{
    if (why) {
        va_list list;
        va_start(list, format);
        vsnprintf(why, KILN_ERROR_TEXT, format, list);
        va_end(list);
    }
    return KILN_INVALID;
}

static long long ll(int64_t v)
{
    return v;
}

static const char *axis_name(const kiln_problem *p, int i)
{
    static const char *const names[] = {"depth", "height", "width"};
    return names[KILN_MAX_RANK - p->spatial_rank + i];
}

static void set_defaults(kiln_problem *p)
{
    if (p->spatial_rank == 0)
        p->spatial_rank = 2;
    if (p->groups == 0)
        p->groups = 1;
    for (int i = 0; i < KILN_MAX_RANK; i++) {
        if (p->stride[i] == 0)
            p->stride[i] = 1;
        if (p->dilation[i] == 0)
            p->dilation[i] = 1;
    }
    if (p->epilogue.alpha == 0)
        p->epilogue.alpha = 1;
    kiln_activation act = p->epilogue.activation;
    if (act == KILN_TANH && p->epilogue.param[0] == 0 && p->epilogue.param[1] == 0)
        p->epilogue.param[0] = p->epilogue.param[1] = 1;
}

static void set_types(kiln_problem *p)
{
    kiln_type *all[3] = {&p->x_type, &p->w_type, &p->y_type};
    static const int destination[] = {
        [KILN_FORWARD] = 2, [KILN_BACKWARD_DATA] = 0, [KILN_BACKWARD_WEIGHTS] = 1};
    int d = destination[p->direction];
    kiln_type *to = all[d], *a = all[(d + 1) % 3], *b = all[(d + 2) % 3];
    if (!*a)
        *a = *b ? *b : KILN_F32;
    if (!*b)
        *b = *a;
    if (!*to)
        *to = *a == KILN_I8 ? KILN_I32 : *a;
}

static kiln_status check_types(const kiln_problem *p, char *why)
{
    const kiln_type all[3] = {p->x_type, p->w_type, p->y_type};
    static const int destination[] = {2, 0, 1};
    int d = destination[p->direction];
    kiln_type to = all[d], a = all[(d + 1) % 3], b = all[(d + 2) % 3];
    for (int i = 0; i < 3; i++)
        if (all[i] < KILN_F32 || all[i] > KILN_I32)
            return bad(why, "%d is not a storage type", (int)all[i]);
    if (a != b)
        return bad(why, "the two source tensors must share a type, not %s and %s",
                   kiln_type_name(a), kiln_type_name(b));
    if (a == KILN_I32)
        return bad(why, "i32 is a destination type only");
    bool fits = a == KILN_I8 ? to == KILN_I32 || to == KILN_F32 || to == KILN_I8
                             : to == a || to == KILN_F32;
    if (!fits)
        return bad(why, "%s sources cannot have a destination of %s", kiln_type_name(a),
                   kiln_type_name(to));
    return KILN_OK;
}

static kiln_status check_axis(const kiln_problem *p, int i, char *why)
{
    enum { BIG = 1 << 30 };
    const struct {
        const char *name;
        int64_t value, least;
    } sizes[] = {
        {"input", p->input[i], 1},           {"filter", p->filter[i], 1},
        {"stride", p->stride[i], 1},         {"dilation", p->dilation[i], 1},
        {"pad before", p->pad_begin[i], 0},  {"pad after", p->pad_end[i], 0},
        {"output pad", p->output_pad[i], 0},
    };
    for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
        if (sizes[j].value < sizes[j].least)
            return bad(why, "%s of the %s is %lld; it must be at least %lld", sizes[j].name,
                       axis_name(p, i), ll(sizes[j].value), ll(sizes[j].least));
        if (sizes[j].value > BIG)
            return bad(why, "%s of the %s is %lld; the largest that is accepted is %d",
                       sizes[j].name, axis_name(p, i), ll(sizes[j].value), BIG);
    }
    int64_t reach = (p->filter[i] - 1) * p->dilation[i] + 1;
    int64_t padded = p->input[i] + p->pad_begin[i] + p->pad_end[i];
    if (!p->transposed && p->output_pad[i] != 0)
        return bad(why, "output pad is %lld, but only a transposed convolution has one",
                   ll(p->output_pad[i]));
    if (!p->transposed && reach > padded)
        return bad(why,
                   "the filter is larger than the padded input: %s %lld (dilated) against %lld; "
                   "raise the padding or the input",
                   axis_name(p, i), ll(reach), ll(padded));
    int64_t limit = p->stride[i] > p->dilation[i] ? p->stride[i] : p->dilation[i];
    if (p->transposed && p->output_pad[i] >= limit)
        return bad(why, "output pad of the %s is %lld; it must be below stride or dilation (%lld)",
                   axis_name(p, i), ll(p->output_pad[i]), ll(limit));
    int64_t out = kiln_problem_output(p, i);
    if (out < 1)
        return bad(why, "the output's %s would be %lld; lower the padding", axis_name(p, i),
                   ll(out));
    return KILN_OK;
}

static kiln_status check_channels(const kiln_problem *p, char *why)
{
    const struct {
        const char *name;
        int64_t value;
    } sizes[] = {
        {"batch", p->batch},
        {"in_channels", p->in_channels},
        {"out_channels", p->out_channels},
        {"groups", p->groups},
    };
    for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++)
        if (sizes[j].value < 1)
            return bad(why, "%s is %lld; it must be at least 1", sizes[j].name, ll(sizes[j].value));
    if (p->in_channels % p->groups || p->out_channels % p->groups)
        return bad(why, "%lld groups do not divide %lld input and %lld output channels",
                   ll(p->groups), ll(p->in_channels), ll(p->out_channels));
    return KILN_OK;
}

/* Elements of a tensor, or -1 on overflow. */
static int64_t product(int64_t a, int64_t b, const int64_t *spatial, int rank)
{
    int64_t n;
    if (__builtin_mul_overflow(a, b, &n))
        return -1;
    for (int i = 0; i < rank; i++)
        if (__builtin_mul_overflow(n, spatial[i], &n))
            return -1;
    return n;
}

static int64_t count(const kiln_problem *p, char tensor)
{
    int64_t out[KILN_MAX_RANK];
    switch (tensor) {
    case 'x':
        return product(p->batch, p->in_channels, p->input, p->spatial_rank);
    case 'w':
        return p->transposed ? product(p->in_channels, p->out_channels / p->groups, p->filter,
                                       p->spatial_rank)
                             : product(p->out_channels, p->in_channels / p->groups, p->filter,
                                       p->spatial_rank);
    default:
        for (int i = 0; i < p->spatial_rank; i++)
            out[i] = kiln_problem_output(p, i);
        return product(p->batch, p->out_channels, out, p->spatial_rank);
    }
}

static kiln_status check_counts(const kiln_problem *p, char *why)
{
    /* Room for layout padding and byte sizes: 2^56 elements are 256 PiB of f32. */
    const int64_t most = (int64_t)1 << 56;
    for (const char *t = "xwy"; *t; t++) {
        int64_t n = count(p, *t);
        if (n < 0 || n > most)
            return bad(why, "tensor %c has more than 2^56 elements: the sizes overflow", *t);
    }
    return KILN_OK;
}

static kiln_status check_epilogue(const kiln_problem *p, char *why)
{
    const kiln_epilogue *e = &p->epilogue;
    if (!isfinite(e->alpha) || !isfinite(e->beta) || !isfinite(e->param[0]) ||
        !isfinite(e->param[1]))
        return bad(why, "alpha, beta and the activation's parameters must be finite");
    if ((int)e->activation < 0 || !kiln_activation_name(e->activation))
        return bad(why, "%d is not an activation", (int)e->activation);
    bool more = e->alpha != 1 || e->beta != 0 || e->activation != KILN_IDENTITY;
    if (p->direction == KILN_BACKWARD_DATA && (more || e->bias))
        return bad(why, "backward data takes no epilogue");
    if (p->direction == KILN_BACKWARD_WEIGHTS && more)
        return bad(why, "backward weights takes no epilogue but bias (its gradient)");
    if (p->direction == KILN_FORWARD && p->y_type == KILN_I32 && (more || e->bias))
        return bad(why, "an i32 destination takes no epilogue; choose f32 or i8");
    return KILN_OK;
}

static kiln_status check_attributes(const kiln_problem *p, char *why)
{
    if ((int)p->direction < 0 || p->direction > KILN_BACKWARD_WEIGHTS)
        return bad(why, "%d is not a direction", (int)p->direction);
    if (p->spatial_rank < 1 || p->spatial_rank > KILN_MAX_RANK)
        return bad(why, "spatial rank is %d; it must be 1, 2 or 3", p->spatial_rank);
    if ((int)p->determinism < 0 || p->determinism > KILN_NONDETERMINISTIC)
        return bad(why, "%d is not a determinism", (int)p->determinism);
    if ((int)p->math < 0 || p->math > KILN_MATH_REDUCED)
        return bad(why, "%d is not a math mode", (int)p->math);
    if (p->workspace_limit < 0)
        return bad(why, "workspace limit is %lld; 0 means none", ll(p->workspace_limit));
    const char *layouts[3] = {p->x_layout, p->w_layout, p->y_layout};
    for (int i = 0; i < 3; i++)
        if (!memchr(layouts[i], '\0', KILN_LAYOUT_TEXT))
            return bad(why, "a layout's text is longer than %d bytes", KILN_LAYOUT_TEXT - 1);
    return KILN_OK;
}

kiln_status kiln_problem_check(kiln_problem *p, char *why)
{
    set_defaults(p);
    kiln_status status = check_attributes(p, why);
    if (status)
        return status;
    set_types(p);
    if ((status = check_types(p, why)) || (status = check_channels(p, why)))
        return status;
    for (int i = 0; i < p->spatial_rank; i++)
        if ((status = check_axis(p, i, why)))
            return status;
    if ((status = check_counts(p, why)))
        return status;
    return check_epilogue(p, why);
}

int64_t kiln_problem_output(const kiln_problem *p, int i)
{
    int64_t reach = (p->filter[i] - 1) * p->dilation[i] + 1;
    int64_t pads = p->pad_begin[i] + p->pad_end[i];
    if (p->transposed)
        return p->stride[i] * (p->input[i] - 1) + reach - pads + p->output_pad[i];
    return (p->input[i] + pads - reach) / p->stride[i] + 1;
}

int64_t kiln_problem_count(const kiln_problem *p, char tensor)
{
    return count(p, tensor);
}

const char *kiln_type_name(kiln_type type)
{
    static const char *const names[] = {"default", "f32", "f16", "bf16", "i8", "i32"};
    return (unsigned)type < sizeof names / sizeof *names ? names[type] : "?";
}

size_t kiln_type_size(kiln_type type)
{
    static const size_t sizes[] = {4, 4, 2, 2, 1, 4};
    return (unsigned)type < sizeof sizes / sizeof *sizes ? sizes[type] : 0;
}

const char *kiln_direction_name(kiln_direction direction)
{
    static const char *const names[] = {"fwd", "bwd", "wrw"};
    return (unsigned)direction < 3 ? names[direction] : "?";
}

const char *kiln_activation_name(kiln_activation activation)
{
    static const char *const names[] = {"identity", "relu",    "clipped_relu", "leaky_relu", "elu",
                                        "tanh",     "sigmoid", "silu",         "gelu"};
    return (unsigned)activation < sizeof names / sizeof *names ? names[activation] : NULL;
}
