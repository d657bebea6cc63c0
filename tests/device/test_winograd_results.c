/* What the Winograd solvers make of sums: rounding, types, epilogues, and results that are known.
 */
#include "support/placed.h"
#include "support/suite.h"
#include "support/support.h"
#include "support/winograd_cases.h"
#include "golden.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

/* A bias tells one group's channels from another's. */
START_TEST(groups)
{
    for (int i = 0; i < 3; i++) {
        kiln_problem p = winograd_problem(2, 32, 7, 6, 64);
        p.direction = i == 2 ? KILN_BACKWARD_DATA : KILN_FORWARD;
        p.groups = 2;
        p.epilogue.bias = i < 2;
        winograd_set_layouts(&p, i);
        support_check(&p, "winograd_fused", NULL, HOST_FILL_UNIFORM);
    }
}
END_TEST

static const kiln_type types[] = {KILN_F32, KILN_F16, KILN_BF16};

static void set_type(kiln_problem *p, int which)
{
    p->x_type = p->w_type = p->y_type = types[which % 3];
}

START_TEST(fractions_stay_within_the_bound)
{
    for (int i = 0; i < 6; i++) {
        kiln_problem p = winograd_problem(1, i < 3 ? 3 : 70, 14, 19, 33);
        set_type(&p, i);
        winograd_set_layouts(&p, i < 3 ? 0 : i);
        support_check(&p, winograd_solvers[i % WINOGRAD_SOLVERS], winograd_sizes[(i + i / 3) % 3],
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
        kiln_problem p = winograd_problem(2, 5, 9, 22, 19);
        p.epilogue = epilogues[_i];
        set_type(&p, _i);
        winograd_set_layouts(&p, blocked);
        support_check(&p, winograd_solvers[(_i + blocked) % WINOGRAD_SOLVERS], NULL,
                      HOST_FILL_UNIFORM);
    }
}
END_TEST

/* Rows shorter than a vector, of elements that lie apart too, with a residual. */
START_TEST(short_rows_have_a_residual)
{
    for (int i = 0; i < 3; i++) {
        kiln_problem p = winograd_problem(2, 5, 5, i ? 15 : 3, 17);
        p.epilogue = epilogues[1];
        p.dilation[1] = i < 2 ? 1 : 2;
        support_check(&p, winograd_solvers[i % WINOGRAD_SOLVERS], NULL, HOST_FILL_UNIFORM);
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
        kiln_problem p =
            winograd_problem(dims[0][0], dims[0][1], dims[0][2], dims[0][3], dims[1][0]);
        for (int a = 0; a < 2; a++)
            p.pad_begin[a] = p.pad_end[a] = pad;
        const kiln_choice choice = {.solver = winograd_solvers[cases % WINOGRAD_SOLVERS],
                                    .config = m == 4 ? "T_T=6" : "T_T=4",
                                    .ignore_rows = 1};
        kiln_op *op;
        kiln_op_info info;
        ck_assert_msg(kiln_conv_create(d->kiln, &p, &choice, &op) == KILN_OK, "%s",
                      kiln_last_error());
        kiln_op_describe(op, &info);
        placed_tensor t[3];
        placed_make(t, &info.problem);
        static const char *const names[] = {"input_nchw", "filter_oihw", "output_nchw"};
        for (int i = 0; i < 3; i++) {
            int64_t count = kiln_problem_count(&info.problem, "xwy"[i]);
            ck_assert_int_eq(golden_numbers(line, names[i], numbers[i], 512), count);
            for (int64_t j = 0; j < count; j++)
                t[i].plain[j] = (float)numbers[i][j];
            placed_upload(d, &t[i], i == 2);
        }
        placed_enqueue(d, op, &info, t);
        placed_download(d, &t[2]);
        for (int64_t j = 0; j < kiln_problem_count(&info.problem, 'y'); j++) {
            /* m = 2 halves twice, which is exact; m = 4 divides by 3. */
            double error = fabs((double)t[2].plain[j] - (double)numbers[2][j]);
            ck_assert_msg(error <= (m == 2 ? 0 : 0.125), "case %d: element %lld is %g, not %lld",
                          cases, (long long)j, (double)t[2].plain[j], (long long)numbers[2][j]);
        }
        for (int i = 0; i < 3; i++)
            placed_free(&t[i]);
        kiln_op_release(op);
    }
    fclose(file);
    ck_assert_int_eq(cases, 4);
}
END_TEST

int main(void)
{
    if (!support_on_cpu())
        return SUPPORT_SKIPPED;
    TCase *tests = tcase_create("winograd_results");
    tcase_set_timeout(tests, winograd_patience());
    tcase_add_test(tests, groups);
    tcase_add_test(tests, fractions_stay_within_the_bound);
    tcase_add_loop_test(tests, the_epilogue_is_applied, 0, EPILOGUES);
    tcase_add_test(tests, short_rows_have_a_residual);
    tcase_add_test(tests, golden_cases);
    Suite *suite = suite_create("winograd_results");
    suite_add_tcase(suite, tests);
    return support_run_suite(suite);
}
