/* oneDNN's networks: each primitive takes the formats that it likes best. */
#include "contender_chain.h"

#include <oneapi/dnnl/dnnl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 3 * CHAIN_LINKS, MOST_MEMORY = 8 * CHAIN_LINKS, ARGUMENTS = 4 };

typedef struct chain_step {
    dnnl_primitive_t primitive;
    dnnl_exec_arg_t argument[ARGUMENTS];
    int count;
} chain_step;

typedef struct chain_onednn {
    contender base;
    const chain_net *net;
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    chain_step step[MOST_STEPS];
    int nsteps;
    dnnl_memory_t memory[MOST_MEMORY]; /* to be destroyed */
    int nmemory;
    dnnl_memory_t y[CHAIN_LINKS];
    dnnl_memory_desc_t y_desc[CHAIN_LINKS];
} chain_onednn;

/* A link's tensors, as far as oneDNN leaves their formats open, and plain. */
typedef struct link_descs {
    dnnl_memory_desc_t x, w, bias, y, x_plain, w_plain;
} link_descs;

static dnnl_memory_t make(chain_onednn *c, const dnnl_memory_desc_t *d, void *data)
{
    dnnl_memory_t m = NULL;
    if (c->nmemory < MOST_MEMORY &&
        dnnl_memory_create(&m, d, c->engine, data ? data : DNNL_MEMORY_ALLOCATE) == dnnl_success)
        c->memory[c->nmemory++] = m;
    return m;
}

static chain_step *add_step(chain_onednn *c, dnnl_primitive_desc_t d)
{
    chain_step *s = c->nsteps < MOST_STEPS ? &c->step[c->nsteps] : NULL;
    if (!s || dnnl_primitive_create(&s->primitive, d) != dnnl_success)
        return NULL;
    c->nsteps++;
    return s;
}

static bool run(const chain_onednn *c, const chain_step *s)
{
    return dnnl_primitive_execute(s->primitive, c->stream, s->count, s->argument) == dnnl_success;
}

/* Returns `from` in the wanted format, through a step where that differs; NULL on failure. */
static dnnl_memory_t reorder(chain_onednn *c, dnnl_memory_t from, const dnnl_memory_desc_t *have,
                             const dnnl_memory_desc_t *want)
{
    dnnl_primitive_desc_t d;
    if (dnnl_memory_desc_equal(have, want))
        return from;
    if (dnnl_reorder_primitive_desc_create(&d, have, c->engine, want, c->engine, NULL))
        return NULL;
    dnnl_memory_t to = make(c, want, NULL);
    chain_step *s = to ? add_step(c, d) : NULL;
    dnnl_primitive_desc_destroy(d);
    if (!s)
        return NULL;
    s->count = 2;
    s->argument[0] = (dnnl_exec_arg_t){DNNL_ARG_FROM, from};
    s->argument[1] = (dnnl_exec_arg_t){DNNL_ARG_TO, to};
    return to;
}

/* Weights are constants: what reorders them runs once, and is no step. */
static dnnl_memory_t reorder_once(chain_onednn *c, dnnl_memory_t from,
                                  const dnnl_memory_desc_t *have, const dnnl_memory_desc_t *want)
{
    const int before = c->nsteps;
    dnnl_memory_t to = reorder(c, from, have, want);
    if (!to || c->nsteps == before)
        return to;
    const bool fine = run(c, &c->step[before]) && dnnl_stream_wait(c->stream) == dnnl_success;
    dnnl_primitive_destroy(c->step[--c->nsteps].primitive);
    return fine ? to : NULL;
}

