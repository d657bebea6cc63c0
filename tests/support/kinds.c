/* Types and layouts for the tests of several solvers. */
#include "kinds.h"

#include <stdio.h>

const support_types support_types_of[SUPPORT_ALL] = {
    {KILN_F16, KILN_F16},       {KILN_F16, KILN_F32},       {KILN_BF16, KILN_BF16},
    {KILN_BF16, KILN_F32},      {KILN_I8, KILN_I32},        {KILN_I8, KILN_F32},
    {KILN_I8, KILN_I8},         {KILN_F8E4M3, KILN_F8E4M3}, {KILN_F8E4M3, KILN_F32},
    {KILN_F8E5M2, KILN_F8E5M2}, {KILN_F8E5M2, KILN_F32},
};

void support_set_types(kiln_problem *p, support_types types)
{
    kiln_type *const written[] = {[KILN_FORWARD] = &p->y_type,
                                  [KILN_BACKWARD_DATA] = &p->x_type,
                                  [KILN_BACKWARD_WEIGHTS] = &p->w_type};
    p->x_type = p->w_type = p->y_type = types.source;
    *written[p->direction] = types.destination;
}

void support_set_layouts(kiln_problem *p, const char *x, const char *y)
{
    snprintf(p->x_layout, sizeof p->x_layout, "%s", x);
    snprintf(p->y_layout, sizeof p->y_layout, "%s", y);
}
