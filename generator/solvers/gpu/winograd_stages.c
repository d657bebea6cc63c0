/* Stages of Winograd's transforms on a GPU, for any of the tensors. */
#include "winograd_stages.h"

#include "generator/base/integers.h"

bool kiln_winograd_walk_rejects(const kiln_shape *s, kiln_why *why)
{
    for (int a = KILN_AXIS_H; a <= KILN_AXIS_W; a++)
        if ((s->filter[a] != 3 && s->filter[a] != 5) || s->filter[a] != s->filter[KILN_AXIS_H] ||
            s->stride[a] != 1 || s->dilation[a] != 1)
            return kiln_no(why, "it does 3x3 and 5x5 filters with stride 1 and dilation 1");
    return false;
}

void kiln_winograd_walk_set(kiln_winograd_walk *w, const kiln_shape *s, int products)
{
    const int side = products - w->taps + 1;
    w->side = side;
    w->products = products;
    w->all = s->n;
    for (int a = 0; a < 2; a++) {
        w->tiles[a] = divide_up(w->dst[a], side);
        w->all = product_of(w->all, w->tiles[a]);
    }
    w->room = round_up(w->all, 4);
}

/* Returns whether elements of all transformed patches, tiles or filters leave the range of an
 * int. */
static bool is_wide(const kiln_winograd_walk *w, const kiln_shape *s)
{
    const int64_t elements = w->products * w->products * s->g;
    return product_of(elements, product_of(w->room, w->src_c + w->dst_c)) > INT32_MAX ||
           product_of(elements, product_of(w->src_c, w->dst_c)) > INT32_MAX;
}

void kiln_winograd_walk_emit(const kiln_winograd_walk *w, const kiln_shape *s,
                             const kiln_device_facts *d, const char *kernel, const int64_t grid[3],
                             kiln_plan *plan)
{
    const bool groups = d->kind != KILN_DEVICE_CPU && d->max_group >= 128 &&
                        d->max_local[0] >= 32 && d->max_local[1] >= 4;
    kiln_plan_stage(plan, w->template_file, kernel);
    kiln_define_types(plan, s);
    if (!s->wide && is_wide(w, s))
        kiln_define(plan, "P_WIDE", 1);
    kiln_define(plan, "D_B", 1);
    kiln_define(plan, "P_SRC_H", w->src[0]);
    kiln_define(plan, "P_SRC_W", w->src[1]);
    kiln_define(plan, "P_DST_H", w->dst[0]);
    kiln_define(plan, "P_DST_W", w->dst[1]);
    kiln_define(plan, "D_LEAD_H", w->lead[0]);
    kiln_define(plan, "D_LEAD_W", w->lead[1]);
    kiln_define(plan, "P_GROUPS", s->g);
    kiln_define(plan, "D_SRC_C", w->src_c);
    kiln_define(plan, "D_DST_C", w->dst_c);
    kiln_define(plan, "D_REAL_TILES", w->all);
    kiln_define(plan, "D_TILES", w->room);
    kiln_define(plan, "D_TILES_H", w->tiles[0]);
    kiln_define(plan, "D_TILES_W", w->tiles[1]);
    kiln_pitch_define(&w->src_pitch, "D_SRC", plan);
    kiln_pitch_define(&w->dst_pitch, "D_DST", plan);
    kiln_define(plan, "P_TAPS", w->taps);
    kiln_define(plan, "T_T", w->products);
    kiln_define(plan, "T_M", w->side);
    kiln_define(plan, "T_GROUP_0", groups ? 32 : 1);
    kiln_define(plan, "T_GROUP_1", groups ? 4 : 1);
    kiln_grid(plan, groups ? 32 : 1, groups ? 4 : 1, 1, grid[0], grid[1], grid[2]);
}
