/* Runs one problem from end to end and judges everything that was written. */
#include "support.h"
#include "reference.h"

#include <check.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { X, W, Y, BIAS, RESIDUAL, WORKSPACE, PACKED, BUFFERS, GUARD = 512 };

/* One tensor: what the host put there, and a memory object with guard bytes around it. */
typedef struct box {
    kiln_type type;
    int64_t count; /* 0: the problem has no such buffer */
    size_t bytes, offset;
    bool written;
    unsigned char *image; /* the whole object: guard, tensor, guard */
    cl_mem mem;
} box;

typedef struct trial {
    const support_device *device;
    kiln_problem problem;
    host_fill fill;
    int64_t terms;
    kiln_op *op;
    kiln_op_info info;
    char name[KILN_KEY_TEXT + 128];
    box box[BUFFERS];
    int to; /* X, W or Y */
    bool bias_gradient;
} trial;

static void complain(const trial *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void complain(const trial *t, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    ck_abort_msg("%s: %s", t->name, text);
}

static void check_cl(const trial *t, cl_int code, const char *call)
{
    if (code != CL_SUCCESS)
        complain(t, "%s: OpenCL error %d", call, (int)code);
}

static void fill(const trial *t, int which, unsigned char *data)
{
    static const int tensor[] = {HOST_X, HOST_W, HOST_Y, HOST_BIAS, HOST_RESIDUAL};
    const box *b = &t->box[which];
    host_fill_tensor(t->fill, 1, tensor[which], b->type, t->terms, data, b->count);
}

static void set_box(trial *t, int which, kiln_type type, int64_t count, bool written)
{
    t->box[which] = (box){.type = type,
                          .count = count,
                          .bytes = (size_t)count * kiln_type_size(type),
                          .written = written};
}

static void set_boxes(trial *t)
{
    static const int to[] = {Y, X, W};
    const kiln_problem *p = &t->problem;
    const kiln_type type[] = {p->x_type, p->w_type, p->y_type};
    t->to = to[p->direction];
    t->bias_gradient = p->direction == KILN_BACKWARD_WEIGHTS && p->epilogue.bias;
    for (int i = X; i <= Y; i++)
        set_box(t, i, type[i], kiln_problem_count(p, "xwy"[i]), i == t->to);
    if (p->epilogue.bias)
        set_box(t, BIAS, KILN_F32, p->out_channels, t->bias_gradient);
    if (p->epilogue.beta != 0)
        set_box(t, RESIDUAL, p->y_type, kiln_problem_count(p, 'y'), false);
    set_box(t, WORKSPACE, KILN_I8, t->info.workspace_size, true);
    set_box(t, PACKED, KILN_I8, t->info.packed_size, true);
}

static void make_box(trial *t, int which, size_t offset, bool in_place)
{
    box *b = &t->box[which];
    if (b->count == 0)
        return;
    b->offset = offset;
    const size_t all = offset + b->bytes + GUARD;
    b->image = malloc(all);
    ck_assert_ptr_nonnull(b->image);
    for (size_t i = 0; i < all; i++)
        b->image[i] = (unsigned char)(0xa5 ^ i);
    if (!b->written)
        fill(t, which, b->image + offset);
    else if (in_place && which == Y)
        fill(t, RESIDUAL, b->image + offset);
    else
        host_poison(b->type, b->image + offset, b->count);
    cl_int code;
    b->mem = clCreateBuffer(t->device->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, all,
                            b->image, &code);
    check_cl(t, code, "clCreateBuffer");
}

static void free_boxes(trial *t)
{
    for (int i = 0; i < BUFFERS; i++) {
        if (t->box[i].mem)
            check_cl(t, clReleaseMemObject(t->box[i].mem), "clReleaseMemObject");
        free(t->box[i].image);
        t->box[i].mem = NULL;
        t->box[i].image = NULL;
    }
}

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

static void launch(trial *t, bool packed, bool in_place)
{
    const kiln_buffers b = buffers_of(t, packed, in_place);
    cl_command_queue queue = t->device->queue;
    if (packed && kiln_op_pack(t->op, queue, &b, 0, NULL, NULL) != KILN_OK)
        complain(t, "packing: %s", kiln_last_error());
    if (kiln_op_enqueue(t->op, queue, &b, 0, NULL, NULL) != KILN_OK)
        complain(t, "enqueueing: %s", kiln_last_error());
    check_cl(t, clFinish(queue), "clFinish");
}

/* Reads a box back over its image, after seeing that nothing changed that must not. */
static void collect(trial *t, int which)
{
    static const char *const names[BUFFERS] = {"x",        "w",         "y",     "bias",
                                               "residual", "workspace", "packed"};
    box *b = &t->box[which];
    if (b->count == 0)
        return;
    const size_t all = b->offset + b->bytes + GUARD;
    unsigned char *now = malloc(all);
    ck_assert_ptr_nonnull(now);
    check_cl(t, clEnqueueReadBuffer(t->device->queue, b->mem, CL_TRUE, 0, all, now, 0, NULL, NULL),
             "clEnqueueReadBuffer");
    for (size_t i = 0; i < all; i++) {
        bool inside = i >= b->offset && i < b->offset + b->bytes;
        if (now[i] != b->image[i] && !(inside && b->written))
            complain(t, "byte %lld of buffer %s (%zu bytes) was overwritten",
                     (long long)i - (long long)b->offset, names[which], b->bytes);
    }
    free(b->image);
    b->image = now;
}

/* What rounding may do to one element: each of the terms once, in f32, twice for the epilogue, and
 * the store. */
static double bound(const trial *t, kiln_type type, double value, double magnitude)
{
    static const double unit[] = {0, 0x1p-23, 0x1p-10, 0x1p-7, 0, 0};
    double sum = ((double)t->terms + 8) * 0x1p-23 * t->info.amplification * magnitude;
    double store = type == KILN_I8 || type == KILN_I32 ? 1 : unit[type] * fabs(value) + 0x1p-24;
    return sum * 2 + store;
}

/* Sums of small integers are exact in every type; what follows is too, unless it is a curve. */
static bool exact(const trial *t)
{
    kiln_activation a = t->problem.epilogue.activation;
    bool integers = t->fill == HOST_FILL_INT || t->box[t->to == X ? Y : X].type == KILN_I8;
    return integers && t->info.amplification == 1 && a <= KILN_LEAKY_RELU;
}

static void judge(const trial *t, int which, const double *value, const double *magnitude)
{
    const box *b = &t->box[which];
    for (int64_t i = 0; i < b->count; i++) {
        double got = host_get(b->type, b->image + b->offset, i);
        double want = host_round(b->type, value[i]);
        bool same = got == want;
        if (!same && !exact(t))
            same = fabs(got - want) <= bound(t, b->type, value[i], magnitude[i]);
        if (!same)
            complain(t, "element %lld of %lld of %s is %.9g instead of %.9g", (long long)i,
                     (long long)b->count, which == BIAS ? "the bias gradient" : "the destination",
                     got, want);
    }
}

static void *tensor(const trial *t, int which)
{
    return t->box[which].image ? t->box[which].image + t->box[which].offset : NULL;
}

static void judge_all(const trial *t)
{
    int64_t most = t->box[t->to].count;
    if (t->box[BIAS].count > most)
        most = t->box[BIAS].count;
    double *value = calloc((size_t)most, sizeof *value);
    double *magnitude = calloc((size_t)most, sizeof *magnitude);
    ck_assert(value && magnitude);
    const reference_tensors r = {.x = tensor(t, X),
                                 .w = tensor(t, W),
                                 .y = tensor(t, Y),
                                 .bias = tensor(t, BIAS),
                                 .residual = tensor(t, RESIDUAL)};
    reference_run(&t->problem, &r, NULL, t->box[t->to].count, value, magnitude);
    judge(t, t->to, value, magnitude);
    if (t->bias_gradient) {
        reference_bias_gradient(&t->problem, r.y, value, magnitude);
        judge(t, BIAS, value, magnitude);
    }
    free(value);
    free(magnitude);
}

/* One run; returns a copy of the destination's bytes. */
static unsigned char *run(trial *t, size_t offset, bool packed, bool in_place)
{
    for (int i = 0; i < BUFFERS; i++)
        make_box(t, i, offset, in_place);
    launch(t, packed, in_place);
    for (int i = 0; i < BUFFERS; i++)
        collect(t, i);
    judge_all(t);
    unsigned char *bytes = malloc(t->box[t->to].bytes);
    ck_assert_ptr_nonnull(bytes);
    memcpy(bytes, tensor(t, t->to), t->box[t->to].bytes);
    free_boxes(t);
    return bytes;
}

static void name_trial(trial *t, const char *solver, const char *config)
{
    char key[KILN_KEY_TEXT] = "";
    kiln_problem_text(&t->problem, key, sizeof key);
    snprintf(t->name, sizeof t->name, "%s with %.20s %.40s", key, solver ? solver : "any solver",
             config ? config : "");
}

bool support_try(const kiln_problem *problem, const char *solver, const char *config, host_fill how)
{
    trial t = {.device = support_open(), .problem = *problem, .fill = how};
    char why[KILN_ERROR_TEXT];
    if (kiln_problem_check(&t.problem, why) != KILN_OK)
        ck_abort_msg("the test's problem is wrong: %s", why);
    t.terms = reference_terms(&t.problem);
    name_trial(&t, solver, config);
    const kiln_choice choice = {.solver = solver, .config = config, .ignore_rows = 1};
    kiln_status status = kiln_conv_create(t.device->kiln, &t.problem, &choice, &t.op);
    if (status == KILN_UNSUPPORTED)
        return false;
    if (status != KILN_OK)
        complain(&t, "%s", kiln_last_error());
    kiln_op_describe(t.op, &t.info);
    set_boxes(&t);
    bool in_place = t.problem.epilogue.beta != 0;
    unsigned char *first = run(&t, 0, false, false);
    unsigned char *second = run(&t, t.device->align, t.info.packed_size > 0, in_place);
    if (t.info.deterministic && memcmp(first, second, t.box[t.to].bytes) != 0)
        complain(&t, "two runs of a deterministic op differ");
    free(first);
    free(second);
    kiln_op_release(t.op);
    return true;
}

void support_check(const kiln_problem *problem, const char *solver, const char *config,
                   host_fill how)
{
    if (!support_try(problem, solver, config, how))
        ck_abort_msg("refused: %s", kiln_last_error());
}
