/* Times one config of each solver. */
#include "generator/problem/problem_layout.h"
#include "runtime/base/run_clock.h"
#include "runtime/kiln/probes.h"

#include "bench.h"
#include "solutions.h"
#include "tune_check.h"

#include <string.h>

enum { RUNS = 5, MOST_RUNS = 100 };

static int accept_all(void *user, const kiln_op *op, double *error)
{
    (void)user;
    (void)op;
    (void)error;
    return 0;
}

static bool is_open(const kiln_problem *p)
{
    return kiln_layout_is_any(p->x_layout) || kiln_layout_is_any(p->w_layout) ||
           kiln_layout_is_any(p->y_layout) || kiln_layout_is_any(p->bias_layout);
}

/* Measures a solution. Returns whether it ran. */
static bool try_one(kiln_bench *b, kiln_solution *s)
{
    const kiln_solver *solver = kiln_solver_named(s->solver);
    kiln_config config = {0};
    kiln_why why;
    kiln_op *op = NULL;
    kiln_times times;
    if (!kiln_config_parse(solver, s->config, &config, &why))
        return false;
    const int verdict = kiln_bench_measure(b, solver, &config, 0, &op, &times);
    const bool ran = verdict == KILN_TRIAL_OK || verdict == KILN_TRIAL_SLOW;
    if (ran) {
        s->ms = times.ms;
        s->measured = 1;
        kiln_op_keep(op);
    }
    kiln_op_release(op);
    return ran;
}

/* Keeps in the list what ran. */
static void measure(kiln_bench *b, kiln_solutions_list *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (kept > 0 && kiln_bench_is_late(b))
            break;
        if (try_one(b, &list->at[i]))
            list->at[kept++] = list->at[i];
    }
    list->count = kept;
    kiln_solutions_sort(list, 0);
}

static kiln_status check(const kiln *k, kiln_problem *p, cl_command_queue queue,
                         const kiln_buffers *buffers, const kiln_find_options *options)
{
    const kiln_tune_options checked = {.verify = options->verify ? options->verify : accept_all,
                                       .max_seconds = options->max_seconds};
    const kiln_status status = kiln_tune_check("kiln_find", k, p, queue, buffers, &checked);
    if (!status && is_open(p))
        return kiln_fail(KILN_INVALID, "kiln_find: a layout is \"any\"; take the layouts of one of "
                                       "kiln_solutions(), in which the tensors then lie");
    return status;
}

kiln_status kiln_find(kiln *k, const kiln_problem *problem, cl_command_queue queue,
                      const kiln_buffers *buffers, const kiln_find_options *options,
                      kiln_solution *list, size_t room, size_t *count)
{
    static const kiln_find_options defaults;
    const kiln_find_options *o = options ? options : &defaults;
    kiln_solutions_list all;
    double samples[MOST_RUNS];
    if (count)
        *count = 0;
    if (!k || !problem || !count || (room > 0 && !list))
        return kiln_fail(KILN_INVALID, "kiln_find: k, problem and count must not be NULL, nor list "
                                       "with room in it");
    kiln_problem p = *problem;
    kiln_status status = check(k, &p, queue, buffers, o);
    if (!status)
        status = kiln_solutions_make(k, &p, &all);
    if (status)
        return status;
    kiln_bench b = {.k = k,
                    .problem = &p,
                    .queue = queue,
                    .buffers = *buffers,
                    .deadline = o->max_seconds > 0 ? kiln_run_seconds() + o->max_seconds : 0,
                    .runs = RUNS,
                    .most = MOST_RUNS,
                    .samples = samples,
                    .verify = o->verify ? o->verify : accept_all,
                    .user = o->user};
    b.buffers.workspace = b.buffers.packed = (kiln_buffer){0};
    kiln_probe_speed(k);
    kiln_run_clock_hold();
    measure(&b, &all);
    kiln_run_clock_release();
    if (b.buffers.workspace.mem)
        clReleaseMemObject(b.buffers.workspace.mem);
    const size_t ran = all.count;
    kiln_solutions_give(&all, list, room, count);
    return ran ? KILN_OK
               : kiln_fail(KILN_UNSUPPORTED, "no solution ran; the last: %.400s",
                           kiln_last_error());
}
