/* Whether memory objects that were seen before still live. */
#ifndef KILN_MEM_LIFETIME_H
#define KILN_MEM_LIFETIME_H

#include "kiln.h"

#include <stdbool.h>

/* Belongs to a kiln. Any thread may call the functions below. */
typedef struct kiln_mem_lifetime kiln_mem_lifetime;

/* Opens it for memory objects of the context, which may be NULL. Returns NULL: out of memory. */
kiln_mem_lifetime *kiln_mem_lifetime_open(cl_context context);
void kiln_mem_lifetime_close(kiln_mem_lifetime *w);

/* Watches `mem`, which the caller keeps alive during the call: from now on its end counts. Does not
 * retain it. Returns false when its end would not be told, or told too late. */
bool kiln_mem_lifetime_add(kiln_mem_lifetime *w, cl_mem mem);

/* Returns how many watched objects have ended. While this number stays the same, an equal handle is
 * the same object, for objects that were watched when the number was read first. */
unsigned kiln_mem_lifetime_ended(const kiln_mem_lifetime *w);

#endif
