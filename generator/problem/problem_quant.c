/* Completes and checks scales and zero points. */
#include "problem_quant.h"

#include "generator/base/refuse.h"
#include "generator/base/types.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { ALL_BUFFERS = 2 * KILN_QUANT_Y_ZERO - 1 };

/* One zero point: where it is, the tensor it belongs to, and the bit of its buffer. */
typedef struct zero {
    const char *name;
    int value, buffer;
    kiln_type type;
} zero;

enum { ZEROS = 4 };

static void list_zeros(const kiln_problem *p, zero zeros[ZEROS])
{
    const kiln_quant *q = &p->quant;
    const zero all[ZEROS] = {{"x_zero", q->x_zero, KILN_QUANT_X_ZERO, p->x_type},
                             {"w_zero", q->w_zero, KILN_QUANT_W_ZERO, p->w_type},
                             {"y_zero", q->y_zero, KILN_QUANT_Y_ZERO, p->y_type},
                             {"residual_zero", q->residual_zero, 0, q->residual_type}};
    memcpy(zeros, all, sizeof all);
}

void kiln_quant_complete(kiln_problem *p)
{
    kiln_quant *q = &p->quant;
    float *const scales[] = {&q->x_scale, &q->w_scale, &q->y_scale, &q->residual_scale};
    for (int i = 0; i < 4; i++)
        if (*scales[i] == 0)
            *scales[i] = 1;
    /* Without a residual the type is what an earlier check has filled in, if any. */
    if (p->epilogue.beta == 0)
        q->residual_type = KILN_TYPE_DEFAULT;
    else if (!q->residual_type)
        q->residual_type = p->y_type;
}

bool kiln_quant_is_complete(const kiln_problem *p)
{
    const kiln_quant *q = &p->quant;
    return q->buffers >= 0 && q->buffers <= ALL_BUFFERS && (int)q->rounding >= 0 &&
           q->rounding <= KILN_ROUND_FIXED_ONCE &&
           (!q->residual_type || kiln_type_is_known(q->residual_type));
}

bool kiln_quant_is_used(const kiln_problem *p)
{
    const kiln_quant *q = &p->quant;
    return q->x_scale != 1 || q->w_scale != 1 || q->y_scale != 1 || q->residual_scale != 1 ||
           q->x_zero || q->w_zero || q->y_zero || q->residual_zero || q->buffers ||
           q->residual_after || q->rounding || (q->residual_type && q->residual_type != p->y_type);
}

static bool is_byte(kiln_type type)
{
    return kiln_type_is_integer(type) && kiln_type_size(type) == 1;
}

static kiln_status check_numbers(const kiln_problem *p, char *why)
{
    const kiln_quant *q = &p->quant;
    const struct {
        const char *name;
        float value;
    } scales[] = {{"x_scale", q->x_scale},
                  {"w_scale", q->w_scale},
                  {"y_scale", q->y_scale},
                  {"residual_scale", q->residual_scale}};
    for (int i = 0; i < 4; i++)
        if (!isfinite(scales[i].value) || scales[i].value <= 0)
            return kiln_refuse(why, "quant.%s is %g; it must be above 0 and finite", scales[i].name,
                               (double)scales[i].value);
    if (q->buffers < 0 || q->buffers > ALL_BUFFERS)
        return kiln_refuse(why, "quant.buffers is %d; it holds bits KILN_QUANT_..., 0 to %d",
                           q->buffers, ALL_BUFFERS);
    if ((int)q->rounding < 0 || q->rounding > KILN_ROUND_FIXED_ONCE)
        return kiln_refuse(why, "quant.rounding is %d; it must be one of kiln_rounding, 0 to %d",
                           (int)q->rounding, KILN_ROUND_FIXED_ONCE);
    if (q->residual_after != 0 && q->residual_after != 1)
        return kiln_refuse(why, "quant.residual_after is %d; it must be 0 or 1", q->residual_after);
    return KILN_OK;
}

