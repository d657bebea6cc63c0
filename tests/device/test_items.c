/* A launch of one work-group, whoever helps with its items, gives the bits of one of many. */
#include "runtime/kiln/probes.h"
#include "runtime/op/op.h"
#include "runtime/pocl/work_sharing.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct {
    const char *solver, *problem;
} cases[] = {
    {"direct_blocked", "fwd-f32-n3-c37-k34-i7x9-f3x3-p1x1-l:NCHW16c.OIHW.NCHW16c"},
    {"nhwc_direct", "bwd-f32-n3-c40-k33-i19x17-f3x3-s2x2-p1x1-l:NHWC.OIHW.NHWC"},
    {"direct_blocked", "fwd-f32-n5-c96-k112-i6x11-f1x1-g2-l:NCHW.OIHW.NCHW"},
    {"depthwise_blocked", "fwd-f32-n9-c72-k72-i13x11-f3x3-p1x1-g72-l:NCHW16c.OIHW.NCHW16c"},
    {"depthwise_blocked", "fwd-f32-n5-c65-k65-i12x17-f3x3-p1x1-g65-l:NCHW.OIHW.NCHW"},
    {"direct_blocked", "fwd-f32-n1-c37-k150-i17x19-f1x1-l:NCHW16c.OIHW.NCHW16c"},
    {"depthwise_blocked", "fwd-f32-n1-c40-k40-i27x23-f3x3-p1x1-g40-l:NCHW16c.OIHW.NCHW16c"},
    {"winograd_fused", "fwd-f32-n1-c40-k37-i19x21-f3x3-p1x1-l:NCHW16c.OIHW.NCHW16c"},
    {"winograd_fused", "bwd-f32-n1-c33-k48-i15x20-f3x3-p1x1-l:NCHW.OIHW.NCHW"},
    {"direct_pixels", "fwd-f32-n3-c19-k23-i17x14-f3x3-p1x1-l:NCHW.OIHW.NCHW"},
    {"direct_pixels", "bwd-f32-n2-c9-k21-i13x22-f3x3-s2x2-p1x1-l:NHWC.OIHW.NHWC"},
    {"first_layer", "fwd-f32-n3-c3-k33-i41x29-f3x3-p1x1-l:NCHW.OIHW.NCHW"},
    {"first_layer", "fwd-f32-n2-c3-k24-i41x39-f7x7-s2x2-p3x3-l:NHWC.OIHW.NHWC"},
    {"direct", "fwd-f32-n7-c47-k61-i8x9-f1x1-l:NCHW.OIHW.NCHW"},
    {"direct", "bwd-f32-n2-c19-k9-i11x10-f3x3-s2x2-p1x1-l:NCHW.OIHW.NCHW"},
};

enum { MOST = 1 << 19 };

typedef struct box {
    kiln_op *op;
    kiln_buffers buffers;
    cl_mem result;
    size_t bytes;
} box;

