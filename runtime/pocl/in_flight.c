/* What is in flight: operations that were noted, and others that come at once behind them. */
#include "in_flight.h"

#include "runtime/base/clock.h"

enum { ROW_NS = 10000 /* at most, between operations that come at once one behind the other */ };

cl_int kiln_event_state(cl_event event)
{
    cl_int state = CL_COMPLETE;
    clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    return state;
}

/* Returns an operation's execution status, and releases its event once it has ended. */
static cl_int state_while(cl_event *event)
{
    const cl_int state = *event ? kiln_event_state(*event) : CL_COMPLETE;
    if (*event && kiln_is_finished(state)) {
        clReleaseEvent(*event);
        *event = NULL;
    }
    return state;
}

/* Other threads read `lone` all the time, so it is written only when it changes. */
static void update_lone(kiln_in_flight *f)
{
    const bool lone = kiln_is_finished(state_while(&f->wide)) && f->last_is_lone;
    if (lone != atomic_load(&f->lone))
        atomic_store(&f->lone, lone);
}

cl_int kiln_in_flight_state(kiln_in_flight *f)
{
    const cl_int state = state_while(&f->last);
    update_lone(f);
    return state;
}

/* Returns the event that is to be released, or NULL. */
static cl_event replace_last(kiln_in_flight *f, cl_event done, bool lone)
{
    const cl_event before = f->last;
    cl_event gone = before;
    if (lone && !f->last_is_lone) {
        gone = f->wide;
        f->wide = before;
    } else if (!lone && f->wide) {
        clReleaseEvent(f->wide);
        f->wide = NULL;
    }
    f->last = done;
    f->last_is_lone = lone;
    return gone;
}

cl_event kiln_in_flight_note(kiln_in_flight *f, cl_event done, int core, bool lone)
{
    if (core != atomic_load(&f->core))
        atomic_store(&f->core, core);
    cl_event gone = replace_last(f, done, lone);
    update_lone(f);
    atomic_fetch_add(&f->noted, 1);
    atomic_store(&f->noted_ns, kiln_clock_ns());
    atomic_store(&f->unnoted_ns, 0);
    return gone;
}

cl_event kiln_in_flight_last_of(kiln_in_flight *f, cl_command_queue queue)
{
    cl_command_queue its = NULL;
    if (f->last)
        clGetEventInfo(f->last, CL_EVENT_COMMAND_QUEUE, sizeof its, &its, NULL);
    return its == queue && clRetainEvent(f->last) == CL_SUCCESS ? f->last : NULL;
}

bool kiln_in_flight_leaves_out(kiln_in_flight *f, int64_t takes_ns, int64_t most_ns)
{
    if (!atomic_load(&f->lone) || atomic_load(&f->unnoted_ns) + takes_ns > most_ns ||
        kiln_clock_ns() - atomic_load(&f->noted_ns) > ROW_NS)
        return false;
    atomic_fetch_add(&f->unnoted_ns, takes_ns + 1);
    return true;
}

void kiln_in_flight_joined(kiln_in_flight *f, int64_t takes_ns, int64_t often_ns)
{
    if (atomic_fetch_add(&f->batched_ns, takes_ns) + takes_ns < often_ns)
        return;
    atomic_store(&f->batched_ns, 0);
    atomic_fetch_add(&f->noted, 1);
}

void kiln_in_flight_close(kiln_in_flight *f)
{
    if (f->last)
        clReleaseEvent(f->last);
    if (f->wide)
        clReleaseEvent(f->wide);
}
