/* Launches an operation once on buffers of its own, so that a driver compiles all that it would
 * compile at the first launch. */
#include "warm.h"

#include "images.h"

/* Creates a tensor, packed weights, or the workspace where `role` is a temp's. */
static cl_mem make_object(kiln *k, const kiln_op *op, int role, int64_t bytes, cl_int *code)
{
    const kiln_plan *plan = kiln_op_plan(op);
    const kiln_image image = role < KILN_ROLE_TEMP ? kiln_plan_image(plan, role) : (kiln_image){0};
    if (bytes == 0 || *code != CL_SUCCESS)
        return NULL;
    return image.width ? kiln_image_create(k->context, &image, code)
                       : clCreateBuffer(k->context, CL_MEM_READ_WRITE, (size_t)bytes, NULL, code);
}

kiln_status kiln_op_launch_once(kiln_op *op)
{
    kiln *k = op->k;
    struct kiln_call *const call = op->call;
    op->call = NULL; /* this is no run of the program's */
    kiln_buffers b = {0};
    const bool packed = op->comes_packed && op->plan.packed_bytes > 0;
    const struct {
        cl_mem *mem;
        int role;
        int64_t bytes;
    } wants[] = {
        {&b.x.mem, KILN_ROLE_X, op->bytes[KILN_ROLE_X]},
        {&b.w.mem, KILN_ROLE_W, op->bytes[KILN_ROLE_W]},
        {&b.y.mem, KILN_ROLE_Y, op->bytes[KILN_ROLE_Y]},
        {&b.bias.mem, KILN_ROLE_BIAS, op->bytes[KILN_ROLE_BIAS]},
        {&b.residual.mem, KILN_ROLE_RESIDUAL, op->bytes[KILN_ROLE_RESIDUAL]},
        {&b.w_scales.mem, KILN_ROLE_W_SCALES, op->bytes[KILN_ROLE_W_SCALES]},
        {&b.x_zero.mem, KILN_ROLE_X_ZERO, op->bytes[KILN_ROLE_X_ZERO]},
        {&b.w_zero.mem, KILN_ROLE_W_ZERO, op->bytes[KILN_ROLE_W_ZERO]},
        {&b.y_zero.mem, KILN_ROLE_Y_ZERO, op->bytes[KILN_ROLE_Y_ZERO]},
        {&b.workspace.mem, KILN_ROLE_TEMP, kiln_plan_workspace(&op->plan, false)},
        {&b.packed.mem, KILN_ROLE_PACKED, packed ? op->plan.packed_bytes : 0},
    };
    cl_int code = CL_SUCCESS;
    cl_command_queue queue = clCreateCommandQueue(k->context, k->device, 0, &code);
    for (size_t i = 0; i < sizeof wants / sizeof *wants; i++)
        *wants[i].mem = make_object(k, op, wants[i].role, wants[i].bytes, &code);
    kiln_status status = code == CL_SUCCESS ? KILN_OK : kiln_fail_cl(code, "kiln_op_warm");
    if (!status && packed)
        status = kiln_op_pack_own(op, queue, &b, 0, NULL, NULL);
    if (!status)
        status = kiln_op_enqueue_own(op, queue, &b, 0, NULL, NULL);
    if (queue) {
        clFinish(queue);
        clReleaseCommandQueue(queue);
    }
    for (size_t i = 0; i < sizeof wants / sizeof *wants; i++)
        if (*wants[i].mem)
            clReleaseMemObject(*wants[i].mem);
    op->call = call;
    return status;
}
