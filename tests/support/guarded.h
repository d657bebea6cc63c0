/* A tensor on the device with guards around it: bytes before and after it in a buffer; pixels to
 * the right and below in an image, as a caller may make an image larger than its layout. */
#ifndef GUARDED_H
#define GUARDED_H

#include "driver/base/memory.h"

#include "support.h"

typedef struct guarded {
    cl_mem mem;
    size_t offset; /* of the tensor in a buffer; 0 in an image */
    memory_kind kind, whole;
    unsigned char *before; /* the whole object as it was made */
} guarded;

/* Makes the object. `offset` is the start of a buffer's tensor; an image has guards where it is not
 * 0.
 */
cl_int guarded_make(guarded *g, const support_device *d, const memory_kind *kind, size_t offset,
                    const void *cells);
/* Reads the tensor; *intact tells whether its surroundings are as they were. */
cl_int guarded_read(const guarded *g, const support_device *d, void *cells, bool *intact);
void guarded_free(guarded *g);

#endif
