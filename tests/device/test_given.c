/* Objects that callers must not give: of another context or device, NULL, or one buffer twice. */
#include "kiln_tune.h"

#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <string.h>

enum { CELLS = 24, BYTES = CELLS * 4 };

static cl_mem create(cl_context context, size_t size)
{
    static const float zeros[4096];
    cl_int code;
    ck_assert_uint_le(size, sizeof zeros);
    cl_mem mem = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, size,
                                (void *)zeros, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    return mem;
}

static kiln_op *create_copy(void)
{
    const kiln_reformat same = {.dims = "NCHW", .size = {1, 2, 3, 4}};
    kiln_op *op;
    ck_assert_msg(kiln_reformat_create(support_open()->kiln, &same, &op) == KILN_OK, "%s",
                  kiln_last_error());
    return op;
}

static cl_context other_context(void)
{
    cl_int code;
    cl_context other = clCreateContext(NULL, 1, &support_open()->device, NULL, NULL, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    return other;
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

/* One image of 4 channels, 4x4, whose tensors all have 4 x 4 x 4 elements at most. */
static kiln_op *create_small(int direction)
{
    const kiln_problem p = {.direction = (kiln_direction)direction,
                            .batch = 1,
                            .in_channels = 4,
                            .out_channels = 4,
                            .input = {4, 4},
                            .filter = {1, 1}};
    const kiln_choice choice = {.solver = "naive", .ignore_rows = 1};
    kiln_op *op;
    check_fine(kiln_conv_create(support_open()->kiln, &p, &choice, &op));
    return op;
}

/* In calls with new buffers, and, but for events, where the op had these buffers before. */
START_TEST(objects_of_another_context)
{
    const support_device *d = support_open();
    cl_context other = other_context();
    cl_command_queue queue = clCreateCommandQueue(other, d->device, 0, NULL), second;
    cl_event event = clCreateUserEvent(other, NULL), own = clCreateUserEvent(d->context, NULL);
    cl_mem foreign = create(other, BYTES);
    const kiln_buffers b = {.x = {create(d->context, BYTES), 0},
                            .y = {create(d->context, BYTES), 0}};
    kiln_buffers wrong_x = b, wrong_y = b;
    wrong_x.x.mem = wrong_y.y.mem = foreign;
    clSetUserEventStatus(own, CL_COMPLETE);
    clSetUserEventStatus(event, CL_COMPLETE);
    const cl_event events[] = {own, event}, none[] = {own, NULL};
    second = support_queue(false);
    kiln_op *op = create_copy();
    for (int i = 0; i < 4; i++) {
        check_refused(kiln_op_enqueue(op, queue, &b, 0, NULL, NULL),
                      "kiln_op_enqueue: queue belongs to another");
        check_refused(kiln_finish(d->kiln, queue), "queue belongs to another");
        check_refused(kiln_flush(d->kiln, queue), "queue belongs to another");
        check_fine(kiln_finish(d->kiln, d->queue));
        check_refused(kiln_op_enqueue(op, d->queue, &b, 2, none, NULL),
                      "kiln_op_enqueue: wait[1] is NULL");
        check_refused(kiln_op_enqueue(op, d->queue, &wrong_x, 0, NULL, NULL),
                      "x belongs to another");
        check_refused(kiln_op_enqueue(op, d->queue, &wrong_y, 0, NULL, NULL),
                      "y belongs to another");
        check_refused(kiln_op_enqueue(op, d->queue, &b, 2, events, NULL), "wait[1] is an event");
        for (int j = 0; j < i; j++) {
            check_fine(kiln_op_enqueue(op, d->queue, &b, 1, &own, NULL));
            check_fine(kiln_op_enqueue(op, second, &b, 0, NULL, NULL));
            /* Nobody asks of whose context an event is: PoCL waits for it, others refuse it. */
            const kiln_status status = kiln_op_enqueue(op, d->queue, &b, 2, events, NULL);
            if (status != KILN_OK)
                check_refused(status, "wait[1] is an event");
        }
    }
    clFinish(d->queue);
    clFinish(second);
    kiln_op_release(op);
    clReleaseEvent(event);
    clReleaseEvent(own);
    clReleaseMemObject(foreign);
    clReleaseMemObject(b.x.mem);
    clReleaseMemObject(b.y.mem);
    clReleaseCommandQueue(queue);
    clReleaseCommandQueue(second);
    clReleaseContext(other);
}
END_TEST

START_TEST(device_of_another_context)
{
    const support_device *d = support_open();
    const cl_device_partition_property halves[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
    cl_device_id part[64];
    cl_uint n = 0;
    kiln *k;
    if (clCreateSubDevices(d->device, halves, 64, part, &n) != CL_SUCCESS || n == 0)
        return;
    check_refused(kiln_open(&k, d->context, part[0], NULL), "not one of the context's devices");
    for (cl_uint i = 0; i < n; i++)
        clReleaseDevice(part[i]);
}
END_TEST

/* One buffer may hold several tensors, but not at the same place. */
START_TEST(one_buffer_twice)
{
    const support_device *d = support_open();
    const size_t apart = (BYTES + d->align - 1) / d->align * d->align;
    cl_mem whole = create(d->context, 3 * apart);
    const cl_buffer_region region = {apart, 2 * apart};
    cl_int code;
    cl_mem sub = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    kiln_op *op = create_copy();
    const struct {
        kiln_buffers b;
        bool fine;
    } cases[] = {
        {{.x = {whole, 0}, .y = {whole, 0}}, false},
        {{.x = {whole, apart}, .y = {whole, apart}}, false},
        {{.x = {whole, 0}, .y = {whole, apart}}, true},
        {{.x = {whole, 2 * apart}, .y = {whole, apart}}, true},
        {{.x = {whole, apart}, .y = {sub, 0}}, false},
        {{.x = {sub, apart}, .y = {whole, 2 * apart}}, false},
        {{.x = {whole, 0}, .y = {sub, 0}}, true},
        {{.x = {sub, 0}, .y = {sub, apart}}, true},
    };
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const size_t c = i / 2;
        const kiln_status status = kiln_op_enqueue(op, d->queue, &cases[c].b, 0, NULL, NULL);
        if (cases[c].fine)
            check_fine(status);
        else
            check_refused(status, "y, which the operation writes, overlaps x");
    }
    clFinish(d->queue);
    kiln_op_release(op);
    clReleaseMemObject(sub);
    clReleaseMemObject(whole);
}
END_TEST

/* What each direction writes must lie apart; what it reads need not. */
START_TEST(one_buffer_for_two_tensors)
{
    const support_device *d = support_open();
    static const char *const says[] = {"y, which the operation writes, overlaps ",
                                       "x, which the operation writes, overlaps ",
                                       "w, which the operation writes, overlaps "};
    enum { SIZE = 4 * 4 * 4 * 4 };
    cl_mem mem[4];
    for (int i = 0; i < 4; i++)
        mem[i] = create(d->context, SIZE);
    for (int direction = 0; direction < 3; direction++) {
        kiln_op *op = create_small(direction);
        for (int same = 0; same < 3; same++) { /* tensors x w y: `same` and the next are one */
            cl_mem of[3] = {mem[0], mem[1], mem[2]};
            of[(same + 1) % 3] = of[same];
            const kiln_buffers b = {.x = {of[0], 0}, .w = {of[1], 0}, .y = {of[2], 0}};
            const int to = direction == 0 ? 2 : direction - 1;
            const kiln_status status = kiln_op_enqueue(op, d->queue, &b, 0, NULL, NULL);
            if (to == same || to == (same + 1) % 3)
                check_refused(status, says[direction]);
            else
                check_fine(status);
        }
        clFinish(d->queue);
        kiln_op_release(op);
    }
    for (int i = 0; i < 4; i++)
        clReleaseMemObject(mem[i]);
}
END_TEST

/* What each direction writes; what it reads may be read-only. */
START_TEST(read_only_destinations)
{
    const support_device *d = support_open();
    static const char *const says[] = {
        "kiln_op_enqueue: y, which the operation writes, was created with CL_MEM_READ_ONLY",
        "kiln_op_enqueue: x, which the operation writes, was created with CL_MEM_READ_ONLY",
        "kiln_op_enqueue: w, which the operation writes, was created with CL_MEM_READ_ONLY"};
    enum { SIZE = 4 * 4 * 4 * 4 };
    cl_mem constant = clCreateBuffer(d->context, CL_MEM_READ_ONLY, SIZE, NULL, NULL);
    cl_mem mem[3];
    for (int i = 0; i < 3; i++)
        mem[i] = create(d->context, SIZE);
    for (int direction = 0; direction < 3; direction++) {
        kiln_op *op = create_small(direction);
        for (int which = 0; which < 3; which++) {
            cl_mem of[3] = {mem[0], mem[1], mem[2]};
            of[which] = constant;
            const kiln_buffers b = {.x = {of[0], 0}, .w = {of[1], 0}, .y = {of[2], 0}};
            const kiln_status status = kiln_op_enqueue(op, d->queue, &b, 0, NULL, NULL);
            if (which == (direction == 0 ? 2 : direction - 1))
                check_refused(status, says[direction]);
            else
                check_fine(status);
        }
        clFinish(d->queue);
        kiln_op_release(op);
    }
    clReleaseMemObject(constant);
    for (int i = 0; i < 3; i++)
        clReleaseMemObject(mem[i]);
}
END_TEST

static int accept(void *user, const kiln_op *op, double *error)
{
    (void)error;
    (void)user, (void)op;
    return 0;
}

/* The search refuses them before it measures anything. */
START_TEST(searches)
{
    const support_device *d = support_open();
    const kiln_problem p = {
        .batch = 1, .in_channels = 4, .out_channels = 4, .input = {4, 4}, .filter = {1, 1}};
    const kiln_tune_options o = {.verify = accept, .max_trials = 1};
    cl_context other = other_context();
    cl_command_queue queue =
        clCreateCommandQueue(other, d->device, CL_QUEUE_PROFILING_ENABLE, NULL);
    const kiln_buffers b = {.x = {create(d->context, 256), 0},
                            .w = {create(d->context, 64), 0},
                            .y = {create(d->context, 256), 0}};
    kiln_buffers foreign = b, same = b;
    kiln_trial best;
    foreign.w.mem = create(other, 64);
    same.y = same.x;
    check_refused(kiln_tune(d->kiln, &p, queue, &b, &o, &best), "queue belongs to another");
    check_refused(kiln_tune(d->kiln, &p, d->queue, &foreign, &o, &best), "w belongs to another");
    check_refused(kiln_tune(d->kiln, &p, d->queue, &same, &o, &best), "y, which");
    cl_mem all[] = {b.x.mem, b.w.mem, b.y.mem, foreign.w.mem};
    for (int i = 0; i < 4; i++)
        clReleaseMemObject(all[i]);
    clReleaseCommandQueue(queue);
    clReleaseContext(other);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("given");
    TCase *c = tcase_create("given");
    tcase_add_test(c, objects_of_another_context);
    tcase_add_test(c, device_of_another_context);
    tcase_add_test(c, one_buffer_twice);
    tcase_add_test(c, one_buffer_for_two_tensors);
    tcase_add_test(c, read_only_destinations);
    tcase_add_test(c, searches);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
