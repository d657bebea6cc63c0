/* What is in flight, as far as the threads that spin beside it (keepalive.h) must know: the
 * operations that were noted, and how many of the device's threads they take. */
#ifndef KILN_IN_FLIGHT_H
#define KILN_IN_FLIGHT_H

#include "kiln.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What different threads write is in cache lines of its own. All zero at first. */
typedef struct kiln_in_flight {
    _Alignas(64) atomic_uint noted;     /* operations; spinning threads measure how far this line
                                           comes */
    _Alignas(64) atomic_bool lone;      /* each takes one of the device's threads; written only when
                                           that changes, as is `core` */
    atomic_int core;                    /* the caller's */
    _Alignas(64) atomic_llong noted_ns; /* when the last one was noted; only callers read this and
                                           the next two */
    atomic_llong unnoted_ns;            /* one core's time for the operations left out since */
    atomic_llong batched_ns;            /* one core's time for the operations that joined the last
                                           one's command */
    _Alignas(64) cl_event last;         /* of the operation noted last, until it has ended */
    cl_event wide;     /* of the last one before it that takes more threads, until it has ended */
    bool last_is_lone; /* the operation noted last takes one thread */
} kiln_in_flight;

/* Returns the event's execution status, as OpenCL counts it. */
cl_int kiln_event_state(cl_event event);
static inline bool kiln_is_finished(cl_int state)
{
    return state <= CL_COMPLETE;
}

/* One call at a time of the functions down to kiln_in_flight_close(): the caller holds a lock. */

/* Returns the last operation's execution status, and brings `lone` up to date. */
cl_int kiln_in_flight_state(kiln_in_flight *f);
/* Notes an operation that ends with `done`, enqueued by a thread on `core`. Takes over the caller's
 * reference to `done`. Returns an event to be released once the lock is free, or NULL. */
cl_event kiln_in_flight_note(kiln_in_flight *f, cl_event done, int core, bool lone);
/* Returns the last operation's event, retained, if it is a command of `queue` that may not have
 * ended; else NULL. */
cl_event kiln_in_flight_last_of(kiln_in_flight *f, cl_command_queue queue);
void kiln_in_flight_close(kiln_in_flight *f);

/* Any thread may call the functions below. */

/* Says that an operation joined the command of the one noted last, which goes on for `takes_ns`.
 * Counts as a noted operation each time that `often_ns` are reached. */
void kiln_in_flight_joined(kiln_in_flight *f, int64_t takes_ns, int64_t often_ns);
/* Returns whether an operation that takes one core `takes_ns` may be left out, because it comes at
 * once behind others like it: until operations of `most_ns` were left out. Only for operations that
 * take one thread. */
bool kiln_in_flight_leaves_out(kiln_in_flight *f, int64_t takes_ns, int64_t most_ns);

#endif
