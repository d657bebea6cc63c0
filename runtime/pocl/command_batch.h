/* A command batch: operations in a row, in one command of PoCL.
 *
 * To begin a command takes PoCL 1 to 2 us, in the thread that enqueues it and in the thread that
 * runs it; OpenMP's threads begin a loop in a tenth of that. So the first operation of a row goes
 * into the queue as a native kernel (a function of the host as a command). The command does this
 * operation and then looks for more, as long as there are some: the next operations are only
 * written into a ring that it reads.
 *
 *     queue:   write x | begun: A B C D E ... | read y
 *                               ^     ^
 *                            reads  written
 *
 * The place of a command in an in-order queue is the place of every operation in it. So an
 * operation that comes behind a command of the program must not join: the program says, by
 * kiln_flush(), when that is so.
 */
#ifndef KILN_COMMAND_BATCH_H
#define KILN_COMMAND_BATCH_H

#include "work_sharing.h"

typedef struct kiln_command_batch kiln_command_batch;

/* Opens a batch for a device of which kiln_sharing_works() is true. Returns NULL when there is no
 * memory; every function takes NULL. */
kiln_command_batch *kiln_command_batch_open(void);
/* Closes the batch; what was added is done nevertheless. */
void kiln_command_batch_close(kiln_command_batch *b);

enum { KILN_COMMAND_BATCH_MOST = 16 }; /* calls at once */

/* Adds `n` calls, one after the other, to the command in `queue`, or begins a command with them.
 * *begun receives the event of a command that was begun, to be released; else NULL. Waits while the
 * ring is full. Returns false when the calls must be enqueued like any other. Any thread may call
 * this function and those below. */
bool kiln_command_batch_add(kiln_command_batch *b, cl_command_queue queue,
                            const kiln_sharing_call *const *call, int n, cl_event *begun);

/* Lets the command in `queue`, if one is open, end with what it has. Waits for nothing. */
void kiln_command_batch_end(kiln_command_batch *b, cl_command_queue queue);

/* Returns how many calls were added so far. */
uint64_t kiln_command_batch_count(kiln_command_batch *b);

/* Closes a library, a handle of dlopen(), as soon as all calls added so far have ended: their code
 * may be in it. */
void kiln_command_batch_unload(kiln_command_batch *b, void *library);

#endif
