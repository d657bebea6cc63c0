/* Layouts that keep channels together, read and written without reformatting: every remainder of
 * channels, type, activation, pair of layouts and group; and one convolution fed to the next. */
#include "driver/layout/layout_host.h"
#include "driver/reference/verify.h"
#include "support/blocked_cases.h"
#include "support/kinds.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By rank. Source channels are counted from 1 in steps of `step`, `count` times: every remainder of
 * blocks of 4, 8 and 16; of the others some with and some without a factor in common with the
 * vectors. */
static const struct {
    const char *name[3];
    int step, count;
} layouts[] = {
    {{"NWC", "NHWC", "NDHWC"}, 3, 6},
    {{"NWC;C%8", "kHWC8", "kDHWC8"}, 3, 4},
    {{"NWC;C%16", "NHWC16", "NDHWC;C%16"}, 7, 3},
    {{"NCW4c", "NC/4HW4", "NCDHW4c"}, 1, 4},
    {{"NCW8c", "NC/8HW8", "NCDHW8c"}, 1, 8},
    {{"NCW16c", "NC/16HW16", "NCDHW16c"}, 1, 16},
    {{"NCW32c", "NC/32HW32", "kCDHW32"}, 7, 5},
    {{"NWC", "NHC/32W32", "NDHWC"}, 9, 4}, /* rows outside blocks */
};

enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static void set_layouts(kiln_problem *p, int x, int y)
{
    const int rank = p->spatial_rank ? p->spatial_rank : 2;
    if (x >= 0)
        snprintf(p->x_layout, sizeof p->x_layout, "%s", layouts[x].name[rank - 1]);
    snprintf(p->y_layout, sizeof p->y_layout, "%s", layouts[y].name[rank - 1]);
}

/* Runs it in these layouts, and sees that nothing was reformatted. */
static void check(kiln_problem p, int x, int y, const char *config)
{
    kiln_choice choice = {.config = config, .ignore_rows = 1, .native_layout = 1};
    kiln_op *op;
    set_layouts(&p, x, y);
    choice.solver = blocked_solver(&p);
    ck_assert_msg(kiln_conv_create(support_open()->kiln, &p, &choice, &op) == KILN_OK,
                  "refused: %s", kiln_last_error());
    kiln_op_release(op);
    support_check(&p, choice.solver, config, HOST_FILL_INT);
}

static const kiln_epilogue epilogues[] = {
    {.bias = 1},
    {.alpha = 0.125f, .beta = 0.5f, .bias = 1, .activation = KILN_SIGMOID},
    {.alpha = -2, .beta = 3, .bias = 1, .activation = KILN_RELU},
    {.bias = 1, .activation = KILN_CLIPPED_RELU, .param = {6}},
    {.beta = 1, .activation = KILN_LEAKY_RELU, .param = {0.25f}},
    {.alpha = 0.125f, .activation = KILN_ELU, .param = {1.5f}},
    {.alpha = 0.0625f, .bias = 1, .activation = KILN_TANH, .param = {0.5f, 2}},
    {.alpha = 0.125f, .beta = 0.5f, .activation = KILN_SILU},
    {.alpha = 0.125f, .bias = 1, .activation = KILN_GELU},
    {.bias = 1, .activation = KILN_HARD_SWISH},
    {.alpha = 0.125f, .beta = 0.5f, .activation = KILN_HARD_SIGMOID},
    {.beta = 1, .activation = KILN_HARD_TANH},
    {.alpha = 0.125f, .bias = 1, .activation = KILN_MISH},
    {.alpha = 0.125f, .beta = 0.5f, .activation = KILN_EXP},
    {.alpha = -2, .bias = 1, .activation = KILN_ABS},
    {.bias = 1, .beta = 1, .activation = KILN_SQUARE},
    {.alpha = 0.125f, .bias = 1, .activation = KILN_SOFTPLUS, .param = {2}},
    {.alpha = 0.125f, .activation = KILN_SIGMOID},
};

enum { EPILOGUES = sizeof epilogues / sizeof *epilogues };

static const support_types types[] = {
    {KILN_I8, KILN_I32},   {KILN_BF16, KILN_BF16}, {KILN_I8, KILN_I8},
    {KILN_BF16, KILN_F32}, {KILN_I8, KILN_F32},    {KILN_F16, KILN_F32},
};

enum { TYPES = sizeof types / sizeof *types };

/* Source and destination channels run through remainders in different orders, activations and types
 * through theirs: a third is f32, a third f16, in the others the rest take turns. Each layout goes
 * on with the activations where the one before it stopped. */
