/* Buffer pointers: the host addresses of buffers, which kernels are given instead of the memory
 * objects.
 *
 * For every memory object of a launch, PoCL counts a reference under the object's lock, and visits
 * the object again where the launch runs; for an address it does nothing. So whoever gives
 * addresses must keep the buffers until the kernels have ended.
 *
 * OpenCL promises none of this. PoCL's CPU device keeps a buffer at one place of the process's
 * memory for the buffer's life, which mapping tells, and clSetKernelArgSVMPointer() passes any
 * address on. These functions are for that device only, and kiln_buffer_pointers_open() tries it.
 */
#ifndef KILN_BUFFER_POINTERS_H
#define KILN_BUFFER_POINTERS_H

#include "runtime/programs/program.h"

#include <stdbool.h>

/* Returns a queue for kiln_buffer_pointers_find(), to be released, if a kernel of PoCL's CPU device
 * finds at a buffer's address what other commands find in the buffer: builds and runs a kernel.
 * Else returns NULL. The context must have no other device, which might hold newer contents. */
cl_command_queue kiln_buffer_pointers_open(kiln_programs *programs, cl_context context,
                                           cl_device_id device);

/* Finds address[i] of each of the `n` buffers mem[i]; leaves out NULL ones. Waits, for
 * the device's threads but for none of the caller's queues, 50 ms at most. Returns false when the
 * host may not know an address, or when the time is over. Any thread may call it. */
bool kiln_buffer_pointers_find(cl_command_queue queue, const cl_mem *mem, void **address, int n);

/* As clSetKernelArg(), with an address. */
cl_int kiln_buffer_pointers_give(cl_kernel kernel, cl_uint index, const void *address);

#endif
