/* Winograd of bytes: every layout, type and remainder, and the sums that come nearest to what its
 * shorts and ints hold. */
#include "driver/reference/verify.h"
#include "runtime/kiln/kiln_internal.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- random data ---- */

static const struct {
    const char *problem, *config;
} cases[] = {
    /* remainders of channels, of rows of tiles, of items and of their groups of T_W tiles */
    {"fwd-i8-n2-c19-k35-i9x11-f3x3-p1x1-l:NCHW16c.OIHW.NCHW16c", "4,6,3,2,2"},
    {"fwd-i8-n3-c16-k48-i6x13-f3x3-l:NCHW16c.OIHW.NCHW16c", "2,7,7,3,1"},
    {"fwd-i8-n2-c35-k33-i15x70-f3x3-p2x0-e1x3-t:i8.i8.f32-bias-r0.5-act:relu", "4,8,4,2,1"},
    {"fwd-i8-n1-c3-k17-i83x5-f3x3-p0x1-e5x0", "2,9,3,1,2"},
    {"fwd-i8-n1-c33-k20-i8x7-f3x3-p1x1-t:i8.i8.i8-l:NHWC.OIHW.NHWC-bias-a0.01-r1", "4,2,2,2,1"},
    {"fwd-i8-n5-c48-k32-i1x1-f3x3-p1x1-t:i8.i8.i8-l:NHWC.OIHW.NCHW16c-a0.01", "4,3,3,1,1"},
    {"fwd-i8-n2-c11-k9-i7x9-f3x3-p4x4-l:NCHW8c.OIHW.NCHW8c", "4,5,5,2,1"},
    {"fwd-i8-n2-c5-k6-i9x9-f3x3-p1x1-l:NCHW4c.OIHW.NCHW-exact", "4,4,2,2,1"},
    {"bwd-i8-n2-c21-k18-i10x9-f3x3-p1x2-e0x1-l:NCHW16c.OIHW.NCHW16c", "4,6,6,1,2"},
    /* images inside of the tensor */
    {"fwd-i8-n2-c7-k27-i9x5-f3x3-p1x1-l:HWNC.OIHW.HWNC", "2,6,6,1,1"},
};

enum { CASES = sizeof cases / sizeof *cases };

START_TEST(every_layout_type_and_remainder)
{
    kiln_problem p;
    char why[KILN_ERROR_TEXT];
    ck_assert_msg(kiln_problem_parse(&p, cases[_i].problem, why) == KILN_OK, "%s", why);
    support_check(&p, "winograd_int8", cases[_i].config, HOST_FILL_UNIFORM);
}
END_TEST

/* ---- extremes ---- */

