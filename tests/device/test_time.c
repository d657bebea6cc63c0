/* kiln_op_time() against a clock that this program makes up: it stands in for the driver's. */
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <string.h>

enum { STEP = 10, LONG_PAUSE = 1000 }; /* ms */

static int asked;
static bool unavailable;

/* The launch asked for n-th starts at LONG_PAUSE * n and takes STEP * (n + 1). */
cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info name, size_t size, void *value,
                               size_t *needed)
{
    (void)event, (void)size, (void)needed;
    if (unavailable)
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    const cl_ulong ns_per_ms = 1000000, n = (cl_ulong)(asked / 2);
    cl_ulong ms = LONG_PAUSE * n + (name == CL_PROFILING_COMMAND_END ? STEP * (n + 1) : 0);
    *(cl_ulong *)value = ms * ns_per_ms;
    asked++;
    return CL_SUCCESS;
}

static cl_mem buffer(int64_t bytes)
{
    cl_int code;
    cl_mem mem = clCreateBuffer(support_open()->context, CL_MEM_READ_WRITE,
                                (size_t)(bytes > 0 ? bytes : 1), NULL, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    return mem;
}

/* A solver of plain tensors between blocked ones: source and filter are reformatted, the filter as
 * a part of packing, then comes the work, then the result is reformatted. */
START_TEST(pauses_count_and_packing_does_not)
{
    const support_device *d = support_open();
    const kiln_choice choice = {.solver = "direct", .config = "T_PACK=1", .ignore_rows = 1};
    kiln_problem p;
    ck_assert_int_eq(
        kiln_problem_parse(&p, "fwd-f32-n1-c3-k5-i6x7-f3x3-l:NCHW16c.OIHW16i16o.NCHW16c", NULL),
        KILN_OK);
    kiln_op *op;
    ck_assert_msg(kiln_conv_create(d->kiln, &p, &choice, &op) == KILN_OK, "%s", kiln_last_error());
    kiln_op_info info;
    kiln_op_describe(op, &info);

    int first = -1, last = -1;
    double packing = 0, between = 0;
    for (int i = 0; i < info.stages; i++) {
        kiln_stage_info stage;
        ck_assert_int_eq(kiln_op_stage(op, i, &stage), KILN_OK);
        if (stage.packs_weights) {
            packing += STEP * (i + 1);
            between += first >= 0 ? STEP * (i + 1) : 0;
        } else {
            first = first < 0 ? i : first;
            last = i;
        }
    }
    ck_assert_msg(packing > 0 && last > first, "%d stages", info.stages);

    cl_mem mem[] = {buffer(kiln_problem_bytes(&p, 'x', NULL)),
                    buffer(kiln_problem_bytes(&p, 'w', NULL)),
                    buffer(kiln_problem_bytes(&p, 'y', NULL)), buffer(info.workspace_size)};
    kiln_buffers b = {
        .x = {mem[0], 0}, .w = {mem[1], 0}, .y = {mem[2], 0}, .workspace = {mem[3], 0}};
    double ms = -1, pack_ms = -1;
    asked = 0;
    ck_assert_msg(kiln_op_time(op, d->queue, &b, &ms, &pack_ms) == KILN_OK, "%s",
                  kiln_last_error());
    ck_assert_int_eq(asked, 2 * info.stages);
    ck_assert_double_eq_tol(ms, LONG_PAUSE * (last - first) + STEP * (last + 1) - between, 1e-6);
    ck_assert_double_eq_tol(pack_ms, packing, 1e-6);

    unavailable = true;
    ck_assert_int_eq(kiln_op_time(op, d->queue, &b, &ms, &pack_ms), KILN_INVALID);
    ck_assert_ptr_nonnull(strstr(kiln_last_error(), "no CL_QUEUE_PROFILING_ENABLE"));
    for (int i = 0; i < 4; i++)
        clReleaseMemObject(mem[i]);
    kiln_op_release(op);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("time");
    TCase *c = tcase_create("time");
    tcase_set_timeout(c, 300);
    tcase_add_test(c, pauses_count_and_packing_does_not);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
