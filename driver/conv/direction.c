/* Runs one problem in one direction, from plan to report. */
#include "direction.h"

#include "driver/base/clock.h"
#include "driver/base/trace.h"

#include "conv.h"
#include "describe.h"
#include "measure.h"
#include "search_shown.h"
#include "tensors.h"

#include <string.h>

/* One direction while it runs. */
typedef struct run {
    const session *session;
    const request *request;
    report_format format;
    kiln_op *op;
    tensors tensors;
    dumps *dumps;
    bool interrupted;
    outcome *outcome;
} run;

static kiln_status library_error(outcome *o, kiln_status status)
{
    return outcome_fail(o, status, kiln_last_error());
}

static bool is_open(const kiln_problem *p)
{
    return !strcmp(p->x_layout, "any") || !strcmp(p->w_layout, "any") ||
           !strcmp(p->y_layout, "any") || !strcmp(p->bias_layout, "any");
}

/* `found`: the result of a search; NULL: none yet. A search measures whatever the tuning rows say,
 * so they only settle layouts that are "any". */
static kiln_status create(run *r, const kiln_trial *found)
{
    const flags *f = &r->request->flags;
    outcome *o = r->outcome;
    kiln_choice choice = {.solver = request_solver(r->request),
                          .config = *f->config ? f->config : NULL,
                          .native_layout = f->native_layout != 0,
                          .ignore_rows = f->search && !is_open(&o->problem)};
    if (found) {
        choice.solver = found->solver;
        choice.config = *found->best_config ? found->best_config : NULL;
    }
    kiln_op_release(r->op);
    r->op = NULL;
    double start = clock_ms();
    kiln_status status = kiln_conv_create(r->session->kiln, &o->problem, &choice, &r->op);
    o->time.create = clock_ms() - start;
    o->planned = !status;
    if (status)
        return library_error(o, status);
    kiln_op_describe(r->op, &o->info);
    return KILN_OK;
}

static void announce(const run *r)
{
    const flags *f = &r->request->flags;
    const outcome *o = r->outcome;
    if (r->format != REPORT_LINES)
        return;
    if (strcmp(f->solution, "-1") != 0)
        describe_solutions(r->session->kiln, &o->problem);
    describe_origin(o, r->session->kiln);
    /* As in MIOpen, the default is 1 and prints nothing. */
    if (f->printconv && flags_given(f, "printconv"))
        describe_plan(o, r->op);
    fflush(stdout);
}

/* The first launch is verified, but not timed: some drivers still compile in it. */
static kiln_status launch_once(run *r)
{
    outcome *o = r->outcome;
    const int64_t began = trace_begin();
    kiln_status status =
        kiln_op_enqueue(r->op, r->session->queue, &r->tensors.buffers, 0, NULL, NULL);
    if (status)
        return library_error(o, status);
    cl_int code = clFinish(r->session->queue);
    trace_end(began, "launch", "the first run, which PoCL compiles in");
    if (code != CL_SUCCESS) {
        char text[64];
        snprintf(text, sizeof text, "the launch failed: OpenCL error %d", code);
        return outcome_fail(o, KILN_OPENCL, text);
    }
    return KILN_OK;
}

static kiln_status measure(run *r)
{
    const flags *f = &r->request->flags;
    outcome *o = r->outcome;
    char why[KILN_ERROR_TEXT];
    bool asked = f->time || r->format != REPORT_LINES || flags_given(f, "iter");
    if (!asked)
        return KILN_OK;
    const int64_t began = trace_begin();
    kiln_status status = measure_op(r->op, r->session, &r->tensors.buffers, f, &o->time, why);
    trace_end(began, "launch", "timed runs");
    return status ? outcome_fail(o, status, why) : KILN_OK;
}

static void verify(run *r)
{
    outcome *o = r->outcome;
    const tensors *t = &r->tensors;
    reference_tensors sources = tensors_sources(t);
    const verify_options options = verify_options_for(r->request, &o->info, t->from_files);
    o->result = verify_destination(&t->problem, &sources, tensors_destination(t), &options);
    o->result.ok = o->result.ok && t->dirty == 0;
    o->dirty = t->dirty;
    o->verified = true;
    o->has_bias = t->problem.direction == KILN_BACKWARD_WEIGHTS && t->bias;
    if (o->has_bias)
        o->bias = verify_bias_gradient(&t->problem, t->y, t->bias, &options);
}

static kiln_status search(run *r, kiln_trial *best)
{
    outcome *o = r->outcome;
    kiln_status status =
        search_shown(r->session, r->request, &r->tensors, r->format != REPORT_LINES, best,
                     &r->interrupted, o->error, sizeof o->error);
    o->status = status;
    o->searched = !status;
    o->found_ms = status ? 0 : best->ms;
    return status;
}

