/* kiln as a contender: in the layouts that its solver prefers, with packed weights. */
#include "contender_kiln.h"

#include "driver/layout/layout_host.h"
#include "driver/reference/verify.h"
#include "generator/problem/problem_layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct kiln_contender {
    contender base;
    const session *session;
    const work *work;
    kiln_op *op;
    kiln_op_info info;
    kiln_buffers buffers;
} kiln_contender;

/* ---- tensors ---- */

static const void *plain_of(const work *w, char tensor)
{
    return tensor == 'x' ? w->x : tensor == 'w' ? w->w : w->y;
}

kiln_buffer *contender_kiln_buffer(kiln_buffers *b, char tensor)
{
    return tensor == 'x' ? &b->x : tensor == 'w' ? &b->w : &b->y;
}

static bool storage_of(const kiln_contender *k, char tensor, kiln_storage *own)
{
    return kiln_problem_storage(&k->info.problem, tensor, own, NULL);
}

static bool is_plain(const kiln_contender *k, char tensor)
{
    const kiln_problem *a = &k->work->problem, *b = &k->info.problem;
    return strcmp(tensor == 'x'   ? a->x_layout
                  : tensor == 'w' ? a->w_layout
                                  : a->y_layout,
                  tensor == 'x'   ? b->x_layout
                  : tensor == 'w' ? b->w_layout
                                  : b->y_layout) == 0;
}

bool contender_kiln_memory(const session *s, kiln_buffer *b, const memory_kind *kind)
{
    cl_int code = CL_SUCCESS;
    if (kind->bytes > 0)
        b->mem = memory_make(s->context, kind, &code);
    return code == CL_SUCCESS;
}

static bool upload(kiln_contender *k, char tensor)
{
    kiln_storage own;
    if (!storage_of(k, tensor, &own))
        return false;
    const void *plain = plain_of(k->work, tensor);
    const kiln_type type = work_type(k->work, tensor);
    const memory_kind kind = memory_of(&own, type);
    kiln_buffer *to = contender_kiln_buffer(&k->buffers, tensor);
    void *cells = is_plain(k, tensor) ? NULL : malloc(kind.bytes);
    bool fine = (is_plain(k, tensor) || cells) && contender_kiln_memory(k->session, to, &kind);
    if (fine && cells)
        layout_host_store(&own, type, plain, cells);
    fine = fine &&
           memory_write(k->session->queue, &kind, to->mem, cells ? cells : plain) == CL_SUCCESS;
    free(cells);
    return fine;
}

static bool make_tensors(kiln_contender *k)
{
    const kiln_op_info *info = &k->info;
    const memory_kind packed = {(size_t)info->packed_size, info->packed_width, info->packed_height,
                                info->packed_type};
    const memory_kind workspace = memory_of_buffer((size_t)info->workspace_size);
    bool fine = contender_kiln_memory(k->session, &k->buffers.packed, &packed) &&
                contender_kiln_memory(k->session, &k->buffers.workspace, &workspace);
    for (const char *t = "xwy"; fine && *t; t++)
        fine = upload(k, *t);
    if (fine && info->packed_size > 0)
        fine = kiln_op_pack(k->op, k->session->queue, &k->buffers, 0, NULL, NULL) == KILN_OK &&
               clFinish(k->session->queue) == CL_SUCCESS;
    return fine;
}

/* ---- the calls ---- */

static bool enqueue(contender *c)
{
    kiln_contender *k = (kiln_contender *)c;
    return kiln_op_enqueue(k->op, k->session->queue, &k->buffers, 0, NULL, NULL) == KILN_OK;
}

static bool finish(contender *c)
{
    const session *s = ((kiln_contender *)c)->session;
    return kiln_finish(s->kiln, s->queue) == KILN_OK;
}

double contender_kiln_event_ms(contender *c, cl_command_queue profiled)
{
    kiln_contender *k = (kiln_contender *)c;
    double ms;
    return kiln_op_time(k->op, profiled, &k->buffers, &ms, NULL) == KILN_OK ? ms : -1;
}

static bool read_result(contender *c, void *plain)
{
    kiln_contender *k = (kiln_contender *)c;
    const char to = k->work->to;
    kiln_storage own;
    if (!storage_of(k, to, &own))
        return false;
    const kiln_type type = work_type(k->work, to);
    const memory_kind kind = memory_of(&own, type);
    void *cells = is_plain(k, to) ? plain : malloc(kind.bytes);
    bool fine =
        cells && memory_read(k->session->queue, &kind, contender_kiln_buffer(&k->buffers, to)->mem,
                             cells) == CL_SUCCESS;
    if (cells != plain) {
        if (fine)
            layout_host_load(&own, type, cells, plain);
        free(cells);
    }
    return fine;
}

