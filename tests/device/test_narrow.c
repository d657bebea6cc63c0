/* Solvers for CPUs with the vectors of other CPUs than this one: eight floats (AVX2), four (SSE,
 * NEON), and sixteen without VNNI, whose products of bytes take other ways. What has no such
 * instructions runs the same kernels without them. */
#include "runtime/kiln/probes.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

/* Remainders of channels and pixels everywhere. */
#define BYTES "i8-n2-c19-k37-i9x7-f3x3-p1x1"
#define FLOATS "f32-n2-c19-k37-i9x7-f3x3-p1x1"
#define DEPTHWISE "f32-n2-c21-k21-i9x7-f3x3-p1x1-g21"

static const struct {
    int floats; /* of a vector */
    const char *solver, *problem;
} cases[] = {
    {16, "winograd_int8", "fwd-" BYTES},
    {8, "winograd_int8", "fwd-" BYTES},
    {4, "winograd_int8", "bwd-" BYTES},
    {16, "direct_blocked", "fwd-" BYTES},
    {16, "direct_blocked", "bwd-" BYTES "-l:NCHW16c.OIHW.NCHW16c"},
    {8, "nhwc_direct", "fwd-" BYTES "-l:NHWC.OIHW.NHWC"},
    {8, "direct_blocked", "fwd-" FLOATS},
    {4, "direct_blocked", "fwd-" BYTES},
    {4, "nhwc_direct", "bwd-" FLOATS "-l:NHWC.OIHW.NHWC"},
    {8, "winograd_fused", "fwd-" FLOATS},
    {4, "winograd_fused", "bwd-" FLOATS},
    {8, "winograd_staged", "bwd-" FLOATS},
    {4, "winograd_staged", "fwd-" FLOATS},
    {8, "winograd_weights", "wrw-" FLOATS},
    {4, "winograd_weights", "wrw-" FLOATS},
    {8, "weights_blocked", "wrw-" FLOATS},
    {4, "weights_blocked", "wrw-" FLOATS},
    {8, "depthwise_blocked", "fwd-" DEPTHWISE},
    {4, "depthwise_blocked", "bwd-" DEPTHWISE "-l:NHWC.OIHW.NHWC"},
    {8, "depthwise_weights", "wrw-" DEPTHWISE "-l:NHWC.OIHW.NHWC"},
    {4, "depthwise_weights", "wrw-" DEPTHWISE "-l:NCHW4c.OIHW.NCHW4c"},
};

enum { CASES = sizeof cases / sizeof *cases };

static kiln_device_facts own;

static void remember(void)
{
    kiln *k = support_open()->kiln;
    kiln_probe_for(k, NULL);
    own = k->facts;
}

static void restore(void)
{
    support_open()->kiln->facts = own;
}

/* Lest a solver took the vectors, or the VNNI, of this CPU all the same. */
static void check_plan(const kiln_problem *p, const char *solver, int floats)
{
    const kiln_choice choice = {.solver = solver, .ignore_rows = 1};
    kiln_op *op;
    kiln_stage_info stage;
    char lanes[24];
    bool found = false;
    snprintf(lanes, sizeof lanes, "-DD_B=%d ", floats);
    ck_assert_msg(kiln_conv_create(support_open()->kiln, p, &choice, &op) == KILN_OK, "%s: %s",
                  solver, kiln_last_error());
    for (int i = 0; kiln_op_stage(op, i, &stage) == KILN_OK; i++) {
        found = found || strstr(stage.options, lanes);
        ck_assert_msg(!strstr(stage.options, "-DD_VNNI=1"), "%s: %s", solver, stage.options);
        ck_assert_msg(!strstr(stage.options, "-DD_BF16=1"), "%s: %s", solver, stage.options);
    }
    kiln_op_release(op);
    ck_assert_msg(found, "%s: no stage has %s", solver, lanes);
}

START_TEST(vectors_of_another_cpu)
{
    kiln_device_facts *facts = &support_open()->kiln->facts;
    kiln_problem p;
    char why[KILN_ERROR_TEXT];
    ck_assert_msg(kiln_problem_parse(&p, cases[_i].problem, why) == KILN_OK, "%s", why);
    facts->cpu = kiln_core_of(NULL);
    facts->simd_floats = cases[_i].floats;
    facts->has_vnni = facts->has_bf16 = facts->has_amx = false;
    check_plan(&p, cases[_i].solver, cases[_i].floats);
    support_check(&p, cases[_i].solver, NULL,
                  p.w_type == KILN_I8 ? HOST_FILL_UNIFORM : HOST_FILL_INT);
}
END_TEST

int main(void)
{
    if (!support_on_cpu())
        return SUPPORT_SKIPPED;
    Suite *s = suite_create("narrow");
    TCase *c = tcase_create("narrow");
    tcase_set_timeout(c, 300);
    tcase_add_checked_fixture(c, remember, restore);
    tcase_add_loop_test(c, vectors_of_another_cpu, 0, CASES);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