/* Reads the result of the first launch, verifies and dumps it. */
static kiln_status judge(run *r)
{
    const flags *f = &r->request->flags;
    char why[KILN_ERROR_TEXT];
    if (!f->verify && !f->dump_output)
        return KILN_OK;
    kiln_status status = tensors_read(&r->tensors, r->session, why);
    const int64_t began = trace_begin();
    if (!status && f->verify)
        verify(r);
    trace_end(began, "verify", "");
    if (!status && f->dump_output)
        status = dump_tensors(r->dumps, &r->tensors, f->verify, why);
    return status ? outcome_fail(r->outcome, status, why) : KILN_OK;
}

/* Creates the op before the tensors are made. Filling tensors takes seconds, which a refusal should
 * not; and the op tells the layouts that the library chose. A search makes ops of its own: it can
 * go on where this op does not build. */
static kiln_status plan(run *r)
{
    outcome *o = r->outcome;
    const bool searches = r->request->flags.search != 0;
    kiln_status status = create(r, NULL);
    if (status == KILN_OPENCL && searches && !is_open(&o->problem))
        return outcome_fail(o, KILN_OK, "");
    if (status)
        return status;
    o->problem = o->info.problem;
    o->planned = !searches;
    return KILN_OK;
}

static kiln_status compute(run *r)
{
    const flags *f = &r->request->flags;
    outcome *o = r->outcome;
    char why[KILN_ERROR_TEXT];
    kiln_trial best;
    kiln_status status = plan(r);
    if (status)
        return status;
    const int64_t began = trace_begin();
    status = tensors_make(&r->tensors, r->session, r->request, &o->problem, why);
    trace_end(began, "tensors", "made and filled");
    if (status)
        return outcome_fail(o, status, why);
    if (f->search && ((status = search(r, &best)) || r->interrupted || (status = create(r, &best))))
        return status;
    announce(r);
    if (!(status = tensors_workspace(&r->tensors, r->session, o->info.workspace_size, why)))
        status = tensors_poison(&r->tensors, r->session, why);
    if (status)
        return outcome_fail(o, status, why);
    if ((status = launch_once(r)) || (status = judge(r)))
        return status;
    return measure(r);
}

static void report(const run *r)
{
    const flags *f = &r->request->flags;
    const outcome *o = r->outcome;
    if (r->format == REPORT_LINES) {
        if (f->time && o->time.runs)
            report_timing(o, f->wall);
        report_verdict(o);
    } else if (!r->interrupted) {
        report_json_csv(r->format, o);
    }
    if (o->status)
        report_error(o);
    fflush(stdout);
}

int direction_run(const session *s, const request *q, kiln_direction direction, dumps *dumps)
{
    outcome o = {.device = s->name};
    run r = {.session = s,
             .request = q,
             .format = report_format_of(&q->flags),
             .dumps = dumps,
             .outcome = &o};
    char why[KILN_ERROR_TEXT], name[KILN_KEY_TEXT] = "";
    const int64_t began = trace_begin();
    request_repro(q, direction, o.repro, sizeof o.repro);
    kiln_status status = request_problem(q, direction, &o.problem, why);
    o.has_problem = !status;
    if (status)
        outcome_fail(&o, status, why);
    else if (q->flags.dry_run) {
        if (!create(&r, NULL))
            announce(&r);
    } else {
        compute(&r);
    }
    report(&r);
    kiln_op_release(r.op);
    tensors_free(&r.tensors);
    if (began && o.has_problem)
        kiln_problem_text(&o.problem, name, sizeof name);
    trace_end(began, "problem", name);
    return r.interrupted ? CONV_INTERRUPTED : outcome_exit(&o);
}

void direction_warm_up(const session *s, const request *q)
{
    request tiny = {.word = "conv", .type = KILN_F32};
    outcome o = {.device = s->name};
    run r = {.session = s, .request = &tiny, .outcome = &o};
    char why[KILN_ERROR_TEXT];
    flags_init(&tiny.flags);
    tiny.flags.batch = tiny.flags.in_channels = tiny.flags.out_channels = 1;
    tiny.flags.size[1] = tiny.flags.size[2] = 16;
    tiny.flags.filter[1] = tiny.flags.filter[2] = 1;
    double start = clock_ms();
    bool done = !request_problem(&tiny, KILN_FORWARD, &o.problem, why) &&
                !tensors_make(&r.tensors, s, &tiny, &o.problem, why) && !create(&r, NULL) &&
                !tensors_workspace(&r.tensors, s, o.info.workspace_size, why) && !launch_once(&r);
    if (done && report_format_of(&q->flags) == REPORT_LINES)
        printf("Warm-up: Wall-clock Total Time: %g ms, Find Algorithm: %d\n", clock_ms() - start,
               o.info.algorithm);
    kiln_op_release(r.op);
    tensors_free(&r.tensors);
}
