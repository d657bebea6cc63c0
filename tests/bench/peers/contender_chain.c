/* kiln's networks: decided by kiln_chain() in all ways, which gets layouts that it must keep in the
 * ways that are not its own. */
#include "contender_chain.h"

#include "driver/layout/layout_host.h"
#include "tests/bench/base/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A link ready to run: reformats of x and residual where there are any, then the convolution. */
typedef struct chain_op {
    kiln_op *conv, *x, *residual; /* NULL: no reformat */
    kiln_buffers conv_buffers, x_buffers, residual_buffers;
} chain_op;

enum { MOST_MEMORY = 8 * CHAIN_LINKS };

typedef struct chain_contender {
    contender base;
    const session *session;
    const chain_net *net;
    kiln_link link[CHAIN_LINKS];
    kiln_chain_info info;
    chain_op op[CHAIN_LINKS];
    cl_mem memory[MOST_MEMORY];
    int nmemory;
    cl_mem arena, workspace; /* arena NULL: each tensor has memory of its own */
} chain_contender;

const char *chain_way_name(chain_way way)
{
    static const char *const names[CHAIN_WAYS] = {"plain", "greedy", "together", "arena"};
    return names[way];
}

/* ---- layouts ---- */

static void set_open(kiln_problem *p, bool x, bool y)
{
    if (x)
        strcpy(p->x_layout, "any");
    if (y)
        strcpy(p->y_layout, "any");
}

/* Takes what each link's solver prefers for what it is given. */
static kiln_status decide_greedily(chain_contender *c)
{
    const kiln_choice choice = {.packed_weights = 1};
    for (int i = 0; i < c->net->count; i++) {
        kiln_link *l = &c->link[i];
        kiln_op_info info;
        if (l->x_back)
            strcpy(l->problem.x_layout, c->link[i - l->x_back].problem.y_layout);
        set_open(&l->problem, false, true);
        kiln_status status = kiln_conv_plan(c->session->kiln, &l->problem, &choice, &info);
        if (status)
            return status;
        strcpy(l->problem.y_layout, info.problem.y_layout);
    }
    return KILN_OK;
}

static kiln_status decide(chain_contender *c, chain_way way)
{
    kiln_status status = way == CHAIN_GREEDY ? decide_greedily(c) : KILN_OK;
    for (int i = 0; i < c->net->count && way >= CHAIN_TOGETHER; i++)
        set_open(&c->link[i].problem, c->link[i].x_back > 0, true);
    return status ? status : kiln_chain(c->session->kiln, c->link, (size_t)c->net->count, &c->info);
}

/* ---- memory ---- */

/* Makes memory with the contents, if `data` is not NULL. Returns NULL on failure. */
static cl_mem make(chain_contender *c, int64_t bytes, const void *data)
{
    cl_int code;
    if (c->nmemory == MOST_MEMORY)
        return NULL;
    cl_mem mem =
        clCreateBuffer(c->session->context, CL_MEM_READ_WRITE | (data ? CL_MEM_COPY_HOST_PTR : 0),
                       (size_t)bytes, (void *)data, &code);
    if (mem)
        c->memory[c->nmemory++] = mem;
    return mem;
}

/* A tensor of the arena, or memory of its own. */
static kiln_buffer place(chain_contender *c, int64_t bytes, int64_t offset)
{
    return c->arena ? (kiln_buffer){c->arena, (size_t)offset}
                    : (kiln_buffer){make(c, bytes, NULL), 0};
}

/* Finds what a link reads: the y of another link, or what a reformat makes of it. */
static bool find_source(chain_contender *c, int i, int back, const kiln_reformat *reformat,
                        int64_t offset, kiln_buffer *source, kiln_op **op, kiln_buffers *b)
{
    kiln_reformat r = *reformat;
    kiln_storage from, to;
    *source = c->op[i - back].conv_buffers.y;
    if (!*r.to)
        return true;
    b->x = *source;
    if (kiln_reformat_check(&r, &from, &to, NULL) || kiln_reformat_create(c->session->kiln, &r, op))
        return false;
    b->y = *source = place(c, to.cells * (int64_t)kiln_type_size(r.to_type), offset);
    return b->y.mem != NULL;
}

static bool make_constants(chain_contender *c, int i, const kiln_op_info *info, kiln_buffers *b)
{
    const session *s = c->session;
    b->w.mem = make(c, info->w_size, c->net->w[i]);
    if (info->bias_size)
        b->bias.mem = make(c, info->bias_size, c->net->bias[i]);
    if (info->packed_size == 0)
        return b->w.mem && (b->bias.mem || !info->bias_size);
    b->packed.mem = make(c, info->packed_size, NULL);
    return b->w.mem && b->packed.mem &&
           kiln_op_pack(c->op[i].conv, s->queue, b, 0, NULL, NULL) == KILN_OK &&
           kiln_finish(s->kiln, s->queue) == KILN_OK;
}