static void describe_tensors(const kiln_problem *p, link_descs *d)
{
    const int64_t g = p->groups, k = p->out_channels / g, c = p->in_channels / g;
    const dnnl_dims_t x = {p->batch, p->in_channels, p->input[0], p->input[1]},
                      y = {p->batch, p->out_channels, kiln_problem_output(p, 0),
                           kiln_problem_output(p, 1)},
                      w = {k, c, p->filter[0], p->filter[1]},
                      grouped = {g, k, c, p->filter[0], p->filter[1]}, bias = {p->out_channels};
    const dnnl_data_type_t f32 = dnnl_f32;
    dnnl_memory_desc_init_by_tag(&d->x, 4, x, f32, dnnl_format_tag_any);
    dnnl_memory_desc_init_by_tag(&d->x_plain, 4, x, f32, dnnl_nchw);
    dnnl_memory_desc_init_by_tag(&d->y, 4, y, f32, dnnl_format_tag_any);
    dnnl_memory_desc_init_by_tag(&d->bias, 1, bias, f32, dnnl_a);
    const int n = g > 1 ? 5 : 4;
    dnnl_memory_desc_init_by_tag(&d->w, n, g > 1 ? grouped : w, f32, dnnl_format_tag_any);
    dnnl_memory_desc_init_by_tag(&d->w_plain, n, g > 1 ? grouped : w, f32,
                                 g > 1 ? dnnl_goihw : dnnl_oihw);
}

static dnnl_status_t add_activation(dnnl_post_ops_t ops, const kiln_epilogue *e)
{
    if (e->activation == KILN_IDENTITY)
        return dnnl_success;
    if (e->activation == KILN_RELU)
        return dnnl_post_ops_append_eltwise(ops, 1, dnnl_eltwise_relu, 0, 0);
    return e->activation == KILN_CLIPPED_RELU
               ? dnnl_post_ops_append_eltwise(ops, 1, dnnl_eltwise_clip, 0, e->param[0])
               : dnnl_unimplemented;
}

static dnnl_primitive_desc_t describe(const chain_onednn *c, const kiln_problem *p,
                                      const link_descs *d, bool residual)
{
    const dnnl_dims_t stride = {p->stride[0], p->stride[1]},
                      dilation = {p->dilation[0] - 1, p->dilation[1] - 1},
                      begin = {p->pad_begin[0], p->pad_begin[1]},
                      end = {p->pad_end[0], p->pad_end[1]};
    dnnl_convolution_desc_t conv;
    dnnl_primitive_attr_t attr = NULL;
    dnnl_post_ops_t ops = NULL;
    dnnl_primitive_desc_t out = NULL;
    bool fine = dnnl_primitive_attr_create(&attr) == dnnl_success &&
                dnnl_post_ops_create(&ops) == dnnl_success;
    if (fine && residual)
        fine = dnnl_post_ops_append_sum(ops, p->epilogue.beta) == dnnl_success;
    fine = fine && add_activation(ops, &p->epilogue) == dnnl_success &&
           dnnl_primitive_attr_set_post_ops(attr, ops) == dnnl_success &&
           dnnl_dilated_convolution_forward_desc_init(
               &conv, dnnl_forward_inference, dnnl_convolution_auto, &d->x, &d->w, &d->bias, &d->y,
               stride, dilation, begin, end) == dnnl_success &&
           dnnl_primitive_desc_create(&out, &conv, attr, c->engine, NULL) == dnnl_success;
    if (ops)
        dnnl_post_ops_destroy(ops);
    if (attr)
        dnnl_primitive_attr_destroy(attr);
    return fine ? out : NULL;
}

static bool is_read_later(const chain_net *net, int tensor, int step)
{
    for (int i = step + 1; i < net->count; i++)
        if (i - net->link[i].x_back == tensor || i - net->link[i].residual_back == tensor)
            return true;
    return false;
}

/* The sum is added to what y holds: y is the residual, or a copy of it where others read it. */
static dnnl_memory_t make_y(chain_onednn *c, int i, const dnnl_memory_desc_t *want)
{
    const int from = i - c->net->link[i].residual_back;
    if (from == i)
        return make(c, want, NULL);
    if (is_read_later(c->net, from, i))
        return NULL;
    return reorder(c, c->y[from], &c->y_desc[from], want);
}

