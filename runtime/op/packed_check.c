/* Packed weights are known by a checksum of their bytes, so that the caller may copy them, and by
 * what they were packed for. */
#include "packed_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* What operations must have in common to share packed weights. */
static uint64_t purpose_of(const kiln_op *op)
{
    char problem[KILN_KEY_TEXT], config[KILN_CONFIG_TEXT],
        text[KILN_KEY_TEXT + KILN_CONFIG_TEXT + 64];
    const kiln_solver *solver = op->pick.solver;
    kiln_problem_text(&op->problem, problem, sizeof problem);
    kiln_config_text(solver, &op->pick.config, config, sizeof config);
    snprintf(text, sizeof text, "%s %s %s", problem, solver->name, config);
    return XXH3_64bits(text, strlen(text));
}

static cl_int read_packed(const kiln_op *op, cl_command_queue queue, const kiln_buffer *packed,
                          void *bytes)
{
    const kiln_image image = op->plan.image[KILN_ROLE_PACKED];
    const size_t origin[3] = {0}, region[3] = {(size_t)image.width, (size_t)image.height, 1};
    if (image.width)
        return clEnqueueReadImage(queue, packed->mem, CL_TRUE, origin, region, 0, 0, bytes, 0, NULL,
                                  NULL);
    return clEnqueueReadBuffer(queue, packed->mem, CL_TRUE, packed->offset,
                               (size_t)op->plan.packed_bytes, bytes, 0, NULL, NULL);
}

/* Waits for everything in the queue, which may be out of order, and sums up the contents. */
static kiln_status sum_up(const kiln_op *op, cl_command_queue queue, const kiln_buffer *packed,
                          kiln_packed_mark *mark)
{
    void *bytes = malloc((size_t)op->plan.packed_bytes);
    if (!bytes)
        return kiln_fail(KILN_NO_MEMORY, "out of memory for a check of packed weights");
    kiln_pocl_flush(op->k->pocl, queue);
    cl_int code = clFinish(queue);
    if (code == CL_SUCCESS)
        code = read_packed(op, queue, packed, bytes);
    if (code == CL_SUCCESS)
        *mark =
            (kiln_packed_mark){purpose_of(op), XXH3_64bits(bytes, (size_t)op->plan.packed_bytes)};
    free(bytes);
    return code == CL_SUCCESS ? KILN_OK : kiln_fail_cl(code, "reading packed weights");
}

static bool is_known(const kiln_packed_marks *marks, const kiln_packed_mark *mark)
{
    for (size_t i = 0; i < marks->count; i++)
        if (marks->at[i].purpose == mark->purpose && marks->at[i].contents == mark->contents)
            return true;
    return false;
}

static kiln_status remember(kiln_packed_marks *marks, const kiln_packed_mark *mark)
{
    if (is_known(marks, mark))
        return KILN_OK;
    kiln_packed_mark *at = realloc(marks->at, (marks->count + 1) * sizeof *at);
    if (!at)
        return kiln_fail(KILN_NO_MEMORY, "out of memory for a check of packed weights");
    marks->at = at;
    marks->at[marks->count++] = *mark;
    return KILN_OK;
}

kiln_status kiln_op_mark_packed(kiln_op *op, cl_command_queue queue, const kiln_buffer *packed)
{
    kiln_packed_mark mark;
    if (!op->k->check_packed)
        return KILN_OK;
    kiln_status status = sum_up(op, queue, packed, &mark);
    if (status)
        return status;
    pthread_mutex_lock(&op->k->lock);
    status = remember(&op->k->packed, &mark);
    pthread_mutex_unlock(&op->k->lock);
    return status;
}

kiln_status kiln_op_check_packed(kiln_op *op, cl_command_queue queue, const kiln_buffer *packed,
                                 cl_uint n_wait, const cl_event *wait)
{
    kiln_packed_mark mark;
    if (!op->k->check_packed)
        return KILN_OK;
    cl_int code = n_wait > 0 ? clWaitForEvents(n_wait, wait) : CL_SUCCESS;
    kiln_status status = code == CL_SUCCESS ? sum_up(op, queue, packed, &mark)
                                            : kiln_fail_cl(code, "clWaitForEvents");
    if (status)
        return status;
    pthread_mutex_lock(&op->k->lock);
    const bool known = is_known(&op->k->packed, &mark);
    pthread_mutex_unlock(&op->k->lock);
    return known
               ? KILN_OK
               : kiln_fail(KILN_INVALID,
                           "packed holds %lld bytes that no kiln_op_pack() of this kiln wrote for "
                           "this problem, solver %s and its config; pack the weights first, and "
                           "let other queues wait for that",
                           (long long)op->plan.packed_bytes, op->pick.solver->name);
}
