/* Which process opened a kiln: a child of fork() has none of its parent's threads. */
#ifndef KILN_PROCESS_H
#define KILN_PROCESS_H

#include "kiln_internal.h"

/* How many forks lie between this process and the first one that opened a kiln. */
extern atomic_uint kiln_process_forks;

/* Notes that this process opens a kiln; with_device: one that uses OpenCL. Returns KILN_INVALID
 * where OpenCL was in use before a fork(). */
kiln_status kiln_process_open(bool with_device);

/* Returns whether this process opened the kiln. */
static inline bool kiln_is_here(const kiln *k)
{
    return k->forks == atomic_load_explicit(&kiln_process_forks, memory_order_relaxed);
}

/* Returns KILN_INVALID where this process did not open the kiln. */
kiln_status kiln_process_check(const kiln *k);

#endif
