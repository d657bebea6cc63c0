/* Runs one problem from end to end and judges every byte that may be written. */
#include "support.h"

#include "driver/layout/layout_host.h"
#include "driver/reference/quantised.h"
#include "driver/reference/verify.h"
#include "guarded.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { X, W, Y, BIAS, RESIDUAL, W_SCALES, X_ZERO, W_ZERO, Y_ZERO, WORKSPACE, PACKED, BUFFERS };

enum { RESIDUAL_STORAGE = 4 };

/* One tensor: its contents on the host, and a memory object with guards around it. */
typedef struct box {
    kiln_type type;
    int64_t count; /* elements without padding; 0: there is no such buffer */
    memory_kind kind;
    bool written;
    const kiln_storage *storage; /* NULL: a plain array */
    void *plain;                 /* the elements in plain order */
    void *cells;                 /* the tensor in its layout */
    guarded object;
} box;

typedef struct trial {
    const support_device *device;
    const support_case *given;
    kiln_problem problem; /* checked, with the layouts that the op has */
    kiln_op *op;
    kiln_op_info info;
    kiln_storage storage[5]; /* x, w, y, bias, residual */
    box box[BUFFERS];
    int to; /* X, W or Y */
    bool bias_gradient;
    char *why;
} trial;

static bool complain(const trial *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes the reason and returns false. */
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

static bool is_stored(const box *b)
{
    return b->storage && !layout_host_is_plain(b->storage);
}

/* Stores the bias in the type and layout of the problem, and rounds the plain array likewise. */
static void store_bias(const trial *t)
{
    const box *b = &t->box[BIAS];
    const kiln_type type = (kiln_type)t->problem.epilogue.bias;
    void *stored = malloc((size_t)b->count * kiln_type_size(type));
    for (int64_t i = 0; i < b->count; i++) {
        host_set(type, stored, i, host_get(KILN_F32, b->plain, i));
        host_set(KILN_F32, b->plain, i, host_get(type, stored, i));
    }
    layout_host_store(b->storage, type, stored, b->cells);
    free(stored);
}

/* Fills what quantised tensors bring in buffers. */
static void fill_quant(const trial *t, int which)
{
    const box *b = &t->box[which];
    if (which == W_SCALES)
        quantised_fill(&t->problem, t->given->seed, b->plain);
    else
        host_set(KILN_I32, b->plain, 0,
                 quantised_draw(&t->problem, t->given->seed, "xwy"[which - X_ZERO]));
    memcpy(b->cells, b->plain, b->kind.bytes);
}

/* Fills box `which` with the contents of tensor `from`. */
static void fill(const trial *t, int which, int from)
{
    static const int tensor[] = {HOST_X, HOST_W, HOST_Y, HOST_BIAS, HOST_RESIDUAL};
    const box *b = &t->box[which];
    if (which >= W_SCALES) {
        fill_quant(t, which);
        return;
    }
    host_fill_tensor(t->given->fill, t->given->seed, tensor[from], b->type,
                     reference_terms(&t->problem), b->plain, b->count);
    if (which == BIAS)
        store_bias(t);
    else if (is_stored(b))
        layout_host_store(b->storage, b->type, b->plain, b->cells);
    else
        memcpy(b->cells, b->plain, b->kind.bytes);
}

static void set_box(trial *t, int which, kiln_type type, int64_t count, bool written)
{
    t->box[which] = (box){.type = type,
                          .count = count,
                          .kind = memory_of_buffer((size_t)count * kiln_type_size(type)),
                          .written = written};
}

static void set_storage(trial *t, int which, int of)
{
    box *b = &t->box[which];
    b->storage = &t->storage[of];
    b->kind = memory_of(b->storage, b->type);
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
    if (p->epilogue.bias) {
        bool sized = kiln_problem_storage(p, 'b', &t->storage[BIAS], NULL);
        ck_assert(sized);
        set_box(t, BIAS, KILN_F32, p->out_channels, t->bias_gradient);
        t->box[BIAS].storage = &t->storage[BIAS];
        t->box[BIAS].kind = memory_of(&t->storage[BIAS], (kiln_type)p->epilogue.bias);
    }
    if (p->epilogue.beta != 0) {
        kiln_problem residual = *p;
        residual.y_type = p->quant.residual_type;
        bool sized = kiln_problem_storage(&residual, 'y', &t->storage[RESIDUAL_STORAGE], NULL);
        ck_assert(sized);
        set_box(t, RESIDUAL, p->quant.residual_type, kiln_problem_count(p, 'y'), false);
        set_storage(t, RESIDUAL, RESIDUAL_STORAGE);
    }
    set_box(t, W_SCALES, KILN_F32, t->info.w_scales_size / 4, false);
    set_box(t, X_ZERO, KILN_I32, t->info.x_zero_size / 4, false);
    set_box(t, W_ZERO, KILN_I32, t->info.w_zero_size / 4, false);
    set_box(t, Y_ZERO, KILN_I32, t->info.y_zero_size / 4, false);
    set_box(t, WORKSPACE, KILN_I8, t->info.workspace_size, true);
    set_box(t, PACKED, KILN_I8, t->info.packed_size, true);
    t->box[PACKED].kind.width = t->info.packed_width;
    t->box[PACKED].kind.height = t->info.packed_height;
    t->box[PACKED].kind.type = t->info.packed_type;
}

static bool make_box(trial *t, int which, size_t offset, bool in_place)
{
    box *b = &t->box[which];
    if (b->count == 0)
        return true;
    b->cells = malloc(b->kind.bytes);
    b->plain = malloc((size_t)b->count * kiln_type_size(b->type));
    ck_assert(b->cells && b->plain);
    if (!b->written)
        fill(t, which, which);
    else if (in_place && which == Y)
        fill(t, Y, RESIDUAL);
    else
        host_poison(b->type, b->cells, (int64_t)(b->kind.bytes / kiln_type_size(b->type)));
    return check_cl(t, guarded_make(&b->object, t->device, &b->kind, offset, b->cells),
                    "making a memory object");
}

static void free_boxes(trial *t)
{
    for (int i = 0; i < BUFFERS; i++) {
        guarded_free(&t->box[i].object);
        free(t->box[i].cells);
        free(t->box[i].plain);
        t->box[i].cells = NULL;
        t->box[i].plain = NULL;
    }
}

/* ---- running ---- */

static kiln_buffers buffers_of(const trial *t, bool packed, bool in_place)
{
    kiln_buffer b[BUFFERS];
    for (int i = 0; i < BUFFERS; i++)
        b[i] = (kiln_buffer){t->box[i].object.mem, t->box[i].object.offset};
    kiln_buffers all = {.x = b[X],
                        .w = b[W],
                        .y = b[Y],
                        .bias = b[BIAS],
                        .residual = in_place ? b[Y] : b[RESIDUAL],
                        .w_scales = b[W_SCALES],
                        .x_zero = b[X_ZERO],
                        .w_zero = b[W_ZERO],
                        .y_zero = b[Y_ZERO],
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

/* Checks that the padding of a written tensor is zero, then reads its elements. */
static bool take_out(trial *t, int which)
{
    box *b = &t->box[which];
    int64_t dirty = 0;
    if (!b->written)
        return true;
    if (is_stored(b))
        dirty = layout_host_load(b->storage, b->type, b->cells, b->plain);
    else
        memcpy(b->plain, b->cells, b->kind.bytes);
    return dirty == 0 ||
           complain(t, "%lld cells of the layout's padding are not zero", (long long)dirty);
}

/* Reads a box back over its cells, and checks that nothing else changed. */
static bool collect(trial *t, int which)
{
    static const char *const names[BUFFERS] = {"x",        "w",         "y",      "bias",
                                               "residual", "w_scales",  "x_zero", "w_zero",
                                               "y_zero",   "workspace", "packed"};
    box *b = &t->box[which];
    if (b->count == 0)
        return true;
    bool intact;
    void *before = b->cells;
    b->cells = malloc(b->kind.bytes);
    ck_assert_ptr_nonnull(b->cells);
    bool fine = check_cl(t, guarded_read(&b->object, t->device, b->cells, &intact), "reading");
    if (fine && !intact)
        fine = complain(t, "something beside %s (%zu bytes) was overwritten", names[which],
                        b->kind.bytes);
    if (fine && !b->written && memcmp(before, b->cells, b->kind.bytes) != 0)
        fine = complain(t, "%s, which is only read, was overwritten", names[which]);
    free(before);
    return fine && take_out(t, which);
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

static int zero_of(const trial *t, int which)
{
    return t->box[which].plain ? (int)host_get(KILN_I32, t->box[which].plain, 0) : 0;
}

/* Judges exactly where the data are small integers and the epilogue rounds nothing. */
static bool judge_all(const trial *t, bool in_place)
{
    const kiln_problem *p = &t->problem;
    const reference_tensors r = {.x = t->box[X].plain,
                                 .w = t->box[W].plain,
                                 .y = t->box[Y].plain,
                                 .bias = t->box[BIAS].plain,
                                 .residual = t->box[RESIDUAL].plain,
                                 .w_scales = t->box[W_SCALES].plain,
                                 .x_zero = zero_of(t, X_ZERO),
                                 .w_zero = zero_of(t, W_ZERO),
                                 .y_zero = zero_of(t, Y_ZERO)};
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

/* Runs once. *bytes receives a copy of the destination, or NULL where something was wrong. */
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
        *bytes = malloc(to->kind.bytes);
        ck_assert_ptr_nonnull(*bytes);
        memcpy(*bytes, to->cells, to->kind.bytes);
    }
    free_boxes(t);
    return right;
}

static bool run_twice(trial *t)
{
    unsigned char *first = NULL, *second = NULL;
    kiln_op_describe(t->op, &t->info);
    t->problem = t->info.problem;
    set_boxes(t);
    bool in_place = t->problem.epilogue.beta != 0 && !t->box[Y].kind.width &&
                    t->problem.quant.residual_type == t->problem.y_type;
    bool right = run(t, 0, false, false, &first) &&
                 run(t, t->device->align, t->info.packed_size > 0, in_place, &second);
    if (right && t->info.deterministic && memcmp(first, second, t->box[t->to].kind.bytes) != 0)
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

void support_check_tile(const kiln_problem *problem, const char *solver, const char *config,
                        host_fill how)
{
    if (!support_try(problem, solver, config, how) &&
        !strstr(kiln_last_error(), "too many for registers"))
        ck_abort_msg("refused: %s", kiln_last_error());
}
