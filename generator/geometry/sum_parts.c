/* Adds the stage that sums the parts of a result, in a fixed order. */
#include "sum_parts.h"

#include "generator/base/integers.h"
#include "generator/plan/shared_grid.h"

double kiln_sum_parts_ms(const kiln_device_facts *d, int64_t count, int64_t parts)
{
    return 4.0 * (double)(count * (parts + 1)) / (d->bandwidth_gbs * 1e6) +
           kiln_device_launch_ms(d);
}

void kiln_sum_parts_emit(const kiln_shape *s, const kiln_device_facts *d, int64_t count,
                         int64_t parts, int from, int to, kiln_plan *plan)
{
    kiln_plan_stage(plan, "sum_parts.cl", "sum_parts");
    kiln_define_types(plan, s);
    if (!s->wide && count * parts > INT32_MAX)
        kiln_define(plan, "P_WIDE", 1);
    if (kiln_shape_sums_long(s))
        kiln_define(plan, "D_LONG_SUMS", 1);
    kiln_define(plan, "D_COUNT", count);
    kiln_define(plan, "D_PARTS", parts);
    kiln_arg_buffer(plan, from);
    kiln_arg_buffer(plan, to);
    const bool cpu = d->kind == KILN_DEVICE_CPU;
    const int64_t span = cpu ? 1024 : 1, items = divide_up(count, span);
    kiln_define(plan, "D_SPAN", span);
    if (cpu) {
        kiln_grid_shared(plan, d, kiln_sum_parts_ms(d, count, parts), items, 1, 1);
        return;
    }
    const int64_t local = d->max_group >= 64 && d->max_local[0] >= 64 ? 64 : 1;
    kiln_grid(plan, local, 1, 1, items, 1, 1);
}
