/* The solvers over images: every remainder, border, filter layout, activation and config, compared
 * for equality; what one writes feeds the next. */
#include "driver/base/memory.h"
#include "driver/layout/layout_host.h"
#include "driver/reference/verify.h"
#include "support/blocked_cases.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void set_layouts(kiln_problem *p, const char *filter)
{
    snprintf(p->x_layout, sizeof p->x_layout, "IMG_CHANNEL_MAJOR");
    snprintf(p->y_layout, sizeof p->y_layout, "IMG_CHANNEL_MAJOR");
    snprintf(p->w_layout, sizeof p->w_layout, "%s", filter);
}

static void set_type(kiln_problem *p, kiln_type type)
{
    p->x_type = p->w_type = p->y_type = type;
}

static const char *solver_of(const kiln_problem *p)
{
    return p->groups > 1 && p->groups == p->in_channels ? "depthwise_image" : "direct_image";
}

static const char *filter_of(const kiln_problem *p)
{
    return p->groups > 1 && p->groups == p->in_channels ? "IMG_DW_FILTER" : "IMG_CONV_FILTER";
}

/* In turns with a filter image that the caller made, and with a plain one; the bias as an image of
 * floats, of halves, and plain. */
static void check(kiln_problem p, const char *config, int turn)
{
    set_layouts(&p, turn % 2 ? "OIHW" : filter_of(&p));
    if (p.epilogue.bias && turn % 3) {
        strcpy(p.bias_layout, "IMG_ARGUMENT");
        p.epilogue.bias = turn % 3 == 1 ? KILN_F32 : KILN_F16;
    }
    support_check(&p, solver_of(&p), config, HOST_FILL_INT);
}

/* C and K run through all remainders of 4, in different orders, past several blocks, in both types;
 * the activations through theirs. */
START_TEST(every_remainder_of_channels_and_activation)
{
    kiln_problem p = {.batch = 2,
                      .in_channels = _i + 1,
                      .out_channels = (_i * 7 + 3) % 19 + 1,
                      .input = {5, 9},
                      .filter = {3, 3},
                      .pad_begin = {1, 1},
                      .pad_end = {1, 1},
                      .epilogue = blocked_epilogues[_i % BLOCKED_EPILOGUES]};
    set_type(&p, _i / 4 % 2 ? KILN_F16 : KILN_F32);
    check(p, NULL, _i);
    set_type(&p, _i / 4 % 2 ? KILN_F32 : KILN_F16);
    p.groups = p.in_channels = p.out_channels = _i + 2;
    check(p, NULL, _i + 1);
}
END_TEST

/* Shapes with groups, besides those in blocked_shapes. */
static const kiln_problem groups[] = {
    {.batch = 2,
     .in_channels = 24,
     .out_channels = 16,
     .groups = 2,
     .input = {6, 7},
     .filter = {3, 2}},
    {.batch = 2,
     .in_channels = 10,
     .out_channels = 10,
     .groups = 10,
     .input = {9, 14},
     .filter = {3, 3},
     .stride = {2, 2},
     .pad_begin = {1, 0},
     .pad_end = {0, 1}},
    {.batch = 1,
     .in_channels = 7,
     .out_channels = 7,
     .groups = 7,
     .input = {11, 13},
     .filter = {5, 3},
     .dilation = {1, 3},
     .pad_begin = {2, 3},
     .pad_end = {2, 3}},
    {.batch = 3,
     .in_channels = 4,
     .out_channels = 4,
     .groups = 4,
     .input = {2, 2},
     .filter = {3, 3},
     .pad_begin = {2, 2},
     .pad_end = {2, 2}},
};

enum { GROUPS = sizeof groups / sizeof *groups, SHAPES = BLOCKED_SHAPES + GROUPS };

static kiln_problem shape(int i)
{
    return i < BLOCKED_SHAPES ? blocked_shapes[i] : groups[i - BLOCKED_SHAPES];
}

static bool is_2d(const kiln_problem *p)
{
    return p->spatial_rank == 0 || p->spatial_rank == 2;
}

