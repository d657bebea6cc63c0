/* kiln_op_enqueue() against the OpenCL calls that it makes, on a tiny problem.
 *
 * Both launch the same kernel on the same buffers and queue, in turns. The queue waits for an event
 * while launches are timed, so that no kernel runs and only the caller's cost counts.
 */
#include "runtime/op/op.h"
#include "tests/bench/base/stats.h"
#include "tests/bench/machine/machine.h"

#include <stdlib.h>

static const double most_us = 1; /* what an enqueue may cost beyond its OpenCL calls */

enum { LAUNCHES = 200, ROUNDS = 200, ARGUMENTS = 3 };

typedef struct overhead {
    session session;
    machine machine;
    kiln_op *op;
    kiln_buffers buffers;
    /* What an application without kiln would keep. */
    cl_kernel kernel;
    size_t global[3], local[3];
    int arguments;
    cl_uint position[ARGUMENTS];
    cl_mem argument[ARGUMENTS];
} overhead;

static bool launch_kiln(overhead *o)
{
    return kiln_op_enqueue(o->op, o->session.queue, &o->buffers, 0, NULL, NULL) == KILN_OK;
}

static bool launch_bare(overhead *o)
{
    for (int i = 0; i < o->arguments; i++)
        if (clSetKernelArg(o->kernel, o->position[i], sizeof(cl_mem), &o->argument[i]))
            return false;
    return clEnqueueNDRangeKernel(o->session.queue, o->kernel, 3, NULL, o->global, o->local, 0,
                                  NULL, NULL) == CL_SUCCESS;
}

/* Returns microseconds per launch; negative: a launch failed. */
static double time_launches(overhead *o, bool (*launch)(overhead *o))
{
    cl_int code;
    bool fine = true;
    cl_event gate = clCreateUserEvent(o->session.context, &code);
    if (code || clEnqueueBarrierWithWaitList(o->session.queue, 1, &gate, NULL))
        return -1;
    double start = stats_now();
    for (int i = 0; i < LAUNCHES; i++)
        fine = launch(o) && fine;
    double seconds = stats_now() - start;
    clSetUserEventStatus(gate, CL_COMPLETE);
    fine = clFinish(o->session.queue) == CL_SUCCESS && fine;
    clReleaseEvent(gate);
    return fine ? seconds / LAUNCHES * 1e6 : -1;
}

static cl_mem make_buffer(const session *s)
{
    enum { BYTES = 65536 }; /* more than the tiny problem needs, packed or not */
    return clCreateBuffer(s->context, CL_MEM_READ_WRITE, BYTES, NULL, NULL);
}

/* Returns the one stage that runs with packed weights; -1: there are more. */
static int only_stage(const kiln_plan *plan)
{
    int found = -1;
    for (int i = 0; i < plan->nstages; i++)
        if (!plan->stage[i].pack)
            found = found < 0 ? i : -2;
    return found < 0 ? -1 : found;
}

/* Makes the plan's kernel and sets the buffers that the plan names. */
static bool make_bare(overhead *o)
{
    const kiln_plan *plan = kiln_op_plan(o->op);
    const int at = only_stage(plan);
    const cl_mem of_role[] = {[KILN_ROLE_X] = o->buffers.x.mem,
                              [KILN_ROLE_W] = o->buffers.w.mem,
                              [KILN_ROLE_Y] = o->buffers.y.mem,
                              [KILN_ROLE_PACKED] = o->buffers.packed.mem};
    if (at < 0)
        return false;
    const kiln_stage *stage = &plan->stage[at];
    o->kernel = o->op->launch[at].kernel;
    kiln_stage_launch(stage, o->global);
    for (int i = 0; i < 3; i++)
        o->local[i] = stage->local[i];
    for (int i = 0; i < stage->nargs && o->arguments < ARGUMENTS; i++) {
        const kiln_arg *a = &stage->arg[i];
        if (a->kind != KILN_ARG_BUFFER)
            continue;
        o->position[o->arguments] = (cl_uint)i;
        o->argument[o->arguments++] = of_role[a->role];
    }
    return true;
}

static bool make(overhead *o, char *why)
{
    const kiln_problem tiny = {
        .batch = 1, .in_channels = 1, .out_channels = 1, .input = {1, 1}, .filter = {1, 1}};
    const kiln_choice choice = {.solver = "naive"}; /* one launch */
    snprintf(why, KILN_ERROR_TEXT, "the tiny problem is more than one launch");
    if (kiln_conv_create(o->session.kiln, &tiny, &choice, &o->op)) {
        snprintf(why, KILN_ERROR_TEXT, "%.250s", kiln_last_error());
        return false;
    }
    o->buffers.x.mem = make_buffer(&o->session);
    o->buffers.w.mem = make_buffer(&o->session);
    o->buffers.y.mem = make_buffer(&o->session);
    if (kiln_op_plan(o->op)->packed_bytes > 0) {
        o->buffers.packed.mem = make_buffer(&o->session);
        kiln_op_pack(o->op, o->session.queue, &o->buffers, 0, NULL, NULL);
    }
    return make_bare(o);
}

int main(void)
{
    static overhead o;
    static double kiln_us[ROUNDS], bare_us[ROUNDS], difference[ROUNDS];
    char why[KILN_ERROR_TEXT];
    if (!machine_open(&o.machine, &o.session, "cpu"))
        return 1;
    if (!make(&o, why)) {
        fprintf(stderr, "bench: %s\n", why);
        return 1;
    }
    machine_print(&o.machine, stdout);
    time_launches(&o, launch_kiln);
    time_launches(&o, launch_bare);
    for (int r = 0; r < ROUNDS; r++) {
        kiln_us[r] = time_launches(&o, launch_kiln);
        bare_us[r] = time_launches(&o, launch_bare);
        difference[r] = kiln_us[r] - bare_us[r];
        if (kiln_us[r] < 0 || bare_us[r] < 0) {
            fprintf(stderr, "bench: a launch failed: %s\n", kiln_last_error());
            return 1;
        }
    }
    const double overhead_us = stats_median(difference, ROUNDS);
    printf("%d rounds of %d launches: kiln_op_enqueue %.3f us, bare calls %.3f us\n"
           "overhead %.3f us a launch: %s the limit of %g us\n",
           ROUNDS, LAUNCHES, stats_median(kiln_us, ROUNDS), stats_median(bare_us, ROUNDS),
           overhead_us, overhead_us <= most_us ? "within" : "ABOVE", most_us);
    return 0;
}
