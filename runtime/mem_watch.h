/* Whether memory objects that were seen before still live. */
#ifndef KILN_MEM_WATCH_H
#define KILN_MEM_WATCH_H

#include <CL/cl.h>

#include <stdbool.h>

/* A kiln's; from any threads. */
typedef struct kiln_mem_watch kiln_mem_watch;

/* For objects of the context; NULL: there are none. Returns NULL: out of memory. */
kiln_mem_watch *kiln_mem_watch_open(cl_context context);
void kiln_mem_watch_close(kiln_mem_watch *w);

/* From now on the end of `mem`, which the caller keeps alive meanwhile, counts. It is not retained.
 * False: nobody would tell of it, or too late. */
bool kiln_mem_watch_add(kiln_mem_watch *w, cl_mem mem);

/* How many watched objects have ended. While that stays the same, an equal handle is the same
 * object, for those that were being watched when it was asked first. */
unsigned kiln_mem_watch_ended(const kiln_mem_watch *w);

#endif