static void release(contender *c)
{
    kiln_contender *k = (kiln_contender *)c;
    const kiln_buffer all[] = {k->buffers.x, k->buffers.w, k->buffers.y, k->buffers.packed,
                               k->buffers.workspace};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].mem)
            clReleaseMemObject(all[i].mem);
    kiln_op_release(k->op);
    free(k);
}

static const contender_calls calls = {enqueue, finish, read_result, release};

/* ---- making one ---- */

kiln_problem contender_kiln_problem(const work *w, const rules *r)
{
    kiln_problem p = w->problem;
    p.math = r->algorithm == RULES_DIRECT    ? KILN_MATH_EXACT
             : r->algorithm == RULES_REDUCED ? KILN_MATH_REDUCED
                                             : KILN_MATH_FAST;
    rules_give_layouts(r, &p);
    return p;
}

contender *contender_kiln_wrap(const session *s, const work *w, kiln_op *op, char *why)
{
    kiln_contender *k = calloc(1, sizeof *k);
    if (!k) {
        kiln_op_release(op);
        snprintf(why, KILN_ERROR_TEXT, "out of memory");
        return NULL;
    }
    *k = (kiln_contender){.base = {.calls = &calls, .name = "kiln", .starts_only = true},
                          .session = s,
                          .work = w,
                          .op = op};
    kiln_op_describe(op, &k->info);
    k->base.amplification = k->info.amplification;
    k->base.predicted_ms = k->info.predicted_ms;
    snprintf(k->base.detail, sizeof k->base.detail, "%s %s", k->info.solver, k->info.config);
    if (make_tensors(k))
        return &k->base;
    snprintf(why, KILN_ERROR_TEXT, "%.200s: its tensors could not be made (%.20s)", k->base.detail,
             kiln_last_error());
    release(&k->base);
    return NULL;
}

/* Returns a solver of MIOpen's algorithm number 3: the one that kiln would choose, else the one
 * with the best prediction; NULL: there is none. */
static const char *winograd_solver(const session *s, const kiln_problem *p)
{
    enum { WINOGRAD = 3 };
    const char *best = NULL;
    double best_ms = 0;
    kiln_verdict v;
    for (int i = 0; kiln_explain(s->kiln, p, i, &v) == KILN_OK; i++)
        if (v.accepted && v.algorithm == WINOGRAD &&
            (!best || v.chosen || v.predicted_ms < best_ms)) {
            best = v.solver;
            best_ms = v.chosen ? 0 : v.predicted_ms;
        }
    return best;
}

contender *contender_kiln(const session *s, const work *w, const rules *r,
                          const kiln_choice *choice, char *why)
{
    const kiln_problem p = contender_kiln_problem(w, r);
    kiln_choice own = {0};
    if (choice)
        own = *choice;
    else if (r->algorithm == RULES_WINOGRAD)
        own.solver = winograd_solver(s, &p);
    own.packed_weights = 1;
    kiln_op *op;
    if (kiln_conv_create(s->kiln, &p, &own, &op) == KILN_OK)
        return contender_kiln_wrap(s, w, op, why);
    snprintf(why, KILN_ERROR_TEXT, "%.250s", kiln_last_error());
    return NULL;
}

contender *contender_kiln_row(const session *s, const work *w, const rules *r, char *why)
{
    contender *c = contender_kiln(s, w, r, NULL, why);
    if (!c || ((kiln_contender *)c)->info.origin != KILN_ORIGIN_GUESS)
        return c;
    contender_release(c);
    why[0] = '\0';
    return NULL;
}

int contender_kiln_solvers(const session *s, const work *w)
{
    kiln_verdict v;
    int count = 0;
    while (kiln_explain(s->kiln, &w->problem, count, &v) == KILN_OK)
        count++;
    return count;
}

contender *contender_kiln_guess(const session *s, const work *w, const rules *r, int index,
                                double most_ms, char *why)
{
    const kiln_problem p = contender_kiln_problem(w, r);
    kiln_verdict v;
    snprintf(why, KILN_ERROR_TEXT, "the solver refuses the layer, or predicts a much longer time");
    if (kiln_explain(s->kiln, &p, index, &v) != KILN_OK || !v.accepted || v.predicted_ms > most_ms)
        return NULL;
    const kiln_choice own = {.solver = v.solver, .ignore_rows = 1};
    return contender_kiln(s, w, r, &own, why);
}
