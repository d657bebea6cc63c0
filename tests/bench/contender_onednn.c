/* oneDNN 2 as a contender, in every way in which it can do a convolution.
 *
 * Each way is a memory format for the activations, an algorithm, and who pays for reordering: under
 * plain rules activations start and end as NCHW, and what a way needs beside its convolution is
 * part of its run. Weights are in the format that oneDNN asks for, reordered before the clock
 * starts.
 */
#include "contender.h"

#include <oneapi/dnnl/dnnl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_RANK = 1, RANKS = 3 };

typedef struct way {
    const char *name;
    dnnl_format_tag_t tag[RANKS]; /* of activations with 1, 2, 3 spatial axes */
    dnnl_alg_kind_t algorithm;
} way;

#define ANY                                                                                        \
    {                                                                                              \
        dnnl_format_tag_any, dnnl_format_tag_any, dnnl_format_tag_any                              \
    }
static const way ways[] = {
    {"any direct", ANY, dnnl_convolution_direct},
    {"nCHW16c direct", {dnnl_aBc16b, dnnl_aBcd16b, dnnl_aBcde16b}, dnnl_convolution_direct},
    {"NHWC direct", {dnnl_acb, dnnl_acdb, dnnl_acdeb}, dnnl_convolution_direct},
    {"NCHW direct", {dnnl_abc, dnnl_abcd, dnnl_abcde}, dnnl_convolution_direct},
    {"any winograd", ANY, dnnl_convolution_winograd},
};
#undef ANY

static const dnnl_format_tag_t plain_data[] = {dnnl_abc, dnnl_abcd, dnnl_abcde},
                               plain_filter[2][RANKS] = {{dnnl_abc, dnnl_abcd, dnnl_abcde},
                                                         {dnnl_abcd, dnnl_abcde, dnnl_abcdef}};

/* One of the three tensors: as the bench has it, and as the primitive wants it. */
typedef struct tensor {
    dnnl_memory_desc_t plain_desc, desc;
    dnnl_memory_t plain, own; /* the same where no reorder is needed */
    dnnl_primitive_t reorder; /* NULL: none; towards plain for the tensor that is written */
    bool written, each_run;
    int argument;
} tensor;

enum { X, W, Y, TENSORS };

typedef struct onednn_contender {
    contender base;
    const work *work;
    dnnl_primitive_t convolution;
    tensor tensor[TENSORS];
    dnnl_exec_arg_t argument[TENSORS];
} onednn_contender;

static dnnl_engine_t engine;
static dnnl_stream_t stream;

static bool open_engine(void)
{
    return stream ||
           (dnnl_engine_create(&engine, dnnl_cpu, 0) == dnnl_success &&
            dnnl_stream_create(&stream, engine, dnnl_stream_default_flags) == dnnl_success);
}

const char *contender_onednn_version(void)
{
    static char text[96];
    const dnnl_version_t *v = dnnl_version();
    snprintf(text, sizeof text, "%d.%d.%d", v->major, v->minor, v->patch);
    return text;
}

/* ---- the primitive ---- */

typedef struct geometry {
    dnnl_dims_t strides, dilates, begin, end;
} geometry;

static geometry geometry_of(const kiln_problem *p)
{
    geometry g;
    for (int i = 0; i < p->spatial_rank; i++) {
        g.strides[i] = p->stride[i];
        g.dilates[i] = p->dilation[i] - 1;
        g.begin[i] = p->pad_begin[i];
        g.end[i] = p->pad_end[i];
    }
    return g;
}

/* The sizes of x, w, y, and their formats under a way. */
static bool describe(const kiln_problem *p, const way *v, tensor t[TENSORS])
{
    const int rank = p->spatial_rank, at = rank - FIRST_RANK, grouped = p->groups > 1;
    dnnl_dims_t size[TENSORS] = {{p->batch, p->in_channels},
                                 {grouped ? p->groups : p->out_channels,
                                  grouped ? p->out_channels / p->groups : p->in_channels,
                                  p->in_channels / p->groups},
                                 {p->batch, p->out_channels}};
    for (int i = 0; i < rank; i++) {
        size[X][2 + i] = p->input[i];
        size[W][2 + grouped + i] = p->filter[i];
        size[Y][2 + i] = kiln_problem_output(p, i);
    }
    bool fine = true;
    for (int i = X; i <= Y; i++) {
        int dims = i == W ? 2 + grouped + rank : 2 + rank;
        dnnl_format_tag_t plain = i == W ? plain_filter[grouped][at] : plain_data[at],
                          own = i == W ? dnnl_format_tag_any : v->tag[at];
        fine =
            fine &&
            dnnl_memory_desc_init_by_tag(&t[i].plain_desc, dims, size[i], dnnl_f32, plain) ==
                dnnl_success &&
            dnnl_memory_desc_init_by_tag(&t[i].desc, dims, size[i], dnnl_f32, own) == dnnl_success;
    }
    return fine;
}

