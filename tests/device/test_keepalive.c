/* PoCL's threads look for work where they should, and no longer than they should: what they are
 * asked to run is counted, as is what they have run. Nothing here depends on how fast that is. Each
 * test runs for operations of which nobody knows what they take, of one work-group, and of so
 * little that one core does them. */
#include "runtime/op/op.h"
#include "runtime/pocl/pocl_internal.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { CELLS = 24, BYTES = CELLS * 4, LONGER_THAN_A_TEST_US = 1000000000 };

/* A thread that looks again has asked for that before its last look ends. */
static atomic_int looks, ended;
typedef void(CL_CALLBACK *host_function)(void *);
static _Atomic(host_function) look;

static void CL_CALLBACK counted(void *argument)
{
    host_function function = atomic_load(&look);
    function(argument);
    ended++;
}

cl_int clEnqueueNativeKernel(cl_command_queue queue, host_function function, void *argument,
                             size_t size, cl_uint n_mem, const cl_mem *mem, const void **places,
                             cl_uint n_wait, const cl_event *wait, cl_event *done)
{
    static cl_int (*_Atomic real)(cl_command_queue, host_function, void *, size_t, cl_uint,
                                  const cl_mem *, const void **, cl_uint, const cl_event *,
                                  cl_event *);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "clEnqueueNativeKernel");
    atomic_store(&look, function);
    looks++;
    return real(queue, counted, argument, size, n_mem, mem, places, n_wait, wait, done);
}

static atomic_int moved; /* threads whose affinity was set */

int sched_setaffinity(pid_t thread, size_t size, const cpu_set_t *set)
{
    moved++;
    return (int)syscall(SYS_sched_setaffinity, thread, size, set);
}

static void idle(int ms)
{
    const struct timespec t = {0, ms * 1000000L};
    nanosleep(&t, NULL);
}

/* With `ended` read first, slices that end in between make it more than there are, never fewer. */
static int looking(void)
{
    const int before = ended;
    return looks - before;
}

/* Returns when all threads may sleep; if they never may, the test's time runs out. */
static void wait_for_sleep(void)
{
    while (looking() != 0)
        idle(1);
}

static bool has_threads_to_keep_awake(void)
{
    const kiln_device_facts *f = &support_open()->kiln->facts;
    return kiln_device_is_pocl(f) && f->compute_units > 1 && f->compute_units <= 16;
}

typedef struct box {
    kiln *kiln;
    kiln_op *op;
    cl_mem x, y;
    float source[CELLS], result[CELLS];
} box;

/* `takes_ns`: as kiln_pocl_op_open() has it, but 0 for an operation of one work-group. */
static void make(box *b, int keepalive_us, int64_t takes_ns)
{
    const support_device *d = support_open();
    const kiln_settings settings = {.keepalive_us = keepalive_us, .rows_file = "off"};
    const kiln_reformat same = {.dims = "NCHW", .size = {1, 2, 3, 4}};
    for (int i = 0; i < CELLS; i++) {
        b->source[i] = (float)i + 1;
        b->result[i] = -1;
    }
    ck_assert_int_eq(kiln_open(&b->kiln, d->context, d->device, &settings), KILN_OK);
    ck_assert_int_eq(kiln_reformat_create(b->kiln, &same, &b->op), KILN_OK);
    if (b->op->pocl)
        b->op->pocl->takes_ns = takes_ns;
    b->x = clCreateBuffer(d->context, CL_MEM_COPY_HOST_PTR, BYTES, b->source, NULL);
    b->y = clCreateBuffer(d->context, CL_MEM_COPY_HOST_PTR, BYTES, b->result, NULL);
    ck_assert(b->x && b->y);
}

static void enqueue(const box *b, int times)
{
    const kiln_buffers buffers = {.x = {b->x, 0}, .y = {b->y, 0}};
    for (int i = 0; i < times; i++)
        ck_assert_int_eq(kiln_op_enqueue(b->op, support_open()->queue, &buffers, 0, NULL, NULL),
                         KILN_OK);
}

static void close_kiln(box *b)
{
    kiln_op_release(b->op);
    kiln_close(b->kiln);
    b->kiln = NULL;
}

static void check_result(box *b)
{
    ck_assert_int_eq(clEnqueueReadBuffer(support_open()->queue, b->y, CL_TRUE, 0, BYTES, b->result,
                                         0, NULL, NULL),
                     CL_SUCCESS);
    ck_assert_mem_eq(b->source, b->result, BYTES);
    clReleaseMemObject(b->x);
    clReleaseMemObject(b->y);
}

