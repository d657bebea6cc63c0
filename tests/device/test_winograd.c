/* The Winograd solvers: every config, remainder, border and layout, exactly where the data allow.
 */
#include "golden.h"
#include "kiln_internal.h"
#include "solver.h"
#include "support/support.h"
#include "verify.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const solvers[] = {"winograd_fused", "winograd_staged"};

enum { SOLVERS = sizeof solvers / sizeof *solvers };

static const char *const sizes[] = {"T_T=4", "T_T=6", "T_T=8"};

/* A 3x3 convolution with padding 1. */
static kiln_problem problem(int64_t n, int64_t c, int64_t h, int64_t w, int64_t k)
{
    return (kiln_problem){.batch = n,
                          .in_channels = c,
                          .out_channels = k,
                          .input = {h, w},
                          .filter = {3, 3},
                          .pad_begin = {1, 1},
                          .pad_end = {1, 1}};
}

/* ---- integers that the transforms keep exact, in any layout ---- */

typedef struct tensor {
    kiln_storage storage;
    float *plain, *stored; /* the second with `guard` floats before and after */
    cl_mem mem;
} tensor;

enum { GUARD = 1024 }; /* 4096 bytes: the device may want offsets aligned to 512 */

static void make_tensor(tensor *t, const char *layout, const char *dims, const int64_t *dim)
{
    char why[KILN_ERROR_TEXT];
    kiln_layout l;
    ck_assert_msg(kiln_layout_parse(&l, layout, dims, why), "%s", why);
    ck_assert_msg(kiln_storage_make(&t->storage, &l, dim, KILN_F32, why), "%s", why);
    int64_t count = dim[0] * dim[1] * dim[2] * dim[3];
    t->plain = calloc((size_t)count, sizeof *t->plain);
    t->stored = malloc((size_t)(t->storage.cells + 2 * GUARD) * sizeof *t->stored);
    ck_assert(t->plain && t->stored);
}

