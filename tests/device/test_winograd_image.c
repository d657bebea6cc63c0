/* Winograd over images: golden U, V, M and results, zero in all their padding; every remainder,
 * border, activation and config. */
#include "driver/base/memory.h"
#include "runtime/op/op.h"
#include "support/suite.h"
#include "support/support.h"

#include "golden.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kiln_problem problem(int64_t n, int64_t c, int64_t h, int64_t w, int64_t k)
{
    return (kiln_problem){.batch = n,
                          .in_channels = c,
                          .out_channels = k,
                          .input = {h, w},
                          .filter = {3, 3},
                          .pad_begin = {1, 1},
                          .pad_end = {1, 1},
                          .x_layout = "IMG_CHANNEL_MAJOR",
                          .y_layout = "IMG_CHANNEL_MAJOR"};
}

static void set_type(kiln_problem *p, kiln_type type)
{
    p->x_type = p->w_type = p->y_type = type;
}

/* ---- golden ---- */

enum { MOST = 8192 };

static cl_mem make(const memory_kind *kind, const float *cells)
{
    const support_device *d = support_open();
    cl_int code;
    cl_mem mem = memory_make(d->context, kind, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    ck_assert_int_eq(memory_write(d->queue, kind, mem, cells), CL_SUCCESS);
    return mem;
}

static void poison(const memory_kind *kind, cl_mem mem)
{
    static float nan[MOST];
    for (int i = 0; i < MOST; i++)
        nan[i] = NAN;
    ck_assert_int_eq(memory_write(support_open()->queue, kind, mem, nan), CL_SUCCESS);
}

/* Compares an image with the storage that stands behind `name` in the line, divided by `scale`. */
static void compare(const char *line, const char *name, cl_mem mem, int64_t width, int64_t height,
                    double scale, double tolerance)
{
    static float got[MOST];
    static int64_t wanted[MOST];
    const char *at = golden_field(line, name);
    ck_assert_ptr_nonnull(at);
    int64_t cells = width * height * 4, image[2];
    ck_assert_int_eq(golden_numbers(at, "image", image, 2), 2);
    ck_assert_int_eq(image[0], width);
    ck_assert_int_eq(image[1], height);
    ck_assert_int_eq(golden_numbers(at, "storage", wanted, MOST), cells);
    const memory_kind kind = {(size_t)cells * sizeof(float), width, height, KILN_F32};
    ck_assert_int_eq(memory_read(support_open()->queue, &kind, mem, got), CL_SUCCESS);
    for (int64_t i = 0; i < cells; i++) {
        double error = fabs((double)got[i] - (double)wanted[i] / scale);
        /* Zero is exact, also where it is padding. */
        ck_assert_msg(error <= tolerance * fabs((double)wanted[i] / scale) + tolerance &&
                          (wanted[i] || tolerance || got[i] == 0),
                      "%s: cell %lld is %g, not %g", name, (long long)i, (double)got[i],
                      (double)wanted[i] / scale);
    }
}

static memory_kind kind_of(const kiln_image *image)
{
    return (memory_kind){(size_t)kiln_image_bytes(image), image->width, image->height, KILN_F32};
}

static void check_golden(const char *line)
{
    static int64_t numbers[MOST];
    static float x[MOST], w[MOST], y[MOST];
    const support_device *d = support_open();
    int64_t dims[2][4], m = strtoll(golden_field(line, "m"), NULL, 10);
    int64_t pad = strtoll(golden_field(line, "pad"), NULL, 10);
    double scale = (double)strtoll(golden_field(line, "scale"), NULL, 10);
    golden_numbers(line, "input_dims_nchw", dims[0], 4);
    golden_numbers(line, "filter_dims_oihw", dims[1], 4);
    kiln_problem p = problem(dims[0][0], dims[0][1], dims[0][2], dims[0][3], dims[1][0]);
    for (int a = 0; a < 2; a++)
        p.pad_begin[a] = p.pad_end[a] = pad;
    const kiln_choice choice = {
        .solver = "winograd_image", .config = m == 4 ? "T_M=4" : "T_M=2", .ignore_rows = 1};
    kiln_op *op;
    ck_assert_msg(kiln_conv_create(d->kiln, &p, &choice, &op) == KILN_OK, "%s", kiln_last_error());
    kiln_storage to;
    kiln_op_info info;
    kiln_op_describe(op, &info);
    ck_assert(kiln_problem_storage(&info.problem, 'x', &to, NULL));
    int nx = golden_numbers(line, "input_nchw", numbers, MOST);
    memset(x, 0, sizeof x);
    for (int64_t cell = 0; cell < to.cells; cell++) {
        int64_t at[KILN_MAX_DIMS];
        if (kiln_storage_coordinate(&to, cell, at))
            x[cell] = (float)
                numbers[((at[0] * dims[0][1] + at[1]) * dims[0][2] + at[2]) * dims[0][3] + at[3]];
    }
    ck_assert_int_eq(nx, dims[0][0] * dims[0][1] * dims[0][2] * dims[0][3]);
    int nw = golden_numbers(line, "filter_oihw", numbers, MOST);
    for (int i = 0; i < nw; i++)
        w[i] = (float)numbers[i];
    const memory_kind kind_x = memory_of(&to, KILN_F32), kind_w = memory_of_buffer(4 * (size_t)nw);
    ck_assert(kiln_problem_storage(&info.problem, 'y', &to, NULL));
    const memory_kind kind_y = memory_of(&to, KILN_F32);
    for (int i = 0; i < MOST; i++)
        y[i] = NAN;
    const kiln_image packed = op->plan.image[KILN_ROLE_PACKED];
    const memory_kind kind_u = kind_of(&packed);
    for (int i = 0; i < op->plan.ntemps; i++) {
        const memory_kind kind = kind_of(&op->plan.temp[i].image);
        poison(&kind, op->image[KILN_ROLE_TEMP + i]);
    }
    const kiln_buffers b = {.x = {make(&kind_x, x), 0},
                            .w = {make(&kind_w, w), 0},
                            .y = {make(&kind_y, y), 0},
                            .packed = {make(&kind_u, y), 0}};
    poison(&kind_u, b.packed.mem);
    ck_assert_msg(kiln_op_pack(op, d->queue, &b, 0, NULL, NULL) == KILN_OK, "%s",
                  kiln_last_error());
    ck_assert_msg(kiln_op_enqueue(op, d->queue, &b, 0, NULL, NULL) == KILN_OK, "%s",
                  kiln_last_error());
    const kiln_image v = op->plan.temp[0].image, matrix = op->plan.temp[1].image;
    /* m = 2 halves twice, which is exact; m = 4 divides by 3. */
    double tolerance = m == 2 ? 0 : 4e-6;
    compare(line, "U_times_scale", b.packed.mem, packed.width, packed.height, scale, tolerance);
    compare(line, "V", op->image[KILN_ROLE_TEMP], v.width, v.height, 1, 0);
    compare(line, "M_times_scale", op->image[KILN_ROLE_TEMP + 1], matrix.width, matrix.height,
            scale, m == 2 ? 0 : 0.05);
    compare(line, "output_image", b.y.mem, kind_y.width, kind_y.height, 1, m == 2 ? 0 : 0.125);
    clReleaseMemObject(b.x.mem);
    clReleaseMemObject(b.w.mem);
    clReleaseMemObject(b.y.mem);
    clReleaseMemObject(b.packed.mem);
    kiln_op_release(op);
}

START_TEST(golden_images)
{
    static char line[1 << 16];
    FILE *file = golden_open("winograd.jsonl");
    ck_assert_ptr_nonnull(file);
    int cases = 0;
    for (; fgets(line, sizeof line, file); cases++)
        check_golden(line);
    fclose(file);
    ck_assert_int_eq(cases, 4);
}
END_TEST

/* ---- against the reference ---- */

/* Weights plain and in each filter image, the bias plain and as an image, in turns. */
static void check(kiln_problem p, const char *config, host_fill how, int turn)
{
    static const char *const filters[] = {"OIHW", "IMG_CONV_FILTER", "IMG_CONV_FILTER_FLAT",
                                          "IMG_CONV_FILTER_PADI", "IMG_CONV_FILTER_FLAT_PADI"};
    const kiln_choice native = {
        .solver = "winograd_image", .config = config, .ignore_rows = 1, .native_layout = 1};
    kiln_op *op;
    strcpy(p.w_layout, filters[turn % 5]);
    if (p.epilogue.bias && turn % 3) {
        strcpy(p.bias_layout, "IMG_ARGUMENT");
        p.epilogue.bias = turn % 3 == 1 ? KILN_F32 : KILN_F16;
    }
    ck_assert_msg(kiln_conv_create(support_open()->kiln, &p, &native, &op) == KILN_OK, "%s",
                  kiln_last_error());
    kiln_op_release(op);
    support_check(&p, "winograd_image", config, how);
}

START_TEST(every_remainder_of_channels)
{
    kiln_problem p = problem(2, _i + 1, 5, 9, (_i * 5 + 2) % 11 + 1);
    p.epilogue.bias = 1;
    if (_i % 2)
        set_type(&p, KILN_F16);
    check(p, _i % 4 < 2 ? "T_M=2" : "T_M=4", HOST_FILL_INT, _i);
}
END_TEST

/* Images smaller than a tile, and with tiles that reach over every edge. */
START_TEST(every_remainder_of_images)
{
    kiln_problem p = problem(3, 5, _i + 1, (_i * 3 + 1) % 9 + 1, 6);
    for (int a = 0; a < 2; a++) {
        p.pad_begin[a] = 1 + (_i + a) % 2;
        p.pad_end[a] = 1 + (_i / 2 + a) % 3;
    }
    check(p, _i % 2 ? "T_M=2" : "T_M=4", HOST_FILL_UNIFORM, _i);
}
END_TEST

START_TEST(every_config)
{
    kiln_problem p = problem(2, 8, 9, 7, 20);
    char config[32];
    if (_i % 3 == 0)
        p.groups = 2, p.out_channels = 24;
    snprintf(config, sizeof config, "%d,%d,%d,%d,%d", _i % 2 ? 2 : 4, 1 + _i % 5, 1 + _i % 3,
             1 << _i % 3, 1 + _i % 2);
    check(p, config, HOST_FILL_INT, _i);
}
END_TEST

static const kiln_epilogue epilogues[] = {
    {.bias = 1},
    {.alpha = -2, .beta = 3, .bias = 1, .activation = KILN_RELU},
    {.bias = 1, .activation = KILN_CLIPPED_RELU, .param = {6}},
    {.beta = 1, .activation = KILN_LEAKY_RELU, .param = {0.25f}},
    {.activation = KILN_ELU, .param = {1.5f}},
    {.bias = 1, .activation = KILN_TANH, .param = {0.5f, 2}},
    {.alpha = 0.125f, .activation = KILN_SIGMOID},
    {.alpha = 0.125f, .beta = 0.5f, .bias = 1, .activation = KILN_SILU},
    {.alpha = 0.125f, .bias = 1, .activation = KILN_GELU},
    {.bias = 1, .activation = KILN_HARD_SWISH},
    {.alpha = 0.125f, .bias = 1, .activation = KILN_MISH},
};

enum { EPILOGUES = sizeof epilogues / sizeof *epilogues };

/* The padding of y, which sigmoid(0) would fill with 0.5, is looked at by support_check(). */
START_TEST(the_epilogue_is_applied_and_padding_is_zero)
{
    kiln_problem p = problem(2, 3, 6, 11, 5 + _i % 4);
    p.epilogue = epilogues[_i];
    check(p, _i % 2 ? "T_M=2" : "T_M=4", HOST_FILL_UNIFORM, _i);
}
END_TEST

/* Two enqueues of one op meet in V and M; the second waits for the first, whatever its queue. */
START_TEST(enqueues_wait_for_one_another)
{
    const support_device *d = support_open();
    enum { RUNS = 8 };
    kiln_problem p = problem(4, 16, 40, 40, 16);
    const kiln_choice choice = {.solver = "winograd_image", .ignore_rows = 1};
    kiln_op *op;
    kiln_op_info info;
    ck_assert_int_eq(kiln_conv_create(d->kiln, &p, &choice, &op), KILN_OK);
    kiln_op_describe(op, &info);
    ck_assert_int_eq(info.workspace_size, 0);
    ck_assert_int_gt(info.image_size, 0);
    ck_assert_int_gt(info.packed_width, 0);
    kiln_storage sx, sy;
    ck_assert(kiln_problem_storage(&info.problem, 'x', &sx, NULL) &&
              kiln_problem_storage(&info.problem, 'y', &sy, NULL));
    const memory_kind kx = memory_of(&sx, KILN_F32), ky = memory_of(&sy, KILN_F32);
    int64_t nw = kiln_problem_count(&info.problem, 'w');
    const memory_kind kw = memory_of_buffer(4 * (size_t)nw);
    float *x = calloc(1, kx.bytes), *w = calloc(1, kw.bytes), *y = calloc(2, ky.bytes);
    host_fill_tensor(HOST_FILL_INT, 1, HOST_W, KILN_F32, 144, w, nw);
    cl_command_queue queue[2] = {support_queue(false), support_queue(true)};
    cl_mem mem_w = make(&kw, w), mem_x[RUNS], mem_y[2 * RUNS];
    for (int i = 0; i < 2 * RUNS; i++) {
        for (int64_t j = 0; j < sx.cells; j++)
            x[j] = (float)(1 + (i + j) % 5);
        if (i < RUNS)
            mem_x[i] = make(&kx, x);
        mem_y[i] = make(&ky, y);
    }
    /* First one upon the other on two queues, then one at a time. */
    for (int i = 0; i < 2 * RUNS; i++) {
        const kiln_buffers b = {.x = {mem_x[i % RUNS], 0}, .w = {mem_w, 0}, .y = {mem_y[i], 0}};
        ck_assert_msg(kiln_op_enqueue(op, queue[i % 2], &b, 0, NULL, NULL) == KILN_OK, "%s",
                      kiln_last_error());
        if (i >= RUNS - 1) {
            clFinish(queue[0]);
            clFinish(queue[1]);
        }
    }
    for (int i = 0; i < RUNS; i++) {
        memory_read(d->queue, &ky, mem_y[i], y);
        memory_read(d->queue, &ky, mem_y[i + RUNS], y + sy.cells);
        ck_assert_mem_eq(y, y + sy.cells, ky.bytes);
    }
    for (int i = 0; i < 2 * RUNS; i++) {
        if (i < RUNS)
            clReleaseMemObject(mem_x[i]);
        clReleaseMemObject(mem_y[i]);
    }
    clReleaseMemObject(mem_w);
    clReleaseCommandQueue(queue[0]);
    clReleaseCommandQueue(queue[1]);
    kiln_op_release(op);
    free(x);
    free(w);
    free(y);
}
END_TEST

/* ---- refusals ---- */

static void refused(const kiln_problem *p, const char *reason)
{
    const kiln_choice choice = {.solver = "winograd_image", .ignore_rows = 1, .native_layout = 1};
    kiln_op *op;
    ck_assert_int_eq(kiln_conv_create(support_open()->kiln, p, &choice, &op), KILN_UNSUPPORTED);
    ck_assert_msg(strstr(kiln_last_error(), reason), "%s", kiln_last_error());
}

START_TEST(what_it_cannot_do_is_refused_with_the_reason)
{
    kiln_problem p = problem(1, 5, 8, 8, 6);
    p.stride[0] = 2;
    refused(&p, "stride 1");
    p = problem(1, 5, 8, 8, 6);
    p.math = KILN_MATH_EXACT;
    refused(&p, "plain sums of products");
    p = problem(1, 5, 8, 8, 6);
    strcpy(p.w_layout, "IMG_WEIGHT_WIDTH");
    refused(&p, "no filter in the layout O|HWI|4i");
    p = problem(1, 8, 8, 8, 8);
    strcpy(p.x_layout, "NCHW");
    refused(&p, "channel-major");
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("winograd_image");
    tcase_set_timeout(c, 300);
    tcase_add_test(c, golden_images);
    tcase_add_loop_test(c, every_remainder_of_channels, 0, 12);
    tcase_add_loop_test(c, every_remainder_of_images, 0, 9);
    tcase_add_loop_test(c, every_config, 0, 12);
    tcase_add_loop_test(c, the_epilogue_is_applied_and_padding_is_zero, 0, EPILOGUES);
    tcase_add_test(c, enqueues_wait_for_one_another);
    tcase_add_test(c, what_it_cannot_do_is_refused_with_the_reason);
    Suite *s = suite_create("winograd_image");
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
