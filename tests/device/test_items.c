/* A launch whose items are dealt to fewer work-groups gives the same bits, however many these are.
 * Where no launch is dealt, because the device is no CPU of two cores of AMD's, there is nothing to
 * test. */
#include "op.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *solver, *problem;
} cases[] = {
    {"direct_blocked", "fwd-f32-n2-c17-k34-i7x9-f3x3-p1x1-l:NCHW16c.OIHW.NCHW16c"},
    {"direct_blocked", "bwd-f32-n1-c20-k33-i9x7-f3x3-s2x2-p1x1-l:NHWC.OIHW.NHWC"},
    {"direct_blocked", "fwd-f32-n3-c32-k48-i6x8-f1x1-g2-l:NCHW.OIHW.NCHW"},
    {"depthwise_blocked", "fwd-f32-n3-c40-k40-i13x11-f3x3-p1x1-g40-l:NCHW16c.OIHW.NCHW16c"},
    {"depthwise_blocked", "fwd-f32-n2-c33-k33-i12x17-f3x3-p1x1-g33-l:NCHW.OIHW.NCHW"},
    {"direct", "fwd-f32-n3-c7-k31-i8x9-f1x1-l:NCHW.OIHW.NCHW"},
    {"direct", "bwd-f32-n2-c19-k9-i11x10-f3x3-s2x2-p1x1-l:NCHW.OIHW.NCHW"},
};

enum { MOST = 1 << 17 };

typedef struct box {
    kiln_op *op;
    kiln_buffers buffers;
    cl_mem result;
    size_t bytes;
} box;

static cl_mem buffer(const kiln_problem *p, char tensor)
{
    static float data[MOST / 4];
    const size_t bytes = (size_t)kiln_problem_bytes(p, tensor);
    ck_assert_uint_le(bytes, sizeof data);
    for (size_t i = 0; i < MOST / 4; i++)
        data[i] = (float)((i * 37 + (size_t)tensor) % 101) / 7 - 6;
    cl_mem m = clCreateBuffer(support_open()->context, CL_MEM_COPY_HOST_PTR, bytes, data, NULL);
    ck_assert_ptr_nonnull(m);
    return m;
}

static box make(int i)
{
    box b = {0};
    char why[KILN_ERROR_TEXT];
    kiln_problem p;
    const kiln_choice choice = {.solver = cases[i].solver};
    kiln_op_info info;
    ck_assert_msg(kiln_problem_parse(&p, cases[i].problem, why) == KILN_OK, "%s", why);
    ck_assert_msg(kiln_conv_create(support_open()->kiln, &p, &choice, &b.op) == KILN_OK, "%s",
                  kiln_last_error());
    kiln_op_describe(b.op, &info);
    b.buffers = (kiln_buffers){
        .x = {buffer(&p, 'x'), 0}, .w = {buffer(&p, 'w'), 0}, .y = {buffer(&p, 'y'), 0}};
    if (info.workspace_size)
        b.buffers.workspace.mem = clCreateBuffer(support_open()->context, CL_MEM_READ_WRITE,
                                                 info.workspace_size, NULL, NULL);
    const bool backward = p.direction == KILN_BACKWARD_DATA;
    b.result = backward ? b.buffers.x.mem : b.buffers.y.mem;
    b.bytes = (size_t)kiln_problem_bytes(&p, backward ? 'x' : 'y');
    return b;
}

static void release(box *b)
{
    kiln_op_release(b->op);
    clReleaseMemObject(b->buffers.x.mem);
    clReleaseMemObject(b->buffers.w.mem);
    clReleaseMemObject(b->buffers.y.mem);
    if (b->buffers.workspace.mem)
        clReleaseMemObject(b->buffers.workspace.mem);
}

static void run(const box *b, unsigned char result[MOST])
{
    cl_command_queue queue = support_open()->queue;
    const unsigned char poison = 0xa5;
    clEnqueueFillBuffer(queue, b->result, &poison, 1, 0, b->bytes, 0, NULL, NULL);
    ck_assert_msg(kiln_op_enqueue(b->op, queue, &b->buffers, 0, NULL, NULL) == KILN_OK, "%s",
                  kiln_last_error());
    ck_assert_int_eq(
        clEnqueueReadBuffer(queue, b->result, CL_TRUE, 0, b->bytes, result, 0, NULL, NULL),
        CL_SUCCESS);
}

START_TEST(any_number_of_groups_gives_the_same_bits)
{
    static unsigned char usual[MOST], dealt[MOST];
    const kiln_device_facts *f = &support_open()->kiln->facts;
    if (f->compute_units != 2 || strncmp(f->core, "AMD", 3) != 0) {
        puts("skipped: launches are dealt to two cores of AMD's");
        return;
    }
    box b = make(_i);
    const int last = b.op->plan.nstages - 1;
    kiln_stage *stage = &b.op->plan.stage[last];
    size_t *groups = b.op->launch[last].global;
    ck_assert_msg(stage->shares > 0, "%s: not dealt", cases[_i].problem);
    const size_t shares = stage->shares, items = groups[0];
    ck_assert_uint_le(2 * shares, items);
    stage->shares = 0; /* whatever the runtime thinks of the cores */
    run(&b, usual);
    const size_t counts[] = {1, 2, shares, items - 1};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        groups[0] = counts[i];
        run(&b, dealt);
        ck_assert_msg(memcmp(usual, dealt, b.bytes) == 0, "%s in %zu groups", cases[_i].problem,
                      counts[i]);
    }
    release(&b);
}
END_TEST

int main(void)
{
    if (!support_on_cpu())
        return SUPPORT_SKIPPED;
    Suite *s = suite_create("items");
    TCase *c = tcase_create("items");
    tcase_set_timeout(c, 300);
    tcase_add_loop_test(c, any_number_of_groups_gives_the_same_bits, 0,
                        (int)(sizeof cases / sizeof *cases));
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
