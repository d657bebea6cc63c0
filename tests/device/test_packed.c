/* Packed weights: shared by operations and threads, promised, and checked; operations that outlive
 * the handle of their kiln. */
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <pthread.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 6, C = 16, K = 16, SIDE = 6, CELLS = K * SIDE * SIDE };

static const kiln_problem problem = {.math = KILN_MATH_EXACT,
                                     .batch = 1,
                                     .in_channels = C,
                                     .out_channels = K,
                                     .input = {SIDE, SIDE},
                                     .x_layout = "NCHW16c",
                                     .y_layout = "NCHW16c",
                                     .filter = {3, 3},
                                     .pad_begin = {1, 1},
                                     .pad_end = {1, 1}};
static const kiln_choice packed_choice = {.solver = "direct_blocked", .packed_weights = 1};

static cl_mem create(int64_t size)
{
    static const float zeros[1];
    cl_int code;
    const cl_uint ones = 0x3f800000;
    const support_device *d = support_open();
    cl_mem mem = clCreateBuffer(d->context, CL_MEM_READ_WRITE,
                                size > 0 ? (size_t)size : sizeof zeros, NULL, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    code = clEnqueueFillBuffer(d->queue, mem, &ones, sizeof ones, 0, (size_t)size / 4 * 4, 0, NULL,
                               NULL);
    ck_assert_int_eq(code, CL_SUCCESS);
    clFinish(d->queue);
    return mem;
}

static kiln *open_kiln(int check_packed)
{
    const support_device *d = support_open();
    const kiln_settings settings = {
        .cache_dir = "off", .rows_file = "off", .shipped_dir = "off", .check_packed = check_packed};
    kiln *k;
    ck_assert_msg(kiln_open(&k, d->context, d->device, &settings) == KILN_OK, "%s",
                  kiln_last_error());
    return k;
}

static kiln_op *create_op(kiln *k, const kiln_choice *choice, kiln_op_info *info)
{
    kiln_op *op;
    ck_assert_msg(kiln_conv_create(k, &problem, choice, &op) == KILN_OK, "%s", kiln_last_error());
    kiln_op_describe(op, info);
    ck_assert_int_gt(info->packed_size, 0);
    return op;
}

static kiln_buffers create_buffers(const kiln_op_info *info)
{
    return (kiln_buffers){.x.mem = create(info->x_size),
                          .w.mem = create(info->w_size),
                          .y.mem = create(info->y_size),
                          .workspace.mem = create(info->workspace_size),
                          .packed.mem = create(info->packed_size)};
}

static void release_buffers(kiln_buffers *b)
{
    cl_mem all[] = {b->x.mem, b->w.mem, b->y.mem, b->workspace.mem, b->packed.mem};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        clReleaseMemObject(all[i]);
}

static void check_refused(kiln_status status, const char *says)
{
    ck_assert_msg(status == KILN_INVALID && strstr(kiln_last_error(), says), "%s: %s, not \"%s\"",
                  kiln_status_text(status), kiln_last_error(), says);
}

static void check_fine(kiln_status status)
{
    ck_assert_msg(status == KILN_OK, "%s", kiln_last_error());
}

/* ---- shared by threads ---- */

typedef struct worker {
    kiln_op *op; /* its own, of the same problem; released by the thread */
    kiln_buffers buffers;
    bool right;
} worker;

/* All x and all w are 1: a result counts its terms. Channels are innermost. */
static bool is_right(const float y[CELLS])
{
    for (int i = 0; i < CELLS; i++) {
        const int h = i / K / SIDE, w = i / K % SIDE;
        const int rows = h == 0 || h == SIDE - 1 ? 2 : 3, columns = w == 0 || w == SIDE - 1 ? 2 : 3;
        if (y[i] != (float)(C * rows * columns))
            return false;
    }
    return true;
}

static void *run(void *user)
{
    worker *w = user;
    const support_device *d = support_open();
    cl_command_queue queue = clCreateCommandQueue(d->context, d->device, 0, NULL);
    w->right = queue != NULL;
    for (int i = 0; i < ROUNDS && w->right; i++) {
        float y[CELLS] = {0};
        w->right = kiln_op_enqueue(w->op, queue, &w->buffers, 0, NULL, NULL) == KILN_OK &&
                   clEnqueueReadBuffer(queue, w->buffers.y.mem, CL_TRUE, 0, sizeof y, y, 0, NULL,
                                       NULL) == CL_SUCCESS &&
                   is_right(y);
    }
    clReleaseCommandQueue(queue);
    kiln_op_release(w->op);
    return NULL;
}

/* One thread's operation packs for all; the kiln's handle is gone before the threads begin, so that
 * the last of them frees it. */
START_TEST(one_pack_for_many_threads)
{
    worker w[THREADS];
    pthread_t threads[THREADS];
    kiln_op_info info;
    kiln *k = open_kiln(0);
    for (int i = 0; i < THREADS; i++) {
        w[i] = (worker){.op = create_op(k, &packed_choice, &info)};
        w[i].buffers = create_buffers(&info);
    }
    kiln_close(k);
    const support_device *d = support_open();
    check_fine(kiln_op_pack(w[0].op, d->queue, &w[0].buffers, 0, NULL, NULL));
    clFinish(d->queue);
    for (int i = 1; i < THREADS; i++) {
        clReleaseMemObject(w[i].buffers.packed.mem);
        w[i].buffers.packed = w[0].buffers.packed;
        clRetainMemObject(w[0].buffers.packed.mem);
    }
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, run, &w[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_msg(w[i].right, "thread %d: %s", i, kiln_last_error());
        release_buffers(&w[i].buffers);
    }
}
END_TEST

/* ---- promised and checked ---- */

START_TEST(promised_weights_must_come)
{
    const kiln_choice plain_choice = {.solver = "direct_blocked"};
    const support_device *d = support_open();
    kiln_op_info plain, packed;
    kiln *k = open_kiln(0);
    kiln_op *op = create_op(k, &packed_choice, &packed);
    check_fine(kiln_conv_plan(k, &problem, &plain_choice, &plain));
    ck_assert_int_eq(plain.workspace_size, packed.workspace_size + packed.packed_size);
    kiln_buffers b = create_buffers(&packed), none = b;
    none.packed.mem = NULL;
    check_refused(kiln_op_enqueue(op, d->queue, &none, 0, NULL, NULL), "packed is NULL");
    check_fine(kiln_op_pack(op, d->queue, &b, 0, NULL, NULL));
    check_fine(kiln_op_enqueue(op, d->queue, &b, 0, NULL, NULL));
    clFinish(d->queue);
    kiln_op_release(op);
    kiln_close(k);
    release_buffers(&b);
}
END_TEST

START_TEST(weights_that_nobody_packed)
{
    const support_device *d = support_open();
    const cl_uint other = 0x40000000;
    kiln_op_info info;
    kiln *k = open_kiln(1);
    kiln_op *op = create_op(k, &packed_choice, &info);
    kiln_buffers b = create_buffers(&info), copy = b;
    copy.packed.mem = create(info.packed_size);
    check_refused(kiln_op_enqueue(op, d->queue, &b, 0, NULL, NULL), "no kiln_op_pack()");
    check_fine(kiln_op_pack(op, d->queue, &b, 0, NULL, NULL));
    check_fine(kiln_op_enqueue(op, d->queue, &b, 0, NULL, NULL));
    clEnqueueCopyBuffer(d->queue, b.packed.mem, copy.packed.mem, 0, 0, (size_t)info.packed_size, 0,
                        NULL, NULL);
    check_fine(kiln_op_enqueue(op, d->queue, &copy, 0, NULL, NULL));
    clEnqueueFillBuffer(d->queue, copy.packed.mem, &other, sizeof other, 0, sizeof other, 0, NULL,
                        NULL);
    check_refused(kiln_op_enqueue(op, d->queue, &copy, 0, NULL, NULL), "no kiln_op_pack()");
    clFinish(d->queue);
    kiln_op_release(op);
    kiln_close(k);
    clReleaseMemObject(copy.packed.mem);
    release_buffers(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("packed");
    TCase *c = tcase_create("packed");
    tcase_add_test(c, one_pack_for_many_threads);
    tcase_add_test(c, promised_weights_must_come);
    tcase_add_test(c, weights_that_nobody_packed);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