static cl_mem buffer(const kiln_problem *p, char tensor)
{
    static float data[MOST / 4];
    const size_t bytes = (size_t)kiln_problem_bytes(p, tensor, NULL);
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
    b.bytes = (size_t)kiln_problem_bytes(&p, backward ? 'x' : 'y', NULL);
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

static bool shares_work(void)
{
    kiln *k = support_open()->kiln;
    const kiln_device_facts *f = &k->facts;
    kiln_probe_pocl(k);
    if (f->compute_units <= 16 && kiln_device_is_pocl(f)) {
        ck_assert_msg(f->shares_work, "PoCL's kernels cannot be called");
        return true;
    }
    puts("skipped: launches are shared on CPUs of 2 to 16 threads, under PoCL");
    return false;
}

static kiln_stage *last_stage(const box *b)
{
    kiln_stage *stage = &b->op->plan.stage[b->op->plan.nstages - 1];
    ck_assert(stage->shared);
    return stage;
}

static atomic_bool stop;
static atomic_int helped;

/* The name that an item has in a kernel's library, exported here. PoCL opens these libraries after
 * this program, so that a symbol of the program's would come first. */
__attribute__((visibility("default"), used)) void kiln_item(void)
{
    abort();
}

static void *help(void *unused)
{
    kiln_sharing_scratch scratch = {0};
    while (!atomic_load(&stop))
        if (kiln_sharing_help(&scratch))
            atomic_fetch_add(&helped, 1);
        else
            sched_yield();
    free(scratch.bytes);
    return unused;
}

enum { HELPERS = 3, RUNS = 200, PATIENCE = 120 /* seconds */ };

START_TEST(a_shared_launch_gives_the_same_bits)
{
    static unsigned char usual[MOST], shared[MOST];
    if (!shares_work())
        return;
    box b = make(_i);
    kiln_stage *stage = last_stage(&b);
    stage->shared = false;
    run(&b, usual);
    stage->shared = true;
    run(&b, shared);
    ck_assert_msg(memcmp(usual, shared, b.bytes) == 0, "%s", cases[_i].problem);
    pthread_t thread[HELPERS];
    atomic_store(&stop, false);
    for (int i = 0; i < HELPERS; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, help, NULL), 0);
    /* On busy cores none of these threads may look up in time for many runs. */
    const time_t until = time(NULL) + PATIENCE;
    for (int i = 0; i < RUNS || (atomic_load(&helped) == 0 && time(NULL) < until); i++) {
        run(&b, shared);
        ck_assert_msg(memcmp(usual, shared, b.bytes) == 0, "%s, run %d", cases[_i].problem, i);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < HELPERS; i++)
        pthread_join(thread[i], NULL);
    ck_assert_int_gt(atomic_load(&helped), 0);
    release(&b);
}
END_TEST

typedef struct caller {
    box box;
    cl_command_queue queue;
    bool right;
} caller;

static void *call(void *argument)
{
    caller *c = argument;
    static _Thread_local unsigned char usual[MOST], shared[MOST];
    const size_t bytes = c->box.bytes;
    c->right = true;
    for (int i = 0; i < RUNS && c->right; i++) {
        const unsigned char poison = 0xa5;
        unsigned char *to = i == 0 ? usual : shared;
        clEnqueueFillBuffer(c->queue, c->box.result, &poison, 1, 0, bytes, 0, NULL, NULL);
        c->right =
            kiln_op_enqueue(c->box.op, c->queue, &c->box.buffers, 0, NULL, NULL) == KILN_OK &&
            clEnqueueReadBuffer(c->queue, c->box.result, CL_TRUE, 0, bytes, to, 0, NULL, NULL) ==
                CL_SUCCESS &&
            (i == 0 || memcmp(usual, shared, bytes) == 0);
    }
    return NULL;
}

/* One launch has the memory, another one at the same time does its items alone. */
START_TEST(launches_at_once_are_right)
{
    caller callers[2];
    pthread_t thread[2];
    if (!shares_work())
        return;
    for (int i = 0; i < 2; i++) {
        callers[i] = (caller){.box = make(i)};
        callers[i].queue =
            clCreateCommandQueue(support_open()->context, support_open()->device, 0, NULL);
        last_stage(&callers[i].box);
        ck_assert_int_eq(pthread_create(&thread[i], NULL, call, &callers[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], NULL);
        ck_assert_msg(callers[i].right, "%s", cases[i].problem);
        clReleaseCommandQueue(callers[i].queue);
        release(&callers[i].box);
    }
}
END_TEST

int main(void)
{
    if (!support_on_cpu())
        return SUPPORT_SKIPPED;
    Suite *s = suite_create("items");
    TCase *c = tcase_create("items");
    tcase_set_timeout(c, 300);
    tcase_add_loop_test(c, a_shared_launch_gives_the_same_bits, 0,
                        (int)(sizeof cases / sizeof *cases));
    tcase_add_test(c, launches_at_once_are_right);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
