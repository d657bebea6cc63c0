/* Operations in one command are each done once, in their order, between the commands that they were
 * enqueued between. */
#include "runtime/kiln/probes.h"
#include "runtime/op/op.h"
#include "runtime/pocl/pocl_internal.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each adds its result to what y holds, so that y counts them. Launches of one thread and of two.
 */
static const struct {
    const char *solver, *problem;
} cases[] = {
    {"direct_blocked", "fwd-f32-n1-c16-k16-i1x1-f1x1-l:NCHW16c.OIHW.NCHW16c-r1"},
    {"direct_blocked", "fwd-f32-n1-c37-k34-i7x9-f3x3-p1x1-l:NCHW16c.OIHW.NCHW16c-r1"},
    {"direct_blocked", "fwd-f32-n3-c40-k72-i13x11-f1x1-l:NCHW.OIHW.NCHW-r1"},
    {"direct", "fwd-f32-n1-c47-k31-i8x4-f1x1-l:NCHW.OIHW.NCHW-r1"},
    {"direct", "fwd-f32-n7-c47-k61-i8x9-f1x1-l:NCHW.OIHW.NCHW-r1"},
    {"depthwise_blocked", "fwd-f32-n1-c8-k8-i5x5-f3x3-p1x1-g8-l:NCHW16c.OIHW.NCHW16c-r1"},
    {"depthwise_blocked", "fwd-f32-n3-c72-k72-i13x11-f3x3-p1x1-g72-l:NCHW16c.OIHW.NCHW16c-r1"},
    {"winograd_staged", "fwd-f32-n1-c40-k37-i19x21-f3x3-p1x1-l:NCHW16c.OIHW.NCHW16c-r1"},
    {"winograd_fused", "fwd-f32-n1-c40-k37-i19x21-f3x3-p1x1-l:NCHW16c.OIHW.NCHW16c-r1"},
};

enum { CASES = sizeof cases / sizeof *cases, TENSORS = 3, MOST = 1 << 18 };

typedef struct box {
    kiln_op *op;
    kiln_buffers buffers;
    size_t cells; /* of y */
    float *once;  /* what y gets, of one */
    float tolerance;
} box;

static kiln *trusting;
static cl_command_queue queue;

static void open_trusting(void)
{
    const kiln_settings settings = {.rows_file = "off", .buffers_stay = 1, .queues_flushed = 1};
    const support_device *d = support_open();
    ck_assert_msg(kiln_open(&trusting, d->context, d->device, &settings) == KILN_OK, "%s",
                  kiln_last_error());
    queue = clCreateCommandQueue(d->context, d->device, 0, NULL);
    ck_assert_ptr_nonnull(queue);
    const kiln_device_facts *f = &trusting->facts;
    kiln_probe_pocl(trusting);
    if (f->compute_units <= 16 && kiln_device_is_pocl(f))
        ck_assert_msg(trusting->pocl && trusting->pocl->batch,
                      "no operation joins a batch on PoCL");
    else
        puts("operations join a batch on CPUs of 2 to 16 threads, under PoCL; here they do not");
}

static void close_trusting(void)
{
    clReleaseCommandQueue(queue);
    kiln_close(trusting);
}

static cl_mem tensor(size_t bytes, int numbers)
{
    static float data[MOST];
    ck_assert_uint_le(bytes, sizeof data);
    for (size_t i = 0; i < MOST; i++)
        data[i] = numbers ? (float)(int)((i * 7 + (size_t)numbers) % 5) - 2 : 0;
    cl_mem m = clCreateBuffer(support_open()->context, CL_MEM_COPY_HOST_PTR, bytes, data, NULL);
    ck_assert_ptr_nonnull(m);
    return m;
}

static void enqueue(const box *b, cl_command_queue to, int n)
{
    for (int i = 0; i < n; i++)
        ck_assert_msg(kiln_op_enqueue(b->op, to, &b->buffers, 0, NULL, NULL) == KILN_OK, "%s",
                      kiln_last_error());
}

static void empty(const box *b, cl_command_queue of)
{
    const float zero = 0;
    clEnqueueFillBuffer(of, b->buffers.y.mem, &zero, sizeof zero, 0, b->cells * sizeof zero, 0,
                        NULL, NULL);
    kiln_flush(trusting, of);
}

static void read_cells(cl_command_queue from, cl_mem m, size_t cells, float *to)
{
    ck_assert_int_eq(
        clEnqueueReadBuffer(from, m, CL_TRUE, 0, cells * sizeof *to, to, 0, NULL, NULL),
        CL_SUCCESS);
}

static uint64_t joined(void)
{
    return trusting->pocl ? kiln_command_batch_count(trusting->pocl->batch) : 0;
}

/* Launches that an enqueue adds to a batch: on devices of more than two threads, only short ones.
 */
