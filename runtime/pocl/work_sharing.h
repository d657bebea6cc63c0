/* Threads of the host that help a launch of one work-group with its items.
 *
 * A launch of several groups takes PoCL's scheduler, which gets the other threads' data of the
 * command to each, 3 us where cores share a cache and 6 to 10 where they do not. One of a single
 * group takes a thread 1 to 2. So such a launch (templates/items.cl) says in memory that threads
 * spin on where the code of an item is, as OpenMP's do, and they are there within the way of a line
 * of a cache. There is one such memory in a process: a launch that finds it in use does its items
 * alone.
 */
#ifndef KILN_WORK_SHARING_H
#define KILN_WORK_SHARING_H

#include "runtime/programs/program.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The address that kernels are given. */
uint64_t kiln_sharing_memory(void);

/* What a thread that helps has its items work in: one's own, all zero at first; its bytes are to be
 * freed. */
typedef struct kiln_sharing_scratch {
    void *bytes;
    size_t size;
} kiln_sharing_scratch;

/* Helps the launch that is open now, until nothing is left to take. False: none was, or there is no
 * memory to work in. Any thread may call it. */
bool kiln_sharing_help(kiln_sharing_scratch *scratch);

/* A launch of one work-group, as the host's threads can do it without PoCL. */
typedef struct kiln_sharing_call {
    uint64_t code, given[5]; /* the function of an item, and what it is given */
    uint32_t items, unit;    /* of the launch; of what a thread takes at once */
    uint32_t scratch;        /* bytes that an item works in */
} kiln_sharing_call;

/* Memory to give to one launch instead of kiln_sharing_memory(), which tells there what it does. To be
 * freed, once it has; NULL: there is none. */
void *kiln_sharing_ask(void);
/* Whether it has, and has ended. */
bool kiln_sharing_told(const void *asked, kiln_sharing_call *call);
/* Does what the launch does, with threads that help; `scratch` has the bytes it wants. */
void kiln_sharing_do(const kiln_sharing_call *call, void *scratch);

/* Whether kernels are code that this process can call, of a device that is known to work in its
 * memory: one is built and run, and its item called from here. */
bool kiln_sharing_works(kiln_programs *programs, cl_context context, cl_device_id device);

#endif