START_TEST(every_shape_in_both_types)
{
    kiln_problem p = shape(_i);
    if (!is_2d(&p))
        return;
    check(p, NULL, _i);
    set_type(&p, KILN_F16);
    p.epilogue = (kiln_epilogue){.beta = 1};
    if (_i % 2)
        p.y_type = KILN_F32;
    check(p, NULL, _i + 1);
}
END_TEST

/* Tiles of every width, over rows that are and are not their multiple, in every arrangement. */
START_TEST(every_config)
{
    kiln_problem p = {.batch = 2,
                      .in_channels = 6,
                      .out_channels = 22,
                      .input = {4, 15 + _i / 2 % 2},
                      .filter = {2, 3},
                      .pad_begin = {1, 2},
                      .pad_end = {0, 1},
                      .epilogue = {.beta = 1}};
    char config[32];
    int width = _i % 12 + 1, kv = 1 + _i % 5, local = _i % 3;
    kv = width * kv > 32 ? 1 : kv;
    snprintf(config, sizeof config, "%d,%d,%d,%d,%d,%d", width, kv, local, _i / 2 % 2, 1 << _i % 4,
             1 + _i % 3);
    check(p, config, _i);
    p.in_channels = p.out_channels = p.groups = 9;
    snprintf(config, sizeof config, "%d,%d,%d,%d", width, _i % 2, 1 << _i % 4, 1 + _i % 3);
    check(p, config, _i);
}
END_TEST

static const char *const filters[] = {"IMG_CONV_FILTER", "IMG_CONV_FILTER_PADI",
                                      "IMG_CONV_FILTER_FLAT", "IMG_CONV_FILTER_FLAT_PADI"};

enum { FILTERS = sizeof filters / sizeof *filters };

START_TEST(every_filter_image)
{
    kiln_problem p = blocked_shapes[BLOCKED_DILATED];
    set_layouts(&p, filters[_i]);
    support_check(&p, "direct_image", NULL, HOST_FILL_INT);
    if (_i % 2)
        return;
    p = groups[0];
    set_layouts(&p, filters[_i]);
    set_type(&p, KILN_F16);
    support_check(&p, "direct_image", NULL, HOST_FILL_INT);
}
END_TEST

START_TEST(fractions_stay_within_the_bound)
{
    for (int i = 2; i < SHAPES; i += 5) {
        kiln_problem p = shape(i);
        if (!is_2d(&p))
            continue;
        set_layouts(&p, "OIHW");
        support_check(&p, solver_of(&p), NULL, HOST_FILL_UNIFORM);
    }
}
END_TEST

/* ---- one after the other ---- */

static const kiln_problem chained = {.batch = 2,
                                     .in_channels = 12,
                                     .out_channels = 10,
                                     .input = {7, 23},
                                     .filter = {3, 3},
                                     .pad_begin = {1, 1},
                                     .pad_end = {1, 1}};

typedef struct tensor {
    kiln_storage storage;
    kiln_type type;
    memory_kind kind;
    void *plain, *cells;
    cl_mem mem;
} tensor;

