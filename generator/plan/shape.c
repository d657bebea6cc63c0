/* Turns a checked problem into the plain convolution that solvers work on. */
#include "shape.h"

#include "generator/base/types.h"
#include "generator/problem/problem_quant.h"

#include <math.h>
#include <string.h>

static kiln_direction mirror(kiln_direction d)
{
    switch (d) {
    case KILN_FORWARD:
        return KILN_BACKWARD_DATA;
    case KILN_BACKWARD_DATA:
        return KILN_FORWARD;
    default:
        return d;
    }
}

static void set_axes(kiln_shape *s, const kiln_problem *p)
{
    for (int a = 0; a < 3; a++)
        s->in[a] = s->out[a] = s->filter[a] = s->stride[a] = s->dilation[a] = 1;
    for (int i = 0; i < s->rank; i++) {
        int a = 3 - s->rank + i;
        s->in[a] = p->input[i];
        s->out[a] = kiln_problem_output(p, i);
        s->filter[a] = p->filter[i];
        s->stride[a] = p->stride[i];
        s->dilation[a] = p->dilation[i];
        s->pad[a] = p->pad_begin[i];
        s->pad_end[a] = p->pad_end[i];
    }
}

static void exchange(void *a, void *b, size_t size)
{
    char t[64];
    memcpy(t, a, size);
    memcpy(a, b, size);
    memcpy(b, t, size);
}

/* Whether scales are the only thing that the problem has to be quantised, so that alpha can hold
 * them. Sums that may leave 32 bits wrap where tensors are quantised, and do not with an alpha. */
static bool folds_into_alpha(const kiln_problem *p, const kiln_shape *s)
{
    const kiln_quant *q = &p->quant;
    kiln_problem rest = *p;
    rest.quant.x_scale = rest.quant.w_scale = rest.quant.y_scale = 1;
    return !kiln_quant_is_used(&rest) && !p->epilogue.bias && p->epilogue.beta == 0 &&
           p->epilogue.activation <= KILN_RELU && !kiln_shape_sums_long(s) &&
           isfinite(p->epilogue.alpha * q->x_scale * q->w_scale / q->y_scale);
}

/* Whether solvers have no kernels for the problem's types or epilogue. */
static bool is_split(const kiln_problem *p, const kiln_shape *s)
{
    return p->direction == KILN_FORWARD &&
           (p->x_type != p->w_type || !kiln_type_gives(p->x_type, p->y_type) ||
            p->epilogue.bias == KILN_I32 || (kiln_quant_is_used(p) && !folds_into_alpha(p, s)));
}

/* Leaves plain sums to the solver: of i8 where the sources are integers, else of x's type. */
static void split(kiln_shape *s)
{
    const bool forward = s->direction == KILN_FORWARD;
    kiln_type *source = forward ? &s->x_type : &s->y_type;
    kiln_type *destination = forward ? &s->y_type : &s->x_type;
    const bool integer = kiln_type_is_integer(*source);
    s->split = true;
    if (integer)
        *source = KILN_I8;
    s->w_type = *source;
    *destination = integer ? KILN_I32 : KILN_F32;
    s->epilogue = (kiln_epilogue){.alpha = 1};
}

kiln_shape kiln_shape_of(const kiln_problem *p)
{
    kiln_shape s = {
        .direction = p->direction,
        .rank = p->spatial_rank,
        .n = p->batch,
        .c = p->in_channels,
        .k = p->out_channels,
        .g = p->groups,
        .x_type = p->x_type,
        .w_type = p->w_type,
        .y_type = p->y_type,
        .epilogue = p->epilogue,
        .result = p->epilogue,
        .quant = p->quant,
        .determinism = p->determinism,
        .math = p->math,
        .workspace_limit = p->workspace_limit,
    };
    memcpy(s.x_layout, p->x_layout, sizeof s.x_layout);
    memcpy(s.w_layout, p->w_layout, sizeof s.w_layout);
    memcpy(s.y_layout, p->y_layout, sizeof s.y_layout);
    memcpy(s.bias_layout, p->bias_layout, sizeof s.bias_layout);
    set_axes(&s, p);
    if (p->transposed) {
        s.mirrored = true;
        s.direction = mirror(p->direction);
        exchange(&s.c, &s.k, sizeof s.c);
        exchange(s.in, s.out, sizeof s.in);
        exchange(&s.x_type, &s.y_type, sizeof s.x_type);
        exchange(s.x_layout, s.y_layout, sizeof s.x_layout);
    }
    int64_t in = s.in[0] * s.in[1] * s.in[2], out = s.out[0] * s.out[1] * s.out[2];
    int64_t taps = s.filter[0] * s.filter[1] * s.filter[2];
    s.x_count = s.n * s.c * in;
    s.w_count = s.k * (s.c / s.g) * taps;
    s.y_count = s.n * s.k * out;
    s.flops = 2.0 * (double)s.y_count * (double)(s.c / s.g) * (double)taps;
    const int64_t limit = INT32_MAX;
    s.wide = s.x_count > limit || s.w_count > limit || s.y_count > limit;
    for (int a = 0; a < 3; a++) {
        int64_t reach = (s.filter[a] - 1) * s.dilation[a] + 1;
        s.wide = s.wide || s.in[a] + s.pad[a] + s.pad_end[a] > limit ||
                 (s.out[a] - 1) * s.stride[a] + reach > limit;
    }
    s.x_given = s.x_type;
    s.w_given = s.w_type;
    s.y_given = s.y_type;
    if (is_split(p, &s))
        split(&s);
    else
        s.epilogue.alpha *= p->quant.x_scale * p->quant.w_scale / p->quant.y_scale;
    return s;
}

