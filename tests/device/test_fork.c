/* What a child of fork() gets from a kiln of its parent's: an error, and no wait for threads that
 * it does not have. */
#include "kiln_tune.h"

#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CELLS = 24, BYTES = CELLS * 4, PATIENCE = 60 };

typedef struct parents {
    const support_device *device;
    kiln_op *op;
    kiln_buffers buffers;
} parents;

/* In the child, Check's functions would report to nobody. */
static void require(bool fine, const char *what)
{
    if (fine)
        return;
    fprintf(stderr, "in the child, %s: %s\n", what, kiln_last_error());
    _exit(1);
}

#define REQUIRE(condition) require(condition, #condition)
#define REFUSES(call) require((call) == KILN_INVALID && strstr(kiln_last_error(), "fork()"), #call)

static void use_parents(const parents *p)
{
    const kiln_problem problem = {
        .batch = 1, .in_channels = 3, .out_channels = 4, .input = {5, 5}, .filter = {3, 3}};
    const kiln_reformat same = {.dims = "NCHW", .size = {1, 2, 3, 4}};
    kiln *k = p->device->kiln, *again;
    kiln_op *op;
    kiln_op_info info;
    kiln_stage_info stage;
    kiln_verdict verdict;
    kiln_trial best;
    double ms;
    cl_command_queue queue = p->device->queue;
    REFUSES(kiln_op_enqueue(p->op, queue, &p->buffers, 0, NULL, NULL));
    REFUSES(kiln_op_time(p->op, queue, &p->buffers, &ms, NULL));
    REFUSES(kiln_finish(k, queue));
    REFUSES(kiln_flush(k, queue));
    REFUSES(kiln_conv_create(k, &problem, NULL, &op));
    REFUSES(kiln_reformat_create(k, &same, &op));
    REFUSES(kiln_prepare(k, &problem, 1, 1));
    REFUSES(kiln_explain(k, &problem, 0, &verdict));
    REFUSES(kiln_op_stage(p->op, 0, &stage));
    const kiln_tune_options o = {.verify = (int (*)(void *, const kiln_op *, double *))abort};
    REFUSES(kiln_tune(k, &problem, queue, &p->buffers, &o, &best));
    kiln_op_describe(p->op, &info);
    REQUIRE(info.stages > 0);
    REFUSES(kiln_open(&again, p->device->context, p->device->device, NULL));
    kiln_op_release(p->op);
    kiln_close(k);
    REQUIRE(kiln_open(&again, NULL, NULL, NULL) == KILN_OK);
    REQUIRE(kiln_conv_create(again, &problem, NULL, &op) == KILN_OK);
    kiln_op_release(op);
    kiln_close(again);
}

static void check_child(pid_t child)
{
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with %#x",
                  (unsigned)status);
}

static cl_mem create(const parents *p)
{
    const float zeros[CELLS] = {0};
    cl_int code;
    cl_mem mem = clCreateBuffer(p->device->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, BYTES,
                                (void *)zeros, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    return mem;
}

/* Some of the forks come while operations are in flight, and threads spin. */
START_TEST(child)
{
    enum { ROUNDS = 12 };
    const kiln_reformat same = {.dims = "NCHW", .size = {1, 2, 3, 4}};
    parents p = {.device = support_open()};
    p.buffers.x.mem = create(&p);
    p.buffers.y.mem = create(&p);
    ck_assert_int_eq(kiln_reformat_create(p.device->kiln, &same, &p.op), KILN_OK);
    for (int i = 0; i < ROUNDS; i++) {
        for (int j = 0; j < 10 * (i % 3); j++)
            ck_assert_int_eq(kiln_op_enqueue(p.op, p.device->queue, &p.buffers, 0, NULL, NULL),
                             KILN_OK);
        if (i % 2)
            ck_assert_int_eq(kiln_finish(p.device->kiln, p.device->queue), KILN_OK);
        const pid_t child = fork();
        if (child == 0) {
            alarm(PATIENCE);
            use_parents(&p);
            _exit(0);
        }
        ck_assert_int_gt(child, 0);
        check_child(child);
        ck_assert_int_eq(kiln_op_enqueue(p.op, p.device->queue, &p.buffers, 0, NULL, NULL),
                         KILN_OK);
    }
    ck_assert_int_eq(kiln_finish(p.device->kiln, p.device->queue), KILN_OK);
    kiln_op_release(p.op);
    clReleaseMemObject(p.buffers.x.mem);
    clReleaseMemObject(p.buffers.y.mem);
}
END_TEST

/* A child of a parent that only planned may use OpenCL. */
START_TEST(child_of_a_planner)
{
    const kiln_problem problem = {
        .batch = 1, .in_channels = 3, .out_channels = 4, .input = {5, 5}, .filter = {3, 3}};
    kiln *k;
    kiln_op *op;
    ck_assert_int_eq(kiln_open(&k, NULL, NULL, NULL), KILN_OK);
    ck_assert_int_eq(kiln_conv_create(k, &problem, NULL, &op), KILN_OK);
    const pid_t child = fork();
    if (child == 0) {
        kiln_verdict verdict;
        alarm(PATIENCE);
        REFUSES(kiln_explain(k, &problem, 0, &verdict));
        kiln_op_release(op);
        kiln_close(k);
        REQUIRE(kiln_prepare(support_open()->kiln, &problem, 1, 1) == KILN_OK);
        _exit(0);
    }
    ck_assert_int_gt(child, 0);
    check_child(child);
    kiln_verdict verdict;
    ck_assert_int_eq(kiln_explain(k, &problem, 0, &verdict), KILN_OK);
    kiln_op_release(op);
    kiln_close(k);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("fork");
    TCase *c = tcase_create("fork");
    tcase_add_test(c, child_of_a_planner); /* before this process uses OpenCL */
    tcase_add_test(c, child);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