static tensor make_tensor(const kiln_problem *p, char which, int fill)
{
    const support_device *d = support_open();
    tensor t = {0};
    char why[KILN_ERROR_TEXT];
    cl_int code;
    kiln_problem checked = *p;
    ck_assert_msg(kiln_problem_check(&checked, why) == KILN_OK, "%s", why);
    ck_assert_msg(kiln_problem_storage(&checked, which, &t.storage, why), "%s", why);
    t.type = which == 'x' ? checked.x_type : which == 'w' ? checked.w_type : checked.y_type;
    t.kind = memory_of(&t.storage, t.type);
    int64_t count = kiln_problem_count(&checked, which);
    t.plain = calloc((size_t)count, kiln_type_size(t.type));
    t.cells = malloc(t.kind.bytes);
    host_fill_tensor(HOST_FILL_UNIFORM, 3, fill, t.type, 1, t.plain, count);
    if (fill == HOST_Y)
        host_poison(t.type, t.cells, t.storage.cells);
    else
        layout_host_store(&t.storage, t.type, t.plain, t.cells);
    t.mem = memory_make(d->context, &t.kind, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    ck_assert_int_eq(memory_write(d->queue, &t.kind, t.mem, t.cells), CL_SUCCESS);
    return t;
}

static void free_tensor(tensor *t)
{
    clReleaseMemObject(t->mem);
    free(t->plain);
    free(t->cells);
}

static void take_out(tensor *t)
{
    ck_assert_int_eq(memory_read(support_open()->queue, &t->kind, t->mem, t->cells), CL_SUCCESS);
    ck_assert_int_eq(layout_host_load(&t->storage, t->type, t->cells, t->plain), 0);
}

/* y = conv(x), natively; checks it, x as it is on the device. */
static void convolve(kiln_problem *p, const char *solver, tensor *x, tensor *w, tensor *y)
{
    const support_device *d = support_open();
    const kiln_choice choice = {.solver = solver, .ignore_rows = 1, .native_layout = 1};
    char why[KILN_ERROR_TEXT];
    kiln_op *op;
    kiln_op_info info;
    ck_assert_msg(kiln_conv_create(d->kiln, p, &choice, &op) == KILN_OK, "%s", kiln_last_error());
    kiln_op_describe(op, &info);
    ck_assert_int_eq(info.workspace_size, 0);
    const kiln_buffers b = {.x = {x->mem, 0}, .w = {w->mem, 0}, .y = {y->mem, 0}};
    ck_assert_msg(kiln_op_enqueue(op, d->queue, &b, 0, NULL, NULL) == KILN_OK, "%s",
                  kiln_last_error());
    take_out(y);
    const reference_tensors r = {.x = x->plain, .w = w->plain};
    const verify_options o = {
        .amplification = info.amplification, .arbitrary = true, .poisoned = true};
    ck_assert_msg(kiln_problem_check(p, why) == KILN_OK, "%s", why);
    const verify_result v = verify_destination(p, &r, y->plain, &o);
    ck_assert_msg(v.ok, "%lld of %lld are wrong with %s", (long long)v.bad, (long long)v.total,
                  solver);
    kiln_op_release(op);
}

/* A network of 3x3, depthwise, 1x1 over images of ragged channels; sigmoid(0) is not 0, so padding
 * that is not cleared would be seen. */
START_TEST(the_output_feeds_another_convolution)
{
    kiln_problem p = {.batch = 2,
                      .in_channels = 3,
                      .out_channels = 5 + _i,
                      .input = {9, 11},
                      .filter = {3, 3},
                      .pad_begin = {1, 1},
                      .pad_end = {1, 1},
                      .epilogue = {.activation = KILN_SIGMOID}};
    set_type(&p, _i % 2 ? KILN_F32 : KILN_F16);
    set_layouts(&p, "IMG_CONV_FILTER");
    tensor x = make_tensor(&p, 'x', HOST_X), w = make_tensor(&p, 'w', HOST_W);
    tensor y = make_tensor(&p, 'y', HOST_Y);
    convolve(&p, "direct_image", &x, &w, &y);
    for (int layer = 0; layer < 2; layer++) {
        bool depthwise = layer == 0;
        free_tensor(&x);
        free_tensor(&w);
        x = y;
        p.in_channels = p.out_channels;
        p.groups = depthwise ? p.in_channels : 1;
        p.out_channels = depthwise ? p.in_channels : 7;
        p.filter[0] = p.filter[1] = depthwise ? 3 : 1;
        p.pad_begin[0] = p.pad_begin[1] = p.pad_end[0] = p.pad_end[1] = depthwise;
        set_layouts(&p, filter_of(&p));
        w = make_tensor(&p, 'w', HOST_W);
        y = make_tensor(&p, 'y', HOST_Y);
        convolve(&p, solver_of(&p), &x, &w, &y);
    }
    free_tensor(&x);
    free_tensor(&w);
    free_tensor(&y);
}
END_TEST

/* ---- refusals ---- */

static void refused(const kiln_problem *p, const char *solver, const char *reason)
{
    const kiln_choice choice = {.solver = solver, .ignore_rows = 1, .native_layout = 1};
    kiln_op *op;
    ck_assert_int_eq(kiln_conv_create(support_open()->kiln, p, &choice, &op), KILN_UNSUPPORTED);
    ck_assert_msg(strstr(kiln_last_error(), reason), "%s", kiln_last_error());
}

START_TEST(what_they_cannot_do_is_refused_with_the_reason)
{
    kiln_problem p = chained;
    refused(&p, "direct_image", "x and y are NCHW and NCHW");
    set_layouts(&p, "OHWI");
    refused(&p, "direct_image", "no filter in the layout OHWI");
    set_layouts(&p, "OIHW");
    p.direction = KILN_BACKWARD_DATA;
    refused(&p, "direct_image", "forward pass only");
    p.direction = KILN_FORWARD;
    refused(&p, "depthwise_image", "groups of one input and one output channel");
    p.groups = 2;
    refused(&p, "direct_image", "groups of 6 and 5 channels do not fill pixels of four");
    p.groups = p.in_channels;
    p.out_channels = 2 * p.in_channels;
    refused(&p, "depthwise_image", "groups of one input and one output channel");
}
END_TEST

START_TEST(an_image_is_no_residual_of_itself)
{
    kiln_problem p = chained;
    p.epilogue.beta = 1;
    set_layouts(&p, "IMG_CONV_FILTER");
    tensor x = make_tensor(&p, 'x', HOST_X), w = make_tensor(&p, 'w', HOST_W);
    tensor y = make_tensor(&p, 'y', HOST_Y);
    const support_device *d = support_open();
    const kiln_choice choice = {.solver = "direct_image", .ignore_rows = 1};
    kiln_op *op;
    ck_assert_int_eq(kiln_conv_create(d->kiln, &p, &choice, &op), KILN_OK);
    const kiln_buffers b = {
        .x = {x.mem, 0}, .w = {w.mem, 0}, .y = {y.mem, 0}, .residual = {y.mem, 0}};
    ck_assert_int_eq(kiln_op_enqueue(op, d->queue, &b, 0, NULL, NULL), KILN_INVALID);
    ck_assert_msg(strstr(kiln_last_error(), "image of its own"), "%s", kiln_last_error());
    kiln_op_release(op);
    free_tensor(&x);
    free_tensor(&w);
    free_tensor(&y);
}
END_TEST

START_TEST(any_layout_is_an_image)
{
    kiln_problem p = chained;
    const kiln_choice choice = {.solver = "direct_image", .ignore_rows = 1};
    kiln_op *op;
    kiln_op_info info;
    strcpy(p.x_layout, "any");
    strcpy(p.w_layout, "any");
    strcpy(p.y_layout, "any");
    ck_assert_int_eq(kiln_conv_create(support_open()->kiln, &p, &choice, &op), KILN_OK);
    kiln_op_describe(op, &info);
    ck_assert_str_eq(info.problem.x_layout, "NH|CW|4c");
    ck_assert_str_eq(info.problem.w_layout, "OHW|I|4o");
    ck_assert_str_eq(info.problem.y_layout, "NH|CW|4c");
    kiln_op_release(op);
    support_check(&p, "direct_image", NULL, HOST_FILL_INT);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("image");
    tcase_set_timeout(c, 300);
    tcase_add_loop_test(c, every_remainder_of_channels_and_activation, 0, 13);
    tcase_add_loop_test(c, every_shape_in_both_types, 0, SHAPES);
    tcase_add_loop_test(c, every_config, 0, 12);
    tcase_add_loop_test(c, every_filter_image, 0, FILTERS);
    tcase_add_test(c, fractions_stay_within_the_bound);
    tcase_add_loop_test(c, the_output_feeds_another_convolution, 0, 4);
    tcase_add_test(c, what_they_cannot_do_is_refused_with_the_reason);
    tcase_add_test(c, an_image_is_no_residual_of_itself);
    tcase_add_test(c, any_layout_is_an_image);
    Suite *s = suite_create("image");
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
