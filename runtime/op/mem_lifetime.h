/* Whether memory objects that were seen before still live. */
#ifndef KILN_MEM_LIFETIME_H
#define KILN_MEM_LIFETIME_H

#include "kiln.h"

#include <stdbool.h>

/* A kiln's; from any threads. */
typedef struct kiln_mem_lifetime kiln_mem_lifetime;

/* For objects of the context; NULL: there are none. Returns NULL: out of memory. */
kiln_mem_lifetime *kiln_mem_lifetime_open(cl_context context);
void kiln_mem_lifetime_close(kiln_mem_lifetime *w);

/* From now on the end of `mem`, which the caller keeps alive meanwhile, counts. It is not retained.
 * False: nobody would tell of it, or too late. */
bool kiln_mem_lifetime_add(kiln_mem_lifetime *w, cl_mem mem);

/* How many watched objects have ended. While that stays the same, an equal handle is the same
 * object, for those that were being watched when it was asked first. */
unsigned kiln_mem_lifetime_ended(const kiln_mem_lifetime *w);

#endif
