/* A tensor on the device with guards around it: bytes before and after it in a buffer, pixels right
 * of and below it in an image, which a caller may make larger than its layout. */
#ifndef GUARDED_H
#define GUARDED_H

#include "driver/memory.h"
#include "support.h"

typedef struct guarded {
    cl_mem mem;
    size_t offset; /* of the tensor in a buffer; 0 in an image */
    memory_kind kind, whole;
    unsigned char *before; /* the whole object as it was made */
} guarded;

/* `offset` is where a buffer's tensor starts; an image has guards where that is not 0. */
cl_int guarded_make(guarded *g, const support_device *d, const memory_kind *kind, size_t offset,
                    const void *cells);
/* Reads the tensor; *intact tells whether its surroundings are as they were. */
cl_int guarded_read(const guarded *g, const support_device *d, void *cells, bool *intact);
void guarded_free(guarded *g);

#endif