static bool make_link(chain_onednn *c, int i)
{
    const kiln_link *l = &c->net->link[i];
    const int from = i - l->x_back, residual = i - l->residual_back;
    link_descs d;
    describe_tensors(&l->problem, &d);
    if (residual != i)
        d.y = c->y_desc[residual];
    dnnl_primitive_desc_t pd = describe(c, &l->problem, &d, residual != i);
    if (!pd)
        return false;
    const dnnl_memory_desc_t *x_want = dnnl_primitive_desc_query_md(pd, dnnl_query_src_md, 0),
                             *w_want = dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 0),
                             *y_want = dnnl_primitive_desc_query_md(pd, dnnl_query_dst_md, 0);
    dnnl_memory_t x = l->x_back ? c->y[from] : make(c, &d.x_plain, c->net->x),
                  w = make(c, &d.w_plain, c->net->w[i]), bias = make(c, &d.bias, c->net->bias[i]);
    x = x ? reorder(c, x, l->x_back ? &c->y_desc[from] : &d.x_plain, x_want) : NULL;
    w = w ? reorder_once(c, w, &d.w_plain, w_want) : NULL;
    c->y[i] = make_y(c, i, y_want);
    c->y_desc[i] = *y_want;
    chain_step *s = x && w && bias && c->y[i] ? add_step(c, pd) : NULL;
    dnnl_primitive_desc_destroy(pd);
    if (!s)
        return false;
    s->count = 4;
    s->argument[0] = (dnnl_exec_arg_t){DNNL_ARG_SRC, x};
    s->argument[1] = (dnnl_exec_arg_t){DNNL_ARG_WEIGHTS, w};
    s->argument[2] = (dnnl_exec_arg_t){DNNL_ARG_BIAS, bias};
    s->argument[3] = (dnnl_exec_arg_t){DNNL_ARG_DST, c->y[i]};
    return true;
}

/* ---- the calls ---- */

static bool enqueue(contender *base)
{
    const chain_onednn *c = (chain_onednn *)base;
    bool fine = true;
    for (int i = 0; i < c->nsteps && fine; i++)
        fine = run(c, &c->step[i]);
    return fine;
}

static bool finish(contender *base)
{
    return dnnl_stream_wait(((chain_onednn *)base)->stream) == dnnl_success;
}

static bool read_result(contender *base, void *plain)
{
    chain_onednn *c = (chain_onednn *)base;
    const int last = c->net->count - 1;
    const kiln_problem *p = &c->net->link[last].problem;
    dnnl_memory_desc_t want = c->y_desc[last];
    dnnl_memory_desc_init_by_tag(&want, 4, c->y_desc[last].dims, dnnl_f32, dnnl_nchw);
    dnnl_memory_t there = reorder_once(c, c->y[last], &c->y_desc[last], &want);
    void *data = NULL;
    if (!there || dnnl_memory_get_data_handle(there, &data) != dnnl_success)
        return false;
    memcpy(plain, data, (size_t)kiln_problem_count(p, 'y') * sizeof(float));
    return true;
}

static void release(contender *base)
{
    chain_onednn *c = (chain_onednn *)base;
    for (int i = 0; i < c->nsteps; i++)
        dnnl_primitive_destroy(c->step[i].primitive);
    for (int i = 0; i < c->nmemory; i++)
        dnnl_memory_destroy(c->memory[i]);
    if (c->stream)
        dnnl_stream_destroy(c->stream);
    if (c->engine)
        dnnl_engine_destroy(c->engine);
    free(c);
}

static const contender_calls calls = {enqueue, finish, read_result, release};

contender *contender_chain_onednn(const chain_net *net, char *why)
{
    chain_onednn *c = calloc(1, sizeof *c);
    snprintf(why, KILN_ERROR_TEXT, "out of memory");
    if (!c)
        return NULL;
    c->base = (contender){.calls = &calls, .name = "oneDNN"};
    c->net = net;
    bool fine =
        dnnl_engine_create(&c->engine, dnnl_cpu, 0) == dnnl_success &&
        dnnl_stream_create(&c->stream, c->engine, dnnl_stream_default_flags) == dnnl_success;
    for (int i = 0; i < net->count && fine; i++) {
        snprintf(why, KILN_ERROR_TEXT, "oneDNN does not do link %d", i);
        fine = make_link(c, i);
    }
    if (!fine) {
        release(&c->base);
        return NULL;
    }
    *why = '\0';
    snprintf(c->base.detail, sizeof c->base.detail, "%d reformats", c->nsteps - net->count);
    return &c->base;
}
