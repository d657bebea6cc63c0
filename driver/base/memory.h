/* Memory objects of tensors: buffers, and images for image layouts. */
#ifndef KILN_DRIVER_MEMORY_H
#define KILN_DRIVER_MEMORY_H

#include "kiln.h"
#include "kiln_layout.h"

typedef struct memory_kind {
    size_t bytes;
    int64_t width, height; /* of a CL_RGBA image, in pixels; 0: a buffer */
    kiln_type type;        /* of an image */
} memory_kind;

memory_kind memory_of_buffer(size_t bytes);
memory_kind memory_of(const kiln_storage *storage, kiln_type type);

/* `cells` is the whole contents; those of an image row by row. Writing and reading wait for the
 * queue. memory_make() returns NULL with an error in *code. */
cl_mem memory_make(cl_context context, const memory_kind *kind, cl_int *code);
cl_int memory_write(cl_command_queue queue, const memory_kind *kind, cl_mem mem, const void *cells);
cl_int memory_read(cl_command_queue queue, const memory_kind *kind, cl_mem mem, void *cells);

#endif
