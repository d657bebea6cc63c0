/* Checks of the OpenCL objects that callers give: do they belong to the kiln, and do they overlap?
 */
#ifndef KILN_GIVEN_H
#define KILN_GIVEN_H

#include "runtime/kiln/kiln_internal.h"

/* A memory object as the caller gave it, and the bytes that an operation touches from its offset
 * on. */
typedef struct kiln_given {
    const char *name; /* "y" */
    kiln_buffer buffer;
    int64_t bytes; /* 0: the operation does not touch it */
    bool written;
} kiln_given;

/* Each returns KILN_INVALID, and names the argument, where an object belongs to another context or
 * device. */
kiln_status kiln_given_queue(const kiln *k, cl_command_queue queue);
kiln_status kiln_given_events(const kiln *k, cl_uint n, const cl_event *wait);
/* Also where kernels may not write what the operation writes. */
kiln_status kiln_given_memory(const kiln *k, const kiln_given *given);

/* Returns KILN_INVALID where the object is no buffer, its offset is not aligned, or the bytes from
 * there on are too few. */
kiln_status kiln_given_range(const kiln *k, const kiln_given *given);

/* Returns KILN_INVALID where bytes of one object that is written are bytes of another one, too. A
 * residual may be y itself. */
kiln_status kiln_given_apart(const kiln_given *given, int n);

#endif
