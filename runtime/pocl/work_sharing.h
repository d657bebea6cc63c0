/* Work sharing: threads of the host help a launch of one work-group with its items.
 *
 * A launch of several work-groups takes PoCL's scheduler, which gets the command's data to each of
 * the other threads: 3 us where cores share a cache, 6 to 10 us where they do not. A launch of a
 * single work-group takes one thread 1 to 2 us. So such a launch (templates/items.cl) writes into
 * memory of the host where the code of an item is. Threads that spin on this memory, as OpenMP's
 * threads do, begin to help as soon as a cache line has come over. There is one such memory in a
 * process: a launch that finds it in use does its items alone.
 *
 * docs/pocl.md, "Memory order", says why this is correct, and where it is off.
 */
#ifndef KILN_WORK_SHARING_H
#define KILN_WORK_SHARING_H

#include "runtime/programs/program.h"

#include "item_call.h"

#include <stdbool.h>
#include <stddef.h>

/* Returns the address that kernels are given. */
uint64_t kiln_sharing_memory(void);

/* The scratch memory of a thread that helps. One per thread, all zero at first; free() its bytes
 * at the end. */
typedef struct kiln_sharing_scratch {
    void *bytes;
    size_t size;
} kiln_sharing_scratch;

/* Helps the launch that is open now, until no item is left to take. Returns false when no launch is
 * open, or when there is no memory for the items' scratch. Any thread may call it. */
bool kiln_sharing_help(kiln_sharing_scratch *scratch);

/* What a launch of one work-group does, so that a thread of the host can do it without PoCL. */
typedef struct kiln_sharing_call {
    uint64_t code, given[KILN_ITEM_POINTERS]; /* the function of an item, and its pointers */
    uint32_t items, unit;                     /* items of the launch; items of one unit of work */
    uint32_t scratch;                         /* bytes of scratch memory of an item */
    uint32_t mode;                            /* kiln_arithmetic() of the launch's thread */
} kiln_sharing_call;

/* Returns memory that one launch is given instead of kiln_sharing_memory(), to write there what it
 * does. free() it once the launch has ended. NULL: out of memory. */
void *kiln_sharing_capture(void);
/* Reads what a launch wrote to such memory. Returns false when the launch has not begun or not
 * ended. */
bool kiln_sharing_captured(const void *memory, kiln_sharing_call *call);
/* Does what the launch does, with the threads that help. `scratch` has at least call->scratch
 * bytes. Any thread may call it. */
void kiln_sharing_do(const kiln_sharing_call *call, void *scratch);

/* Returns whether a kernel of the device is code of this process that works in its memory: builds
 * and runs a kernel, and calls its item from the calling thread. Where it returns false and the
 * architecture is the reason, kiln_last_error() says so. */
bool kiln_sharing_works(kiln_programs *programs, cl_context context, cl_device_id device);

#endif
