/* Runs, verifies and times one candidate on the path that every operation takes. */
#include "bench.h"

#include "runtime/base/span.h"
#include "runtime/op/images.h"

#include <math.h>

/* Returns a word of poisoned elements of one, two or four bytes. */
static cl_uint poison_word(kiln_type type)
{
    const size_t bits = 8 * kiln_type_size(type);
    cl_uint word = kiln_type_poison(type);
    for (size_t have = bits; have < 32; have *= 2)
        word |= word << have;
    return word;
}

/* Fills every lane with NaN, or with the same integers. */
static kiln_status poison_image(kiln_bench *b, cl_mem mem, const kiln_image *image)
{
    const size_t origin[3] = {0}, region[3] = {(size_t)image->width, (size_t)image->height, 1};
    /* The topmost element of the word, with its sign. */
    const cl_int word = (cl_int)poison_word(image->type) >> (32 - 8 * kiln_type_size(image->type));
    cl_int integers[4] = {word, word, word, word};
    cl_float floats[4] = {NAN, NAN, NAN, NAN};
    bool whole = kiln_type_is_integer(image->type);
    cl_int code = clEnqueueFillImage(b->queue, mem, whole ? (void *)integers : floats, origin,
                                     region, 0, NULL, NULL);
    return code == CL_SUCCESS ? KILN_OK : kiln_fail_cl(code, "clEnqueueFillImage");
}

static kiln_status poison(kiln_bench *b, const kiln_buffer *to, int64_t bytes, kiln_type type)
{
    bool words = bytes % sizeof(cl_uint) == 0 && to->offset % sizeof(cl_uint) == 0;
    size_t unit = words ? sizeof(cl_uint) : kiln_type_size(type);
    const cl_uint word = poison_word(type);
    cl_int code = clEnqueueFillBuffer(b->queue, to->mem, &word, unit, to->offset, (size_t)bytes, 0,
                                      NULL, NULL);
    return code == CL_SUCCESS ? KILN_OK : kiln_fail_cl(code, "clEnqueueFillBuffer");
}

/* `p` is the operation's own: a solver may have settled layouts that the caller left open. */
static kiln_status poison_destination(kiln_bench *b, const kiln_op *op, const kiln_problem *p)
{
    const struct {
        const kiln_buffer *buffer;
        int role;
        char tensor;
        kiln_type type;
    } written[] =
        {
            [KILN_FORWARD] = {&b->buffers.y, KILN_ROLE_Y, 'y', p->y_type},
            [KILN_BACKWARD_DATA] = {&b->buffers.x, KILN_ROLE_X, 'x', p->x_type},
            [KILN_BACKWARD_WEIGHTS] = {&b->buffers.w, KILN_ROLE_W, 'w', p->w_type},
        },
      bias = {&b->buffers.bias, KILN_ROLE_BIAS, 'b', KILN_F32}, *d = &written[p->direction];
    const bool gradient = p->direction == KILN_BACKWARD_WEIGHTS && p->epilogue.bias;
    kiln_status status = KILN_OK;
    for (; d && !status; d = gradient && d != &bias ? &bias : NULL) {
        const kiln_image image = kiln_plan_image(kiln_op_plan(op), d->role);
        status = image.width
                     ? poison_image(b, d->buffer->mem, &image)
                     : poison(b, d->buffer, kiln_problem_bytes(p, d->tensor, NULL), d->type);
    }
    return status;
}

static kiln_status make_workspace(kiln_bench *b, int64_t bytes)
{
    cl_int code = CL_SUCCESS;
    size_t size = (size_t)bytes;
    if (size <= b->workspace_size)
        return KILN_OK;
    cl_mem mem = clCreateBuffer(b->k->context, CL_MEM_READ_WRITE, size, NULL, &code);
    if (code != CL_SUCCESS)
        return kiln_fail_cl(code, "clCreateBuffer for the workspace");
    if (b->buffers.workspace.mem)
        clReleaseMemObject(b->buffers.workspace.mem);
    b->buffers.workspace = (kiln_buffer){.mem = mem};
    b->workspace_size = size;
    return KILN_OK;
}

