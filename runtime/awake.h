/* Keeps the threads of PoCL's CPU device from sleeping between operations. */
#ifndef KILN_AWAKE_H
#define KILN_AWAKE_H

#include "device.h"
#include "error.h"

typedef struct kiln_awake kiln_awake;

/* Whose threads stay awake until `stay_us` microseconds after the last operation has ended. NULL,
 * which every function takes: the device has no threads that it would help, `stay_us` is 0, or
 * there is no memory for it. */
kiln_awake *kiln_awake_open(cl_context context, cl_device_id device, const kiln_device_facts *facts,
                            int64_t stay_us);
/* Returns when no thread looks for work any more. */
void kiln_awake_close(kiln_awake *a);

/* An operation was enqueued; `done` is its last launch's event. `alone_ns`: how long one core
 * should take for it, and 0 where all of its launches are of one work-group; -1: nobody knows, or
 * longer than to call another. */
void kiln_awake_note(kiln_awake *a, cl_event done, int64_t alone_ns);

/* Until the operation noted last has ended, if it is one of `queue`, but no longer than threads
 * stay awake: a caller who sleeps meanwhile goes on 10 to 20 us later. */
void kiln_awake_wait(kiln_awake *a, cl_command_queue queue);

#endif