/* Stored cells from plain elements; poison for what is to be written. */
static void upload(const support_device *d, tensor *t, bool written)
{
    const int64_t all = t->storage.cells + 2 * GUARD, *dim = t->storage.dim;
    host_poison(KILN_F32, t->stored, all);
    for (int64_t i = 0; i < t->storage.cells && !written; i++) {
        int64_t at[KILN_MAX_DIMS];
        bool element = kiln_storage_coordinate(&t->storage, i, at);
        int64_t plain = element ? ((at[0] * dim[1] + at[1]) * dim[2] + at[2]) * dim[3] + at[3] : 0;
        t->stored[GUARD + i] = element ? t->plain[plain] : 0;
    }
    cl_int code;
    t->mem = clCreateBuffer(d->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                            (size_t)all * sizeof(float), t->stored, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
}

static void download(const support_device *d, tensor *t)
{
    const int64_t all = t->storage.cells + 2 * GUARD, *dim = t->storage.dim;
    ck_assert_int_eq(clEnqueueReadBuffer(d->queue, t->mem, CL_TRUE, 0, (size_t)all * sizeof(float),
                                         t->stored, 0, NULL, NULL),
                     CL_SUCCESS);
    for (int64_t i = 0; i < t->storage.cells; i++) {
        int64_t at[KILN_MAX_DIMS];
        if (kiln_storage_coordinate(&t->storage, i, at))
            t->plain[((at[0] * dim[1] + at[1]) * dim[2] + at[2]) * dim[3] + at[3]] =
                t->stored[GUARD + i];
        else
            ck_assert_msg(t->stored[GUARD + i] == 0, "padding cell %lld holds %g", (long long)i,
                          (double)t->stored[GUARD + i]);
    }
    for (int64_t i = 0; i < GUARD; i++)
        ck_assert(host_is_poison(KILN_F32, t->stored, i) &&
                  host_is_poison(KILN_F32, t->stored, all - 1 - i));
}

static void free_tensor(tensor *t)
{
    clReleaseMemObject(t->mem);
    free(t->plain);
    free(t->stored);
}

static void small_integers(float *v, int64_t count, uint64_t stream, int64_t most, float factor)
{
    for (int64_t i = 0; i < count; i++)
        v[i] = factor *
               (float)((int64_t)(host_random(1, stream, (uint64_t)i) % (uint64_t)(2 * most + 1)) -
                       most);
}

static cl_mem scratch(const support_device *d, int64_t bytes)
{
    cl_int code = CL_SUCCESS;
    cl_mem mem =
        bytes ? clCreateBuffer(d->context, CL_MEM_READ_WRITE, (size_t)bytes, NULL, &code) : NULL;
    ck_assert_int_eq(code, CL_SUCCESS);
    return mem;
}

static void enqueue(const support_device *d, kiln_op *op, const kiln_op_info *info, tensor t[3])
{
    const size_t skip = GUARD * sizeof(float);
    kiln_buffers b = {.x = {t[0].mem, skip},
                      .w = {t[1].mem, skip},
                      .y = {t[2].mem, skip},
                      .workspace = {scratch(d, info->workspace_size), 0}};
    ck_assert_msg(kiln_op_enqueue(op, d->queue, &b, 0, NULL, NULL) == KILN_OK, "%s",
                  kiln_last_error());
    clFinish(d->queue);
    if (b.workspace.mem)
        clReleaseMemObject(b.workspace.mem);
}

static void make_all(tensor t[3], const kiln_problem *p)
{
    const int64_t x[] = {p->batch, p->in_channels, p->input[0], p->input[1]},
                  w[] = {p->transposed ? p->in_channels : p->out_channels,
                         (p->transposed ? p->out_channels : p->in_channels) / p->groups,
                         p->filter[0], p->filter[1]},
                  y[] = {p->batch, p->out_channels, kiln_problem_output(p, 0),
                         kiln_problem_output(p, 1)};
    make_tensor(&t[0], p->x_layout, "NCHW", x);
    make_tensor(&t[1], p->w_layout, "OIHW", w);
    make_tensor(&t[2], p->y_layout, "NCHW", y);
}

/* G has factors of 1/2 (T_T = 4) or 1/24 (T_T = 6), so weights are multiples of 4 or 576. Then
 * every number on the way is an integer below 2^24. With larger tiles they are no integers, so the
 * bound decides: far less than the 576 between results. */
static void check_exact(const kiln_problem *given, const char *solver, const char *config)
{
    static const int destination[] = {2, 0, 1};
    const support_device *d = support_open();
    const kiln_choice choice = {
        .solver = solver, .config = config, .ignore_rows = 1, .native_layout = 1};
    char why[KILN_ERROR_TEXT], key[KILN_KEY_TEXT];
    kiln_problem p = *given;
    ck_assert_msg(kiln_problem_check(&p, why) == KILN_OK, "%s", why);
    kiln_problem_text(&p, key, sizeof key);
    kiln_op *op;
    ck_assert_msg(kiln_conv_create(d->kiln, &p, &choice, &op) == KILN_OK, "%s: %s", key,
                  kiln_last_error());
    kiln_op_info info;
    kiln_op_describe(op, &info);
    int to = destination[p.direction];
    tensor t[3];
    make_all(t, &p);
    for (int i = 0; i < 3; i++) {
        int64_t count = kiln_problem_count(&p, "xwy"[i]);
        if (i != to)
            small_integers(t[i].plain, count, (uint64_t)i, i == 1 ? 1 : 3, i == 1 ? 576 : 1);
        upload(d, &t[i], i == to);
    }
    enqueue(d, op, &info, t);
    download(d, &t[to]);
    const reference_tensors r = {.x = t[0].plain, .w = t[1].plain, .y = t[2].plain};
    const verify_options o = {.exact = info.config[0] == '4' || info.config[0] == '6',
                              .amplification = info.amplification,
                              .arbitrary = true,
                              .poisoned = true};
    verify_result v = verify_destination(&p, &r, t[to].plain, &o);
    ck_assert_msg(v.ok, "%s with %s %s: %lld of %lld wrong; element %lld is %.9g, not %.9g", key,
                  solver, info.config, (long long)v.bad, (long long)v.total,
                  (long long)v.max_abs_at, v.got, v.expected);
    for (int i = 0; i < 3; i++)
        free_tensor(&t[i]);
    kiln_op_release(op);
}

static const char *const layouts[][2] = {
    {"NCHW", "NCHW"}, {"NCHW16c", "NCHW16c"}, {"NCHW", "NCHW8c"}, {"NCHW4c", "NCHW"}};

enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static void set_layouts(kiln_problem *p, int which)
{
    strcpy(p->x_layout, layouts[which % LAYOUTS][0]);
    strcpy(p->y_layout, layouts[which % LAYOUTS][1]);
}

/* Every problem is compiled for, so solvers take turns, and so do layouts, plain and blocked on
 * either side: eight turns have them all. */
static void check_turn(const kiln_problem *p, int turn, const char *config)
{
    kiln_problem q = *p;
    set_layouts(&q, turn + turn / 2);
    check_exact(&q, solvers[turn % SOLVERS], config);
}

START_TEST(remainders_of_channels)
{
    static const int64_t some[] = {1, 2, 3, 4, 5, 15, 16, 17, 20};
    for (int i = 0; i < 9; i++) {
        kiln_problem p = problem(1, some[i], 5, 9, some[8 - i] + 16);
        p.direction = i / 2 % 2 ? KILN_BACKWARD_DATA : KILN_FORWARD;
        check_turn(&p, i, NULL);
    }
}
END_TEST

/* Images of one pixel to some tiles, higher than wide and wider than high. */
START_TEST(remainders_of_images)
{
    static const int64_t some[][2] = {{1, 1}, {1, 8}, {2, 7},  {3, 6},  {4, 5}, {6, 4},
                                      {7, 3}, {9, 1}, {5, 83}, {83, 5}, {13, 8}};
    for (int i = 0; i < 11; i++) {
        kiln_problem p = problem(3, 3, some[i][0], some[i][1], 5);
        check_turn(&p, i, sizes[i % 3]);
    }
}
END_TEST

START_TEST(any_padding)
{
    static const int64_t pads[][4] = {{0, 0, 0, 0}, {2, 2, 2, 2}, {0, 1, 2, 0}, {1, 0, 0, 5},
                                      {4, 3, 0, 1}, {0, 7, 6, 2}, {5, 5, 5, 5}};
    for (int i = 0; i < 14; i++) {
        kiln_problem p = problem(2, 5, 7, 11, 6);
        p.direction = (i + i / 2) % 2 ? KILN_BACKWARD_DATA : KILN_FORWARD;
        for (int a = 0; a < 2; a++) {
            p.pad_begin[a] = pads[i / 2][a];
            p.pad_end[a] = pads[i / 2][2 + a];
        }
        check_turn(&p, i, NULL);
    }
}
END_TEST

START_TEST(transposed_ones)
{
    for (int i = 0; i < 2; i++) {
        kiln_problem p = problem(2, 5, 7, 11, 18);
        p.direction = i ? KILN_BACKWARD_DATA : KILN_FORWARD;
        p.transposed = 1;
        check_turn(&p, i, NULL);
    }
}
END_TEST

/* Each size of tiles along one axis and along both, filters of even and of unequal sides. */
START_TEST(filters_of_other_sizes)
{
    static const struct {
        int64_t filter[2], pad[2];
        const char *config;
    } some[] = {{{1, 3}, {0, 1}, "T_T=4"}, {{3, 1}, {1, 0}, "T_T=8"},  {{1, 7}, {0, 3}, "T_T=10"},
                {{5, 5}, {2, 0}, "T_T=6"}, {{9, 1}, {8, 2}, "T_T=10"}, {{2, 2}, {0, 1}, "T_T=6"},
                {{4, 3}, {1, 1}, "T_T=6"}, {{7, 6}, {3, 3}, "T_T=8"}};
    for (int i = 0; i < 8; i++) {
        kiln_problem p = problem(2, 3, 13, 22, 18);
        p.direction = i / 3 % 2 ? KILN_BACKWARD_DATA : KILN_FORWARD;
        for (int a = 0; a < 2; a++) {
            p.filter[a] = some[i].filter[a];
            p.pad_begin[a] = p.pad_end[a] = some[i].pad[a];
        }
        check_turn(&p, i, some[i].config);
    }
}
END_TEST

/* Phases of one axis and of both, also of one with a single tap, which has but one. */
START_TEST(strides)
{
    static const struct {
        int64_t channels, filter[2], stride[2], pad[2];
        const char *config;
    } some[] = {{3, {7, 7}, {2, 2}, {3, 3}, "T_T=8"},  {19, {3, 3}, {2, 2}, {1, 0}, "T_T=4"},
                {5, {3, 5}, {1, 2}, {1, 4}, "T_T=6"},  {16, {4, 2}, {2, 1}, {1, 1}, "T_T=6"},
                {18, {1, 3}, {2, 2}, {0, 1}, "T_T=4"}, {33, {6, 5}, {2, 2}, {5, 2}, "T_T=6"}};
    for (int i = 0; i < 6; i++) {
        kiln_problem p = problem(2, some[i].channels, 27, 38, 18);
        for (int a = 0; a < 2; a++) {
            p.filter[a] = some[i].filter[a];
            p.stride[a] = some[i].stride[a];
            p.pad_begin[a] = p.pad_end[a] = some[i].pad[a];
        }
        check_turn(&p, i, some[i].config);
    }
}
END_TEST

/* Rows and columns that are left over for some of the phases. */
START_TEST(dilations)
{
    static const int64_t some[][4] = {{3, 3, 2, 2}, {2, 3, 3, 1}, {1, 5, 1, 4}};
    for (int i = 0; i < 3; i++) {
        kiln_problem p = problem(2, 18, 13, 22, 17);
        p.direction = i == 1 ? KILN_BACKWARD_DATA : KILN_FORWARD;
        for (int a = 0; a < 2; a++) {
            p.filter[a] = some[i][a];
            p.dilation[a] = some[i][2 + a];
            p.pad_begin[a] = p.pad_end[a] = i;
        }
        set_layouts(&p, 1);
        check_exact(&p, solvers[i % SOLVERS], "T_T=6");
        set_layouts(&p, i ? i + 1 : 0);
        check_exact(&p, solvers[(i + 1) % SOLVERS], "T_T=6");
    }
}
END_TEST

/* A bias tells one group's channels from another's. */
START_TEST(groups)
{
    for (int i = 0; i < 3; i++) {
        kiln_problem p = problem(2, 32, 7, 6, 64);
        p.direction = i == 2 ? KILN_BACKWARD_DATA : KILN_FORWARD;
        p.groups = 2;
        p.epilogue.bias = i < 2;
        set_layouts(&p, i);
        support_check(&p, "winograd_fused", NULL, HOST_FILL_UNIFORM);
    }
}
END_TEST

/* Some of all that the search would try. */
START_TEST(configs_of_the_search)
{
    const kiln_solver *solver = kiln_solver_named(solvers[_i]);
    for (int l = 0; l < 2; l++) {
        kiln_problem p = problem(1, 19, 30, 61, 64);
        set_layouts(&p, l);
        ck_assert_int_eq(kiln_problem_check(&p, NULL), KILN_OK);
        kiln_shape s = kiln_shape_of(&p);
        const kiln_device_facts *facts = &support_open()->kiln->facts;
        int64_t position = 0, tried = 0;
        kiln_config c;
        for (; kiln_config_next(solver, &s, facts, &position, &c); tried++) {
            char config[KILN_CONFIG_TEXT];
            kiln_config_text(solver, &c, config, sizeof config);
            if (tried % 18 == 5 * l)
                check_exact(&p, solvers[_i], config);
        }
        ck_assert_int_gt(tried, 10);
        ck_assert_int_le(tried, 60);
    }
}
END_TEST

/* Configs that the search leaves out: tiles that divide nothing, single sums. */
START_TEST(odd_configs)
{
    static const char *const staged[] = {"4,1,1,1", "6,9,3,3", "6,250,10,2", "8,8,4,2"};
    static const char *const configs[] = {"4,1,1,1,1,0",   "6,1,1,1,1,0",   "4,10,5,2,1,0",
                                          "6,9,3,3,1,0",   "6,33,11,2,2,1", "4,64,16,2,2,0",
                                          "6,13,13,1,5,1", "8,3,1,2,2,0",   "8,20,10,2,1,1"};
    for (int i = 0; i < 9; i++) {
        kiln_problem p = problem(2, 21, 13, 17, 70);
        set_layouts(&p, i);
        check_exact(&p, "winograd_fused", configs[i]);
        set_layouts(&p, i + 1);
        if (i < 4)
            check_exact(&p, "winograd_staged", staged[i]);
    }
}
END_TEST

/* ---- rounding, types, epilogues ---- */

static const kiln_type types[] = {KILN_F32, KILN_F16, KILN_BF16};

static void set_type(kiln_problem *p, int which)
{
    p->x_type = p->w_type = p->y_type = types[which % 3];
}

START_TEST(fractions_stay_within_the_bound)
{
    for (int i = 0; i < 6; i++) {
        kiln_problem p = problem(1, i < 3 ? 3 : 70, 14, 19, 33);
        set_type(&p, i);
        set_layouts(&p, i < 3 ? 0 : i);
        support_check(&p, solvers[i % SOLVERS], sizes[(i + i / 3) % 3],
                      i < 3 ? HOST_FILL_UNIFORM : HOST_FILL_MIOPEN);
    }
}
END_TEST

static const kiln_epilogue epilogues[] = {
    {.bias = 1},
    {.alpha = -2, .beta = 3, .bias = 1, .activation = KILN_RELU},
    {.beta = 1, .activation = KILN_LEAKY_RELU, .param = {0.25f}},
    {.alpha = 0.125f, .activation = KILN_SIGMOID},
};

enum { EPILOGUES = sizeof epilogues / sizeof *epilogues };

/* Into plain rows of a vector and some, and into blocks that are not full. */
START_TEST(the_epilogue_is_applied)
{
    for (int blocked = 0; blocked < 2; blocked++) {
        kiln_problem p = problem(2, 5, 9, 22, 19);
        p.epilogue = epilogues[_i];
        set_type(&p, _i);
        set_layouts(&p, blocked);
        support_check(&p, solvers[(_i + blocked) % SOLVERS], NULL, HOST_FILL_UNIFORM);
    }
}
END_TEST

/* Rows shorter than a vector, of elements that lie apart too, with a residual. */
START_TEST(short_rows_have_a_residual)
{
    for (int i = 0; i < 3; i++) {
        kiln_problem p = problem(2, 5, 5, i ? 15 : 3, 17);
        p.epilogue = epilogues[1];
        p.dilation[1] = i < 2 ? 1 : 2;
        support_check(&p, solvers[i % SOLVERS], NULL, HOST_FILL_UNIFORM);
    }
}
END_TEST

START_TEST(golden_cases)
{
    static int64_t dims[2][4], numbers[3][512];
    static char line[1 << 16];
    const support_device *d = support_open();
    FILE *file = golden_open("winograd.jsonl");
    ck_assert_ptr_nonnull(file);
    int cases = 0;
    for (; fgets(line, sizeof line, file); cases++) {
        int64_t m, pad = strtoll(golden_field(line, "pad"), NULL, 10);
        m = strtoll(golden_field(line, "m"), NULL, 10);
        golden_numbers(line, "input_dims_nchw", dims[0], 4);
        golden_numbers(line, "filter_dims_oihw", dims[1], 4);
        kiln_problem p = problem(dims[0][0], dims[0][1], dims[0][2], dims[0][3], dims[1][0]);
        for (int a = 0; a < 2; a++)
            p.pad_begin[a] = p.pad_end[a] = pad;
        const kiln_choice choice = {.solver = solvers[cases % SOLVERS],
                                    .config = m == 4 ? "T_T=6" : "T_T=4",
                                    .ignore_rows = 1};
        kiln_op *op;
        kiln_op_info info;
        ck_assert_msg(kiln_conv_create(d->kiln, &p, &choice, &op) == KILN_OK, "%s",
                      kiln_last_error());
        kiln_op_describe(op, &info);
        tensor t[3];
        make_all(t, &info.problem);
        static const char *const names[] = {"input_nchw", "filter_oihw", "output_nchw"};
        for (int i = 0; i < 3; i++) {
            int64_t count = kiln_problem_count(&info.problem, "xwy"[i]);
            ck_assert_int_eq(golden_numbers(line, names[i], numbers[i], 512), count);
            for (int64_t j = 0; j < count; j++)
                t[i].plain[j] = (float)numbers[i][j];
            upload(d, &t[i], i == 2);
        }
        enqueue(d, op, &info, t);
        download(d, &t[2]);
        for (int64_t j = 0; j < kiln_problem_count(&info.problem, 'y'); j++) {
            /* m = 2 halves twice, which is exact; m = 4 divides by 3. */
            double error = fabs((double)t[2].plain[j] - (double)numbers[2][j]);
            ck_assert_msg(error <= (m == 2 ? 0 : 0.125), "case %d: element %lld is %g, not %lld",
                          cases, (long long)j, (double)t[2].plain[j], (long long)numbers[2][j]);
        }
        for (int i = 0; i < 3; i++)
            free_tensor(&t[i]);
        kiln_op_release(op);
    }
    fclose(file);
    ck_assert_int_eq(cases, 4);
}
END_TEST

/* ---- what it refuses ---- */

static void refused(const char *solver, const kiln_problem *p, const char *config, const char *word)
{
    ck_assert_msg(!support_try(p, solver, config, HOST_FILL_INT), "taken, in spite of %s", word);
    ck_assert_msg(strstr(kiln_last_error(), word), "%s", kiln_last_error());
}

START_TEST(what_it_cannot_do_is_refused)
{
    kiln_problem p = problem(1, 3, 8, 8, 4);
    p.math = KILN_MATH_EXACT;
    refused(solvers[_i], &p, NULL, "plain sums");
    p = problem(1, 3, 8, 8, 4);
    p.stride[1] = 3;
    refused(solvers[_i], &p, NULL, "stride");
    p = problem(1, 3, 8, 8, 4);
    p.stride[1] = 2;
    p.direction = KILN_BACKWARD_DATA;
    refused(solvers[_i], &p, NULL, "stride 1 only");
    p = problem(1, 3, 8, 8, 4);
    p.filter[0] = p.filter[1] = p.stride[0] = p.stride[1] = 2;
    refused(solvers[_i], &p, NULL, "one tap");
    p = problem(1, 3, 8, 8, 4);
    p.dilation[0] = p.stride[1] = 2;
    refused(solvers[_i], &p, NULL, "not for both");
    p = problem(1, 3, 8, 8, 4);
    p.filter[0] = 8;
    refused(solvers[_i], &p, NULL, "7 taps");
    p = problem(1, 3, 8, 8, 4);
    p.filter[0] = p.filter[1] = 1;
    refused(solvers[_i], &p, NULL, "one tap");
    p = problem(1, 3, 8, 8, 4);
    refused(solvers[_i], &p, "T_T=10", "along two axes");
    p = problem(1, 3, 8, 8, 4);
    p.filter[0] = p.filter[1] = 5;
    refused(solvers[_i], &p, "T_T=4", "5 taps");
    p = problem(1, 3, 8, 8, 4);
    p.x_type = p.w_type = KILN_I8;
    refused(solvers[_i], &p, NULL, "integers");
    p = problem(1, 3, 8, 8, 4);
    p.direction = KILN_BACKWARD_WEIGHTS;
    refused(solvers[_i], &p, NULL, "backward data");
    p = problem(2, 16, 7, 6, 20);
    p.groups = 2;
    refused(solvers[_i], &p, NULL, "fill blocks");
    p = problem(2, 32, 7, 6, 32);
    p.groups = 2;
    if (_i == 1)
        refused("winograd_staged", &p, NULL, "one group");
}
END_TEST

/* Exceeding it, PoCL would abort the process. */
START_TEST(other_layouts_are_refused_where_they_must_be_native)
{
    const kiln_choice choice = {.solver = solvers[_i], .ignore_rows = 1, .native_layout = 1};
    static const char *const wrong[][2] = {{"NHWC", "NCHW"}, {"NCHW8c", "NCHW16c"}};
    for (int i = 0; i < 2; i++) {
        kiln_problem p = problem(1, 3, 8, 8, 4);
        strcpy(p.x_layout, wrong[i][0]);
        strcpy(p.y_layout, wrong[i][1]);
        kiln_op *op;
        ck_assert_int_eq(kiln_conv_create(support_open()->kiln, &p, &choice, &op),
                         KILN_UNSUPPORTED);
        ck_assert_msg(strstr(kiln_last_error(), "NCHW16c"), "%s", kiln_last_error());
    }
}
END_TEST

START_TEST(local_memory_is_respected)
{
    kiln_problem p = problem(1, 2048, 64, 64, 64);
    refused("winograd_fused", &p, "6,64,8,2,1,0", "local memory");
}
END_TEST

static double limit(void)
{
    const char *text = getenv("CK_DEFAULT_TIMEOUT");
    return text ? 4 * strtod(text, NULL) : 1200;
}

int main(void)
{
    if (!support_on_cpu())
        return SUPPORT_SKIPPED;
    TCase *tests = tcase_create("winograd");
    tcase_set_timeout(tests, limit());
    tcase_add_test(tests, remainders_of_channels);
    tcase_add_test(tests, remainders_of_images);
    tcase_add_test(tests, filters_of_other_sizes);
    tcase_add_test(tests, strides);
    tcase_add_test(tests, dilations);
    tcase_add_test(tests, any_padding);
    tcase_add_test(tests, transposed_ones);
    tcase_add_test(tests, groups);
    tcase_add_loop_test(tests, configs_of_the_search, 0, SOLVERS);
    tcase_add_test(tests, odd_configs);
    tcase_add_test(tests, fractions_stay_within_the_bound);
    tcase_add_loop_test(tests, the_epilogue_is_applied, 0, EPILOGUES);
    tcase_add_test(tests, short_rows_have_a_residual);
    tcase_add_test(tests, golden_cases);
    tcase_add_loop_test(tests, what_it_cannot_do_is_refused, 0, SOLVERS);
    tcase_add_loop_test(tests, other_layouts_are_refused_where_they_must_be_native, 0, SOLVERS);
    tcase_add_test(tests, local_memory_is_respected);
    Suite *suite = suite_create("winograd");
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