/* Compiling ends here on PoCL, so this run's time says nothing. Leaves the queue idle. */
static kiln_status run_once(kiln_bench *b, kiln_op *op)
{
    cl_event done;
    cl_int code, state = CL_COMPLETE;
    kiln_op_info info;
    kiln_op_describe(op, &info);
    kiln_status status = make_workspace(b, info.workspace_size);
    if (!status)
        status = poison_destination(b, op, &info.problem);
    code = clFinish(b->queue);
    if (!status && code != CL_SUCCESS)
        status = kiln_fail_cl(code, "clFinish");
    if (!status)
        status = kiln_op_enqueue(op, b->queue, &b->buffers, 0, NULL, &done);
    if (status)
        return status;
    code = clFinish(b->queue);
    if (code == CL_SUCCESS)
        code = clGetEventInfo(done, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    clReleaseEvent(done);
    if (code == CL_SUCCESS && state < 0)
        code = state;
    return code == CL_SUCCESS ? KILN_OK : kiln_fail_cl(code, "running a candidate");
}

bool kiln_bench_is_late(const kiln_bench *b)
{
    return b->deadline > 0 && kiln_run_seconds() >= b->deadline;
}

/* How long a promising candidate is timed. */
static const double enough_ms = 15;

/* Returns whether the device takes and gives a few bytes. A driver whose device is lost, or on
 * which a kernel wrote where it must not, fails in every call from then on. */
static bool is_alive(const kiln_bench *b)
{
    const cl_uint sent = 0x6b696c6e;
    cl_uint got = 0;
    cl_int code;
    cl_mem mem = clCreateBuffer(b->k->context, CL_MEM_READ_WRITE, sizeof got, NULL, &code);
    if (code != CL_SUCCESS)
        return false;
    const bool alive = clEnqueueWriteBuffer(b->queue, mem, CL_TRUE, 0, sizeof sent, &sent, 0, NULL,
                                            NULL) == CL_SUCCESS &&
                       clEnqueueReadBuffer(b->queue, mem, CL_TRUE, 0, sizeof got, &got, 0, NULL,
                                           NULL) == CL_SUCCESS &&
                       clFinish(b->queue) == CL_SUCCESS && got == sent;
    clReleaseMemObject(mem);
    return alive;
}

static int measure(kiln_bench *b, const kiln_solver *solver, const kiln_config *config,
                   double worth, kiln_op **op, kiln_times *times, kiln_status *status)
{
    char text[KILN_CONFIG_TEXT];
    kiln_config_text(solver, config, text, sizeof text);
    const kiln_choice choice = {.solver = solver->name, .config = text, .ignore_rows = 1};
    const double began = kiln_run_seconds();
    b->error = 0;
    *status = kiln_op_create(b->k, b->problem, &choice, op);
    b->build_seconds = kiln_run_seconds() - began;
    if (*status)
        return KILN_TRIAL_BUILD;
    (*op)->call = NULL; /* trials are no runs of the program's */
    /* The first candidate, which nothing limits, must give a result. */
    if (worth > 0 && kiln_bench_is_late(b))
        return KILN_BENCH_LATE;
    int64_t span = kiln_span_begin(&b->k->logger);
    *status = run_once(b, *op);
    kiln_span_end(&b->k->logger, span, "launch", "the first run, which PoCL compiles in");
    if (*status)
        return KILN_TRIAL_RUN;
    if (b->k->facts.kind != KILN_DEVICE_GPU) /* PoCL compiles in the first launch */
        b->build_seconds = kiln_run_seconds() - began;
    if (b->verify(b->user, *op, &b->error) != 0) {
        kiln_fail(KILN_UNSUPPORTED, "solver %s%s%s computed a wrong result", solver->name,
                  *text ? " with config " : "", text);
        return KILN_TRIAL_WRONG;
    }
    const kiln_effort effort = {enough_ms, b->runs, b->most, worth};
    int n;
    if (kiln_bench_time(b, *op, &effort, b->samples, &n) != KILN_OK)
        return KILN_TRIAL_RUN;
    *times = kiln_times_of(b->samples, n);
    return worth > 0 && b->samples[0] > worth ? KILN_TRIAL_SLOW : KILN_TRIAL_OK;
}

int kiln_bench_measure(kiln_bench *b, const kiln_solver *solver, const kiln_config *config,
                       double worth, kiln_op **op, kiln_times *times)
{
    kiln_status status = KILN_OK;
    const int verdict = measure(b, solver, config, worth, op, times, &status);
    const bool failed =
        verdict == KILN_TRIAL_BUILD || verdict == KILN_TRIAL_RUN || verdict == KILN_TRIAL_WRONG;
    if (!failed)
        return verdict;
    return !is_alive(b)               ? KILN_BENCH_LOST
           : status == KILN_NO_MEMORY ? KILN_BENCH_NO_MEMORY
                                      : verdict;
}
