/* Operations that follow one another at once, in one command of PoCL's.
 *
 * To begin a command takes PoCL 1 to 2 us, in the thread that enqueues it and in the one that runs
 * it; OpenMP's threads begin a loop in a tenth of that. So the first operation of a row goes into a
 * queue as a native kernel (a function of the host as a command), which does it and then looks for
 * more, for as long as there is some: the next ones are only written into a ring that it reads.
 *
 *     queue:   write x | begun: A B C D E ... | read y
 *                               ^     ^
 *                            reads  written
 *
 * A command's place in an in-order queue is that of every operation in it, so one that comes behind
 * a command of the program's own must not follow: the program says when that is so.
 */
#ifndef KILN_COMMAND_BATCH_H
#define KILN_COMMAND_BATCH_H

#include "work_sharing.h"

typedef struct kiln_command_batch kiln_command_batch;

/* For a device whose kernels can be called (work_sharing.h). NULL, which every function takes: no memory.
 */
kiln_command_batch *kiln_command_batch_open(void);
/* What was added is done nevertheless. */
void kiln_command_batch_close(kiln_command_batch *f);

enum { KILN_COMMAND_BATCH_MOST = 16 }; /* calls at once */

/* Whether `n` calls, one after the other, were added to `queue`; else they are to be enqueued like
 * any other. *begun: of the command that they began, to be released; NULL where they follow. A ring
 * that is full is waited for. Any thread may call this and those below. */
bool kiln_command_batch_add(kiln_command_batch *f, cl_command_queue queue, const kiln_sharing_call *const *call,
                     int n, cl_event *begun);

/* The command in `queue`, if one is open, ends with what it has: someone waits, or comes next. */
void kiln_command_batch_end(kiln_command_batch *f, cl_command_queue queue);

/* How many calls were added so far. */
uint64_t kiln_command_batch_count(kiln_command_batch *f);

/* Closes a library that calls added so far may be in, as soon as they have ended. */
void kiln_command_batch_unload(kiln_command_batch *f, void *library);

#endif
