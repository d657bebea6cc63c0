/* Tiles for tensor cores: legality, defines, and the time that they take. */
#include "mma_tiles.h"

#include <math.h>

/* A kernel that starts more work-items, or needs more registers, does not build. */
enum { MOST_SUMS = 128, UNIT_REGISTERS = 65536, UNIT_ITEMS = 2048, UNIT_GROUPS = 32 };

static const double unit_ghz = 1.6;        /* under load */
static const double own_registers = 70;    /* of an item, besides sums and operands */
static const double multiply_bytes = 2400; /* of terms times rows times columns, a cycle / 32 */
static const double local_bytes_a_cycle = 110;
static const double step_latency = 700,
                    other_steps = 3; /* cycles; the first and last step's time */

const kiln_config kiln_mma_smallest = {{[MMA_ROWS] = 64,
                                        [MMA_COLUMNS] = 32,
                                        [MMA_WARPS_R] = 4,
                                        [MMA_WARPS_C] = 1,
                                        [MMA_BYTES] = 64,
                                        [MMA_STAGES] = 2,
                                        [MMA_SPLIT] = 1}};

kiln_mma_tiles kiln_mma_tiles_of(kiln_mma_kind kind, kiln_type type, int64_t result_bytes,
                                 const kiln_config *c)
{
    const int *v = c->v;
    const int64_t pieces = (int64_t)v[MMA_STAGES] * (v[MMA_ROWS] + v[MMA_COLUMNS]) * v[MMA_BYTES];
    const int64_t results = v[MMA_ROWS] * (v[MMA_COLUMNS] * result_bytes + (result_bytes ? 16 : 0));
    return (kiln_mma_tiles){
        .kind = kind,
        .type = type,
        .items = 32 * v[MMA_WARPS_R] * v[MMA_WARPS_C],
        .local_bytes = pieces > results ? pieces : results,
    };
}

bool kiln_mma_lacks(const kiln_shape *s, const kiln_device_facts *d, kiln_mma_kind kind,
                    kiln_why *why)
{
    const kiln_type type = s->direction == KILN_FORWARD ? s->x_type : s->y_type;
    if (kind == KILN_WGMMA ? !d->gpu.has_wgmma : !d->gpu.has_mma)
        return kiln_no(why,
                       "it needs tensor cores that kernels reach by the instruction %s; a probe "
                       "found none on the device",
                       kind == KILN_WGMMA ? "wgmma" : "mma");
    if (type == KILN_F32 && s->math != KILN_MATH_REDUCED)
        return kiln_no(why, "tensor cores round f32 to 10 bits of fraction; allow that with "
                            "--math reduced");
    return false;
}

bool kiln_mma_refused(const kiln_mma_tiles *t, const kiln_device_facts *d, const kiln_config *c,
                      kiln_why *why)
{
    const int *v = c->v;
    const int rows = v[MMA_ROWS] / v[MMA_WARPS_R], columns = v[MMA_COLUMNS] / v[MMA_WARPS_C];
    const int64_t local =
        d->gpu.static_local_memory > d->local_memory ? d->gpu.static_local_memory : d->local_memory;
    if (rows < 16 || columns < 16 || rows * columns / 32 > MOST_SUMS)
        return kiln_no(why,
                       "a warp's part of %d x %d is smaller than 16 x 16, or needs more than %d "
                       "registers for an item's sums",
                       rows, columns, MOST_SUMS);
    if (t->kind == KILN_WGMMA && (v[MMA_WARPS_R] % 4 || rows % 16 || v[MMA_STAGES] < 3))
        return kiln_no(why, "%d rows are no whole number of 64 for each four of %d warps",
                       v[MMA_ROWS], v[MMA_WARPS_R]);
    if (t->items < 128 || t->items > d->max_group || t->items > d->max_local[0])
        return kiln_no(why, "a group of %lld items is below 128 or exceeds the device's limit",
                       (long long)t->items);
    if (t->local_bytes > local)
        return kiln_no(why, "%lld bytes of local memory exceed the device's %lld",
                       (long long)t->local_bytes, (long long)local);
    return false;
}

bool kiln_mma_unfit(const kiln_mma_tiles *t)
{
    return t->items > (t->kind == KILN_WGMMA ? 384 : 256);
}

void kiln_mma_define(const kiln_mma_tiles *t, const kiln_config *c, kiln_plan *plan)
{
    static const char *const names[MMA_PARAMS] = {"T_ROWS",  "T_COLUMNS", "T_WARPS_R", "T_WARPS_C",
                                                  "T_BYTES", "T_STAGES",  "T_SPLIT"};
    for (int i = 0; i < MMA_PARAMS; i++)
        kiln_define(plan, names[i], c->v[i]);
    kiln_define(plan, "T_WGMMA", t->kind == KILN_WGMMA);
    if (t->kind == KILN_WGMMA)
        kiln_define_text(plan, "D_PTX_TARGET", "sm_90a");
}

/* Registers of an item: sums, two slices of operands, addresses. */
static double registers_of(const kiln_config *c)
{
    const double rows = c->v[MMA_ROWS] / c->v[MMA_WARPS_R],
                 columns = c->v[MMA_COLUMNS] / c->v[MMA_WARPS_C];
    return rows * columns / 32 + (rows + columns) / 2 + own_registers;
}

/* Work-groups that a unit runs side by side. */
static double beside(const kiln_mma_tiles *t, const kiln_device_facts *d, const kiln_config *c)
{
    const int64_t registers = d->gpu.group_registers ? d->gpu.group_registers : UNIT_REGISTERS;
    const int64_t local = d->gpu.static_local_memory > d->local_memory ? d->gpu.static_local_memory
                                                                       : 2 * d->local_memory;
    const double items = (double)t->items;
    double groups = fmin(UNIT_GROUPS, floor((double)registers / (registers_of(c) * items)));
    groups = fmin(groups, floor(UNIT_ITEMS / items));
    groups = fmin(groups, floor((double)local / ((double)t->local_bytes + 1024)));
    return fmax(1, groups);
}

/* Cycles that a unit has for one step of a group: on the tensor cores, or to read local memory. */
static double step_cycles(const kiln_mma_tiles *t, const kiln_config *c)
{
    const int *v = c->v;
    const double rows = v[MMA_ROWS], columns = v[MMA_COLUMNS], bytes = v[MMA_BYTES];
    const double multiply = rows * columns * bytes / multiply_bytes;
    const double read = (rows * (v[MMA_WARPS_C] + 1) + columns * (v[MMA_WARPS_R] + 1)) * bytes;
    return fmax(multiply, read / local_bytes_a_cycle) + 0.1 * (double)t->items;
}

double kiln_mma_ms(const kiln_mma_tiles *t, const kiln_device_facts *d, const kiln_config *c)
{
    const double units = d->compute_units, most = beside(t, d, c), cycles = step_cycles(t, c);
    const double latency = step_latency / (c->v[MMA_STAGES] - 1);
    const double rounds = floor(t->count / (units * most)), left = t->count - rounds * units * most;
    const double last = ceil(left / units);
    const double a_round = fmax(most * cycles, latency);
    const double last_round = left > 0 ? fmax(last * cycles, latency) : 0;
    return (t->steps + other_steps) * (rounds * a_round + last_round) / (unit_ghz * 1e6);
}
