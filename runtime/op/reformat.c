/* Creates reformats: operations like a convolution's, with a plan of one stage. */
#include "generator/plan/reformat.h"
#include "runtime/kiln/probes.h"

#include "stages.h"

static kiln_status plan(kiln_op *op, const kiln_reformat *reformat)
{
    kiln_reformat r = *reformat;
    kiln_storage from, to;
    char why[KILN_ERROR_TEXT];
    if (kiln_reformat_check(&r, &from, &to, why))
        return kiln_fail(KILN_INVALID, "%s", why);
    if (!kiln_reformat_plan(&r, &from, &to, &op->k->facts, &op->plan, why))
        return kiln_fail(KILN_UNSUPPORTED, "%s", why);
    op->bytes[KILN_ROLE_X] = from.cells * (int64_t)kiln_type_size(r.from_type);
    op->bytes[KILN_ROLE_Y] = to.cells * (int64_t)kiln_type_size(r.to_type);
    return KILN_OK;
}

/* One core's time for it; -1: a millisecond or more of all cores. */
static int64_t takes_ns(const kiln_op *op)
{
    const kiln_device_facts *facts = &op->k->facts;
    const double bytes = (double)op->bytes[KILN_ROLE_X] + (double)op->bytes[KILN_ROLE_Y];
    const double ms = kiln_device_move_ms(facts, bytes);
    return ms < 1 ? (int64_t)(ms * 1e6 * facts->compute_units) + 1 : -1;
}

kiln_status kiln_reformat_create(kiln *k, const kiln_reformat *reformat, kiln_op **out)
{
    if (!k || !reformat || !out)
        return kiln_fail(KILN_INVALID,
                         "kiln_reformat_create: k, reformat and out must not be NULL");
    *out = NULL;
    if (kiln_process_check(k))
        return KILN_INVALID;
    kiln_op *op = kiln_op_new(k);
    if (!op)
        return kiln_fail(KILN_NO_MEMORY, "out of memory");
    kiln_probe_pocl(k);
    kiln_status status = plan(op, reformat);
    if (!status)
        status = kiln_op_compile(op, takes_ns(op));
    if (status) {
        kiln_op_discard(op);
        return status;
    }
    kiln_op_keep(op);
    *out = op;
    return KILN_OK;
}
