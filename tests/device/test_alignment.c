/* Buffers of the caller's memory (CL_MEM_USE_HOST_PTR) lie where it lies: every solver works on
 * memory that is aligned for single elements only, in each of its buffers. */
#include "generator/plan/solver.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { TENSORS = 7, PAGE = 4096 };

/* Every buffer of an operation, in order: x, w, y, bias, residual, workspace, packed. */
typedef struct memory {
    size_t bytes[TENSORS];
    char *room[TENSORS], *at[TENSORS];
    cl_mem mem[TENSORS];
} memory;

static void memory_free(memory *m)
{
    for (int i = 0; i < TENSORS; i++) {
        if (m->mem[i])
            clReleaseMemObject(m->mem[i]);
        free(m->room[i]);
    }
}

/* Makes buffers whose memory begins `shift` bytes behind a page, with the same contents each time.
 */
static memory memory_new(const kiln_op_info *info, size_t shift)
{
    const kiln_problem *p = &info->problem;
    const kiln_type types[] = {p->x_type, p->w_type, p->y_type, KILN_F32, p->y_type};
    memory m = {.bytes = {(size_t)info->x_size, (size_t)info->w_size, (size_t)info->y_size,
                          (size_t)info->bias_size, (size_t)info->residual_size,
                          (size_t)info->workspace_size, (size_t)info->packed_size}};
    if (info->packed_width > 0)
        m.bytes[6] = 0;
    for (int i = 0; i < TENSORS; i++) {
        if (m.bytes[i] == 0)
            continue;
        cl_int code;
        m.room[i] = aligned_alloc(PAGE, (m.bytes[i] + shift + PAGE - 1) / PAGE * PAGE);
        ck_assert_ptr_nonnull(m.room[i]);
        m.at[i] = m.room[i] + shift;
        memset(m.at[i], 0, m.bytes[i]);
        if (i < 5)
            host_fill_tensor(HOST_FILL_INT, (uint64_t)i, i, types[i], 100, m.at[i],
                             (int64_t)(m.bytes[i] / kiln_type_size(types[i])));
        m.mem[i] = clCreateBuffer(support_open()->context, CL_MEM_USE_HOST_PTR, m.bytes[i], m.at[i],
                                  &code);
        ck_assert_int_eq(code, CL_SUCCESS);
    }
    return m;
}

/* Runs from plain weights, then from packed ones, and reads what the operation wrote. */
static char *result_of(kiln_op *op, const kiln_op_info *info, size_t shift, size_t *bytes)
{
    const support_device *d = support_open();
    static const int written[] = {
        [KILN_FORWARD] = 2, [KILN_BACKWARD_DATA] = 0, [KILN_BACKWARD_WEIGHTS] = 1};
    const int to = written[info->problem.direction];
    memory m = memory_new(info, shift);
    kiln_buffers b = {.x.mem = m.mem[0],
                      .w.mem = m.mem[1],
                      .y.mem = m.mem[2],
                      .bias.mem = m.mem[3],
                      .residual.mem = m.mem[4],
                      .workspace.mem = m.mem[5]};
    char *got = malloc(2 * m.bytes[to]);
    ck_assert_ptr_nonnull(got);
    for (int packed = 0; packed <= (m.mem[6] != NULL); packed++) {
        b.packed.mem = packed ? m.mem[6] : NULL;
        ck_assert_msg(!packed || kiln_op_pack(op, d->queue, &b, 0, NULL, NULL) == KILN_OK, "%s",
                      kiln_last_error());
        ck_assert_msg(kiln_op_enqueue(op, d->queue, &b, 0, NULL, NULL) == KILN_OK, "%s",
                      kiln_last_error());
        ck_assert_int_eq(clEnqueueReadBuffer(d->queue, m.mem[to], CL_TRUE, 0, m.bytes[to],
                                             got + (size_t)packed * m.bytes[to], 0, NULL, NULL),
                         CL_SUCCESS);
        *bytes = (size_t)(packed + 1) * m.bytes[to];
    }
    memory_free(&m);
    return got;
}

static bool has_images(const kiln_op_info *info)
{
    const kiln_problem *p = &info->problem;
    return strchr(p->x_layout, '|') || strchr(p->w_layout, '|') || strchr(p->y_layout, '|');
}

/* Compares results in memory that begins behind a page with those in whole pages. */
static void check(const kiln_solver *solver, const kiln_problem *p)
{
    kiln_op *op;
    kiln_op_info info;
    const kiln_choice choice = {.solver = solver->name};
    if (kiln_conv_create(support_open()->kiln, p, &choice, &op) != KILN_OK)
        return;
    kiln_op_describe(op, &info);
    if (!has_images(&info)) {
        static const size_t shifts[] = {4, 16, 32};
        size_t n;
        char *right = result_of(op, &info, 0, &n);
        for (int i = 0; i < 3; i++) {
            char *got = result_of(op, &info, shifts[i], &n);
            ck_assert_msg(memcmp(got, right, n) == 0, "%s, shift %zu", solver->name, shifts[i]);
            free(got);
        }
        free(right);
    }
    kiln_op_release(op);
}

/* Channels fill vectors, or each is a group of its own. */
static kiln_problem problem_of(kiln_direction direction, kiln_type type, const char *layout,
                               bool depthwise)
{
    kiln_problem p = {.direction = direction,
                      .batch = 2,
                      .in_channels = depthwise ? 32 : 16,
                      .out_channels = 32,
                      .groups = depthwise ? 32 : 1,
                      .input = {9, 9},
                      .filter = {3, 3},
                      .pad_begin = {1, 1},
                      .pad_end = {1, 1},
                      .x_type = type,
                      .w_type = type,
                      .y_type = type};
    if (direction == KILN_FORWARD) {
        p.epilogue.bias = 1;
        p.epilogue.beta = 1;
    }
    strcpy(p.x_layout, layout);
    strcpy(p.y_layout, layout);
    ck_assert_int_eq(kiln_problem_check(&p, NULL), KILN_OK);
    return p;
}

START_TEST(every_solver)
{
    static const struct {
        kiln_type type;
        const char *layout;
        bool depthwise;
    } cases[] = {{KILN_F32, "NCHW16c", false}, {KILN_F32, "NCHW", false}, {KILN_F32, "any", true},
                 {KILN_F16, "any", false},     {KILN_BF16, "any", false}, {KILN_I8, "any", false}};
    const kiln_solver *s;
    for (int n = 0; (s = kiln_solver_at(n)); n++) {
        const kiln_problem p = problem_of((kiln_direction)(_i % 3), cases[_i / 3].type,
                                          cases[_i / 3].layout, cases[_i / 3].depthwise);
        check(s, &p);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("alignment");
    TCase *tests = tcase_create("alignment");
    tcase_set_timeout(tests, 600);
    tcase_add_loop_test(tests, every_solver, 0, 18);
    suite_add_tcase(suite, tests);
    return support_run_suite(suite);
}