START_TEST(remainders_of_channels_types_and_activations)
{
    int epilogue = 3 * _i;
    for (int i = 0; i < layouts[_i].count; i++) {
        kiln_problem p = {.batch = 1 + i % 2,
                          .in_channels = i * layouts[_i].step + 1,
                          .out_channels = (i * 7 + 3) % 32 + 1,
                          .input = {3, 4},
                          .filter = {i % 2 * 2 + 1, 2},
                          .pad_begin = {i % 2, 1},
                          .pad_end = {i % 2, 0}};
        const int type = (i / 3 + _i) % TYPES;
        if (i % 3 == 1)
            support_set_types(&p, (support_types){KILN_F16, KILN_F16});
        else if (i % 3 == 2)
            support_set_types(&p, types[type]);
        if (p.y_type != KILN_I32)
            p.epilogue = epilogues[epilogue++ % EPILOGUES];
        check(p, _i, _i, NULL);
    }
}
END_TEST

/* Source and destination need not agree; the source may be plain (-1). Each into one
 * other: the even ones into the next, the odd ones into the third after it, in f16. */
START_TEST(every_layout_into_another)
{
    kiln_problem p = {.batch = 2,
                      .in_channels = 21,
                      .out_channels = 43,
                      .input = {5, 6},
                      .filter = {3, 2},
                      .stride = {1, 2},
                      .pad_begin = {1, 0},
                      .epilogue = {.bias = 1}};
    if (_i % 2)
        support_set_types(&p, (support_types){KILN_F16, _i % 4 == 1 ? KILN_F32 : KILN_F16});
    check(p, _i, (_i + (_i % 2 ? 3 : 1)) % LAYOUTS, NULL);
}
END_TEST

/* Groups that end within vectors and blocks, forward; backward too in half of the layouts. */
START_TEST(every_group)
{
    static const int sizes[][3] = {{2, 24, 40}, {3, 5, 7}, {4, 2, 8}, {5, 6, 3}, {2, 32, 17}};
    for (int i = 0; i < 1 + _i % 2; i++) {
        const int *size = sizes[(_i + 2 * i) % 5];
        kiln_problem p = {.direction = i ? KILN_BACKWARD_DATA : KILN_FORWARD,
                          .batch = 2,
                          .groups = size[0],
                          .in_channels = size[0] * size[1],
                          .out_channels = size[0] * size[2],
                          .input = {4, 7},
                          .filter = {1, 3},
                          .pad_begin = {0, 1},
                          .pad_end = {0, 1}};
        if (i)
            support_set_types(&p, (support_types){KILN_BF16, KILN_BF16});
        else
            p.epilogue = (kiln_epilogue){.bias = 1, .beta = 1, .activation = KILN_SIGMOID};
        check(p, _i, _i, NULL);
    }
}
END_TEST

/* Rows and volumes, half of the layouts each. */
START_TEST(every_rank)
{
    kiln_problem p = {.spatial_rank = 1 + 2 * (_i % 2),
                      .batch = 2,
                      .in_channels = 18,
                      .out_channels = 13,
                      .input = {5, 6, 17},
                      .filter = {3, 2, 3},
                      .stride = {2, 1, 1},
                      .dilation = {1, 3, 1},
                      .pad_begin = {1, 0, 2},
                      .pad_end = {0, 2, 1}};
    for (int a = p.spatial_rank; a < 3; a++)
        p.input[a] = p.filter[a] = p.stride[a] = p.dilation[a] = p.pad_begin[a] = p.pad_end[a] = 0;
    for (int x = _i; x < LAYOUTS; x += 2) {
        p.direction = x / 2 % 2 ? KILN_BACKWARD_DATA : KILN_FORWARD;
        check(p, x, x, "T_W=2,T_KV=1");
    }
}
END_TEST

/* Backward data with a stride: rows and columns that no tap reaches, dilation that meets the stride
 * now and then, tiles of several widths; half of the layouts in f16 too. */
