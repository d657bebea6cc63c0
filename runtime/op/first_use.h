/* Operations that have a result before they are compiled (settings.first_use): a stand-in, an
 * operation of the solver `general`, is enqueued until the kiln's thread has compiled the operation
 * itself.
 *
 *     create        the stand-in is compiled, or comes from a cache; the operation is planned
 *     1st enqueue   runs the stand-in, and gives the operation to the thread
 *     ...           run the stand-in
 *     n-th enqueue  the thread is done: runs the operation, as all later ones
 *
 * All functions take an operation without a stand-in, too, but for kiln_first_use_begin().
 */
#ifndef KILN_FIRST_USE_H
#define KILN_FIRST_USE_H

#include "op.h"

/* Gives a planned op a stand-in. Returns false when there is none: the caller compiles the op. */
bool kiln_first_use_begin(kiln_op *op);
/* Returns the op that an enqueue with these buffers runs: `op` or its stand-in. Waits for the
 * thread where the buffers have packed weights only. */
kiln_op *kiln_first_use_running(kiln_op *op, const kiln_buffers *buffers);
/* Has the thread compile the op now, and call `when` after that. */
void kiln_first_use_start(kiln_op *op, void (*when)(void *user), void *user);
/* Waits until the op itself is compiled. Returns why it could not be. */
kiln_status kiln_first_use_wait(kiln_op *op);
/* Takes the op back from the thread, and frees the stand-in. */
void kiln_first_use_end(kiln_op *op);

#endif
