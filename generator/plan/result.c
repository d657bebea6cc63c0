/* Plans the stages that make results of sums. */
#include "result.h"

#include "generator/base/activations.h"
#include "generator/base/types.h"
#include "generator/problem/problem_layout.h"

#include "reformat.h"

#include <math.h>

enum { LOCAL = 64, FLIP = 128 };

static bool is_forward(const kiln_shape *s)
{
    return s->direction == KILN_FORWARD;
}

static int64_t largest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

kiln_result_axis kiln_result_axis_of(const kiln_shape *s, int a)
{
    const int64_t reach = (s->filter[a] - 1) * s->dilation[a], pad = s->pad[a];
    kiln_result_axis r = {.size = is_forward(s) ? s->out[a] : s->in[a], .period = 1};
    if (is_forward(s)) {
        const int64_t last = s->in[a] - 1 + pad - reach; /* of a filter that ends inside */
        r.low = (pad + s->stride[a] - 1) / s->stride[a];
        r.high = largest(0, r.size - 1 - (last < 0 ? -1 : last / s->stride[a]));
    } else {
        r.low = largest(0, reach - pad);
        r.high = largest(0, r.size - 1 - ((s->out[a] - 1) * s->stride[a] - pad));
        r.period = s->stride[a];
    }
    if (r.low + r.period + r.high >= r.size)
        r = (kiln_result_axis){r.size, r.size, 0, 0};
    return r;
}

static int64_t classes_of(const kiln_shape *s)
{
    int64_t classes = 1;
    for (int a = 0; a < 3; a++) {
        const kiln_result_axis r = kiln_result_axis_of(s, a);
        classes *= r.low + r.period + r.high;
    }
    return classes;
}

/* ---- what is there ---- */

static kiln_type source_given(const kiln_shape *s)
{
    return is_forward(s) ? s->x_given : s->y_given;
}

static kiln_type destination_given(const kiln_shape *s)
{
    return is_forward(s) ? s->y_given : s->x_given;
}

static int64_t destination_channels(const kiln_shape *s)
{
    return is_forward(s) ? s->k : s->c;
}

/* The constant zero point of what the solver reads. */
static int source_zero(const kiln_shape *s)
{
    return s->quant.x_zero - (source_given(s) == KILN_U8 ? FLIP : 0);
}

static bool has_source_zero(const kiln_shape *s)
{
    return source_zero(s) || s->quant.buffers & KILN_QUANT_X_ZERO;
}

static bool has_weight_zero(const kiln_shape *s)
{
    return s->quant.w_zero || s->quant.buffers & KILN_QUANT_W_ZERO;
}

/* ---- defines that several stages have ---- */

static void define_source_zero(kiln_plan *plan, const kiln_shape *s)
{
    kiln_define(plan, "P_X_ZERO", source_zero(s));
    if (s->quant.buffers & KILN_QUANT_X_ZERO)
        kiln_define(plan, "D_X_ZERO_BUFFER", 1);
}

static void define_shape(kiln_plan *plan, const kiln_shape *s)
{
    const int64_t *size = is_forward(s) ? s->out : s->in, *source = is_forward(s) ? s->in : s->out;
    int64_t low[3], period[3], high[3];
    for (int a = 0; a < 3; a++) {
        const kiln_result_axis r = kiln_result_axis_of(s, a);
        low[a] = r.low;
        period[a] = r.period;
        high[a] = r.high;
    }
    kiln_define(plan, "P_BACKWARD", !is_forward(s));
    kiln_define(plan, "P_RANK", s->rank);
    kiln_define(plan, "P_CHANNELS", destination_channels(s));
    kiln_define(plan, "P_GROUPS", s->g);
    kiln_define_axes(plan, "P_SIZE", size);
    kiln_define_axes(plan, "P_SOURCE", source);
    kiln_define_axes(plan, "P_FILTER", s->filter);
    kiln_define_axes(plan, "P_STRIDE", s->stride);
    kiln_define_axes(plan, "P_DILATION", s->dilation);
    kiln_define_axes(plan, "P_PAD", s->pad);
    kiln_define_axes(plan, "D_LOW", low);
    kiln_define_axes(plan, "D_PERIOD", period);
    kiln_define_axes(plan, "D_HIGH", high);
}

static bool define_place(kiln_plan *plan, const char *name, const kiln_storage *storage)
{
    char text[KILN_EXPRESSION_TEXT];
    const bool fits = kiln_storage_expression(storage, 'o', text, sizeof text) < sizeof text;
    if (fits)
        kiln_define_text(plan, name, text);
    plan->broken = plan->broken || !fits;
    return fits;
}

/* ---- sums of weights ---- */

/* Where a table is: a role and its first int there. */
typedef struct place {
    int role;
    int64_t first;
} place;

