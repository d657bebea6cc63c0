/* Threads of a host program may have small stacks: what a call that needs no device uses of one. */
#include "kiln_chain.h"
#include "kiln_find.h"
#include "kiln_tune.h"

#include "support/stack.h"
#include "support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static kiln *k;
static char folder[64], rows_file[128];

static void open_one(void *user)
{
    const kiln_settings settings = {.cache_dir = "off", .rows_file = rows_file};
    (void)user;
    ck_assert_int_eq(kiln_open(&k, NULL, NULL, &settings), KILN_OK);
}

static void set_up(void)
{
    strcpy(folder, "/tmp/kiln-stack-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(rows_file, sizeof rows_file, "%s/rows.yaml", folder);
    ck_assert_int_eq(kiln_rows_make(rows_file, "any"), KILN_OK);
    open_one(NULL);
}

static void tear_down(void)
{
    kiln_close(k);
    unlink(rows_file);
    rmdir(folder);
}

static const kiln_problem problems[] = {
    {.batch = 8,
     .in_channels = 64,
     .out_channels = 64,
     .input = {28, 28},
     .filter = {3, 3},
     .pad_begin = {1, 1},
     .pad_end = {1, 1},
     .x_layout = "any",
     .w_layout = "any",
     .y_layout = "any"},
    {.direction = KILN_BACKWARD_WEIGHTS,
     .batch = 2,
     .in_channels = 32,
     .out_channels = 32,
     .groups = 32,
     .input = {14, 14},
     .filter = {5, 5}},
    {.batch = 2,
     .in_channels = 16,
     .out_channels = 32,
     .input = {9, 9},
     .filter = {1, 1},
     .x_layout = "NHWC",
     .y_layout = "NCHW4c",
     .workspace_limit = 1 << 20},
};

enum { PROBLEMS = sizeof problems / sizeof *problems };

static void plan(void *user)
{
    kiln_op_info info;
    ck_assert_int_eq(kiln_conv_plan(k, user, NULL, &info), KILN_OK);
}

static void show_op(void *user, const kiln_op *op)
{
    kiln_op_info info;
    kiln_stage_info stage;
    (void)user;
    kiln_op_describe(op, &info);
    ck_assert_int_eq(kiln_op_stage(op, 0, &stage), KILN_OK);
}

static void show(void *user)
{
    ck_assert_int_eq(kiln_conv_show(k, user, NULL, show_op, NULL), KILN_OK);
}

static void forced(void *user)
{
    const kiln_choice choice = {.solver = "naive", .config = ""};
    kiln_op_info info;
    ck_assert_int_ne(kiln_conv_plan(k, user, &choice, &info), KILN_NO_MEMORY);
}

static void explain(void *user)
{
    kiln_verdict verdict;
    for (int i = 0; kiln_explain(k, user, i, &verdict) == KILN_OK; i++)
        ck_assert(verdict.accepted || *verdict.reason);
}

static void ignore(void *user, const kiln_row_verdict *verdict)
{
    (void)user, (void)verdict;
}

static void explain_rows(void *user)
{
    ck_assert_int_eq(kiln_explain_rows(k, user, ignore, NULL), KILN_OK);
}

static void solutions(void *user)
{
    kiln_solution list[4];
    size_t count;
    ck_assert_int_eq(kiln_solutions(k, user, list, 4, &count), KILN_OK);
}

static void chain(void *user)
{
    kiln_link links[3] = {{.problem = problems[0]},
                          {.problem = problems[0], .x_back = 1},
                          {.problem = problems[0], .x_back = 1, .residual_back = 2}};
    (void)user;
    links[2].problem.epilogue.beta = 1;
    ck_assert_int_eq(kiln_chain(k, links, 3, NULL), KILN_OK);
}

static void open_and_close(void *user)
{
    kiln *kept = k;
    open_one(user);
    kiln_close(k);
    k = kept;
}

static const struct {
    const char *name;
    void (*call)(void *user);
} calls[] = {
    {"kiln_open", open_and_close}, {"kiln_conv_plan", plan},
    {"kiln_conv_show", show},      {"kiln_conv_plan of a config", forced},
    {"kiln_explain", explain},     {"kiln_explain_rows", explain_rows},
    {"kiln_solutions", solutions}, {"kiln_chain", chain},
};

enum { CALLS = sizeof calls / sizeof *calls };

START_TEST(calls_fit_small_stacks)
{
    for (int i = 0; i < PROBLEMS; i++) {
        kiln_problem problem = problems[i];
        const size_t used = support_stack_of(calls[_i].call, &problem);
        printf("%s: %zu bytes of stack\n", calls[_i].name, used);
        ck_assert_msg(used <= support_stack_limit(), "%s needs %zu bytes of stack", calls[_i].name,
                      used);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("small stack");
    TCase *t = tcase_create("small stack");
    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_loop_test(t, calls_fit_small_stacks, 0, CALLS);
    suite_add_tcase(s, t);
    return support_run_apart(s);
}