static int may_join(const box *b)
{
    const kiln_plan *plan = kiln_op_plan(b->op);
    for (int i = 0; i < plan->nstages; i++)
        if (!plan->stage[i].pack && !plan->stage[i].shared)
            return 0;
    return trusting->pocl && trusting->pocl->batch ? plan->nstages - plan->stage[0].pack : 0;
}

/* The first enqueue has new buffers; the second one is captured, which takes a moment. */
static void run_until_one_joins(box *b)
{
    enum { MOST_RUNS = 10000 };
    const uint64_t before = joined();
    for (int n = 0; n < 3 || (may_join(b) && joined() == before); n++) {
        ck_assert_int_lt(n, MOST_RUNS);
        empty(b, queue);
        enqueue(b, queue, 1);
        read_cells(queue, b->buffers.y.mem, b->cells, b->once);
    }
}

static box make(int i)
{
    box b = {.tolerance = strstr(cases[i].solver, "winograd") ? 2e-3f : 0};
    char why[KILN_ERROR_TEXT];
    kiln_problem p;
    kiln_op_info info;
    const kiln_choice choice = {.solver = cases[i].solver, .packed_weights = 1};
    ck_assert_msg(kiln_problem_parse(&p, cases[i].problem, why) == KILN_OK, "%s", why);
    ck_assert_msg(kiln_conv_create(trusting, &p, &choice, &b.op) == KILN_OK, "%s",
                  kiln_last_error());
    kiln_op_describe(b.op, &info);
    const size_t bytes = (size_t)kiln_problem_bytes(&p, 'y', NULL);
    b.buffers = (kiln_buffers){.x = {tensor((size_t)kiln_problem_bytes(&p, 'x', NULL), 1), 0},
                               .w = {tensor((size_t)kiln_problem_bytes(&p, 'w', NULL), 3), 0},
                               .y = {tensor(bytes, 0), 0}};
    b.buffers.residual = b.buffers.y;
    if (info.workspace_size)
        b.buffers.workspace.mem = tensor((size_t)info.workspace_size, 0);
    if (info.packed_size) {
        b.buffers.packed.mem = tensor((size_t)info.packed_size, 0);
        ck_assert_int_eq(kiln_op_pack(b.op, queue, &b.buffers, 0, NULL, NULL), KILN_OK);
    }
    b.cells = bytes / sizeof *b.once;
    b.once = malloc(bytes);
    run_until_one_joins(&b);
    return b;
}

static void release(box *b)
{
    kiln_op_release(b->op);
    clReleaseMemObject(b->buffers.x.mem);
    clReleaseMemObject(b->buffers.w.mem);
    clReleaseMemObject(b->buffers.y.mem);
    if (b->buffers.packed.mem)
        clReleaseMemObject(b->buffers.packed.mem);
    if (b->buffers.workspace.mem)
        clReleaseMemObject(b->buffers.workspace.mem);
    free(b->once);
}

static void check_times(const box *b, cl_command_queue from, cl_mem m, int times, const char *name)
{
    float *got = malloc(b->cells * sizeof *got);
    read_cells(from, m, b->cells, got);
    const float most = b->tolerance * (float)times;
    for (size_t i = 0; i < b->cells; i++) {
        const float off = got[i] - (float)times * b->once[i];
        if (!(off <= most && -off <= most)) /* each assertion takes 2 us */
            ck_abort_msg("%s: y[%zu] is %g, %d times %g wanted", name, i, (double)got[i], times,
                         (double)b->once[i]);
    }
    free(got);
}

/* More than a ring has room for; of many, some do not join where the machine is busy. */
START_TEST(each_is_done_once)
{
    static const int times[] = {1, 2, 3, 100, 1000};
    box b = make(_i);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        const uint64_t before = joined();
        empty(&b, queue);
        enqueue(&b, queue, times[i]);
        check_times(&b, queue, b.buffers.y.mem, times[i], cases[_i].problem);
        ck_assert_msg(!may_join(&b) || times[i] > 3 ||
                          joined() - before == (uint64_t)(times[i] * may_join(&b)),
                      "%s: %d of %d joined", cases[_i].problem, (int)(joined() - before), times[i]);
    }
    release(&b);
}
END_TEST

/* Commands of the program's own, which it does not wait for, and operations that give events. */
START_TEST(commands_keep_their_places)
{
    enum { ROUNDS = 40 };
    box b = make(_i);
    cl_mem copy[ROUNDS];
    int in_y = 0, want[ROUNDS];
    empty(&b, queue);
    for (int i = 0; i < ROUNDS; i++) {
        cl_event done = NULL;
        enqueue(&b, queue, i % 7);
        in_y += i % 7;
        if (i % 5 == 4) {
            ck_assert_int_eq(kiln_op_enqueue(b.op, queue, &b.buffers, 0, NULL, &done), KILN_OK);
            in_y++;
        }
        copy[i] = tensor(b.cells * sizeof *b.once, 5);
        clEnqueueCopyBuffer(queue, b.buffers.y.mem, copy[i], 0, 0, b.cells * sizeof *b.once,
                            done ? 1 : 0, done ? &done : NULL, NULL);
        want[i] = in_y;
        if (i % 3 == 2) {
            empty(&b, queue);
            in_y = 0;
        }
        kiln_flush(trusting, queue);
        if (done)
            clReleaseEvent(done);
    }
    for (int i = 0; i < ROUNDS; i++) {
        check_times(&b, queue, copy[i], want[i], cases[_i].problem);
        clReleaseMemObject(copy[i]);
    }
    release(&b);
}
END_TEST

