/* Addresses of buffers, which kernels are given instead of the memory objects.
 *
 * PoCL counts a reference to every memory object of a launch, under the object's lock, and
 * looks at each again where it runs; of an address it does nothing. Who gives addresses sees to it
 * himself that the buffers live until the kernels have ended. */
#ifndef KILN_BUFFER_POINTERS_H
#define KILN_BUFFER_POINTERS_H

#include "runtime/programs/program.h"

#include <stdbool.h>

/* Whether a kernel of the device finds at a buffer's address what other commands find in the
 * buffer: one is built and run. */
bool kiln_buffer_pointer_works(kiln_programs *programs, cl_context context, cl_device_id device);

/* The address of a buffer, whose end is far off; does not wait for the queue. False: the host may
 * not know it. */
bool kiln_buffer_pointer_find(cl_command_queue queue, cl_mem mem, void **address);

/* As clSetKernelArg(). */
cl_int kiln_buffer_pointer_give(cl_kernel kernel, cl_uint index, const void *address);

#endif
