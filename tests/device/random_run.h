/* Runs one problem with one solver and config on a device, through the public API, and judges the
 * result. Header only. */
#ifndef TEST_RANDOM_RUN_H
#define TEST_RANDOM_RUN_H

#include "problems.h"
#include "session.h"
#include "verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 4096 }; /* bytes before and after the destination that nobody may touch */

typedef struct attempt {
    const session *on;
    const char *solver;
    char config[KILN_INFO_TEXT]; /* "": the guess */
    host_fill fill;
    uint64_t seed;
} attempt;

typedef enum { RUN_RIGHT, RUN_WRONG, RUN_REFUSED } run_verdict;

typedef struct run {
    const attempt *how;
    kiln_problem problem;
    operands host;
    kiln_op *op;
    kiln_op_info info;
    kiln_buffers buffers;
    kiln_buffer *written;
    unsigned char *got[2]; /* what two runs left in the destination, guards included */
    size_t bytes;          /* of the destination */
    float *gradient;       /* of the bias */
    char why[512];
} run;

static inline bool run_error(run *r, const char *doing, int code)
{
    snprintf(r->why, sizeof r->why, "%s: error %d, %s", doing, code, kiln_last_error());
    return false;
}

static inline cl_mem run_buffer(run *r, size_t bytes, const void *data)
{
    cl_int code;
    cl_mem m =
        clCreateBuffer(r->how->on->context, CL_MEM_READ_WRITE | (data ? CL_MEM_COPY_HOST_PTR : 0),
                       bytes ? bytes : 1, (void *)data, &code);
    if (code != CL_SUCCESS)
        run_error(r, "clCreateBuffer", code);
    return m;
}

static inline bool run_prepare(run *r)
{
    const kiln_problem *p = &r->problem;
    const operands *h = &r->host;
    size_t ny = (size_t)kiln_problem_count(p, 'y') * kiln_type_size(p->y_type);
    size_t nbias = (size_t)p->out_channels * sizeof(float);
    struct {
        kiln_buffer *to;
        const void *data;
        size_t bytes;
        bool used;
    } all[] = {
        {&r->buffers.x, h->x, (size_t)kiln_problem_count(p, 'x') * kiln_type_size(p->x_type), true},
        {&r->buffers.w, h->w, (size_t)kiln_problem_count(p, 'w') * kiln_type_size(p->w_type), true},
        {&r->buffers.y, h->y, ny, true},
        {&r->buffers.residual, h->residual, ny, p->epilogue.beta != 0},
        {&r->buffers.bias, h->bias, nbias, p->epilogue.bias != 0},
        {&r->buffers.workspace, NULL, (size_t)r->info.workspace_size, r->info.workspace_size > 0},
    };
    r->written = p->direction == KILN_FORWARD         ? &r->buffers.y
                 : p->direction == KILN_BACKWARD_DATA ? &r->buffers.x
                                                      : &r->buffers.w;
    r->bytes = (size_t)reference_count(p) * kiln_type_size(reference_type(p));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!all[i].used)
            continue;
        bool written = all[i].to == r->written;
        all[i].to->offset = written ? GUARD : 0;
        all[i].to->mem = run_buffer(r, written ? r->bytes + 2 * GUARD : all[i].bytes,
                                    written ? NULL : all[i].data);
        if (!all[i].to->mem)
            return false;
    }
    r->gradient = calloc((size_t)p->out_channels, sizeof *r->gradient);
    for (int i = 0; i < 2; i++)
        r->got[i] = malloc(r->bytes + 2 * GUARD);
    return true;
}

/* Poison in the destination, its guards, the bias gradient and the workspace. */
static inline bool run_poison(run *r, unsigned char *image)
{
    cl_command_queue q = r->how->on->queue;
    kiln_type type = reference_type(&r->problem);
    size_t size = kiln_type_size(type), all = r->bytes + 2 * GUARD;
    host_poison(type, image, (int64_t)(all / size));
    cl_int code = clEnqueueWriteBuffer(q, r->written->mem, CL_TRUE, 0, all / size * size, image, 0,
                                       NULL, NULL);
    if (code == CL_SUCCESS && r->problem.direction == KILN_BACKWARD_WEIGHTS &&
        r->buffers.bias.mem) {
        host_poison(KILN_F32, r->gradient, r->problem.out_channels);
        code = clEnqueueWriteBuffer(q, r->buffers.bias.mem, CL_TRUE, 0,
                                    sizeof(float) * (size_t)r->problem.out_channels, r->gradient, 0,
                                    NULL, NULL);
    }
    const cl_uint nan = 0x7fc0dead;
    if (code == CL_SUCCESS && r->buffers.workspace.mem && r->info.workspace_size >= 4)
        code = clEnqueueFillBuffer(q, r->buffers.workspace.mem, &nan, sizeof nan, 0,
                                   (size_t)r->info.workspace_size / 4 * 4, 0, NULL, NULL);
    return code == CL_SUCCESS || run_error(r, "poisoning", code);
}

