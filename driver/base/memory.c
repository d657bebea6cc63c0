/* Makes, writes and reads buffers and images alike. */
#include "memory.h"

memory_kind memory_of_buffer(size_t bytes)
{
    return (memory_kind){.bytes = bytes};
}

memory_kind memory_of(const kiln_storage *s, kiln_type type)
{
    memory_kind kind = memory_of_buffer((size_t)s->cells * kiln_type_size(type));
    if (s->layout.image) {
        kind.width = s->width;
        kind.height = s->height;
        kind.type = type;
    }
    return kind;
}

cl_mem memory_make(cl_context context, const memory_kind *kind, cl_int *code)
{
    static const cl_channel_type channel[] = {[KILN_F32] = CL_FLOAT,
                                              [KILN_F16] = CL_HALF_FLOAT,
                                              [KILN_I8] = CL_SIGNED_INT8,
                                              [KILN_I32] = CL_SIGNED_INT32};
    if (!kind->width)
        return clCreateBuffer(context, CL_MEM_READ_WRITE, kind->bytes, NULL, code);
    const cl_image_format format = {CL_RGBA, channel[kind->type]};
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D,
                                .image_width = (size_t)kind->width,
                                .image_height = (size_t)kind->height};
    return clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, code);
}

cl_int memory_write(cl_command_queue queue, const memory_kind *kind, cl_mem mem, const void *cells)
{
    const size_t origin[3] = {0}, region[3] = {(size_t)kind->width, (size_t)kind->height, 1};
    return kind->width
               ? clEnqueueWriteImage(queue, mem, CL_TRUE, origin, region, 0, 0, cells, 0, NULL,
                                     NULL)
               : clEnqueueWriteBuffer(queue, mem, CL_TRUE, 0, kind->bytes, cells, 0, NULL, NULL);
}

cl_int memory_read(cl_command_queue queue, const memory_kind *kind, cl_mem mem, void *cells)
{
    const size_t origin[3] = {0}, region[3] = {(size_t)kind->width, (size_t)kind->height, 1};
    return kind->width
               ? clEnqueueReadImage(queue, mem, CL_TRUE, origin, region, 0, 0, cells, 0, NULL, NULL)
               : clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, kind->bytes, cells, 0, NULL, NULL);
}