static dnnl_status_t describe_forward(dnnl_convolution_desc_t *d, dnnl_prop_kind_t kind,
                                      const kiln_problem *p, const way *v, const tensor *t)
{
    const geometry g = geometry_of(p);
    return dnnl_dilated_convolution_forward_desc_init(d, kind, v->algorithm, &t[X].desc, &t[W].desc,
                                                      NULL, &t[Y].desc, g.strides, g.dilates,
                                                      g.begin, g.end);
}

static dnnl_status_t describe_backward(dnnl_convolution_desc_t *d, const kiln_problem *p,
                                       const way *v, const tensor *t)
{
    const geometry g = geometry_of(p);
    if (p->direction == KILN_BACKWARD_DATA)
        return dnnl_dilated_convolution_backward_data_desc_init(d, v->algorithm, &t[X].desc,
                                                                &t[W].desc, &t[Y].desc, g.strides,
                                                                g.dilates, g.begin, g.end);
    return dnnl_dilated_convolution_backward_weights_desc_init(
        d, v->algorithm, &t[X].desc, &t[W].desc, NULL, &t[Y].desc, g.strides, g.dilates, g.begin,
        g.end);
}

/* A backward primitive is described with the help of a forward one. */
static dnnl_status_t make_descriptor(dnnl_primitive_desc_t *out, const kiln_problem *p,
                                     const way *v, const tensor *t)
{
    dnnl_convolution_desc_t d;
    dnnl_primitive_desc_t hint = NULL;
    bool forward = p->direction == KILN_FORWARD;
    dnnl_status_t status =
        describe_forward(&d, forward ? dnnl_forward_inference : dnnl_forward_training, p, v, t);
    if (!status && forward)
        return dnnl_primitive_desc_create(out, &d, NULL, engine, NULL);
    if (!status)
        status = dnnl_primitive_desc_create(&hint, &d, NULL, engine, NULL);
    if (!status)
        status = describe_backward(&d, p, v, t);
    if (!status)
        status = dnnl_primitive_desc_create(out, &d, NULL, engine, hint);
    if (hint)
        dnnl_primitive_desc_destroy(hint);
    return status;
}

/* What the primitive asks for, where the way left it open. */
static void settle(dnnl_primitive_desc_t d, const kiln_problem *p, tensor t[TENSORS])
{
    static const struct {
        dnnl_query_t query[TENSORS];
        int argument[TENSORS], written;
    } of[] = {
        [KILN_FORWARD] = {{dnnl_query_src_md, dnnl_query_weights_md, dnnl_query_dst_md},
                          {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST},
                          Y},
        [KILN_BACKWARD_DATA] = {{dnnl_query_diff_src_md, dnnl_query_weights_md,
                                 dnnl_query_diff_dst_md},
                                {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST},
                                X},
        [KILN_BACKWARD_WEIGHTS] = {{dnnl_query_src_md, dnnl_query_diff_weights_md,
                                    dnnl_query_diff_dst_md},
                                   {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST},
                                   W},
    };
    for (int i = X; i <= Y; i++) {
        t[i].desc = *dnnl_primitive_desc_query_md(d, of[p->direction].query[i], 0);
        t[i].argument = of[p->direction].argument[i];
        t[i].written = of[p->direction].written == i;
    }
}

/* ---- tensors ---- */

static bool make_reorder(tensor *t)
{
    dnnl_primitive_desc_t d;
    const dnnl_memory_desc_t *from = t->written ? &t->desc : &t->plain_desc,
                             *to = t->written ? &t->plain_desc : &t->desc;
    if (dnnl_reorder_primitive_desc_create(&d, from, engine, to, engine, NULL) != dnnl_success)
        return false;
    dnnl_status_t status = dnnl_primitive_create(&t->reorder, d);
    dnnl_primitive_desc_destroy(d);
    return status == dnnl_success;
}

static bool reorder(const tensor *t)
{
    dnnl_exec_arg_t pair[] = {{DNNL_ARG_FROM, t->written ? t->own : t->plain},
                              {DNNL_ARG_TO, t->written ? t->plain : t->own}};
    return dnnl_primitive_execute(t->reorder, stream, 2, pair) == dnnl_success;
}

static bool make_tensor(tensor *t, float *plain)
{
    if (dnnl_memory_create(&t->plain, &t->plain_desc, engine, plain) != dnnl_success)
        return false;
    t->own = t->plain;
    if (dnnl_memory_desc_equal(&t->plain_desc, &t->desc))
        return true;
    t->own = NULL;
    if (dnnl_memory_create(&t->own, &t->desc, engine, DNNL_MEMORY_ALLOCATE) != dnnl_success ||
        !make_reorder(t))
        return false;
    return t->written || (reorder(t) && dnnl_stream_wait(stream) == dnnl_success);
}

static bool make_tensors(onednn_contender *o, const rules *r)
{
    float *plain[] = {o->work->x, o->work->w, o->work->y};
    for (int i = X; i <= Y; i++) {
        tensor *t = &o->tensor[i];
        if (!make_tensor(t, plain[i]))
            return false;
        t->each_run = t->reorder && r->plain && i != W;
        o->argument[i] = (dnnl_exec_arg_t){t->argument, t->own};
    }
    return true;
}

