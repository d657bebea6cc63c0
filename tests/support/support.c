/* Runs one problem from end to end and judges everything that was written. */
#include "support.h"
#include "layout_host.h"
#include "verify.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { X, W, Y, BIAS, RESIDUAL, WORKSPACE, PACKED, BUFFERS, GUARD = 512 };

/* One tensor: what the host put there, and a memory object with guard bytes around it. */
typedef struct box {
    kiln_type type;
    int64_t count, cells; /* elements, without and with padding; 0: there is no such buffer */
    size_t bytes, offset;
    bool written;
    const kiln_storage *storage; /* NULL: a plain array */
    void *plain;                 /* the elements in plain order */
    unsigned char *image;        /* the whole object: guard, tensor in its layout, guard */
    cl_mem mem;
} box;

typedef struct trial {
    const support_device *device;
    const support_case *given;
    kiln_problem problem; /* checked, with the layouts that the op has */
    kiln_op *op;
    kiln_op_info info;
    kiln_storage storage[3];
    box box[BUFFERS];
    int to; /* X, W or Y */
    bool bias_gradient;
    char *why;
} trial;

static bool complain(const trial *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns false, for whoever gives up with it. */
static bool complain(const trial *t, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(t->why, SUPPORT_TEXT, format, list);
    va_end(list);
    return false;
}

static bool check_cl(const trial *t, cl_int code, const char *call)
{
    return code == CL_SUCCESS || complain(t, "%s: OpenCL error %d", call, (int)code);
}

/* ---- buffers ---- */

/* Stores what `from` names in box `which`. */
static void fill(const trial *t, int which, int from)
{
    static const int tensor[] = {HOST_X, HOST_W, HOST_Y, HOST_BIAS, HOST_RESIDUAL};
    const box *b = &t->box[which];
    host_fill_tensor(t->given->fill, t->given->seed, tensor[from], b->type,
                     reference_terms(&t->problem), b->plain, b->count);
    if (b->storage && !layout_host_is_plain(b->storage))
        layout_host_store(b->storage, b->type, b->plain, b->image + b->offset);
    else
        memcpy(b->image + b->offset, b->plain, b->bytes);
}

static void set_box(trial *t, int which, kiln_type type, int64_t count, bool written)
{
    t->box[which] = (box){.type = type,
                          .count = count,
                          .cells = count,
                          .bytes = (size_t)count * kiln_type_size(type),
                          .written = written};
}

static void set_storage(trial *t, int which, int of)
{
    box *b = &t->box[which];
    b->storage = &t->storage[of];
    b->cells = b->storage->cells;
    b->bytes = (size_t)b->cells * kiln_type_size(b->type);
}

static void set_boxes(trial *t)
{
    static const int to[] = {Y, X, W};
    const kiln_problem *p = &t->problem;
    const kiln_type type[] = {p->x_type, p->w_type, p->y_type};
    t->to = to[p->direction];
    t->bias_gradient = p->direction == KILN_BACKWARD_WEIGHTS && p->epilogue.bias;
    for (int i = X; i <= Y; i++) {
        bool sized = kiln_problem_storage(p, "xwy"[i], &t -> storage[i], NULL);
        ck_assert(sized);
        set_box(t, i, type[i], kiln_problem_count(p, "xwy"[i]), i == t->to);
        set_storage(t, i, i);
    }
    if (p->epilogue.bias)
        set_box(t, BIAS, KILN_F32, p->out_channels, t->bias_gradient);
    if (p->epilogue.beta != 0) {
        set_box(t, RESIDUAL, p->y_type, kiln_problem_count(p, 'y'), false);
        set_storage(t, RESIDUAL, Y);
    }
    set_box(t, WORKSPACE, KILN_I8, t->info.workspace_size, true);
    set_box(t, PACKED, KILN_I8, t->info.packed_size, true);
}

static bool make_box(trial *t, int which, size_t offset, bool in_place)
{
    box *b = &t->box[which];
    if (b->count == 0)
        return true;
    b->offset = offset;
    const size_t all = offset + b->bytes + GUARD;
    b->image = malloc(all);
    b->plain = malloc((size_t)b->count * kiln_type_size(b->type));
    ck_assert(b->image && b->plain);
    for (size_t i = 0; i < all; i++)
        b->image[i] = (unsigned char)(0xa5 ^ i);
    if (!b->written)
        fill(t, which, which);
    else if (in_place && which == Y)
        fill(t, Y, RESIDUAL);
    else
        host_poison(b->type, b->image + offset, b->cells);
    cl_int code;
    b->mem = clCreateBuffer(t->device->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, all,
                            b->image, &code);
    return check_cl(t, code, "clCreateBuffer");
}

static void free_boxes(trial *t)
{
    for (int i = 0; i < BUFFERS; i++) {
        if (t->box[i].mem)
            clReleaseMemObject(t->box[i].mem);
        free(t->box[i].image);
        free(t->box[i].plain);
        t->box[i].mem = NULL;
        t->box[i].image = NULL;
        t->box[i].plain = NULL;
    }
}

/* ---- running ---- */

static kiln_buffers buffers_of(const trial *t, bool packed, bool in_place)
{
    kiln_buffer b[BUFFERS];
    for (int i = 0; i < BUFFERS; i++)
        b[i] = (kiln_buffer){t->box[i].mem, t->box[i].offset};
    kiln_buffers all = {.x = b[X],
                        .w = b[W],
                        .y = b[Y],
                        .bias = b[BIAS],
                        .residual = in_place ? b[Y] : b[RESIDUAL],
                        .workspace = b[WORKSPACE]};
    if (packed)
        all.packed = b[PACKED];
    return all;
}

static bool launch(trial *t, bool packed, bool in_place)
{
    const kiln_buffers b = buffers_of(t, packed, in_place);
    cl_command_queue queue = t->device->queue;
    if (packed && kiln_op_pack(t->op, queue, &b, 0, NULL, NULL) != KILN_OK)
        return complain(t, "packing: %s", kiln_last_error());
    if (kiln_op_enqueue(t->op, queue, &b, 0, NULL, NULL) != KILN_OK)
        return complain(t, "enqueueing: %s", kiln_last_error());
    return check_cl(t, clFinish(queue), "clFinish");
}

/* The elements of a written tensor, after seeing that its padding is zero. */
static bool take_out(trial *t, int which)
{
    box *b = &t->box[which];
    int64_t dirty = 0;
    if (!b->written)
        return true;
    if (b->storage && !layout_host_is_plain(b->storage))
        dirty = layout_host_load(b->storage, b->type, b->image + b->offset, b->plain);
    else
        memcpy(b->plain, b->image + b->offset, b->bytes);
    return dirty == 0 ||
           complain(t, "%lld cells of the layout's padding are not zero", (long long)dirty);
}

/* Reads a box back over its image, after seeing that nothing changed that must not. */
static bool collect(trial *t, int which)
{
    static const char *const names[BUFFERS] = {"x",        "w",         "y",     "bias",
                                               "residual", "workspace", "packed"};
    box *b = &t->box[which];
    if (b->count == 0)
        return true;
    const size_t all = b->offset + b->bytes + GUARD;
    unsigned char *now = malloc(all), *before = b->image;
    ck_assert_ptr_nonnull(now);
    bool intact = check_cl(
        t, clEnqueueReadBuffer(t->device->queue, b->mem, CL_TRUE, 0, all, now, 0, NULL, NULL),
        "clEnqueueReadBuffer");
    for (size_t i = 0; i < all && intact; i++) {
        bool inside = i >= b->offset && i < b->offset + b->bytes;
        if (now[i] != before[i] && !(inside && b->written))
            intact = complain(t, "byte %lld of buffer %s (%zu bytes) was overwritten",
                              (long long)i - (long long)b->offset, names[which], b->bytes);
    }
    free(before);
    b->image = now;
    return intact && take_out(t, which);
}

/* ---- judging ---- */

static bool judge(const trial *t, const verify_result *v, const char *what)
{
    return v->ok ||
           complain(t,
                    "%lld of %lld elements of %s are wrong (%lld never written); element %lld is "
                    "%.9g instead of %.9g; %.3g of the bound %.3g",
                    (long long)v->bad, (long long)v->total, what, (long long)v->untouched,
                    (long long)v->max_abs_at, v->got, v->expected, v->worst, v->bound);
}

/* Small integers leave nothing to rounding where the epilogue does not. */
static bool judge_all(const trial *t, bool in_place)
{
    const kiln_problem *p = &t->problem;
    const reference_tensors r = {.x = t->box[X].plain,
                                 .w = t->box[W].plain,
                                 .y = t->box[Y].plain,
                                 .bias = t->box[BIAS].plain,
                                 .residual = t->box[RESIDUAL].plain};
    const verify_options o = {.amplification = t->info.amplification,
                              .exact =
                                  verify_can_be_exact(p, t->given->fill, t->info.amplification),
                              .poisoned = !in_place};
    verify_result v = verify_destination(p, &r, t->box[t->to].plain, &o);
    bool right = judge(t, &v, "the destination");
    if (right && t->bias_gradient) {
        v = verify_bias_gradient(p, r.y, t->box[BIAS].plain, &o);
        right = judge(t, &v, "the bias gradient");
    }
    return right;
}

/* One run; *bytes receives a copy of the destination, or NULL if something was wrong. */
static bool run(trial *t, size_t offset, bool packed, bool in_place, unsigned char **bytes)
{
    bool right = true;
    *bytes = NULL;
    for (int i = 0; i < BUFFERS && right; i++)
        right = make_box(t, i, offset, in_place);
    right = right && launch(t, packed, in_place);
    for (int i = 0; i < BUFFERS && right; i++)
        right = collect(t, i);
    right = right && judge_all(t, in_place);
    if (right) {
        const box *to = &t->box[t->to];
        *bytes = malloc(to->bytes);
        ck_assert_ptr_nonnull(*bytes);
        memcpy(*bytes, to->image + to->offset, to->bytes);
    }
    free_boxes(t);
    return right;
}

static bool run_twice(trial *t)
{
    unsigned char *first = NULL, *second = NULL;
    bool in_place = t->problem.epilogue.beta != 0;
    kiln_op_describe(t->op, &t->info);
    t->problem = t->info.problem;
    set_boxes(t);
    bool right = run(t, 0, false, false, &first) &&
                 run(t, t->device->align, t->info.packed_size > 0, in_place, &second);
    if (right && t->info.deterministic && memcmp(first, second, t->box[t->to].bytes) != 0)
        right = complain(t, "two runs of a deterministic op differ");
    free(first);
    free(second);
    return right;
}

support_verdict support_run(const support_case *c, char why[SUPPORT_TEXT])
{
    trial t = {.device = support_open(), .given = c, .problem = c->problem, .why = why};
    const kiln_choice choice = {.solver = c->solver, .config = c->config, .ignore_rows = 1};
    if (kiln_problem_check(&t.problem, why) != KILN_OK)
        return SUPPORT_WRONG;
    kiln_status status = kiln_conv_create(t.device->kiln, &t.problem, &choice, &t.op);
    if (status != KILN_OK) {
        complain(&t, "%s", kiln_last_error());
        return status == KILN_UNSUPPORTED || status == KILN_INVALID ? SUPPORT_REFUSED
                                                                    : SUPPORT_WRONG;
    }
    bool right = run_twice(&t);
    kiln_op_release(t.op);
    return right ? SUPPORT_RIGHT : SUPPORT_WRONG;
}

bool support_try(const kiln_problem *problem, const char *solver, const char *config, host_fill how)
{
    const support_case c = {*problem, solver, config, how, 1};
    char why[SUPPORT_TEXT], key[KILN_KEY_TEXT] = "";
    support_verdict v = support_run(&c, why);
    if (v == SUPPORT_WRONG) {
        kiln_problem checked = *problem;
        kiln_problem_check(&checked, NULL);
        kiln_problem_text(&checked, key, sizeof key);
        ck_abort_msg("%s with %s %s: %s", key, solver ? solver : "any solver", config ? config : "",
                     why);
    }
    return v == SUPPORT_RIGHT;
}

void support_check(const kiln_problem *problem, const char *solver, const char *config,
                   host_fill how)
{
    if (!support_try(problem, solver, config, how))
        ck_abort_msg("refused: %s", kiln_last_error());
}
