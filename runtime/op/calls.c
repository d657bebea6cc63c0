/* The calls on operations that may have a stand-in: each goes to the operation itself or to its
 * stand-in, or waits until the operation is compiled. */
#include "runtime/kiln/call_log.h"

#include "bind.h"
#include "first_use.h"
#include "warm.h"

kiln_status kiln_op_make(kiln_op *op, const kiln_problem *asked, bool quick)
{
    kiln *k = op->k;
    if (!quick || !kiln_first_use_begin(op)) {
        const kiln_status status = kiln_op_compile_planned(op);
        if (status)
            return status;
        kiln_op_keep(op);
    }
    if (*k->call_log) {
        kiln_problem problem = *asked;
        if (kiln_problem_check(&problem, NULL) == KILN_OK)
            op->call = kiln_call_of(k->call_log, &problem);
        if (op->stand_in)
            op->stand_in->call = op->call;
    }
    return KILN_OK;
}

kiln_status kiln_conv_create(kiln *k, const kiln_problem *problem, const kiln_choice *choice,
                             kiln_op **out)
{
    kiln_op *op = NULL;
    kiln_status status = kiln_op_plan_new(k, problem, choice, out ? &op : NULL);
    if (out)
        *out = NULL;
    if (status)
        return status;
    status = kiln_op_make(op, problem, k->first_use && !op->comes_packed);
    if (status) {
        kiln_op_discard(op);
        return status;
    }
    *out = op;
    return KILN_OK;
}

void kiln_op_release(kiln_op *op)
{
    if (!op || !kiln_is_here(op->k))
        return;
    kiln_first_use_end(op);
    kiln_op_discard(op);
}

/* A stand-in packs nothing and needs no workspace; what is wrong with either must show now, and not
 * when the operation itself runs. */
static kiln_status enqueue_stand_in(const kiln_op *op, cl_command_queue queue,
                                    const kiln_buffers *buffers, cl_uint n_wait,
                                    const cl_event *wait, cl_event *done)
{
    kiln_buffers b = *buffers;
    b.packed = b.workspace = (kiln_buffer){0};
    kiln_status status = kiln_process_check(op->k);
    if (!status)
        status = kiln_op_check_buffers(op, buffers, KILN_PACK_AND_RUN);
    return status ? status : kiln_op_enqueue_own(op->stand_in, queue, &b, n_wait, wait, done);
}

/* Puts the function's name before the sentence of a call that has failed. */
static kiln_status named(const char *function, kiln_status status)
{
    return status ? kiln_fail(status, "%s: %s", function, kiln_last_error()) : KILN_OK;
}

kiln_status kiln_op_enqueue(kiln_op *op, cl_command_queue queue, const kiln_buffers *buffers,
                            cl_uint n_wait, const cl_event *wait, cl_event *done)
{
    kiln_op *runs = op;
    if (op && op->stand_in && buffers)
        runs = kiln_first_use_running(op, buffers);
    kiln_status status = runs == op ? kiln_op_enqueue_own(op, queue, buffers, n_wait, wait, done)
                                    : enqueue_stand_in(op, queue, buffers, n_wait, wait, done);
    if (!status)
        atomic_store_explicit(&op->ran, runs->pick.solver, memory_order_relaxed);
    return named("kiln_op_enqueue", status);
}

kiln_status kiln_op_pack(kiln_op *op, cl_command_queue queue, const kiln_buffers *buffers,
                         cl_uint n_wait, const cl_event *wait, cl_event *done)
{
    kiln_status status = op ? kiln_first_use_wait(op) : KILN_OK;
    if (!status)
        status = kiln_op_pack_own(op, queue, buffers, n_wait, wait, done);
    return named("kiln_op_pack", status);
}

kiln_status kiln_op_time(kiln_op *op, cl_command_queue queue, const kiln_buffers *buffers,
                         double *ms, double *pack_ms)
{
    kiln_status status = op ? kiln_first_use_wait(op) : KILN_OK;
    if (!status)
        status = kiln_op_time_own(op, queue, buffers, ms, pack_ms);
    if (!status)
        atomic_store_explicit(&op->ran, op->pick.solver, memory_order_relaxed);
    return named("kiln_op_time", status);
}

kiln_status kiln_op_warm(kiln_op *op)
{
    if (!op)
        return kiln_fail(KILN_INVALID, "kiln_op_warm: op must not be NULL");
    if (!op->k->context)
        return kiln_fail(KILN_INVALID, "this kiln was opened without a device: it can only plan");
    kiln_status status = kiln_process_check(op->k);
    if (!status)
        status = kiln_first_use_wait(op); /* which has launched it */
    return status || op->stand_in ? status : kiln_op_launch_once(op);
}

const char *kiln_op_source(const kiln_op *op, int index)
{
    if (!op)
        kiln_fail(KILN_INVALID, "kiln_op_source: op must not be NULL");
    if (!op || index < 0 || index >= op->plan.nstages || kiln_first_use_wait((kiln_op *)op))
        return NULL;
    return op->launch[index].source;
}