/* Nothing waits for a queue that waits for this thread; nor does who releases an operation. */
START_TEST(a_queue_that_waits)
{
    enum { TIMES = 700 };
    box b = make(_i);
    cl_event gate = clCreateUserEvent(support_open()->context, NULL);
    empty(&b, queue);
    clEnqueueBarrierWithWaitList(queue, 1, &gate, NULL);
    kiln_flush(trusting, queue);
    enqueue(&b, queue, TIMES);
    kiln_op_release(b.op);
    clSetUserEventStatus(gate, CL_COMPLETE);
    check_times(&b, queue, b.buffers.y.mem, TIMES, cases[_i].problem);
    b.op = NULL;
    release(&b);
    clReleaseEvent(gate);
}
END_TEST

/* The program waits for the queue by OpenCL alone, often, or never until the end. */
START_TEST(rows_end)
{
    enum { ROWS = 300, LONG = 150000 };
    box b = make(0);
    empty(&b, queue);
    for (int i = 0; i < ROWS; i++) {
        enqueue(&b, queue, 1 + i % 3);
        if (i % 2)
            clFinish(queue);
        else
            kiln_finish(trusting, queue);
    }
    check_times(&b, queue, b.buffers.y.mem, 2 * ROWS, "rows");
    empty(&b, queue);
    enqueue(&b, queue, LONG);
    check_times(&b, queue, b.buffers.y.mem, LONG, "a long row");
    release(&b);
}
END_TEST

typedef struct worker {
    box b;
    cl_command_queue own;
} worker;

enum { WORKERS = 3, TURNS = 60, ROW = 30 };

static void *work(void *user)
{
    worker *w = user;
    for (int i = 0; i < TURNS; i++) {
        empty(&w->b, w->own);
        enqueue(&w->b, w->own, ROW);
        check_times(&w->b, w->own, w->b.buffers.y.mem, ROW, "a thread's own queue");
    }
    return NULL;
}

START_TEST(threads_have_queues_of_their_own)
{
    worker w[WORKERS];
    pthread_t thread[WORKERS];
    const support_device *d = support_open();
    for (int i = 0; i < WORKERS; i++) {
        w[i] = (worker){make(i), clCreateCommandQueue(d->context, d->device, 0, NULL)};
        ck_assert_ptr_nonnull(w[i].own);
    }
    for (int i = 0; i < WORKERS; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, work, &w[i]), 0);
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(thread[i], NULL);
        clReleaseCommandQueue(w[i].own);
        release(&w[i].b);
    }
}
END_TEST

/* Other operations and other buffers of one, in turns, in one queue. */
START_TEST(operations_take_turns)
{
    enum { ROUNDS = 200 };
    box b[CASES];
    for (int i = 0; i < CASES; i++) {
        b[i] = make(i);
        empty(&b[i], queue);
    }
    kiln_buffers other = b[0].buffers;
    other.y.mem = other.residual.mem = tensor(b[0].cells * sizeof(float), 0);
    for (int n = 0; n < ROUNDS; n++) {
        for (int i = 0; i < CASES; i++)
            enqueue(&b[i], queue, 1);
        if (n % 10 == 0)
            ck_assert_int_eq(kiln_op_enqueue(b[0].op, queue, &other, 0, NULL, NULL), KILN_OK);
    }
    check_times(&b[0], queue, other.y.mem, ROUNDS / 10, "other buffers");
    clReleaseMemObject(other.y.mem);
    for (int i = 0; i < CASES; i++) {
        check_times(&b[i], queue, b[i].buffers.y.mem, ROUNDS, cases[i].problem);
        release(&b[i]);
    }
}
END_TEST

int main(void)
{
    if (!support_on_cpu())
        return SUPPORT_SKIPPED;
    Suite *suite = suite_create("command_batch");
    TCase *tests = tcase_create("command_batch");
    tcase_set_timeout(tests, 0);
    tcase_add_checked_fixture(tests, open_trusting, close_trusting);
    tcase_add_loop_test(tests, each_is_done_once, 0, CASES);
    tcase_add_loop_test(tests, commands_keep_their_places, 0, CASES);
    tcase_add_loop_test(tests, a_queue_that_waits, 0, CASES);
    tcase_add_test(tests, rows_end);
    tcase_add_test(tests, threads_have_queues_of_their_own);
    tcase_add_test(tests, operations_take_turns);
    suite_add_tcase(suite, tests);
    return support_run_suite(suite);
}