/* Puts the table behind packed weights; where nothing is packed, into the workspace in each run. */
static place weight_sums(const kiln_shape *s, const kiln_device_facts *d,
                         const kiln_result_roles *r, kiln_plan *plan, char *why)
{
    const int64_t count = classes_of(s) * destination_channels(s);
    const bool packs = plan->packed_bytes > 0;
    kiln_storage w;
    place at = {KILN_ROLE_PACKED, (plan->packed_bytes + 63) / 64 * 16};
    if (!kiln_shape_storage(s, 'w', s->w_layout, &w, why)) {
        plan->broken = true;
        return at;
    }
    if (packs)
        plan->packed_bytes = (at.first + count) * (int64_t)sizeof(int32_t);
    else
        at = (place){kiln_plan_temp(plan, count * (int64_t)sizeof(int32_t)), 0};
    kiln_plan_stage(plan, "quant_sums.cl", "weight_sums")->pack = packs;
    kiln_define_type(plan, "SRC_TYPE", s->w_type);
    kiln_define_type(plan, "DST_TYPE", KILN_I32);
    if (s->wide || count > INT32_MAX)
        kiln_define(plan, "P_WIDE", 1);
    define_shape(plan, s);
    kiln_define(plan, "P_TERMS", is_forward(s) ? s->c / s->g : s->k / s->g);
    kiln_define(plan, "D_FIRST", at.first);
    if (w.layout.dims[0] == 'M')
        kiln_define(plan, "P_MULTIPLIER", w.dim[0]);
    define_place(plan, "D_PLACE", &w);
    kiln_arg_buffer(plan, r->weights);
    kiln_arg_buffer(plan, at.role);
    kiln_grid(plan, kiln_device_group(d, LOCAL), 1, 1, count, 1, 1);
    return at;
}

/* ---- sums of the source under each filter ---- */

static int source_sums(const kiln_shape *s, const kiln_device_facts *d, const kiln_result_roles *r,
                       kiln_plan *plan, char *why)
{
    const int64_t *size = is_forward(s) ? s->out : s->in;
    const int64_t count = s->n * s->g * size[0] * size[1] * size[2];
    const bool forward = is_forward(s);
    kiln_storage x;
    const int role = kiln_plan_temp(plan, count * (int64_t)sizeof(int32_t));
    if (!kiln_shape_storage(s, forward ? 'x' : 'y', forward ? s->x_layout : s->y_layout, &x, why)) {
        plan->broken = true;
        return role;
    }
    kiln_plan_stage(plan, "quant_sums.cl", "source_sums");
    kiln_define_type(plan, "SRC_TYPE", forward ? s->x_type : s->y_type);
    kiln_define_type(plan, "DST_TYPE", KILN_I32);
    if (s->wide || count > INT32_MAX)
        kiln_define(plan, "P_WIDE", 1);
    define_shape(plan, s);
    define_source_zero(plan, s);
    kiln_define(plan, "P_TERMS", forward ? s->c / s->g : s->k / s->g);
    kiln_define(plan, "P_COUNT", count);
    define_place(plan, "D_PLACE", &x);
    kiln_arg_buffer(plan, r->source);
    kiln_arg_buffer(plan, role);
    if (s->quant.buffers & KILN_QUANT_X_ZERO)
        kiln_arg_buffer(plan, KILN_ROLE_X_ZERO);
    kiln_grid(plan, kiln_device_group(d, LOCAL), 1, 1, count, 1, 1);
    return role;
}

/* ---- results ---- */

/* Whether nothing is added between the scale of a sum and that of y, so that they are one factor.
 */
static bool is_one_factor(const kiln_shape *s)
{
    const kiln_epilogue *e = &s->result;
    return (!e->bias || e->bias == KILN_I32) && e->beta == 0 && e->activation <= KILN_RELU;
}

static void define_scales(kiln_plan *plan, const kiln_shape *s)
{
    const kiln_epilogue *e = &s->result;
    const kiln_quant *q = &s->quant;
    double scale = (double)e->alpha * (double)q->x_scale * (double)q->w_scale;
    const bool one = is_one_factor(s);
    if (one)
        scale /= (double)q->y_scale;
    if (scale != 1)
        kiln_define_float(plan, "Q_SCALE", scale);
    if (!one && q->y_scale != 1)
        kiln_define_float(plan, "Q_Y_FACTOR", 1 / (double)q->y_scale);
    if (q->buffers & KILN_QUANT_W_SCALES)
        kiln_define(plan, "Q_W_SCALES", 1);
}

/* The limits of TFLite's activations are integers: those of y, moved by the zero point. */
static void define_fixed(kiln_plan *plan, const kiln_shape *s)
{
    const kiln_epilogue *e = &s->result;
    kiln_define(plan, "Q_ROUNDING", s->quant.rounding);
    if (e->activation == KILN_CLIPPED_RELU)
        kiln_define(plan, "Q_MOST",
                    (int64_t)fminf(roundf(e->param[0] / s->quant.y_scale), 1 << 24));
    if (e->activation != KILN_IDENTITY)
        kiln_define(plan, "Q_LEAST", 0);
}

