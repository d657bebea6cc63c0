/* Checks images that callers pass, and makes images that plans need between stages. */
#include "images.h"

#include <stdlib.h>
#include <string.h>

/* Every device with images has these, by OpenCL. */
static const struct {
    cl_channel_type type;
    const char *name;
} channels[] = {
    [KILN_F32] = {CL_FLOAT, "CL_FLOAT"},
    [KILN_F16] = {CL_HALF_FLOAT, "CL_HALF_FLOAT"},
    [KILN_I8] = {CL_SIGNED_INT8, "CL_SIGNED_INT8"},
    [KILN_I32] = {CL_SIGNED_INT32, "CL_SIGNED_INT32"},
};

cl_mem kiln_image_create(cl_context context, const kiln_image *image, cl_int *code)
{
    const cl_image_format format = {CL_RGBA, channels[image->type].type};
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D,
                                .image_width = (size_t)image->width,
                                .image_height = (size_t)image->height};
    return clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, code);
}

/* ---- the caller's ---- */

kiln_status kiln_image_check(const char *name, const kiln_buffer *given, const kiln_image *image)
{
    cl_mem_object_type kind = 0;
    cl_image_format format = {0, 0};
    size_t width = 0, height = 0;
    cl_int code = clGetMemObjectInfo(given->mem, CL_MEM_TYPE, sizeof kind, &kind, NULL);
    if (code == CL_SUCCESS && kind != CL_MEM_OBJECT_IMAGE2D)
        return kiln_fail(KILN_INVALID, "%s must be a 2-D image, for its layout is one", name);
    if (code == CL_SUCCESS)
        code = clGetImageInfo(given->mem, CL_IMAGE_FORMAT, sizeof format, &format, NULL);
    if (code == CL_SUCCESS)
        code = clGetImageInfo(given->mem, CL_IMAGE_WIDTH, sizeof width, &width, NULL);
    if (code == CL_SUCCESS)
        code = clGetImageInfo(given->mem, CL_IMAGE_HEIGHT, sizeof height, &height, NULL);
    if (code != CL_SUCCESS)
        return kiln_fail_cl(code, "clGetImageInfo");
    if (format.image_channel_order != CL_RGBA ||
        format.image_channel_data_type != channels[image->type].type)
        return kiln_fail(KILN_INVALID, "image %s must have the format CL_RGBA, %s", name,
                         channels[image->type].name);
    if ((int64_t)width < image->width || (int64_t)height < image->height)
        return kiln_fail(KILN_INVALID, "image %s must be %lld x %lld pixels; it is %zu x %zu", name,
                         (long long)image->width, (long long)image->height, width, height);
    if (given->offset)
        return kiln_fail(KILN_INVALID, "image %s has no offset; %zu is given", name, given->offset);
    return KILN_OK;
}

/* ---- the op's ---- */

static bool owns(const kiln_op *op, int role)
{
    return role >= KILN_ROLE_PACKED && kiln_plan_image(&op->plan, role).width > 0;
}

kiln_status kiln_op_make_images(kiln_op *op)
{
    for (int role = 0; role < KILN_ROLE_TEMP + op->plan.ntemps; role++) {
        if (!owns(op, role))
            continue;
        const kiln_image image = kiln_plan_image(&op->plan, role);
        cl_int code;
        op->image[role] = kiln_image_create(op->k->context, &image, &code);
        if (code != CL_SUCCESS)
            return kiln_fail_cl(code, "clCreateImage");
        op->owns_images = true;
    }
    return KILN_OK;
}

void kiln_op_free_images(kiln_op *op)
{
    for (int i = 0; i < KILN_MAX_ROLES; i++)
        if (op->image[i])
            clReleaseMemObject(op->image[i]);
    if (op->busy)
        clReleaseEvent(op->busy);
}

/* Tells whether the enqueue before is to be waited for, and makes sure that it has started if it is
 * on another queue. Waiting for an enqueue that failed would fail, too. */
static kiln_status start_busy(const kiln_op *op, cl_command_queue queue, bool *wait)
{
    cl_command_queue other = NULL;
    cl_int state = CL_COMPLETE;
    *wait = false;
    if (!op->busy)
        return KILN_OK;
    cl_int code =
        clGetEventInfo(op->busy, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    if (code == CL_SUCCESS)
        code = clGetEventInfo(op->busy, CL_EVENT_COMMAND_QUEUE, sizeof other, &other, NULL);
    *wait = state > CL_COMPLETE;
    if (code == CL_SUCCESS && *wait && other != queue)
        code = clFlush(other);
    return code == CL_SUCCESS ? KILN_OK : kiln_fail_cl(code, "clGetEventInfo");
}

kiln_status kiln_op_images_wait(kiln_op *op, cl_command_queue queue, cl_uint *n,
                                const cl_event *wait, cl_event **list)
{
    bool more;
    kiln_status status = start_busy(op, queue, &more);
    if (status)
        return status;
    *list = malloc((*n + 1) * sizeof **list);
    if (!*list)
        return kiln_fail(KILN_NO_MEMORY, "out of memory");
    if (*n)
        memcpy(*list, wait, *n * sizeof **list);
    if (more)
        (*list)[(*n)++] = op->busy;
    return KILN_OK;
}

kiln_status kiln_op_images_busy(kiln_op *op, cl_event last)
{
    cl_int code = clRetainEvent(last);
    if (code != CL_SUCCESS)
        return kiln_fail_cl(code, "clRetainEvent");
    if (op->busy)
        clReleaseEvent(op->busy);
    op->busy = last;
    return KILN_OK;
}
