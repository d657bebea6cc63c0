/* Which process opened a kiln: a child of fork() has none of its parent's threads. */
#ifndef KILN_PROCESS_H
#define KILN_PROCESS_H

#include "error.h"

#include <stdatomic.h>
#include <stdbool.h>

/* How many forks lie between this process and the first one that opened a kiln. */
extern atomic_uint kiln_process_forks;

/* Notes that this process opens a kiln; with_device: one that uses OpenCL. Returns KILN_INVALID
 * where OpenCL was in use before a fork(). */
kiln_status kiln_process_open(bool with_device);

/* Returns whether no fork lies between this process and one where the number was `forks`. */
static inline bool kiln_process_is_of(unsigned forks)
{
    return forks == atomic_load_explicit(&kiln_process_forks, memory_order_relaxed);
}

#endif
