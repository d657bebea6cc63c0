/* Makes the problem of one direction from flags or a name. */
#include "driver/reference/host.h"

#include "request.h"
#include "request_layouts.h"

#include <string.h>

/* Sets the padding of -z same, which makes the output the input divided by the stride, rounded up.
 * Of an odd total the larger half comes after the input. */
static void pad_same(kiln_problem *p, int i)
{
    int64_t out = (p->input[i] + p->stride[i] - 1) / p->stride[i];
    int64_t total =
        (out - 1) * p->stride[i] + (p->filter[i] - 1) * p->dilation[i] + 1 - p->input[i];
    p->pad_begin[i] = total > 0 ? total / 2 : 0;
    p->pad_end[i] = total > 0 ? total - total / 2 : 0;
}

static void set_axes(const flags *f, kiln_problem *p)
{
    int rank = (int)f->spatial_dim;
    /* As in MIOpen, -z does not apply to transposed convolutions. */
    int64_t mode = f->mode == MODE_TRANS ? PAD_DEFAULT : f->pad_mode;
    for (int i = 0; i < rank; i++) {
        int a = KILN_MAX_RANK - rank + i;
        p->input[i] = f->size[a];
        p->filter[i] = f->filter[a];
        p->stride[i] = f->stride[a];
        p->dilation[i] = f->dilation[a];
        p->output_pad[i] = f->output_pad[a];
        p->pad_begin[i] = mode == PAD_VALID ? 0 : f->pad[a];
        p->pad_end[i] = mode == PAD_VALID ? 0 : f->pad_end[a] < 0 ? f->pad[a] : f->pad_end[a];
        if (mode == PAD_SAME)
            pad_same(p, i);
    }
}

static kiln_status from_flags(const request *r, kiln_problem *p, char *why)
{
    const flags *f = &r->flags;
    p->transposed = f->mode == MODE_TRANS;
    p->spatial_rank = (int)f->spatial_dim;
    p->batch = f->batch;
    p->in_channels = f->in_channels;
    p->out_channels = f->out_channels;
    p->groups = f->groups;
    set_axes(f, p);
    return request_layouts(f, p, why);
}

static kiln_type *destination_type(kiln_problem *p)
{
    kiln_type *const types[] = {[KILN_FORWARD] = &p->y_type,
                                [KILN_BACKWARD_DATA] = &p->x_type,
                                [KILN_BACKWARD_WEIGHTS] = &p->w_type};
    return types[p->direction];
}

static kiln_status set_type(const char *flag, const char *name, kiln_type *type, char *why)
{
    if (!*name || kiln_type_named(name, type))
        return KILN_OK;
    snprintf(why, KILN_ERROR_TEXT,
             "--%s is '%.60s'; it must be f32, f16, bf16, i8, i32, "
             "f8e4m3, f8e5m2 or u8",
             flag, name);
    return KILN_INVALID;
}

static kiln_status set_types(kiln_problem *p, kiln_type type, const flags *f, char *why)
{
    p->x_type = p->w_type = p->y_type = type;
    *destination_type(p) = KILN_TYPE_DEFAULT;
    kiln_status status = set_type("out_type", f->out_type, destination_type(p), why);
    if (!status && p->direction == KILN_FORWARD)
        status = set_type("x_type", f->x_type, &p->x_type, why);
    if (!status && p->direction == KILN_FORWARD)
        status = set_type("w_type", f->w_type, &p->w_type, why);
    return status;
}

/* Flags that are given override a key. */
static void set_quant(const flags *f, kiln_problem *p)
{
    kiln_quant *q = &p->quant;
    const struct {
        const char *name;
        double value;
        float *to;
    } scales[] = {{"x_scale", f->x_scale, &q->x_scale},
                  {"w_scale", f->w_scale, &q->w_scale},
                  {"y_scale", f->y_scale, &q->y_scale}};
    const struct {
        const char *name;
        int64_t value;
        int *to;
    } zeros[] = {{"x_zero", f->x_zero, &q->x_zero},
                 {"w_zero", f->w_zero, &q->w_zero},
                 {"y_zero", f->y_zero, &q->y_zero}};
    static const kiln_rounding roundings[] = {KILN_ROUND_F32, KILN_ROUND_FIXED_TWICE,
                                              KILN_ROUND_FIXED_ONCE};
    for (int i = 0; i < 3; i++) {
        if (flags_given(f, scales[i].name))
            *scales[i].to = (float)scales[i].value;
        if (flags_given(f, zeros[i].name))
            *zeros[i].to = (int)zeros[i].value;
    }
    if (*f->w_scales)
        q->buffers |= KILN_QUANT_W_SCALES;
    if (flags_given(f, "rounding"))
        q->rounding = roundings[f->rounding];
    if (p->direction != KILN_FORWARD)
        *q = (kiln_quant){0};
}

static kiln_status set_activation(const char *name, kiln_activation *activation, char *why)
{
    if (kiln_activation_named(name, activation))
        return KILN_OK;
    snprintf(why, KILN_ERROR_TEXT, "--activation is '%.60s'; kiln --help lists the names", name);
    return KILN_INVALID;
}

