/* How kernels for tensor cores store a result: as it is to lie, or for a stage that turns it. */
#include "generator/base/integers.h"
#include "generator/base/names.h"
#include "generator/plan/staging.h"

#include "mma_source.h"

#include <string.h>

static char tensor_of(const kiln_shape *s)
{
    return s->direction == KILN_BACKWARD_DATA ? 'x' : 'y';
}

/* Runs of a few pixels are shorter than what memory moves at once. Stored as they are to lie, in
 * runs of 16 bytes, they took three quarters of the time of a stage where the second cache held
 * them (26 MB), and more than twice as long where it did not (103 and 205 MB); in runs of 8 bytes
 * (13 MB) twice as long (H200). */
enum { LONG_RUN = 64, RUN_BYTES = 16, HELD_BYTES = 32 << 20, BLOCK_BYTES = 8 };

kiln_mma_result kiln_mma_result_of(const kiln_shape *s, const kiln_pitch *pitch,
                                   const int64_t size[3], int64_t run)
{
    const char tensor = tensor_of(s);
    const kiln_type type = kiln_shape_out_type(s);
    kiln_mma_result m = {.tensor = tensor,
                         .type = type,
                         .bytes =
                             product_of(kiln_shape_out_count(s), (int64_t)kiln_type_size(type)),
                         .pitch = *pitch};
    const int64_t element = (int64_t)kiln_type_size(type), run_bytes = gcd(run, size[2]) * element;
    const bool few = m.pitch.channel != 1 && (run < LONG_RUN);
    const bool thin = m.pitch.blocks != 1 && m.pitch.neighbours * element < BLOCK_BYTES;
    m.staged =
        s->epilogue.beta == 0 && ((few && (run_bytes < RUN_BYTES || m.bytes > HELD_BYTES)) || thin);
    m.short_runs = few && !m.staged;
    if (!m.staged)
        return m;
    const int64_t pixel = m.tensor == 'x' ? s->c : s->k, row = pixel * size[2],
                  plane = row * size[1];
    m.pitch = (kiln_pitch){.image = plane * size[0],
                           .plane = plane,
                           .row = row,
                           .pixel = pixel,
                           .channel = 1,
                           .neighbours = pixel,
                           .blocks = 1};
    return m;
}

double kiln_mma_result_ms(const kiln_mma_result *m, const kiln_device_facts *d)
{
    return m->staged       ? kiln_device_behind_ms(d) + kiln_device_move_ms(d, 2 * (double)m->bytes)
           : m->short_runs ? kiln_device_move_ms(d, (double)m->bytes)
                           : 0;
}

int kiln_mma_result_role(const kiln_mma_result *m, const kiln_shape *s, kiln_plan *plan)
{
    return m->staged                            ? kiln_plan_temp(plan, m->bytes)
           : s->direction == KILN_BACKWARD_DATA ? KILN_ROLE_X
                                                : KILN_ROLE_Y;
}

void kiln_mma_result_emit(const kiln_mma_result *m, const kiln_shape *s, const kiln_device_facts *d,
                          int role, kiln_plan *plan)
{
    const bool x = m->tensor == 'x';
    kiln_storage made, wanted;
    kiln_why why;
    if (!m->staged)
        return;
    if (!kiln_shape_storage(s, m->tensor, kiln_mma_last_layout(s->rank), &made, why.text) ||
        !kiln_shape_storage(s, m->tensor, x ? s->x_layout : s->y_layout, &wanted, why.text)) {
        kiln_plan_refuse(plan, &why);
        return;
    }
    const kiln_operand from = {&made, m->type, role},
                       to = {&wanted, m->type, x ? KILN_ROLE_X : KILN_ROLE_Y};
    kiln_stage_reformat(d, &from, &to, plan);
}