/* All of them once nothing is in flight, and yet what the caller wants is done at once. */
START_TEST(they_look_until_the_kiln_is_closed)
{
    static box b;
    make(&b, LONGER_THAN_A_TEST_US, _i);
    do {
        enqueue(&b, 3);
        clFinish(support_open()->queue);
    } while (has_threads_to_keep_awake() && looking() < support_open()->kiln->facts.compute_units);
    ck_assert_int_eq(looks > 0, has_threads_to_keep_awake());
    check_result(&b);
    close_kiln(&b);
    ck_assert_int_eq(looking(), 0);
}
END_TEST

/* Two work-groups of a kernel of the caller's, each of which waits for the other. */
START_TEST(they_take_what_others_enqueue)
{
    const support_device *d = support_open();
    const char *source = "kernel void meet(global int *met)\n"
                         "{\n"
                         "    atomic_inc(met);\n"
                         "    while (atomic_add(met, 0) % 2)\n"
                         "        ;\n"
                         "}\n";
    const size_t two = 2, one = 1;
    cl_int zero = 0;
    static box b;
    if (!has_threads_to_keep_awake())
        return;
    cl_program program = clCreateProgramWithSource(d->context, 1, &source, NULL, NULL);
    ck_assert_int_eq(clBuildProgram(program, 1, &d->device, "", NULL, NULL), CL_SUCCESS);
    cl_kernel meet = clCreateKernel(program, "meet", NULL);
    cl_mem met = clCreateBuffer(d->context, CL_MEM_COPY_HOST_PTR, sizeof zero, &zero, NULL);
    ck_assert_int_eq(clSetKernelArg(meet, 0, sizeof met, &met), CL_SUCCESS);
    make(&b, LONGER_THAN_A_TEST_US, _i);
    for (int i = 0; i < 100; i++) {
        enqueue(&b, 1);
        clFinish(d->queue);
        clEnqueueNDRangeKernel(d->queue, meet, 1, NULL, &two, &one, 0, NULL, NULL);
        clFinish(d->queue);
    }
    close_kiln(&b);
    check_result(&b);
    clReleaseMemObject(met);
    clReleaseKernel(meet);
    clReleaseProgram(program);
}
END_TEST

START_TEST(they_look_until_their_time_is_over)
{
    static box b;
    make(&b, 1000, _i);
    for (int round = 0; round < 3; round++) {
        const int before = looks;
        enqueue(&b, 50);
        clFinish(support_open()->queue);
        wait_for_sleep();
        ck_assert_int_eq(looks > before, has_threads_to_keep_awake());
    }
    close_kiln(&b);
    check_result(&b);
}
END_TEST

START_TEST(they_sleep_where_they_should)
{
    static box b;
    const int before = looks;
    make(&b, -1, _i);
    enqueue(&b, 3);
    clFinish(support_open()->queue);
    ck_assert_int_eq(looks, before);
    close_kiln(&b);
    check_result(&b);
}
END_TEST

/* The device's other cores are the compiler's. */
START_TEST(they_sleep_while_a_kernel_is_compiled)
{
    static box b;
    const int before = looks;
    make(&b, 1000, _i);
    enqueue(&b, 1);
    clFinish(support_open()->queue);
    ck_assert_int_eq(looks, before);
    enqueue(&b, 1);
    clFinish(support_open()->queue);
    ck_assert_int_eq(looks > before, has_threads_to_keep_awake());
    close_kiln(&b);
    check_result(&b);
}
END_TEST

/* Another kiln's threads are enough. */
START_TEST(they_sleep_when_another_kiln_works)
{
    static box first, second;
    make(&first, LONGER_THAN_A_TEST_US, _i);
    make(&second, 1000, _i);
    enqueue(&first, 3);
    clFinish(support_open()->queue);
    enqueue(&second, 3);
    clFinish(support_open()->queue);
    wait_for_sleep();
    close_kiln(&first);
    close_kiln(&second);
    check_result(&first);
    check_result(&second);
}
END_TEST

static cl_event enqueue_after(const box *b, cl_command_queue queue, cl_event go)
{
    const kiln_buffers buffers = {.x = {b->x, 0}, .y = {b->y, 0}};
    cl_event done;
    ck_assert_int_eq(kiln_op_enqueue(b->op, queue, &buffers, go ? 1 : 0, go ? &go : NULL, &done),
                     KILN_OK);
    return done;
}