START_TEST(strides_backward)
{
    static const char *const configs[] = {NULL, "T_W=2", "T_W=5", "T_W=3,T_KV=1,T_ORDER=0"};
    kiln_problem all[] = {
        {.input = {7, 23}, .filter = {1, 1}, .stride = {2, 2}},
        {.input = {8, 24},
         .filter = {3, 3},
         .stride = {2, 2},
         .pad_begin = {1, 1},
         .pad_end = {1, 1}},
        {.input = {9, 20},
         .filter = {3, 3},
         .stride = {2, 3},
         .dilation = {2, 3},
         .pad_begin = {0, 2}},
        {.input = {11, 31},
         .filter = {4, 5},
         .stride = {3, 2},
         .dilation = {1, 3},
         .pad_end = {2, 4}},
        {.input = {7, 27}, .filter = {2, 2}, .stride = {4, 5}},
    };
    for (int j = 0; j < 1 + _i % 2; j++) {
        const int i = (_i + 2 * j) % 5;
        kiln_problem p = all[i];
        p.direction = KILN_BACKWARD_DATA;
        p.batch = 2;
        p.in_channels = 15 + _i;
        p.out_channels = 24 - _i;
        if (j)
            support_set_types(&p, (support_types){KILN_F16, KILN_F16});
        check(p, _i, (_i + i) % LAYOUTS, configs[(i + _i) % 4]);
    }
}
END_TEST

/* What a GPU would take: narrow vectors, groups of many items. */
START_TEST(groups_of_items)
{
    static const char *const configs[] = {"T_W=4,T_KV=1,T_ORDER=1,T_V=4,T_GROUP=32",
                                          "T_W=3,T_KV=2,T_ORDER=0,T_V=4,T_GROUP=64",
                                          "T_W=5,T_KV=1,T_ORDER=1,T_V=8,T_GROUP=128"};
    kiln_problem p = {.batch = 2,
                      .in_channels = 21,
                      .out_channels = 43,
                      .input = {6, 11},
                      .filter = {3, 2},
                      .pad_begin = {1, 1},
                      .pad_end = {1, 1},
                      .epilogue = {.bias = 1, .activation = KILN_SIGMOID}};
    check(p, 2 * _i, (2 * _i + 3) % LAYOUTS, configs[_i % 3]);
}
END_TEST

/* ---- one convolution fed to the next ---- */

/* y = conv(x), z = conv(y), by the same op. */
typedef struct chain {
    kiln_problem problem;
    kiln_op *op;
    cl_mem x, w, y, z, bias, workspace;
    void *plain_x, *plain_w, *plain_y, *plain_z;
    float *plain_bias;
} chain;

enum { CHAINED = 21 };