/* Writes the names of the types that hold fractions, "f32, f16 or bf16". */
static void list_floats(char text[128])
{
    const char *last = NULL;
    size_t used = 0;
    text[0] = '\0';
    for (int i = KILN_TYPE_DEFAULT + 1; i < KILN_TYPES; i++) {
        if (kiln_type_is_integer((kiln_type)i))
            continue;
        if (last && used < 128)
            used += (size_t)snprintf(text + used, 128 - used, "%s%s", used ? ", " : "", last);
        last = kiln_type_name((kiln_type)i);
    }
    if (last && used < 128)
        snprintf(text + used, 128 - used, "%s%s", used ? " or " : "", last);
}

static kiln_status set_bias(const flags *f, kiln_problem *p, char *why)
{
    kiln_type type = (kiln_type)p->epilogue.bias;
    if (f->bias || flags_given(f, "bias"))
        type = f->bias ? KILN_F32 : KILN_TYPE_DEFAULT;
    if (type && *f->bias_type &&
        (!kiln_type_named(f->bias_type, &type) ||
         (kiln_type_is_integer(type) && type != KILN_I32))) {
        char floats[128];
        list_floats(floats);
        snprintf(why, KILN_ERROR_TEXT, "--bias_type is '%.60s'; it must be %s", f->bias_type,
                 floats);
        return KILN_INVALID;
    }
    if (strlen(f->bias_layout) >= sizeof p->bias_layout) {
        snprintf(why, KILN_ERROR_TEXT, "--bias_layout is '%.60s', longer than %d letters",
                 f->bias_layout, KILN_LAYOUT_TEXT - 1);
        return KILN_INVALID;
    }
    if (*f->bias_layout)
        snprintf(p->bias_layout, sizeof p->bias_layout, "%s", f->bias_layout);
    if (p->direction == KILN_BACKWARD_DATA || !type) {
        type = KILN_TYPE_DEFAULT;
        memset(p->bias_layout, 0, sizeof p->bias_layout);
    }
    p->epilogue.bias = p->direction == KILN_BACKWARD_WEIGHTS && type ? KILN_F32 : type;
    return KILN_OK;
}

/* Sets epilogue and attributes; flags that are given override a key. */
static kiln_status set_extras(const flags *f, kiln_problem *p, char *why)
{
    static const kiln_math maths[] = {KILN_MATH_FAST, KILN_MATH_EXACT, KILN_MATH_REDUCED};
    kiln_epilogue *e = &p->epilogue;
    kiln_status status = set_bias(f, p, why);
    if (status)
        return status;
    if (*f->activation) {
        status = set_activation(f->activation, &e->activation, why);
        if (status)
            return status;
        e->param[0] = (float)f->act_alpha;
        e->param[1] = (float)f->act_beta;
    }
    if (flags_given(f, "alpha"))
        e->alpha = (float)f->alpha;
    if (flags_given(f, "alpha") && e->alpha == 0) { /* in a problem 0 means 1 */
        snprintf(why, KILN_ERROR_TEXT, "--alpha is %g, which is 0 as a 32-bit float; give another",
                 f->alpha);
        return KILN_INVALID;
    }
    if (flags_given(f, "beta"))
        e->beta = (float)f->beta;
    if (flags_given(f, "math"))
        p->math = maths[f->math];
    if (f->deterministic >= 0)
        p->determinism = f->deterministic ? KILN_DETERMINISTIC : KILN_NONDETERMINISTIC;
    if (flags_given(f, "workspace-limit"))
        p->workspace_limit = f->workspace_limit;
    set_quant(f, p);
    if (p->direction != KILN_FORWARD)
        *e = (kiln_epilogue){.bias = e->bias};
    return KILN_OK;
}

/* In a problem, 0 stands for an activation's usual parameter. */
static kiln_status check_parameter(const flags *f, const kiln_epilogue *e, char *why)
{
    if (!*f->activation || !flags_given(f, "act_alpha") || (float)f->act_alpha != 0 ||
        e->param[0] == 0)
        return KILN_OK;
    snprintf(why, KILN_ERROR_TEXT,
             "--act_alpha is 0, which stands for the usual %g of %s; give another, or relu",
             (double)e->param[0], kiln_activation_name(e->activation));
    return KILN_INVALID;
}

/* The type of both sources; that of a key holds for its other directions too. */
static kiln_type source_type(const request *r)
{
    if (r->source != REQUEST_KEY)
        return r->type;
    return r->base.direction == KILN_BACKWARD_DATA ? r->base.w_type : r->base.x_type;
}

kiln_status request_problem(const request *r, kiln_direction direction, kiln_problem *p, char *why)
{
    kiln_status status = KILN_OK;
    bool complete = r->source == REQUEST_KEY && direction == r->base.direction;
    *p = r->source == REQUEST_FLAGS ? (kiln_problem){0} : r->base;
    p->direction = direction;
    if (r->source == REQUEST_FLAGS)
        status = from_flags(r, p, why);
    else if (r->source == REQUEST_SHAPE)
        status = request_layouts(&r->flags, p, why);
    if (r->flags.max_batch && p->batch > r->flags.max_batch)
        p->batch = r->flags.max_batch;
    if (!status && !complete)
        status = set_types(p, source_type(r), &r->flags, why);
    if (!status)
        status = set_extras(&r->flags, p, why);
    if (!status && (status = kiln_problem_check(p, why)))
        request_layouts_blame(&r->flags, p, why);
    return status ? status : check_parameter(&r->flags, &p->epilogue, why);
}
