/* Refuses searches that could only end in a failure. */
#include "tune_check.h"

enum { MAX_RUNS = 10000 };

static kiln_status check_queue(cl_command_queue queue)
{
    cl_command_queue_properties properties = 0;
    cl_int code =
        clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
    if (code != CL_SUCCESS)
        return kiln_fail_cl(code, "clGetCommandQueueInfo");
    if (!(properties & CL_QUEUE_PROFILING_ENABLE))
        return kiln_fail(KILN_INVALID, "kiln_tune: the queue has no CL_QUEUE_PROFILING_ENABLE");
    return KILN_OK;
}

kiln_status kiln_tune_check(const kiln *k, kiln_problem *problem, cl_command_queue queue,
                            const kiln_buffers *buffers, const kiln_tune_options *options)
{
    char why[KILN_ERROR_TEXT];
    if (!queue || !buffers || !options || !options->verify)
        return kiln_fail(KILN_INVALID,
                         "kiln_tune: queue, buffers, options and options->verify must "
                         "not be NULL");
    if (!k->context)
        return kiln_fail(KILN_INVALID, "this kiln was opened without a device: it can only plan");
    if (options->runs < 0 || options->runs > MAX_RUNS)
        return kiln_fail(KILN_INVALID, "kiln_tune: %d runs; give 1 to %d", options->runs, MAX_RUNS);
    if (kiln_problem_check(problem, why))
        return kiln_fail(KILN_INVALID, "%s", why);
    if (problem->epilogue.beta != 0 && buffers->residual.mem == buffers->y.mem)
        return kiln_fail(KILN_INVALID,
                         "kiln_tune: the residual must have a buffer of its own, since "
                         "every trial overwrites y");
    if (options->keep && !*k->rows_file)
        return kiln_fail(KILN_FILE, "there is no file to keep tuning rows in; set KILN_DB");
    if (options->keep && kiln_rows_append(k->rows_file, k->facts.name, NULL))
        return KILN_FILE;
    return check_queue(queue);
}