static kiln_status check_zeros(const kiln_problem *p, char *why)
{
    zero zeros[ZEROS];
    list_zeros(p, zeros);
    for (int i = 0; i < ZEROS; i++) {
        const zero *z = &zeros[i];
        const int least = z->type == KILN_U8 ? 0 : INT8_MIN;
        const int most = z->type == KILN_U8 ? UINT8_MAX : INT8_MAX;
        const bool brought = p->quant.buffers & z->buffer;
        if (!z->value && !brought)
            continue;
        if (!is_byte(z->type))
            return kiln_refuse(why, "quant.%s belongs to a tensor of i8 or u8, not of %s", z->name,
                               z->type ? kiln_type_name(z->type) : "no type");
        if (brought && z->value)
            return kiln_refuse(why, "quant.%s is %d and comes in a buffer too; choose one", z->name,
                               z->value);
        if (z->value < least || z->value > most)
            return kiln_refuse(why, "quant.%s is %d; %s holds %d to %d", z->name, z->value,
                               kiln_type_name(z->type), least, most);
    }
    if ((p->quant.w_zero || p->quant.buffers & KILN_QUANT_W_ZERO) && !is_byte(p->x_type))
        return kiln_refuse(why, "quant.w_zero needs x of i8 or u8, not of %s",
                           kiln_type_name(p->x_type));
    return KILN_OK;
}

static kiln_status check_residual(const kiln_problem *p, char *why)
{
    const kiln_quant *q = &p->quant;
    const bool own = q->residual_type && q->residual_type != p->y_type;
    if (p->epilogue.beta == 0) {
        if (q->residual_scale != 1 || q->residual_zero || q->residual_after)
            return kiln_refuse(why, "the residual has a scale, a zero point or a place, but "
                                    "epilogue.beta is 0: there is none");
        return KILN_OK;
    }
    if (own && !is_byte(q->residual_type))
        return kiln_refuse(why, "quant.residual_type is %s; it must be y's type, i8 or u8",
                           kiln_type_name(q->residual_type));
    return KILN_OK;
}

static bool has_scales(const kiln_problem *p)
{
    const kiln_quant *q = &p->quant;
    return q->x_scale != 1 || q->w_scale != 1 || q->y_scale != 1 ||
           q->buffers & KILN_QUANT_W_SCALES;
}

static kiln_status check_fixed(const kiln_problem *p, char *why)
{
    const kiln_quant *q = &p->quant;
    const kiln_epilogue *e = &p->epilogue;
    if (!is_byte(p->x_type) || !is_byte(p->y_type))
        return kiln_refuse(why, "a fixed-point rounding needs x and y of i8 or u8, not %s and %s",
                           kiln_type_name(p->x_type), kiln_type_name(p->y_type));
    if (!(q->buffers & KILN_QUANT_W_SCALES) || q->x_scale != 1 || q->w_scale != 1)
        return kiln_refuse(why, "a fixed-point rounding takes its factors, multipliers and shifts, "
                                "from w_scales alone (KILN_QUANT_W_SCALES)");
    if (e->activation > KILN_CLIPPED_RELU || e->beta != 0 || e->alpha != 1 ||
        (e->bias && e->bias != KILN_I32))
        return kiln_refuse(why, "a fixed-point rounding takes no alpha, no residual, no bias but "
                                "one of i32, and no activation but relu and clipped_relu");
    return KILN_OK;
}

kiln_status kiln_quant_check(const kiln_problem *p, char *why)
{
    kiln_status status = check_numbers(p, why);
    if (status || (status = check_zeros(p, why)) || (status = check_residual(p, why)))
        return status;
    if (kiln_quant_is_used(p) && p->direction != KILN_FORWARD)
        return kiln_refuse(why, "scales and zero points belong to forward passes");
    if (p->y_type == KILN_I32 && has_scales(p))
        return kiln_refuse(why, "an i32 destination takes no scales; choose f32, i8 or u8");
    return p->quant.rounding ? check_fixed(p, why) : KILN_OK;
}
