/* What is in flight, as far as the threads that look for work beside it (keepalive.h) must know: the
 * operations that were noted, and how many of the device's threads they take. */
#ifndef KILN_FLIGHT_H
#define KILN_FLIGHT_H

#include "kiln.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What different threads write is in lines of its own. */
typedef struct kiln_flight {
    _Alignas(64) atomic_uint noted;     /* operations; looking threads measure this line's way */
    _Alignas(64) atomic_bool lone;      /* all take one of the device's threads; written when that
                                           changes, as `core` is */
    atomic_int core;                    /* the caller's */
    _Alignas(64) atomic_llong noted_ns; /* when the last one was; only callers look at these */
    atomic_llong unnoted_ns;            /* what one core takes for those since */
    atomic_llong goes_on_ns;            /* and for what goes on with it */
    _Alignas(64) cl_event last;         /* of the operation noted last, until it has ended */
    cl_event wide; /* of the last one before it that takes more threads, likewise */
    bool last_is_lone;
} kiln_flight;

/* An event's, as OpenCL has it. */
cl_int kiln_event_state(cl_event event);
static inline bool kiln_is_finished(cl_int state)
{
    return state <= CL_COMPLETE;
}

/* One call at a time of these, by a lock of the caller's. */

/* The last operation's state, as OpenCL has it; tells `lone` anew. */
cl_int kiln_flight_state(kiln_flight *f);
/* Notes the operation that `done`, which is retained, is the end of, enqueued on `core`. What it
 * returns is to be released when the lock is let go of, unless it is NULL. */
cl_event kiln_flight_note(kiln_flight *f, cl_event done, int core, bool lone);
/* The last operation's event, retained, if it is a command of `queue` that may not have ended. */
cl_event kiln_flight_last_of(kiln_flight *f, cl_command_queue queue);
void kiln_flight_close(kiln_flight *f);

/* Any number of calls at a time of these. */

/* The operation noted last goes on for so long; told when that is `often_ns` in all. */
void kiln_flight_goes_on(kiln_flight *f, int64_t takes_ns, int64_t often_ns);
/* Whether an operation that takes one core `takes_ns` is not
 * noted, as it follows at once on such as it: until `most_ns` of them are not. Only for those that
 * take one thread. */
bool kiln_flight_leaves_out(kiln_flight *f, int64_t takes_ns, int64_t most_ns);

#endif