static cl_mem buffer_of(size_t bytes, const void *data)
{
    cl_int code;
    cl_mem mem = clCreateBuffer(support_open()->context,
                                CL_MEM_READ_WRITE | (data ? CL_MEM_COPY_HOST_PTR : 0), bytes,
                                (void *)data, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    return mem;
}

static void *filled(const kiln_problem *p, char tensor, int which, kiln_type type)
{
    int64_t count = kiln_problem_count(p, tensor);
    void *plain = malloc((size_t)count * kiln_type_size(type));
    host_fill_tensor(HOST_FILL_UNIFORM, 5, which, type, reference_terms(p), plain, count);
    return plain;
}

/* The tensor in its layout; poison where there is no data. */
static cl_mem in_layout(const kiln_problem *p, char tensor, kiln_type type, const void *plain)
{
    kiln_storage storage;
    ck_assert(kiln_problem_storage(p, tensor, &storage, NULL));
    void *cells = malloc((size_t)storage.cells * kiln_type_size(type));
    if (plain)
        layout_host_store(&storage, type, plain, cells);
    else
        host_poison(type, cells, storage.cells);
    cl_mem mem = buffer_of((size_t)storage.cells * kiln_type_size(type), cells);
    free(cells);
    return mem;
}

static void *out_of_layout(const kiln_problem *p, char tensor, kiln_type type, cl_mem mem)
{
    kiln_storage storage;
    ck_assert(kiln_problem_storage(p, tensor, &storage, NULL));
    size_t bytes = (size_t)storage.cells * kiln_type_size(type);
    void *cells = malloc(bytes), *plain = malloc(bytes);
    ck_assert_int_eq(
        clEnqueueReadBuffer(support_open()->queue, mem, CL_TRUE, 0, bytes, cells, 0, NULL, NULL),
        CL_SUCCESS);
    ck_assert_int_eq(layout_host_load(&storage, type, cells, plain), 0);
    free(cells);
    return plain;
}

static void make_chain(chain *c, int layout, kiln_type type)
{
    kiln_choice choice = {.ignore_rows = 1, .native_layout = 1};
    kiln_problem *p = &c->problem;
    kiln_op_info info;
    *p = (kiln_problem){.batch = 1,
                        .in_channels = CHAINED,
                        .out_channels = CHAINED,
                        .input = {6, 9},
                        .filter = {3, 3},
                        .pad_begin = {1, 1},
                        .pad_end = {1, 1},
                        .x_type = type,
                        .y_type = type,
                        .epilogue = {.bias = 1, .activation = KILN_SIGMOID}};
    if (type == KILN_I8) { /* so that a zero still becomes one */
        p->epilogue.alpha = 0.001f;
        p->epilogue.activation = KILN_IDENTITY;
    }
    set_layouts(p, layout, layout);
    choice.solver = blocked_solver(p);
    ck_assert_int_eq(kiln_problem_check(p, NULL), KILN_OK);
    ck_assert_int_eq(kiln_conv_create(support_open()->kiln, p, &choice, &c->op), KILN_OK);
    kiln_op_describe(c->op, &info);
    c->workspace = buffer_of((size_t)info.workspace_size, NULL);
    c->plain_w = filled(p, 'w', HOST_W, type);
    c->w = in_layout(p, 'w', type, c->plain_w);
    c->plain_x = filled(p, 'x', HOST_X, type);
    c->x = in_layout(p, 'x', type, c->plain_x);
    c->y = in_layout(p, 'y', type, NULL);
    c->z = in_layout(p, 'y', type, NULL);
    c->plain_bias = malloc(CHAINED * sizeof *c->plain_bias);
    host_fill_tensor(HOST_FILL_UNIFORM, 5, HOST_BIAS, KILN_F32, 1, c->plain_bias, CHAINED);
    c->bias = buffer_of(CHAINED * sizeof *c->plain_bias, c->plain_bias);
}

static void run_chain(chain *c)
{
    const kiln_type type = c->problem.y_type;
    kiln_buffers b = {.x = {c->x, 0},
                      .w = {c->w, 0},
                      .y = {c->y, 0},
                      .bias = {c->bias, 0},
                      .workspace = {c->workspace, 0}};
    cl_command_queue queue = support_open()->queue;
    ck_assert_int_eq(kiln_op_enqueue(c->op, queue, &b, 0, NULL, NULL), KILN_OK);
    b.x.mem = c->y;
    b.y.mem = c->z;
    ck_assert_int_eq(kiln_op_enqueue(c->op, queue, &b, 0, NULL, NULL), KILN_OK);
    c->plain_y = out_of_layout(&c->problem, 'y', type, c->y);
    c->plain_z = out_of_layout(&c->problem, 'y', type, c->z);
}

static void judge_chain(const chain *c, const void *x, const void *y, const char *which)
{
    const reference_tensors r = {.x = x, .w = c->plain_w, .bias = c->plain_bias};
    const verify_options o = {.poisoned = true, .arbitrary = true};
    const verify_result v = verify_destination(&c->problem, &r, y, &o);
    ck_assert_msg(v.ok, "the %s: %lld wrong", which, (long long)v.bad);
}

static void free_chain(chain *c)
{
    cl_mem all[] = {c->x, c->w, c->y, c->z, c->bias, c->workspace};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        clReleaseMemObject(all[i]);
    kiln_op_release(c->op);
    free(c->plain_w);
    free(c->plain_x);
    free(c->plain_y);
    free(c->plain_z);
    free(c->plain_bias);
}

START_TEST(the_result_feeds_the_next)
{
    static const kiln_type each[] = {KILN_F32, KILN_F16, KILN_I8};
    for (int t = 0; t < 1 + _i % 2; t++) { /* in turns */
        chain c;
        make_chain(&c, _i, each[(_i + t) % 3]);
        run_chain(&c);
        judge_chain(&c, c.plain_x, c.plain_y, "first");
        judge_chain(&c, c.plain_y, c.plain_z, "second");
        free_chain(&c);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("channels");
    TCase *c = tcase_create("channels");
    tcase_set_timeout(c, 900);
    tcase_add_loop_test(c, remainders_of_channels_types_and_activations, 0, LAYOUTS);
    tcase_add_loop_test(c, every_layout_into_another, -1, LAYOUTS);
    tcase_add_loop_test(c, every_group, 0, LAYOUTS);
    tcase_add_loop_test(c, every_rank, 0, 2);
    tcase_add_loop_test(c, strides_backward, 0, LAYOUTS);
    tcase_add_loop_test(c, groups_of_items, 0, LAYOUTS / 2);
    tcase_add_loop_test(c, the_result_feeds_the_next, 0, LAYOUTS);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
