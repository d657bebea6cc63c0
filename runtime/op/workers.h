/* Compiling in processes of the command `kiln`: PoCL compiles one program at a time in a process,
 * whatever its threads do. The processes share PoCL's cache with this one. */
#ifndef KILN_WORKERS_H
#define KILN_WORKERS_H

#include "op.h"

/* Has another process prepare every `step`-th problem, from number `first` on, and waits for it.
 * Returns false when the process did not start or did not do all of that: the caller then does it
 * itself, which is quick for what the process has compiled. */
bool kiln_worker_prepare(const kiln *k, const kiln_problem *problems, size_t count, size_t first,
                         size_t step);

#endif
