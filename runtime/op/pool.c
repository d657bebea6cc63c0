/* Creates pools: operations like a convolution's, with a plan of one stage. */
#include "generator/plan/pool.h"
#include "runtime/kiln/probes.h"

#include "stages.h"

static kiln_status plan(kiln_op *op, const kiln_pool *pool)
{
    kiln_pool p = *pool;
    char why[KILN_ERROR_TEXT];
    if (kiln_pool_check(&p, why))
        return kiln_fail(KILN_INVALID, "%s", why);
    if (!kiln_pool_plan(&p, &op->k->facts, &op->plan, why))
        return kiln_fail(KILN_UNSUPPORTED, "%s", why);
    op->bytes[KILN_ROLE_X] = kiln_pool_bytes(&p, 'x');
    op->bytes[KILN_ROLE_Y] = kiln_pool_bytes(&p, 'y');
    op->bytes[KILN_ROLE_RESIDUAL] = kiln_pool_bytes(&p, 'r');
    return KILN_OK;
}

/* One core's time for it; -1: a millisecond or more of all cores. */
static int64_t takes_ns(const kiln_op *op, const kiln_pool *pool)
{
    kiln_pool p = *pool;
    const kiln_device_facts *facts = &op->k->facts;
    const double ms = kiln_pool_check(&p, NULL) == KILN_OK ? kiln_pool_ms(&p, facts) : 1;
    return ms < 1 ? (int64_t)(ms * 1e6 * facts->compute_units) + 1 : -1;
}

kiln_status kiln_pool_create(kiln *k, const kiln_pool *pool, kiln_op **out)
{
    if (!k || !pool || !out)
        return kiln_fail(KILN_INVALID, "kiln_pool_create: k, pool and out must not be NULL");
    *out = NULL;
    if (kiln_process_check(k))
        return KILN_INVALID;
    kiln_op *op = kiln_op_new(k);
    if (!op)
        return kiln_fail(KILN_NO_MEMORY, "out of memory");
    kiln_probe_pocl(k);
    kiln_status status = plan(op, pool);
    if (!status)
        status = kiln_op_compile(op, takes_ns(op, pool));
    if (status) {
        kiln_op_discard(op);
        return status;
    }
    kiln_op_keep(op);
    *out = op;
    return KILN_OK;
}