static cl_mem buffer(const void *data, int64_t bytes)
{
    cl_int code;
    cl_mem mem = clCreateBuffer(support_open()->context,
                                CL_MEM_READ_WRITE | (data ? CL_MEM_COPY_HOST_PTR : 0),
                                (size_t)bytes, (void *)data, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    return mem;
}

/* Runs it on plain tensors and compares every element. */
static void check_bytes(const kiln_problem *given, const char *config, const int8_t *x,
                        const int8_t *w)
{
    const support_device *d = support_open();
    const kiln_choice choice = {.solver = "winograd_int8", .config = config, .ignore_rows = 1};
    kiln_problem p = *given;
    ck_assert_int_eq(kiln_problem_check(&p, NULL), KILN_OK);
    kiln_op *op;
    ck_assert_msg(kiln_conv_create(d->kiln, &p, &choice, &op) == KILN_OK, "%s", kiln_last_error());
    kiln_op_info info;
    kiln_op_describe(op, &info);
    int64_t count = kiln_problem_count(&p, 'y'), size = count * (int64_t)sizeof(int32_t);
    int32_t *y = malloc((size_t)size);
    ck_assert_ptr_nonnull(y);
    host_poison(KILN_I32, y, count);
    cl_mem mem[] = {buffer(x, kiln_problem_count(&p, 'x')), buffer(w, kiln_problem_count(&p, 'w')),
                    buffer(y, size), buffer(NULL, info.workspace_size)};
    kiln_buffers b = {
        .x = {mem[0], 0}, .w = {mem[1], 0}, .y = {mem[2], 0}, .workspace = {mem[3], 0}};
    ck_assert_msg(kiln_op_enqueue(op, d->queue, &b, 0, NULL, NULL) == KILN_OK, "%s",
                  kiln_last_error());
    ck_assert_int_eq(
        clEnqueueReadBuffer(d->queue, mem[2], CL_TRUE, 0, (size_t)size, y, 0, NULL, NULL),
        CL_SUCCESS);
    const reference_tensors r = {.x = x, .w = w};
    const verify_options o = {.exact = true, .poisoned = true};
    verify_result v = verify_destination(&p, &r, y, &o);
    ck_assert_msg(v.ok && v.checked == v.total,
                  "config %s: %lld of %lld wrong; element %lld is %.9g, not %.9g", info.config,
                  (long long)v.bad, (long long)v.total, (long long)v.max_abs_at, v.got, v.expected);
    for (int i = 0; i < 4; i++)
        clReleaseMemObject(mem[i]);
    free(y);
    kiln_op_release(op);
}

static int8_t extreme(bool most)
{
    return most ? 127 : -128;
}

/* Along each axis a patch or filter has one of all patterns of signs, among them those of the rows
 * of B^T and G; two channels are alike. Transformed they are as large as they get. */
START_TEST(the_largest_factors_are_exact)
{
    enum { PATCHES = 1 << 11, FILTERS = 1 << 5, CHANNELS = 2 };
    static const char *const configs[] = {"2,8,8,1,1", "4,8,8,1,1"};
    kiln_problem p = {.x_type = KILN_I8,
                      .w_type = KILN_I8,
                      .batch = PATCHES,
                      .in_channels = CHANNELS,
                      .out_channels = FILTERS,
                      .input = {6, 6},
                      .filter = {3, 3}};
    int8_t *x = malloc(PATCHES * CHANNELS * 36), *w = malloc(FILTERS * CHANNELS * 9);
    ck_assert(x && w);
    /* Bit 0 is the sign of all, then come those of rows and columns but the last. */
    for (int i = 0; i < PATCHES * CHANNELS * 36; i++) {
        int signs = i / (CHANNELS * 36), h = i / 6 % 6, v = i % 6;
        int row = h < 5 ? signs >> (h + 1) : 0, column = v < 5 ? signs >> (v + 6) : 0;
        x[i] = extreme((signs ^ row ^ column) & 1);
    }
    for (int i = 0; i < FILTERS * CHANNELS * 9; i++) {
        int signs = i / (CHANNELS * 9), h = i / 3 % 3, v = i % 3;
        int row = h < 2 ? signs >> (h + 1) : 0, column = v < 2 ? signs >> (v + 3) : 0;
        w[i] = extreme((signs ^ row ^ column) & 1);
    }
    check_bytes(&p, configs[_i], x, w);
    free(x);
    free(w);
}
END_TEST

/* As many channels as are taken, and sums as far from zero as they can be. */
START_TEST(the_largest_sums_are_exact)
{
    enum { CHANNELS = 3640, FILTERS = 3 };
    static const char *const configs[] = {"2,1,1,1,1", "4,1,1,1,1"};
    kiln_problem p = {.x_type = KILN_I8,
                      .w_type = KILN_I8,
                      .batch = 1,
                      .in_channels = CHANNELS,
                      .out_channels = FILTERS,
                      .input = {5, 5},
                      .filter = {3, 3}};
    int8_t *x = malloc(CHANNELS * 25), *w = malloc(FILTERS * CHANNELS * 9);
    ck_assert(x && w);
    memset(x, -128, CHANNELS * 25);
    for (int i = 0; i < FILTERS * CHANNELS * 9; i++)
        w[i] = extreme(i / (CHANNELS * 9) == 1);
    check_bytes(&p, configs[_i], x, w);
    free(x);
    free(w);
}
END_TEST

/* ---- refusals ---- */

static void check_refused(const char *key, const char *word)
{
    const kiln_choice choice = {.solver = "winograd_int8", .ignore_rows = 1, .native_layout = 1};
    kiln_problem p;
    kiln_op *op;
    char why[KILN_ERROR_TEXT];
    ck_assert_msg(kiln_problem_parse(&p, key, why) == KILN_OK, "%s", why);
    ck_assert_int_eq(kiln_conv_create(support_open()->kiln, &p, &choice, &op), KILN_UNSUPPORTED);
    ck_assert_msg(strstr(kiln_last_error(), word), "%s", kiln_last_error());
}

START_TEST(what_it_cannot_do_is_refused_with_the_reason)
{
    check_refused("fwd-i8-n1-c3641-k16-i5x5-f3x3", "up to 3640");
    check_refused("bwd-i8-n1-c16-k3641-i5x5-f3x3", "3641 channels");
    check_refused("fwd-f32-n1-c16-k16-i5x5-f3x3", "winograd_fused is for floats");
    check_refused("fwd-i8-n1-c16-k16-i5x5-f3x3-s1x2", "stride 1");
    check_refused("fwd-i8-n1-c16-k16-i5x5-f1x3", "3x3");
    check_refused("fwd-i8-n1-c16-k16-i5x5-f3x3-g2", "2 groups");
    check_refused("fwd-i8-n1-c16-k20-i5x5-f3x3-l:NCHW8c.OIHW.NCHW16c", "NCHW8c and NCHW16c");
}
END_TEST

int main(void)
{
    if (!support_on_cpu())
        return SUPPORT_SKIPPED;
    Suite *s = suite_create("winograd_int8");
    TCase *c = tcase_create("winograd_int8");
    tcase_set_timeout(c, 300);
    tcase_add_loop_test(c, every_layout_type_and_remainder, 0, CASES);
    tcase_add_loop_test(c, the_largest_factors_are_exact, 0, 2);
    tcase_add_loop_test(c, the_largest_sums_are_exact, 0, 2);
    tcase_add_test(c, what_it_cannot_do_is_refused_with_the_reason);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
