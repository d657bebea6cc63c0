/* Compiles operations in the kiln's thread while their stand-ins run. */
#include "first_use.h"

#include "warm.h"

#include <stdio.h>

/* Compiles an op and launches it once, so that its next launch compiles nothing. */
static void compile(kiln_task *task)
{
    kiln_op *op = (kiln_op *)((char *)task - offsetof(kiln_op, compiling));
    kiln_status status = kiln_op_compile_planned(op);
    if (!status)
        status = kiln_op_launch_once(op);
    if (status) {
        snprintf(op->own_error, sizeof op->own_error, "%.*s", (int)sizeof op->own_error - 1,
                 kiln_last_error());
        kiln_warn(&op->k->logger, "an operation goes on with the solver general: %s",
                  op->own_error);
        atomic_store_explicit(&op->failed, true, memory_order_release);
        return;
    }
    kiln_op_keep(op);
    atomic_store_explicit(&op->compiled, true, memory_order_release);
    if (op->when_compiled)
        op->when_compiled(op->compiled_user);
}

bool kiln_first_use_begin(kiln_op *op)
{
    const kiln_choice choice = {.solver = "general", .ignore_rows = 1, .native_layout = 1};
    if (!kiln_tasks_open(op->k) ||
        kiln_op_create(op->k, &op->problem, &choice, &op->stand_in) != KILN_OK)
        return false;
    kiln_op_keep(op->stand_in);
    op->compiling.work = compile;
    return true;
}

kiln_op *kiln_first_use_running(kiln_op *op, const kiln_buffers *buffers)
{
    if (!op->stand_in || atomic_load_explicit(&op->compiled, memory_order_acquire))
        return op;
    kiln_task_add(op->k->tasks, &op->compiling);
    if (buffers->packed.mem && !buffers->w.mem)
        kiln_first_use_wait(op);
    return atomic_load_explicit(&op->compiled, memory_order_acquire) ? op : op->stand_in;
}

void kiln_first_use_start(kiln_op *op, void (*when)(void *user), void *user)
{
    op->when_compiled = when;
    op->compiled_user = user;
    kiln_task_add(op->k->tasks, &op->compiling);
}

kiln_status kiln_first_use_wait(kiln_op *op)
{
    if (!op->stand_in || atomic_load_explicit(&op->compiled, memory_order_acquire))
        return KILN_OK;
    kiln_task_add(op->k->tasks, &op->compiling);
    kiln_task_wait(op->k->tasks, &op->compiling);
    return atomic_load_explicit(&op->compiled, memory_order_acquire)
               ? KILN_OK
               : kiln_fail(KILN_OPENCL, "%s", op->own_error);
}

void kiln_first_use_end(kiln_op *op)
{
    if (!op->stand_in)
        return;
    kiln_task_cancel(op->k->tasks, &op->compiling);
    kiln_op_discard(op->stand_in);
    op->stand_in = NULL;
}