static bool make_link(chain_contender *c, int i)
{
    const kiln_choice choice = {.packed_weights = 1};
    const kiln_link *l = &c->link[i];
    chain_op *o = &c->op[i];
    kiln_buffers *b = &o->conv_buffers;
    kiln_op_info info;
    if (kiln_conv_create(c->session->kiln, &l->problem, &choice, &o->conv))
        return false;
    kiln_op_describe(o->conv, &info);
    b->workspace.mem = info.workspace_size ? c->workspace : NULL;
    if (l->x_back == 0)
        b->x.mem = make(c, info.x_size, c->net->x);
    else if (!find_source(c, i, l->x_back, &l->x_reformat, l->x_offset, &b->x, &o->x,
                          &o->x_buffers))
        return false;
    if (l->residual_back &&
        !find_source(c, i, l->residual_back, &l->residual_reformat, l->residual_offset,
                     &b->residual, &o->residual, &o->residual_buffers))
        return false;
    b->y = place(c, info.y_size, l->y_offset);
    return b->x.mem && b->y.mem && make_constants(c, i, &info, b);
}

static bool make_all(chain_contender *c, chain_way way)
{
    const kiln_choice choice = {.packed_weights = 1};
    int64_t workspace = 1;
    for (int i = 0; i < c->net->count; i++) {
        kiln_op_info info;
        if (kiln_conv_plan(c->session->kiln, &c->link[i].problem, &choice, &info))
            return false;
        workspace = info.workspace_size > workspace ? info.workspace_size : workspace;
    }
    c->workspace = make(c, workspace, NULL);
    if (way == CHAIN_ARENA)
        c->arena = make(c, c->info.arena_size, NULL);
    bool fine = c->workspace && (c->arena || way != CHAIN_ARENA);
    for (int i = 0; i < c->net->count && fine; i++)
        fine = make_link(c, i);
    return fine;
}

/* ---- the calls ---- */

static bool enqueue_op(const session *s, kiln_op *op, const kiln_buffers *b)
{
    return !op || kiln_op_enqueue(op, s->queue, b, 0, NULL, NULL) == KILN_OK;
}

static bool enqueue(contender *base)
{
    chain_contender *c = (chain_contender *)base;
    bool fine = true;
    for (int i = 0; i < c->net->count && fine; i++) {
        const chain_op *o = &c->op[i];
        fine = enqueue_op(c->session, o->x, &o->x_buffers) &&
               enqueue_op(c->session, o->residual, &o->residual_buffers) &&
               enqueue_op(c->session, o->conv, &o->conv_buffers);
    }
    return fine;
}

static bool finish(contender *base)
{
    const session *s = ((chain_contender *)base)->session;
    return kiln_finish(s->kiln, s->queue) == KILN_OK;
}

static bool read_result(contender *base, void *plain)
{
    const chain_contender *c = (chain_contender *)base;
    const int last = c->net->count - 1;
    const kiln_buffer *y = &c->op[last].conv_buffers.y;
    kiln_storage storage;
    if (!kiln_problem_storage(&c->link[last].problem, 'y', &storage, NULL))
        return false;
    float *cells = malloc((size_t)storage.cells * sizeof *cells);
    const bool fine = cells && clEnqueueReadBuffer(c->session->queue, y->mem, CL_TRUE, y->offset,
                                                   (size_t)storage.cells * sizeof *cells, cells, 0,
                                                   NULL, NULL) == CL_SUCCESS;
    if (fine)
        layout_host_load(&storage, KILN_F32, cells, plain);
    free(cells);
    return fine;
}

/* Measures a row of runs of one convolution. */
static bool take_alone(const chain_contender *c, const chain_op *o, double *ms)
{
    enum { ROW = 8 };
    const double start = stats_now();
    bool fine = true;
    for (int i = 0; i < ROW && fine; i++)
        fine = enqueue_op(c->session, o->conv, &o->conv_buffers);
    fine = fine && kiln_finish(c->session->kiln, c->session->queue) == KILN_OK;
    *ms = (stats_now() - start) * 1e3 / ROW;
    return fine;
}

double contender_chain_alone(contender *base)
{
    enum { SAMPLES = 60 };
    const chain_contender *c = (chain_contender *)base;
    double sum = 0;
    for (int i = 0; i < c->net->count; i++) {
        double ms, best = HUGE_VAL;
        for (int s = 0; s < SAMPLES; s++) {
            if (!take_alone(c, &c->op[i], &ms))
                return -1;
            best = fmin(best, ms);
        }
        sum += best;
    }
    return sum;
}

static void release(contender *base)
{
    chain_contender *c = (chain_contender *)base;
    for (int i = 0; i < c->net->count; i++) {
        kiln_op_release(c->op[i].conv);
        kiln_op_release(c->op[i].x);
        kiln_op_release(c->op[i].residual);
    }
    for (int i = 0; i < c->nmemory; i++)
        clReleaseMemObject(c->memory[i]);
    free(c);
}

static const contender_calls calls = {enqueue, finish, read_result, release};

contender *contender_chain(const session *s, const chain_net *net, chain_way way, char *why)
{
    chain_contender *c = calloc(1, sizeof *c);
    if (!c) {
        snprintf(why, KILN_ERROR_TEXT, "out of memory");
        return NULL;
    }
    *c = (chain_contender){
        .base = {.calls = &calls, .name = "kiln", .starts_only = true}, .session = s, .net = net};
    memcpy(c->link, net->link, sizeof c->link);
    if (decide(c, way) || !make_all(c, way)) {
        snprintf(why, KILN_ERROR_TEXT, "%.250s", kiln_last_error());
        release(&c->base);
        return NULL;
    }
    c->base.predicted_ms = c->info.predicted_ms;
    snprintf(c->base.detail, sizeof c->base.detail, "%d reformats, arena of %.1f MiB",
             c->info.reformats, (double)c->info.arena_size / (1 << 20));
    return &c->base;
}