static void define_result(kiln_plan *plan, const kiln_shape *s)
{
    const kiln_epilogue *e = &s->result;
    const kiln_quant *q = &s->quant;
    if (e->bias)
        kiln_define(plan, e->bias == KILN_I32 ? "Q_BIAS_I32" : "Q_BIAS", 1);
    if (has_weight_zero(s))
        kiln_define(plan, "Q_W_ZERO", q->w_zero);
    if (q->buffers & KILN_QUANT_W_ZERO)
        kiln_define(plan, "D_W_ZERO_BUFFER", 1);
    if (q->rounding)
        define_fixed(plan, s);
    else
        kiln_define_activation(plan, e);
    define_scales(plan, s);
    if (e->beta != 0) {
        kiln_define_float(plan, "Q_BETA", (double)e->beta * (double)q->residual_scale);
        kiln_define(plan, "Q_RESIDUAL_ZERO", q->residual_zero);
        kiln_define_type(plan, "Q_RESIDUAL_TYPE", q->residual_type);
    }
    if (q->residual_after)
        kiln_define(plan, "Q_RESIDUAL_AFTER", 1);
    if (q->y_zero)
        kiln_define(plan, "Q_Y_ZERO", q->y_zero);
    if (q->buffers & KILN_QUANT_Y_ZERO)
        kiln_define(plan, "D_Y_ZERO_BUFFER", 1);
}

static void add_arguments(kiln_plan *plan, const kiln_shape *s, const kiln_result_roles *r,
                          place table, int x_sums)
{
    const struct {
        int role;
        bool there;
    } all[] = {{r->sums, true},
               {r->destination, true},
               {r->bias, s->result.bias != 0},
               {r->residual, s->result.beta != 0},
               {KILN_ROLE_W_SCALES, s->quant.buffers & KILN_QUANT_W_SCALES},
               {KILN_ROLE_X_ZERO, s->quant.buffers & KILN_QUANT_X_ZERO},
               {KILN_ROLE_W_ZERO, s->quant.buffers & KILN_QUANT_W_ZERO},
               {KILN_ROLE_Y_ZERO, s->quant.buffers & KILN_QUANT_Y_ZERO},
               {table.role, has_source_zero(s)},
               {x_sums, has_weight_zero(s)}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].there)
            kiln_arg_buffer(plan, all[i].role);
}

bool kiln_result_emit(const kiln_shape *s, const kiln_device_facts *d, const kiln_result_roles *r,
                      kiln_plan *plan, char *why)
{
    const char tensor = is_forward(s) ? 'y' : 'x';
    const char *layout = is_forward(s) ? s->y_layout : s->x_layout;
    const kiln_type from = kiln_shape_out_type(s), to = destination_given(s);
    kiln_storage sums, y;
    place table = {0, 0};
    int x_sums = 0;
    if (!kiln_shape_storage(s, tensor, layout, &sums, why) ||
        !kiln_shape_storage_as(s, tensor, to, layout, &y, why))
        return false;
    if (has_source_zero(s))
        table = weight_sums(s, d, r, plan, why);
    if (has_weight_zero(s))
        x_sums = source_sums(s, d, r, plan, why);
    kiln_plan_stage(plan, "result.cl", "result");
    kiln_define_type(plan, "SRC_TYPE", from);
    kiln_define_type(plan, "DST_TYPE", to);
    if (s->wide || y.cells > INT32_MAX - LOCAL || sums.cells > INT32_MAX - LOCAL)
        kiln_define(plan, "P_WIDE", 1);
    define_shape(plan, s);
    if (has_source_zero(s)) {
        define_source_zero(plan, s);
        kiln_define(plan, "D_FIRST", table.first);
    }
    define_result(plan, s);
    define_place(plan, "D_FROM", &sums);
    kiln_define_element(plan, &y);
    kiln_define(plan, "P_CELLS", y.cells);
    add_arguments(plan, s, r, table, x_sums);
    kiln_grid(plan, kiln_device_group(d, LOCAL), 1, 1, y.cells, 1, 1);
    return !plan->broken || kiln_deny(why, "the layouts' expressions are too long");
}

double kiln_result_ms(const kiln_shape *s, const kiln_device_facts *d)
{
    if (!s->split)
        return 0;
    const double count = (double)kiln_shape_out_count(s);
    const double launch_ms = d->kind == KILN_DEVICE_GPU ? kiln_device_next_launch_ms(d) : 0;
    double bytes = count * (double)(4 + kiln_type_size(destination_given(s)));
    if (s->result.beta != 0)
        bytes += count * (double)kiln_type_size(s->quant.residual_type);
    return bytes / (d->bandwidth_gbs * 1e6) + launch_ms * (1 + has_weight_zero(s));
}