static void give(char *to, const char *layout, const char *outer)
{
    memcpy(to, *outer ? outer : layout, KILN_LAYOUT_TEXT);
}

void kiln_shape_give_layouts(const kiln_shape *s, kiln_problem *p)
{
    give(s->mirrored ? p->y_layout : p->x_layout, s->x_layout, s->x_outer);
    give(p->w_layout, s->w_layout, s->w_outer);
    give(s->mirrored ? p->x_layout : p->y_layout, s->y_layout, s->y_outer);
    give(p->bias_layout, s->bias_layout, s->bias_outer);
}

kiln_type kiln_shape_out_type(const kiln_shape *s)
{
    return s->direction == KILN_FORWARD         ? s->y_type
           : s->direction == KILN_BACKWARD_DATA ? s->x_type
                                                : s->w_type;
}

int64_t kiln_shape_out_count(const kiln_shape *s)
{
    return s->direction == KILN_FORWARD         ? s->y_count
           : s->direction == KILN_BACKWARD_DATA ? s->x_count
                                                : s->w_count;
}

const kiln_epilogue *kiln_shape_epilogue(const kiln_shape *s)
{
    return s->split ? &s->result : &s->epilogue;
}

kiln_type kiln_shape_residual_type(const kiln_shape *s)
{
    const kiln_type y = s->mirrored ? s->x_given : s->y_given;
    return s->quant.residual_type ? s->quant.residual_type : y;
}

bool kiln_shape_suits_tensor_cores(const kiln_shape *s)
{
    const kiln_type type = s->direction == KILN_FORWARD ? s->x_type : s->y_type;
    return !kiln_type_facts(type)->stored_only &&
           (type != KILN_F32 || s->math == KILN_MATH_REDUCED);
}

bool kiln_shape_suits_amx(const kiln_shape *s)
{
    return s->w_type == KILN_BF16 || s->w_type == KILN_I8;
}

int64_t kiln_shape_terms(const kiln_shape *s)
{
    int64_t taps = s->filter[0] * s->filter[1] * s->filter[2];
    switch (s->direction) {
    case KILN_FORWARD:
        return s->c / s->g * taps;
    case KILN_BACKWARD_DATA:
        return s->k / s->g * taps;
    default:
        return s->n * s->out[0] * s->out[1] * s->out[2];
    }
}

bool kiln_shape_sums_long(const kiln_shape *s)
{
    const kiln_type from = s->direction == KILN_FORWARD ? s->x_type : s->y_type;
    return from == KILN_I8 && kiln_shape_out_type(s) != KILN_I32 &&
           kiln_shape_terms(s) > KILN_INT_PRODUCTS;
}

bool kiln_epilogue_is_identity(const kiln_epilogue *e)
{
    return !e->bias && (e->alpha == 0 || e->alpha == 1) && e->beta == 0 &&
           e->activation == KILN_IDENTITY;
}

static bool plain(const char *layout, const char *const names[3])
{
    if (!*layout || strcmp(layout, "any") == 0)
        return true;
    for (int i = 0; i < 3; i++)
        if (strcmp(layout, names[i]) == 0)
            return true;
    return false;
}

bool kiln_shape_is_plain_layout(const kiln_shape *s)
{
    static const char *const data[3] = {"NCW", "NCHW", "NCDHW"};
    static const char *const filter[3] = {"OIW", "OIHW", "OIDHW"};
    return plain(s->x_layout, data) && plain(s->w_layout, filter) && plain(s->y_layout, data);
}

bool kiln_shape_is_pointwise(const kiln_shape *s)
{
    for (int a = 0; a < 3; a++)
        if (s->filter[a] != 1 || s->stride[a] != 1 || s->pad[a] != 0 || s->pad_end[a] != 0 ||
            s->in[a] != s->out[a])
            return false;
    return true;
}
