/* The layouts of a comparison. */
#include "contender.h"

#include <stdio.h>
#include <string.h>

static const char *const names[] = {
    [RULES_OWN] = "any", [RULES_NCHW] = "NCHW", [RULES_NHWC] = "NHWC"};

rules rules_with(const rules *r, const char *layout, const char *filter)
{
    rules own = *r;
    own.filter = filter;
    if (!layout)
        return own;
    own.layout = RULES_GIVEN;
    own.data = layout;
    for (int i = RULES_OWN; i <= RULES_NHWC; i++)
        if (strcmp(names[i], layout) == 0)
            own.layout = (rules_layout)i;
    return own;
}

void rules_give_layouts(const rules *r, kiln_problem *p)
{
    const char *data = r->layout == RULES_GIVEN ? r->data : names[r->layout];
    if (r->layout != RULES_NCHW) {
        snprintf(p->x_layout, sizeof p->x_layout, "%s", data);
        snprintf(p->y_layout, sizeof p->y_layout, "%s", data);
    }
    if (r->filter)
        snprintf(p->w_layout, sizeof p->w_layout, "%s", r->filter);
    else if (r->layout == RULES_OWN && p->direction == KILN_BACKWARD_WEIGHTS)
        strcpy(p->w_layout, "any");
}
