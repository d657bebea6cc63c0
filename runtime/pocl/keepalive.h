/* Keeps the threads of PoCL's CPU device from sleeping between operations. */
#ifndef KILN_KEEPALIVE_H
#define KILN_KEEPALIVE_H

#include "generator/plan/device.h"
#include "runtime/error.h"

typedef struct kiln_keepalive kiln_keepalive;

/* Whose threads stay awake until `stay_us` microseconds after the last operation has ended. NULL,
 * which every function takes: the device has no threads that it would help, `stay_us` is 0, or
 * there is no memory for it. */
kiln_keepalive *kiln_keepalive_open(cl_context context, cl_device_id device, const kiln_device_facts *facts,
                            int64_t stay_us);
/* Returns when no thread looks for work any more. */
void kiln_keepalive_close(kiln_keepalive *a);

/* Whether an operation that is about to be enqueued is to be noted: not where it follows at once on
 * such as are alike, for to take an event and to let it go costs a launch 0.3 us. `alone_ns` is
 * what kiln_keepalive_note() would get, `takes_ns` what one core should take for it, or -1. */
bool kiln_keepalive_wants(kiln_keepalive *a, int64_t alone_ns, int64_t takes_ns);

/* An operation was enqueued; `done` is its last launch's event. `alone_ns`: how long one core
 * should take for it, and 0 where all of its launches are of one work-group; -1: nobody knows, or
 * longer than to call another. */
void kiln_keepalive_note(kiln_keepalive *a, cl_event done, int64_t alone_ns);

/* An operation follows the one noted last in its command (command_batch.h), which one core should take so
 * long for; -1: nobody knows. */
void kiln_keepalive_follows(kiln_keepalive *a, int64_t takes_ns);

/* Until what is in `queue` has ended, if the operation enqueued last is, but no longer than threads
 * stay awake: a caller who sleeps meanwhile goes on 10 to 20 us later. */
void kiln_keepalive_wait(kiln_keepalive *a, cl_command_queue queue);

#endif
