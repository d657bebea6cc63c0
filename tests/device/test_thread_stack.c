/* Threads of a host program may have small stacks: what a call uses of one on PoCL's CPU device,
 * once the driver has compiled what the call runs. Its compiler may need megabytes of the stack. */
#include "kiln_find.h"

#include "support/stack.h"
#include "support/suite.h"
#include "support/support.h"
#include "support/tuning.h"

#include <check.h>
#include <stdio.h>

/* What PoCL needs of its own in these calls, measured with less. */
enum { DRIVER = 32 << 10 };

static const kiln_choice choice = {.solver = "naive"};

static void open_again(void *user)
{
    (void)user;
    kiln_close(tuning_open(tuning.rows_file, NULL));
}

static void create(void *user)
{
    kiln_op *op = NULL;
    (void)user;
    ck_assert_int_eq(kiln_conv_create(tuning.kiln, &tuning_problem, &choice, &op), KILN_OK);
    kiln_op_release(op);
}

static void run(void *user)
{
    kiln_op *op = user;
    double ms, pack_ms;
    ck_assert_int_eq(kiln_op_enqueue(op, tuning.queue, &tuning.buffers, 0, NULL, NULL), KILN_OK);
    ck_assert_int_eq(kiln_finish(tuning.kiln, tuning.queue), KILN_OK);
    ck_assert_int_eq(kiln_op_time(op, tuning.queue, &tuning.buffers, &ms, &pack_ms), KILN_OK);
}

static void tune(void *user)
{
    tuning_record r = {0};
    kiln_tune_options o = tuning_options(&r, 1);
    kiln_trial best;
    (void)user;
    o.solver = "naive";
    ck_assert_int_eq(tuning_run(tuning.kiln, &o, &best), KILN_OK);
}

static void find(void *user)
{
    kiln_solution list[1];
    size_t count;
    (void)user;
    ck_assert_int_eq(kiln_find(tuning.kiln, &tuning_problem, tuning.queue, &tuning.buffers, NULL,
                               list, 1, &count),
                     KILN_OK);
}

static void prepare(void *user)
{
    (void)user;
    ck_assert_int_eq(kiln_prepare(tuning.kiln, &tuning_problem, 1, 1), KILN_OK);
}

static void prepare_in_processes(void *user)
{
    const kiln_problem twice[2] = {tuning_problem, tuning_problem};
    (void)user;
    ck_assert_int_eq(kiln_prepare(tuning.kiln, twice, 2, 2), KILN_OK);
}

static void prepare_ahead(void *user)
{
    kiln_helpers *helpers = NULL;
    (void)user;
    ck_assert_int_eq(kiln_prepare_begin(tuning.kiln, &tuning_problem, 1, 1, &helpers), KILN_OK);
    create(user);
    kiln_prepare_end(helpers);
}

static void bundle(void *user)
{
    char dir[128];
    (void)user;
    snprintf(dir, sizeof dir, "%s/bundle", tuning.folder);
    ck_assert_int_eq(kiln_bundle(tuning.kiln, &tuning_problem, 1, 1, dir), KILN_OK);
}

static void reformat(void *user)
{
    const kiln_reformat other = {.dims = "NCHW", .size = {1, 32, 8, 8}, .to = "NHWC"};
    const kiln_buffers with = {.x = tuning.buffers.y, .y = tuning.buffers.x};
    kiln_op *op = NULL;
    (void)user;
    ck_assert_int_eq(kiln_reformat_create(tuning.kiln, &other, &op), KILN_OK);
    ck_assert_int_eq(kiln_op_enqueue(op, tuning.queue, &with, 0, NULL, NULL), KILN_OK);
    ck_assert_int_eq(kiln_finish(tuning.kiln, tuning.queue), KILN_OK);
    kiln_op_release(op);
}

/* The first plan of a kiln finds out what only a kernel can. */
static void probe(void *user)
{
    kiln_op_info info;
    (void)user;
    kiln *fresh = tuning_open(tuning.rows_file, NULL);
    ck_assert_int_eq(kiln_conv_plan(fresh, &tuning_problem, NULL, &info), KILN_OK);
    kiln_close(fresh);
}

static const struct {
    const char *name;
    void (*call)(void *user);
} calls[] = {{"kiln_open", open_again},
             {"kiln_conv_create", create},
             {"kiln_op_enqueue", run},
             {"kiln_tune", tune},
             {"kiln_find", find},
             {"kiln_prepare", prepare},
             {"kiln_prepare in processes", prepare_in_processes},
             {"kiln_prepare_begin", prepare_ahead},
             {"kiln_bundle", bundle},
             {"kiln_reformat_create", reformat},
             {"a first probe", probe}};

enum { CALLS = sizeof calls / sizeof *calls };

START_TEST(calls_fit_small_stacks)
{
    kiln_op *op = NULL;
    ck_assert_int_eq(kiln_conv_create(tuning.kiln, &tuning_problem, &choice, &op), KILN_OK);
    calls[_i].call(op);
    const size_t used = support_stack_of(calls[_i].call, op);
    kiln_op_release(op);
    printf("%s: %zu bytes of stack\n", calls[_i].name, used);
    ck_assert_msg(used <= support_stack_limit() + DRIVER, "%s needs %zu bytes of stack",
                  calls[_i].name, used);
}
END_TEST

int main(void)
{
    if (!support_on_cpu())
        return SUPPORT_SKIPPED;
    Suite *s = suite_create("thread stack");
    TCase *t = tcase_create("thread stack");
    tcase_add_checked_fixture(t, tuning_set_up, tuning_tear_down);
    tcase_add_loop_test(t, calls_fit_small_stacks, 0, CALLS);
    suite_add_tcase(s, t);
    return support_run_suite(s);
}