START_TEST(they_sleep_while_an_operation_waits)
{
    static box b;
    make(&b, 1000, _i);
    enqueue(&b, 1);
    cl_event go = clCreateUserEvent(support_open()->context, NULL);
    clReleaseEvent(enqueue_after(&b, support_open()->queue, go));
    wait_for_sleep();
    ck_assert_int_eq(clSetUserEventStatus(go, CL_COMPLETE), CL_SUCCESS);
    clReleaseEvent(go);
    check_result(&b);
    close_kiln(&b);
}
END_TEST

static void check_complete(cl_event done)
{
    cl_int state = -1;
    clGetEventInfo(done, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    ck_assert_int_eq(state, CL_COMPLETE);
    clReleaseEvent(done);
}

static void *go_later(void *go)
{
    idle(20);
    clSetUserEventStatus(go, CL_COMPLETE);
    return NULL;
}

/* However long that is, and whatever was noted last. */
START_TEST(finishing_waits_for_the_queue)
{
    static const int keepalive_us[] = {-1, 0, 1000};
    const support_device *d = support_open();
    cl_command_queue other = clCreateCommandQueue(d->context, d->device, 0, NULL);
    for (int i = 0; i < 3; i++) {
        static box b;
        make(&b, keepalive_us[i], _i);
        ck_assert_int_eq(kiln_finish(b.kiln, d->queue), KILN_OK); /* of nothing */
        for (int times = 0; times < 100; times++) {
            cl_event done = enqueue_after(&b, d->queue, NULL);
            ck_assert_int_eq(kiln_finish(b.kiln, d->queue), KILN_OK);
            check_complete(done);
        }
        for (int elsewhere = 0; elsewhere < 2; elsewhere++) {
            pthread_t later;
            cl_event go = clCreateUserEvent(d->context, NULL);
            cl_event done = enqueue_after(&b, d->queue, go);
            if (elsewhere)
                clReleaseEvent(enqueue_after(&b, other, NULL));
            ck_assert_int_eq(pthread_create(&later, NULL, go_later, go), 0);
            ck_assert_int_eq(kiln_finish(b.kiln, d->queue), KILN_OK);
            check_complete(done);
            pthread_join(later, NULL);
            clReleaseEvent(go);
        }
        clFinish(other);
        check_result(&b);
        close_kiln(&b);
    }
    clReleaseCommandQueue(other);
}
END_TEST

/* Neither beside operations in a row nor beside operations that are waited for. */
START_TEST(no_thread_is_moved_unasked)
{
    static box b;
    const int before = moved;
    make(&b, 1000, _i);
    for (int round = 0; round < 300; round++) {
        enqueue(&b, 1 + round % 20);
        ck_assert_int_eq(kiln_finish(b.kiln, support_open()->queue), KILN_OK);
    }
    close_kiln(&b);
    ck_assert_int_eq(moved, before);
    check_result(&b);
}
END_TEST

START_TEST(closing_leaves_what_is_in_flight)
{
    for (int round = 0; round < 20; round++) {
        static box b;
        make(&b, round % 2 ? 0 : LONGER_THAN_A_TEST_US, _i);
        enqueue(&b, 100);
        close_kiln(&b);
        check_result(&b);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("keepalive");
    TCase *c = tcase_create("keepalive");
    tcase_set_timeout(c, 300);
    tcase_add_loop_test(c, they_look_until_the_kiln_is_closed, -1, 2);
    tcase_add_loop_test(c, they_take_what_others_enqueue, -1, 2);
    tcase_add_loop_test(c, they_look_until_their_time_is_over, -1, 2);
    tcase_add_loop_test(c, they_sleep_where_they_should, -1, 2);
    tcase_add_loop_test(c, they_sleep_while_a_kernel_is_compiled, -1, 2);
    tcase_add_loop_test(c, they_sleep_when_another_kiln_works, -1, 2);
    tcase_add_loop_test(c, they_sleep_while_an_operation_waits, -1, 2);
    tcase_add_loop_test(c, finishing_waits_for_the_queue, -1, 2);
    tcase_add_loop_test(c, no_thread_is_moved_unasked, -1, 2);
    tcase_add_loop_test(c, closing_leaves_what_is_in_flight, -1, 2);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
