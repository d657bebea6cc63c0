/* The door to everything that only PoCL's CPU device gets (docs/pocl.md): threads that stay awake,
 * launches that threads share, operations in one command, and buffers given by their addresses.
 *
 * On any other device, and where the settings ask for nothing, there is no kiln_pocl: every
 * function takes NULL, and then leaves everything to plain OpenCL. An operation is enqueued in
 * three steps: kiln_pocl_bind() when its buffers change, kiln_pocl_submit(), and, unless that did
 * it all, launches as on any device with kiln_pocl_launched() behind them.
 *
 * A kiln_pocl may be used from any thread; a kiln_pocl_op from one thread at a time.
 */
#ifndef KILN_POCL_H
#define KILN_POCL_H

#include "generator/plan/plan.h"
#include "runtime/programs/program.h"

#include <stdbool.h>

typedef struct kiln_pocl kiln_pocl;       /* a kiln's part */
typedef struct kiln_pocl_op kiln_pocl_op; /* an operation's part */

/* What kiln_settings ask for. */
typedef struct kiln_pocl_settings {
    int64_t keepalive_us; /* 0: threads sleep at once */
    bool place_threads, buffers_stay, queues_flushed, check_flushed;
} kiln_pocl_settings;

/* Opens what the settings ask for and the device can do. Sets facts->shares_work, for plans, when
 * threads share launches of one work-group. Programs and logger must outlive the kiln_pocl. Returns
 * NULL when there is nothing of use, or no memory. */
kiln_pocl *kiln_pocl_open(cl_context context, cl_device_id device, kiln_device_facts *facts,
                          kiln_programs *programs, const kiln_pocl_settings *settings,
                          const kiln_logger *logger);
/* Opens what operations need for which the promises hold, although the settings do not make them.
 * One thread at a time. */
void kiln_pocl_open_promises(kiln_pocl *p, cl_context context, cl_device_id device,
                             const kiln_device_facts *facts, kiln_programs *programs);
/* Returns when no thread spins any more; operations that were enqueued are done nevertheless. */
void kiln_pocl_close(kiln_pocl *p);

/* Opens the part of an operation with such a plan, which must outlive it, and with the kernel of
 * each stage, NULL for a clear. `takes_ns`: one core's time for a launch of the plan; -1: not
 * known. Sets the kernels' arguments of the kind KILN_ARG_SHARING. *op receives NULL when `p` is
 * NULL. */
kiln_status kiln_pocl_op_open(kiln_pocl *p, const kiln_plan *plan,
                              const cl_kernel kernel[KILN_MAX_STAGES], int64_t takes_ns,
                              kiln_pocl_op **op);
void kiln_pocl_op_close(kiln_pocl_op *op);
/* Says that the promises of kiln_settings hold for this operation. Before its first enqueue. */
void kiln_pocl_op_promise(kiln_pocl_op *op);

/* Says that the stages in `stages` (bit i: stage i) get other buffers. mem[role]: memory objects
 * that are bound a second time and whose end will be known; NULL: no such objects. Returns true
 * when the kernels of these stages have been given the buffers' addresses; else the caller sets the
 * memory objects. */
bool kiln_pocl_bind(kiln_pocl_op *op, unsigned stages, const cl_mem mem[KILN_MAX_ROLES]);

/* The launches that an enqueue has events of. */
typedef enum kiln_events { KILN_EVENTS_NONE, KILN_EVENTS_LAST, KILN_EVENTS_ALL } kiln_events;

/* One enqueue of an operation. */
typedef struct kiln_pocl_call {
    cl_command_queue queue;
    unsigned stages;    /* bit i: stage i runs */
    bool waits;         /* for events of the caller's */
    bool plain;         /* it waits for nothing, and nothing stands between its launches */
    kiln_events events; /* that the caller wants */
} kiln_pocl_call;

/* With settings.check_flushed: returns the function that the program called last to put a command
 * into the queue for which it has neither waited nor called kiln_flush(); NULL: there is none. */
const char *kiln_pocl_unflushed(const kiln_pocl_op *op, cl_command_queue queue);

/* Either does the whole operation: *done becomes true. Or asks for launches as on any device, and
 * raises call->events to the events that kiln_pocl_launched() needs. */
kiln_status kiln_pocl_submit(kiln_pocl_op *op, kiln_pocl_call *call, bool *done);
/* Says that the operation was launched. events[i] is stage i's event, where the call has it; `last`
 * is the last stage. `events` NULL: launching failed. */
kiln_status kiln_pocl_launched(kiln_pocl_op *op, const kiln_pocl_call *call, const cl_event *events,
                               int last);

/* Says that what is enqueued from now on comes behind other commands of `queue`. */
void kiln_pocl_flush(kiln_pocl *p, cl_command_queue queue);

/* Waits until what is in `queue` has ended, if the kiln's last operation is in it, but no longer
 * than threads stay awake: the caller's clFinish() then finds it done. */
void kiln_pocl_wait(kiln_pocl *p, cl_command_queue queue);

#endif
