/* Solvers that multiply pairs of bf16, for equality: by the CPU's instruction where it has one,
 * else by the same kernels without it. A CPU with AVX512BW alone is skipped: for it kernels that
 * are told to have the instruction are compiled with it. */
#include "runtime/kiln/probes.h"
#include "runtime/op/op.h"
#include "support/direct_cases.h"
#include "support/kinds.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <string.h>

/* Odd and even channels, rows that fill no vector, strides, planes, groups, chunks of an odd number
 * of channels. `last` has letters for x and y: channels are last (l), in blocks (b) or planes (p).
 */
static const struct {
    const char *solver;
    int direction;
    const char *shape, *last, *config;
} cases[] = {
    {"direct_pixels", 0, "n2-c5-k7-i9x23-f3x3-p1x1", "pp", "T_VEC=16,T_K=3,T_PIX=2,T_TILE=2,T_C=3"},
    {"direct_pixels", 0, "n1-c18-k10-i11x13-f3x2-s2x2-p1x0-g2", "lp", "T_VEC=16,T_C=4"},
    {"direct_pixels", 0, "n1-c3-k6-i4x5x17-f3x2x3-p1x0x2", "pl", "T_VEC=16,T_C=1"},
    {"direct_pixels", 1, "n2-c6-k35-i9x11-f3x3-s2x2-p1x1", "pp", "T_VEC=16,T_C=16"},
    {"direct_pixels", 1, "n1-c9-k40-i7x7-f1x1", "ll", "T_VEC=16"},
    {"first_layer", 0, "n2-c3-k37-i37x23-f7x7-s2x2-p3x3", "pp", "T_VEC=16,T_K=4,T_PIX=2"},
    {"first_layer", 0, "n2-c3-k37-i37x23-f7x7-s2x2-p3x3", "pb", "T_VEC=16,T_K=2,T_PIX=5"},
    {"first_layer", 0, "n2-c3-k37-i37x23-f7x7-s2x2-p3x3", "ll", "T_VEC=16,T_K=2,T_PIX=5,T_ROWS=4"},
    {"first_layer", 0, "n1-c4-k20-i17x19-f2x3-s5x4-p1x2", "lb", "T_VEC=16"},
    {"first_layer", 0, "n1-c5-k16-i5x6x17-f3x2x3-s2x1x3-p1x0x2-d1x3x1", "ll", "T_VEC=16"},
    {"first_layer", 0, "n1-c2-k5-i5x6x17-f3x2x3-p1x0x2", "pp", "T_VEC=16"},
    {"weights_blocked", 2, "n2-c19-k37-i9x7-f3x3-p1x1", "bb", "T_X=1,T_Y=2,T_S=3"},
    {"weights_blocked", 2, "n2-c35-k21-i11x14-f3x3-s2x2-p1x1", "bb", "T_X=1,T_Y=4,T_S=1"},
    {"weights_blocked", 2, "n3-c3-k37-i9x10-f3x3-p1x1", "pb", NULL},
    {"weights_blocked", 2, "n3-c24-k16-i5x7-f1x1", "bb", NULL},
    {"weights_blocked", 2, "n2-c17-k18-i8x13-f1x5-p0x4-d1x2", "bb", NULL},
    {"direct_blocked", 0, "n1-c19-k37-i9x7-f3x3-p1x1", "bb", "T_V=16"},
    {"nhwc_direct", 1, "n1-c19-k37-i9x7-f3x3-s2x2-p1x1", "ll", "T_V=16,T_KV=2"},
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

static const char *layout_of(char letter, int rank)
{
    static const char *const names[][2] = {{"NCHW", "NCDHW"}, {"NHWC", "NDHWC"}, {"NC/16HW16", ""}};
    return names[letter == 'p' ? 0 : letter == 'l' ? 1 : 2][rank == 3];
}

static kiln_problem problem_of(int i)
{
    kiln_problem p = direct_problem(cases[i].direction, "bf16", cases[i].shape);
    support_set_layouts(&p, layout_of(cases[i].last[0], p.spatial_rank),
                        layout_of(cases[i].last[1], p.spatial_rank));
    return p;
}

/* Makes the CPU one that multiplies pairs, of whose vectors solvers use all lanes. */
static void pretend(void)
{
    support_open()->kiln->facts.has_bf16 = true;
    support_open()->kiln->facts.simd_floats = 16;
}

/* Whether a stage has the option. */
static bool has_option(const kiln_problem *p, int i, const char *option)
{
    const kiln_choice choice = {.solver = cases[i].solver, .config = cases[i].config};
    kiln_op *op;
    bool has = false;
    ck_assert_msg(kiln_conv_create(support_open()->kiln, p, &choice, &op) == KILN_OK, "%s",
                  kiln_last_error());
    for (int j = 0; j < op->plan.nstages; j++)
        has = has || strstr(op->plan.stage[j].options, option) != NULL;
    kiln_op_release(op);
    return has;
}

START_TEST(pairs_are_exact)
{
    kiln_problem p = problem_of(_i);
    pretend();
    ck_assert(has_option(&p, _i, "-DD_TOGETHER=2"));
    support_check(&p, cases[_i].solver, cases[_i].config, HOST_FILL_INT);
    support_check(&p, cases[_i].solver, cases[_i].config, HOST_FILL_UNIFORM);
}
END_TEST

/* Numbers below 2^-126 count as zero in pairs. */
START_TEST(exact_math_has_none)
{
    kiln_problem p = problem_of(_i);
    pretend();
    p.math = KILN_MATH_EXACT;
    ck_assert(!has_option(&p, _i, "-DD_TOGETHER=2"));
}
END_TEST

static bool takes_kernels(void)
{
#if defined __x86_64__ && defined __GNUC__
    return !__builtin_cpu_supports("avx512bw") || __builtin_cpu_supports("avx512bf16");
#else
    return true;
#endif
}

int main(void)
{
    if (!support_on_cpu() || !takes_kernels())
        return SUPPORT_SKIPPED;
    Suite *s = suite_create("pairs");
    TCase *c = tcase_create("pairs");
    tcase_set_timeout(c, 300);
    tcase_add_checked_fixture(c, remember, restore);
    tcase_add_loop_test(c, pairs_are_exact, 0, CASES);
    tcase_add_loop_test(c, exact_math_has_none, 4, 7);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
