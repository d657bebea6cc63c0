/* Completes and checks the epilogue, which changes sums before they are stored. */
#include "problem_epilogue.h"

#include "generator/base/activations.h"
#include "generator/base/types.h"

#include "problem_text.h"

#include <math.h>
#include <string.h>

void kiln_epilogue_complete(kiln_epilogue *e)
{
    const kiln_activation_row *row = kiln_activation_facts(e->activation);
    if (e->alpha == 0)
        e->alpha = 1;
    for (int i = 0; i < 2; i++)
        if (e->param[i] == 0 || i >= row->params)
            e->param[i] = 0; /* also drops the sign of a zero */
    if (e->param[0] == 0 && e->param[1] == 0)
        memcpy(e->param, row->usual, sizeof e->param);
    if (e->beta == 0)
        e->beta = 0;
}

bool kiln_bias_type_is_known(int type)
{
    return type == 0 || type == KILN_I32 || kiln_type_is_float((kiln_type)type);
}

static kiln_status check_terms(const kiln_problem *p, char *why)
{
    const kiln_epilogue *e = &p->epilogue;
    if (!isfinite(e->alpha) || !isfinite(e->beta) || !isfinite(e->param[0]) ||
        !isfinite(e->param[1]))
        return kiln_refuse(why, "alpha, beta and the activation's parameters must be finite");
    const kiln_status status = kiln_activation_check(e->activation, e->param, why);
    if (status)
        return status;
    bool more = e->alpha != 1 || e->beta != 0 || e->activation != KILN_IDENTITY;
    if (p->direction == KILN_BACKWARD_DATA && (more || e->bias))
        return kiln_refuse(why, "backward data takes no epilogue");
    if (p->direction == KILN_BACKWARD_WEIGHTS && more)
        return kiln_refuse(why, "backward weights takes no epilogue but bias (its gradient)");
    if (p->direction == KILN_FORWARD && p->y_type == KILN_I32 &&
        (more || (e->bias && e->bias != KILN_I32)))
        return kiln_refuse(why,
                           "an i32 destination takes no epilogue but a bias of i32; choose f32 "
                           "or i8");
    return KILN_OK;
}

static kiln_status check_bias(const kiln_problem *p, char *why)
{
    const int type = p->epilogue.bias;
    if (!type && strcmp(p->bias_layout, kiln_plain_bias_layout) != 0)
        return kiln_refuse(why, "the bias has a layout, %s, but the epilogue has no bias; set both",
                           p->bias_layout);
    if (p->direction == KILN_BACKWARD_WEIGHTS && type && type != KILN_F32)
        return kiln_refuse(why, "the bias gradient is written as f32, not %s",
                           kiln_type_name((kiln_type)type));
    if (type == KILN_I32 && !kiln_type_is_integer(p->x_type))
        return kiln_refuse(why, "a bias of i32 is added to sums of i8 or u8, not of %s",
                           kiln_type_name(p->x_type));
    return KILN_OK;
}

kiln_status kiln_epilogue_check(const kiln_problem *p, char *why)
{
    kiln_status status = check_terms(p, why);
    return status ? status : check_bias(p, why);
}
