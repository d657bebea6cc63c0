/* Compiling in processes of the command `kiln`: PoCL compiles one program at a time in a process,
 * whatever its threads do. The processes share PoCL's cache with this one. They take one problem
 * after the other from a socket, as the caller does, so that all end at about the same time.
 */
#ifndef KILN_WORKERS_H
#define KILN_WORKERS_H

#include "op.h"

typedef struct kiln_workers kiln_workers;

/* Starts up to `processes` processes for the problems, which must stay. Returns NULL where none
 * starts. */
kiln_workers *kiln_workers_start(const kiln *k, const kiln_problem *problems, size_t count,
                                 int processes);
/* The same for a caller that takes none, whose problems need not stay: the processes begin with the
 * last one. */
kiln_workers *kiln_workers_start_behind(const kiln *k, const kiln_problem *problems, size_t count,
                                        int processes);
/* Takes a problem that nobody has taken. Returns false where none is left. */
bool kiln_workers_take(kiln_workers *w, kiln_problem *p);
/* Waits for the processes and frees *w. Returns false where a process did not do all that it took,
 * or a problem was not fit to be handed out: the caller then does everything itself, which is quick
 * for what is compiled. */
bool kiln_workers_end(kiln_workers *w);
/* Takes back what no process has begun, waits for what each is at, and frees *w. A process that was
 * killed would leave files in PoCL's cache. */
void kiln_workers_stop(kiln_workers *w);

#endif
