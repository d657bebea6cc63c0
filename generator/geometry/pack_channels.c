/* The stage that packs weights for vectors of destination channels. Its sizes are arguments, so
 * that an application compiles it once. */
#include "pack_channels.h"

#include "generator/base/integers.h"

enum { LEAST = 16 }; /* source channels of an item: fewer take less time than a work-group */

void kiln_pack_channels_emit(const kiln_shape *s, const kiln_packing *p, kiln_plan *plan)
{
    const bool backward = s->direction == KILN_BACKWARD_DATA;
    const int64_t dst_c = (backward ? s->c : s->k) / s->g, src_c = (backward ? s->k : s->c) / s->g;
    const int64_t taps = s->filter[0] * s->filter[1] * s->filter[2];
    const int64_t rows = p->corrected ? s->filter[0] * s->filter[1] : 0;
    const int64_t item = round_up(LEAST, p->step), items = divide_up(src_c, item);
    const int64_t tiles = p->spans * p->tiles;
    const int64_t elements =
        src_c / p->step * divide_up(p->step, p->together) + divide_up(src_c % p->step, p->together);
    const int64_t of_tile = (elements * taps + rows) * p->lanes;
    plan->packed_bytes = tiles * of_tile * 4;
    kiln_plan_stage(plan, "pack_channels.cl", "pack_channels")->pack = true;
    kiln_define_type(plan, "SRC_TYPE", backward ? s->y_type : s->x_type);
    kiln_define(plan, "D_TOGETHER", p->together);
    kiln_define(plan, "D_FLOAT", p->floats);
    kiln_arg_buffer(plan, KILN_ROLE_W);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    const int64_t sizes[] = {p->lanes, p->tiles, p->channels, p->latest, dst_c,
                             src_c,    p->step,  item,        taps,      rows};
    const int64_t places[] = {dst_c * src_c * taps,
                              backward ? taps : src_c * taps,
                              backward ? dst_c * taps : taps,
                              p->rotated ? taps - 1 : 0,
                              p->rotated ? -1 : 1,
                              of_tile};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        kiln_arg_long(plan, sizes[i]);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        kiln_arg_long(plan, places[i]);
    kiln_grid(plan, 1, 1, 1, p->corrected ? items + 1 : items, tiles, 1);
}
