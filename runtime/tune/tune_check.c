/* Refuses searches that could only end in a failure. */
#include "tune_check.h"

#include "generator/problem/problem_layout.h"
#include "runtime/op/given.h"

enum { MAX_RUNS = 10000 };

static kiln_status check_queue(const char *who, const kiln *k, cl_command_queue queue)
{
    kiln_status status = kiln_given_queue(k, queue);
    if (status)
        return status;
    cl_command_queue_properties properties = 0;
    cl_int code =
        clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
    if (code != CL_SUCCESS)
        return kiln_fail_cl(code, "clGetCommandQueueInfo");
    if (!(properties & CL_QUEUE_PROFILING_ENABLE))
        return kiln_fail(KILN_INVALID, "%s: the queue has no CL_QUEUE_PROFILING_ENABLE", who);
    return KILN_OK;
}

/* Whether the tensor is a buffer whose size is known before a trial chooses layouts. */
static bool is_decided(const kiln_problem *p, char tensor)
{
    kiln_storage s;
    return kiln_problem_storage(p, tensor, &s, NULL) && !s.layout.image;
}

/* Checks what each trial would refuse, and what it would give as the reason of a trial only. */
static kiln_status check_buffers(const char *who, const kiln *k, const kiln_problem *problem,
                                 const kiln_buffers *b)
{
    kiln_problem closed = *problem; /* a trial decides open layouts, and checks their sizes */
    kiln_problem_close(&closed);
    const kiln_problem *p = &closed;
    const kiln_direction d = p->direction;
    const bool bias = p->epilogue.bias, residual = p->epilogue.beta != 0;
    const kiln_given given[] = {
        {"x", b->x, kiln_problem_bytes(p, 'x', NULL), d == KILN_BACKWARD_DATA},
        {"w", b->w, kiln_problem_bytes(p, 'w', NULL), d == KILN_BACKWARD_WEIGHTS},
        {"y", b->y, kiln_problem_bytes(p, 'y', NULL), d == KILN_FORWARD},
        {"bias", b->bias, bias ? kiln_problem_bytes(p, 'b', NULL) : 0, d == KILN_BACKWARD_WEIGHTS},
        {"residual", b->residual, residual ? kiln_problem_bytes(p, 'y', NULL) : 0, false},
    };
    enum { N = sizeof given / sizeof *given };
    kiln_status status = KILN_OK;
    for (int i = 0; i < N && !status; i++) {
        if (given[i].bytes > 0 && !given[i].buffer.mem)
            return kiln_fail(KILN_INVALID, "%s: the problem needs buffer %s; it is NULL", who,
                             given[i].name);
        if (given[i].bytes > 0)
            status = kiln_given_memory(k, &given[i]);
        if (given[i].bytes > 0 && !status && is_decided(problem, "xwyby"[i]))
            status = kiln_given_range(k, &given[i]);
    }
    return status ? status : kiln_given_apart(given, N);
}

static kiln_status check_limits(const char *who, const kiln_tune_options *o)
{
    if (o->runs < 0 || o->runs > MAX_RUNS)
        return kiln_fail(KILN_INVALID, "%s: %d runs; give 1 to %d", who, o->runs, MAX_RUNS);
    if (!(o->max_seconds >= 0))
        return kiln_fail(KILN_INVALID, "%s: max_seconds is %g; give seconds, or 0 for no limit",
                         who, o->max_seconds);
    if (o->max_trials < 0 || o->patience < 0)
        return kiln_fail(KILN_INVALID,
                         "%s: max_trials is %lld and patience %lld; give a number, or 0 for no "
                         "limit",
                         who, (long long)o->max_trials, (long long)o->patience);
    return KILN_OK;
}

static kiln_status check_known(const char *who, const kiln_tune_options *o)
{
    if (o->nknown > 0 && !o->known)
        return kiln_fail(KILN_INVALID, "%s: nknown is %zu, but known is NULL", who, o->nknown);
    for (size_t i = 0; i < o->nknown; i++)
        if (!o->known[i].solver)
            return kiln_fail(KILN_INVALID, "%s: the solver of known trial %zu is NULL", who, i);
    return KILN_OK;
}

kiln_status kiln_tune_check(const char *who, const kiln *k, kiln_problem *problem,
                            cl_command_queue queue, const kiln_buffers *buffers,
                            const kiln_tune_options *options)
{
    char why[KILN_ERROR_TEXT];
    if (!queue || !buffers || !options || !options->verify)
        return kiln_fail(KILN_INVALID,
                         "%s: queue, buffers, options and options->verify must not be NULL", who);
    if (!k->context)
        return kiln_fail(KILN_INVALID, "this kiln was opened without a device: it can only plan");
    kiln_status status = kiln_process_check(k);
    if (status)
        return status;
    if ((status = check_limits(who, options)) || (status = check_known(who, options)))
        return status;
    if (kiln_problem_check(problem, why))
        return kiln_fail(KILN_INVALID, "%s", why);
    if (problem->epilogue.beta != 0 && buffers->residual.mem == buffers->y.mem)
        return kiln_fail(KILN_INVALID,
                         "%s: the residual must have a buffer of its own, since every trial "
                         "overwrites y",
                         who);
    if ((status = check_queue(who, k, queue)) || (status = check_buffers(who, k, problem, buffers)))
        return status;
    if (options->keep && !*k->rows_file)
        return kiln_fail(KILN_FILE, "there is no file to keep tuning rows in; set KILN_DB");
    if (options->keep && kiln_rows_make(k->rows_file, k->facts.name))
        return KILN_FILE;
    return KILN_OK;
}
