/* oneDNN 2 as a contender, in every way in which it can do a convolution.
 *
 * A way is a memory format for the activations and an algorithm. Where the rules give activations a
 * layout, they start and end in it, and reordering them is part of a run. Weights are in the format
 * that oneDNN asks for, reordered before the clock starts; their gradients end in the layout that
 * the rules give, in each run.
 */
#include "contender_onednn.h"

#include "tests/bench/base/system.h"

#include <stdio.h>
#include <stdlib.h>

#define ANY                                                                                        \
    {                                                                                              \
        dnnl_format_tag_any, dnnl_format_tag_any, dnnl_format_tag_any                              \
    }
static const onednn_way ways[] = {
    {"any direct", ANY, dnnl_convolution_direct},
    {"nCHW16c direct", {dnnl_aBc16b, dnnl_aBcd16b, dnnl_aBcde16b}, dnnl_convolution_direct},
    {"NHWC direct", {dnnl_acb, dnnl_acdb, dnnl_acdeb}, dnnl_convolution_direct},
    {"NCHW direct", {dnnl_abc, dnnl_abcd, dnnl_abcde}, dnnl_convolution_direct},
    {"any winograd", ANY, dnnl_convolution_winograd},
};
#undef ANY

typedef struct onednn_contender {
    contender base;
    const work *work;
    dnnl_primitive_t convolution;
    onednn_tensor tensor[ONEDNN_TENSORS];
    dnnl_exec_arg_t argument[ONEDNN_TENSORS];
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

/* ---- tensors ---- */

static bool make_reorder(onednn_tensor *t)
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

static bool reorder(const onednn_tensor *t)
{
    dnnl_exec_arg_t pair[] = {{DNNL_ARG_FROM, t->written ? t->own : t->plain},
                              {DNNL_ARG_TO, t->written ? t->plain : t->own}};
    return dnnl_primitive_execute(t->reorder, stream, 2, pair) == dnnl_success;
}

/* Copies between the bench's array and the tensor before or after a run, outside of the time. */
static bool transfer(const onednn_tensor *t, void *array, bool out)
{
    onednn_tensor pair = {.desc = t->array_desc, .plain_desc = t->plain_desc, .plain = t->plain};
    bool fine = dnnl_memory_create(&pair.own, &pair.desc, engine, array) == dnnl_success;
    pair.written = !out; /* from own to plain */
    fine =
        fine && make_reorder(&pair) && reorder(&pair) && dnnl_stream_wait(stream) == dnnl_success;
    if (pair.reorder)
        dnnl_primitive_destroy(pair.reorder);
    if (pair.own)
        dnnl_memory_destroy(pair.own);
    return fine;
}

static bool make_tensor(onednn_tensor *t, void *array)
{
    const bool there = dnnl_memory_desc_equal(&t->array_desc, &t->plain_desc);
    if (dnnl_memory_create(&t->plain, &t->plain_desc, engine,
                           there ? array : DNNL_MEMORY_ALLOCATE) != dnnl_success)
        return false;
    if (!there && !t->written && !transfer(t, array, false))
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
    void *plain[] = {o->work->x, o->work->w, o->work->y};
    for (int i = ONEDNN_X; i <= ONEDNN_Y; i++) {
        onednn_tensor *t = &o->tensor[i];
        if (!make_tensor(t, plain[i]))
            return false;
        t->each_run =
            t->reorder && (i == ONEDNN_W ? t->written && r->filter : r->layout != RULES_OWN);
        o->argument[i] = (dnnl_exec_arg_t){t->argument, t->own};
    }
    return true;
}

/* ---- the calls ---- */

static bool enqueue(contender *c)
{
    const onednn_contender *o = (onednn_contender *)c;
    bool fine = true;
    for (int i = ONEDNN_X; i <= ONEDNN_Y; i++)
        if (o->tensor[i].each_run && !o->tensor[i].written)
            fine = fine && reorder(&o->tensor[i]);
    fine = fine && dnnl_primitive_execute(o->convolution, stream, ONEDNN_TENSORS, o->argument) ==
                       dnnl_success;
    for (int i = ONEDNN_X; i <= ONEDNN_Y; i++)
        if (o->tensor[i].each_run && o->tensor[i].written)
            fine = fine && reorder(&o->tensor[i]);
    return fine;
}

static bool finish(contender *c)
{
    (void)c;
    return dnnl_stream_wait(stream) == dnnl_success;
}

static bool read_result(contender *c, void *plain)
{
    const onednn_contender *o = (onednn_contender *)c;
    for (int i = ONEDNN_X; i <= ONEDNN_Y; i++) {
        const onednn_tensor *t = &o->tensor[i];
        if (!t->written)
            continue;
        if ((t->reorder && !reorder(t)) || dnnl_stream_wait(stream) != dnnl_success ||
            !transfer(t, plain, true))
            return false;
    }
    return true;
}

static void release(contender *c)
{
    onednn_contender *o = (onednn_contender *)c;
    for (int i = ONEDNN_X; i <= ONEDNN_Y; i++) {
        onednn_tensor *t = &o->tensor[i];
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

static bool competes(const onednn_way *v, const rules *r)
{
    bool winograd = v->algorithm == dnnl_convolution_winograd;
    return r->algorithm == RULES_ANY || winograd == (r->algorithm == RULES_WINOGRAD);
}

/* F(4x4, 3x3) errs about ten times as much as a plain sum (measured). */
static double amplification_of(const onednn_way *v)
{
    return v->algorithm == dnnl_convolution_winograd ? 32 : 1;
}

/* Whether there is twice the memory that it needs: the system ends a process that takes all memory.
 */
static bool has_room(const onednn_contender *o, dnnl_primitive_desc_t d, const char *name,
                     char *why)
{
    dnnl_dim_t scratchpad = 0;
    dnnl_primitive_desc_query(d, dnnl_query_memory_consumption_s64, 0, &scratchpad);
    double bytes = (double)scratchpad;
    for (int i = ONEDNN_X; i <= ONEDNN_Y; i++)
        bytes += (double)dnnl_memory_desc_get_size(&o->tensor[i].desc);
    const double room = system_free_memory() / 2;
    if (bytes > room)
        snprintf(why, KILN_ERROR_TEXT, "%s takes %.1f GiB of memory, of which %.1f are to spare",
                 name, bytes / (1 << 30), room / (1 << 30));
    return bytes <= room;
}

static bool build(onednn_contender *o, const onednn_way *v, const rules *r, char *why)
{
    dnnl_primitive_desc_t d;
    const char *implementation = "";
    if (!open_engine() || !onednn_describe(&d, engine, &o->work->problem, r, v, o->tensor))
        return false;
    dnnl_primitive_desc_query(d, dnnl_query_impl_info_str, 0, (void *)&implementation);
    snprintf(o->base.detail, sizeof o->base.detail, "%s>%s %s",
             onednn_format_name(&o->tensor[ONEDNN_X].desc),
             onednn_format_name(&o->tensor[ONEDNN_Y].desc), implementation);
    const bool fine =
        has_room(o, d, v->name, why) && dnnl_primitive_create(&o->convolution, d) == dnnl_success;
    dnnl_primitive_desc_destroy(d);
    return fine && make_tensors(o, r);
}

int contender_onednn_ways(void)
{
    return sizeof ways / sizeof *ways;
}

contender *contender_onednn(const work *w, const rules *r, int index, char *why)
{
    const onednn_way *v = &ways[index];
    *why = '\0';
    onednn_contender *o = competes(v, r) ? calloc(1, sizeof *o) : NULL;
    if (!o)
        return NULL;
    *o = (onednn_contender){
        .base = {.calls = &calls, .name = "oneDNN", .amplification = amplification_of(v)},
        .work = w};
    if (build(o, v, r, why))
        return &o->base;
    release(&o->base);
    return NULL;
}