static inline bool run_launch(run *r, unsigned char *image)
{
    cl_command_queue q = r->how->on->queue;
    if (!run_poison(r, image))
        return false;
    kiln_status status = kiln_op_enqueue(r->op, q, &r->buffers, 0, NULL, NULL);
    if (status)
        return run_error(r, "kiln_op_enqueue", status);
    cl_int code = clEnqueueReadBuffer(q, r->written->mem, CL_TRUE, 0, r->bytes + 2 * GUARD, image,
                                      0, NULL, NULL);
    if (code == CL_SUCCESS && r->problem.direction == KILN_BACKWARD_WEIGHTS && r->buffers.bias.mem)
        code = clEnqueueReadBuffer(q, r->buffers.bias.mem, CL_TRUE, 0,
                                   sizeof(float) * (size_t)r->problem.out_channels, r->gradient, 0,
                                   NULL, NULL);
    return code == CL_SUCCESS || run_error(r, "running", code);
}

static inline bool run_guards_hold(run *r, const unsigned char *image)
{
    kiln_type type = reference_type(&r->problem);
    int64_t size = (int64_t)kiln_type_size(type), front = GUARD / size,
            all = ((int64_t)r->bytes + 2 * GUARD) / size;
    for (int64_t i = 0; i < all; i++) {
        if (i == front)
            i = front + reference_count(&r->problem);
        if (!host_is_poison(type, image, i)) {
            snprintf(r->why, sizeof r->why, "wrote %lld elements %s the destination",
                     (long long)(i < front ? front - i : i - front - reference_count(&r->problem)),
                     i < front ? "before" : "behind");
            return false;
        }
    }
    return true;
}

static inline bool run_right(run *r, const verify_result *v, const char *what)
{
    if (!v->ok)
        snprintf(r->why, sizeof r->why,
                 "%s: %lld of %lld elements wrong (%lld never written), worst at %lld: %.9g, not "
                 "%.9g; %.3g of the bound %.3g",
                 what, (long long)v->bad, (long long)v->total, (long long)v->untouched,
                 (long long)v->max_abs_at, v->got, v->expected, v->worst, v->bound);
    return v->ok;
}

static inline bool run_judge(run *r)
{
    const kiln_problem *p = &r->problem;
    verify_options o = {.amplification = r->info.amplification, .poisoned = true};
    o.exact = verify_can_be_exact(p, r->how->fill, r->info.amplification);
    verify_result v = verify_destination(p, &r->host.r, r->got[0] + GUARD, &o);
    if (!run_guards_hold(r, r->got[0]) || !run_right(r, &v, "result"))
        return false;
    if (p->direction == KILN_BACKWARD_WEIGHTS && p->epilogue.bias) {
        v = verify_bias_gradient(p, r->host.y, r->gradient, &o);
        if (!run_right(r, &v, "bias gradient"))
            return false;
    }
    if (r->info.deterministic && memcmp(r->got[0], r->got[1], r->bytes + 2 * GUARD) != 0) {
        snprintf(r->why, sizeof r->why, "two runs gave different bits");
        return false;
    }
    return true;
}

static inline void run_release(run *r)
{
    kiln_buffer *all[] = {&r->buffers.x,    &r->buffers.w,        &r->buffers.y,
                          &r->buffers.bias, &r->buffers.residual, &r->buffers.workspace};
    kiln_op_release(r->op);
    for (int i = 0; i < 6; i++)
        if (all[i]->mem)
            clReleaseMemObject(all[i]->mem);
    for (int i = 0; i < 2; i++)
        free(r->got[i]);
    free(r->gradient);
    operands_free(&r->host);
}

/* RUN_REFUSED when the solver does not take the problem or the config; else whether all was right,
 * with the reason in `why` if not. */
static inline run_verdict run_attempt(const attempt *how, const kiln_problem *p, char *why,
                                      size_t size)
{
    run r = {.how = how, .problem = *p};
    const kiln_choice choice = {
        .solver = how->solver, .config = *how->config ? how->config : NULL, .ignore_rows = 1};
    kiln_status status = kiln_conv_create(how->on->kiln, p, &choice, &r.op);
    if (status == KILN_UNSUPPORTED || status == KILN_INVALID) {
        snprintf(why, size, "%s", kiln_last_error());
        return RUN_REFUSED;
    }
    bool right = false;
    if (status) {
        run_error(&r, "kiln_conv_create", status);
    } else {
        kiln_op_describe(r.op, &r.info);
        r.host = operands_new(p, how->fill, how->seed);
        right = run_prepare(&r) && run_launch(&r, r.got[1]) && run_launch(&r, r.got[0]) &&
                run_judge(&r);
    }
    snprintf(why, size, "%s", r.why);
    run_release(&r);
    return right ? RUN_RIGHT : RUN_WRONG;
}

#endif
