/* Plans the check of one tensor's padding. */
#include "padding.h"

#include "generator/base/refuse.h"

#include "reformat.h"

enum { LOCAL = 64, IMAGE_LOCAL = 16 };

static void define_cells(kiln_plan *plan, const kiln_storage *s, const kiln_device_facts *d)
{
    if (s->layout.image) {
        kiln_define(plan, "P_IMAGE", 1);
        kiln_define(plan, "P_WIDTH", s->width);
        kiln_define(plan, "P_HEIGHT", s->height);
        kiln_grid(plan, kiln_device_group(d, IMAGE_LOCAL), 1, 1, s->width, s->height, 1);
    } else {
        kiln_define(plan, "P_CELLS", s->cells);
        kiln_grid(plan, kiln_device_group(d, LOCAL), 1, 1, s->cells, 1, 1);
    }
}

bool kiln_padding_plan(const kiln_padded *p, const kiln_device_facts *d, kiln_plan *plan,
                       int64_t *cells, char *why)
{
    kiln_layout layout;
    kiln_storage s;
    if (!kiln_layout_parse(&layout, p->layout, p->dims, why) ||
        !kiln_storage_make(&s, &layout, p->size, p->type, why))
        return false;
    *cells = s.cells - kiln_storage_elements(&s);
    kiln_plan_start(plan);
    kiln_plan_clear(plan, KILN_ROLE_Y, (int64_t)sizeof(int32_t));
    kiln_plan_stage(plan, "padding.cl", "padding");
    kiln_define_type(plan, "SRC_TYPE", p->type);
    if (s.cells > INT32_MAX - LOCAL)
        kiln_define(plan, "P_WIDE", 1);
    kiln_define_element(plan, &s);
    define_cells(plan, &s, d);
    kiln_arg_buffer(plan, KILN_ROLE_X);
    kiln_arg_buffer(plan, KILN_ROLE_Y);
    if (s.layout.image)
        plan->image[KILN_ROLE_X] = (kiln_image){s.width, s.height, p->type};
    return !plan->broken || kiln_deny(why, "the layout's expressions are too long");
}