/* ---- the calls ---- */

static bool enqueue(contender *c)
{
    const onednn_contender *o = (onednn_contender *)c;
    bool fine = true;
    for (int i = X; i <= Y; i++)
        if (o->tensor[i].each_run && !o->tensor[i].written)
            fine = fine && reorder(&o->tensor[i]);
    fine = fine &&
           dnnl_primitive_execute(o->convolution, stream, TENSORS, o->argument) == dnnl_success;
    for (int i = X; i <= Y; i++)
        if (o->tensor[i].each_run && o->tensor[i].written)
            fine = fine && reorder(&o->tensor[i]);
    return fine;
}

static bool finish(contender *c)
{
    (void)c;
    return dnnl_stream_wait(stream) == dnnl_success;
}

static bool read_result(contender *c, float *plain)
{
    const onednn_contender *o = (onednn_contender *)c;
    const kiln_problem *p = &o->work->problem;
    for (int i = X; i <= Y; i++) {
        const tensor *t = &o->tensor[i];
        if (!t->written)
            continue;
        void *data;
        if ((t->reorder && !reorder(t)) || dnnl_stream_wait(stream) != dnnl_success ||
            dnnl_memory_get_data_handle(t->plain, &data) != dnnl_success)
            return false;
        memcpy(plain, data, (size_t)kiln_problem_count(p, "xwy"[i]) * sizeof *plain);
    }
    return true;
}

static void release(contender *c)
{
    onednn_contender *o = (onednn_contender *)c;
    for (int i = X; i <= Y; i++) {
        tensor *t = &o->tensor[i];
        if (t->own && t->own != t->plain)
            dnnl_memory_destroy(t->own);
        if (t->plain)
            dnnl_memory_destroy(t->plain);
        if (t->reorder)
            dnnl_primitive_destroy(t->reorder);
    }
    if (o->convolution)
        dnnl_primitive_destroy(o->convolution);
    free(o);
}

static const contender_calls calls = {enqueue, finish, read_result, release};

/* ---- making one ---- */

static bool competes(const way *v, const rules *r)
{
    bool winograd = v->algorithm == dnnl_convolution_winograd;
    return r->algorithm == RULES_ANY || winograd == (r->algorithm == RULES_WINOGRAD);
}

static const char *format_name(const dnnl_memory_desc_t *d)
{
    static const struct {
        const char *name;
        dnnl_format_tag_t tag[RANKS];
    } known[] = {{"NCHW", {dnnl_abc, dnnl_abcd, dnnl_abcde}},
                 {"NHWC", {dnnl_acb, dnnl_acdb, dnnl_acdeb}},
                 {"NCHW16c", {dnnl_aBc16b, dnnl_aBcd16b, dnnl_aBcde16b}},
                 {"NCHW8c", {dnnl_aBc8b, dnnl_aBcd8b, dnnl_aBcde8b}}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        dnnl_memory_desc_t like;
        if (dnnl_memory_desc_init_by_tag(&like, d->ndims, d->dims, d->data_type,
                                         known[i].tag[d->ndims - 2 - FIRST_RANK]) == dnnl_success &&
            dnnl_memory_desc_equal(&like, d))
            return known[i].name;
    }
    return "other";
}

/* Its F(4x4, 3x3) errs by about ten times as much as a plain sum (measured). */
static double amplification_of(const way *v)
{
    return v->algorithm == dnnl_convolution_winograd ? 32 : 1;
}

static bool build(onednn_contender *o, const way *v, const rules *r)
{
    dnnl_primitive_desc_t d;
    const char *implementation = "";
    if (!open_engine() || !describe(&o->work->problem, v, o->tensor) ||
        make_descriptor(&d, &o->work->problem, v, o->tensor) != dnnl_success)
        return false;
    settle(d, &o->work->problem, o->tensor);
    dnnl_primitive_desc_query(d, dnnl_query_impl_info_str, 0, (void *)&implementation);
    snprintf(o->base.detail, sizeof o->base.detail, "%s>%s %s", format_name(&o->tensor[X].desc),
             format_name(&o->tensor[Y].desc), implementation);
    dnnl_status_t status = dnnl_primitive_create(&o->convolution, d);
    dnnl_primitive_desc_destroy(d);
    return status == dnnl_success && make_tensors(o, r);
}

int contender_onednn_ways(void)
{
    return sizeof ways / sizeof *ways;
}

contender *contender_onednn(const work *w, const rules *r, int index, char *why)
{
    const way *v = &ways[index];
    snprintf(why, KILN_ERROR_TEXT, "oneDNN cannot do it by %s", v->name);
    onednn_contender *o = competes(v, r) ? calloc(1, sizeof *o) : NULL;
    if (!o)
        return NULL;
    *o = (onednn_contender){
        .base = {.calls = &calls, .name = "oneDNN", .amplification = amplification_of(v)},
        .work = w};
    if (build(o, v, r))
        return &o->base;
    release(&o->base);
    return NULL;
}
