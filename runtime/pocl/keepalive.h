/* Keepalive: keeps the threads of PoCL's CPU device from sleeping between operations. */
#ifndef KILN_KEEPALIVE_H
#define KILN_KEEPALIVE_H

#include "generator/plan/device.h"
#include "runtime/base/error.h"

typedef struct kiln_keepalive kiln_keepalive;

/* Keeps the device's threads awake until `stay_us` microseconds after the last operation has ended.
 * `moves_threads`: on a device of two threads, may move the second thread to another core
 * (affinity.h). Returns NULL, which every function takes, when the device has no threads that this
 * would help, when `stay_us` is 0, or when there is no memory. */
kiln_keepalive *kiln_keepalive_open(cl_context context, cl_device_id device,
                                    const kiln_device_facts *facts, int64_t stay_us,
                                    bool moves_threads);
/* Returns when no thread spins any more. */
void kiln_keepalive_close(kiln_keepalive *a);

/* The functions below may be called from any thread. */

/* Returns whether an operation that is about to be enqueued is to be noted. It need not be where it
 * comes at once behind operations like it: an event costs a launch 0.3 us. `alone_ns` as for
 * kiln_keepalive_note(). `takes_ns`: one core's time for it; -1: not known. */
bool kiln_keepalive_wants(kiln_keepalive *a, int64_t alone_ns, int64_t takes_ns);

/* Notes an operation that was enqueued; `done` is its last launch's event. `alone_ns`: one core's
 * time for it, or 0 when all of its launches are of one work-group; -1: not known, or longer than
 * it takes to call another core. */
void kiln_keepalive_note(kiln_keepalive *a, cl_event done, int64_t alone_ns);

/* Says that an operation joined the command (command_batch.h) of the one noted last. `takes_ns`:
 * one core's time for it; -1: not known. */
void kiln_keepalive_joined(kiln_keepalive *a, int64_t takes_ns);

/* Waits until what is in `queue` has ended, if the operation noted last is in it, but no longer
 * than threads stay awake. A caller who sleeps meanwhile goes on 10 to 20 us later. */
void kiln_keepalive_wait(kiln_keepalive *a, cl_command_queue queue);

#endif
