/* The solver direct_amx: shapes, types, layouts, tiles and epilogues, for equality, on CPUs whose
 * AMX a probe found. On others it must refuse. */
#include "runtime/kiln/probes.h"
#include "support/direct_cases.h"
#include "support/kinds.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static bool has_amx(void)
{
    kiln *k = support_open()->kiln;
    kiln_probe_for(k, NULL);
    return k->facts.has_amx;
}

static void check(const kiln_problem *p, const char *config, host_fill fill)
{
    if (has_amx())
        support_check(p, "direct_amx", config, fill);
    else
        ck_assert(!support_try(p, "direct_amx", config, fill));
}

/* What tiles, pieces and steps meet: channels that fill no block, one or several; few channels,
 * with rows of the filter in steps that end within a pixel, and rows of a stride that are one;
 * strides whose rows are sorted; an odd tile, one row, parts of a row; groups that fill no vector;
 * planes outside of the source; parts of the pairs; runs of pixels that tile registers are stored
 * to. */
static const struct {
    int direction;
    const char *type, *shape, *layout, *config;
} cases[] = {
    {0, "bf16", "n2-c64-k40-i9x7-f3x3-p1x1", "NHWC", "1024,1,0"},
    {0, "bf16", "n3-c40-k72-i5x6-f1x1", "NHWC", "40,2,1"},
    {0, "bf16", "n1-c24-k24-i7x7-f1x1", "NHWC", "20,1,0"},
    {0, "i8", "n2-c64-k16-i5x5-f1x1-g2", "NHWC", "1024,1,0"},
    {0, "bf16", "n1-c33-k16-i9x8-f1x1-s2x3", "NHWC", "6,1,0"},
    {0, "bf16", "n2-c48-k16-i8x9-f1x1-s3x2-p1x2", "NHWC", "1024,1,1"},
    {0, "i8", "n2-c72-k33-i9x7-f3x3-p1x1", "NHWC", "20,1,1"},
    {0, "bf16", "n1-c3-k17-i21x19-f7x7-s2x2-p3x3", "NHWC", "60,1,0"},
    {0, "i8", "n1-c5-k8-i13x11-f3x3-s2x3-p1x2", "NHWC", "4,1,0"},
    {0, "bf16", "n1-c33-k16-i11x12-f5x3-s3x2-p2x1-d1x2", "NHWC", "1024,1,0"},
    {0, "bf16", "n1-c3-k40-i23x21-f11x11-s4x4", "NHWC", "1024,1,1"},
    {0, "bf16", "n1-c1-k16-i9x40-f3x20-s2x2", "NHWC", "20,1,0"},
    {0, "i8", "n2-c3-k17-i21x19-f7x7-s2x2-p3x3", "NHWC", "60,1,0"},
    {0, "i8", "n1-c3-k40-i23x21-f11x11-s4x4-p2x1", "NHWC", "1024,1,1"},
    {0, "i8", "n1-c2-k16-i9x10-f5x3-s3x2-p4x1", "NHWC", "7,1,0"},
    {0, "i8", "n1-c6-k32-i12x9-f3x3-s2x1-p1x1-g2", "NHWC", "40,1,0"},
    {0, "i8", "n1-c3-k16-i11x9-f3x3-s2x2-p1x1", "NCHW16c", "20,1,0"},
    {0, "bf16", "n1-c4-k16-i14x9-f4x3-s2x2-p1x0", "NHWC", "9,1,0"},
    {0, "bf16", "n1-c3-k16-i4x11x9-f2x4x3-s1x2x2-p1x2x1", "NDHWC", "30,1,1"},
    {0, "bf16", "n1-c47-k80-i6x5-f3x3-p1x1", "NHWC", "1024,1,1"},
    {0, "i8", "n1-c48-k24-i6x5-f5x5-p2x2", "NHWC", "1024,1,0"},
    {0, "i8", "n2-c24-k48-i7x9-f1x1", "NHWC", "40,1,0"},
    {0, "i8", "n1-c16-k32-i5x40-f3x3-p1x1", "NHWC", "1024,1,1"},
    {0, "i8", "n1-c16-k64-i5x40-f3x3-p1x1", "NCHW16c", "90,2,0"},
    {0, "bf16", "n2-c24-k24-i6x6-f3x3-p1x1-g3", "NHWC", "64,1,1"},
    {0, "i8", "n1-c128-k128-i5x5-f3x3-p1x1-g2", "NHWC", "64,3,0"},
    {0, "bf16", "n2-c48-k20-i7x8-f3x3-p1x1", "NCHW16c", "30,1,1"},
    {0, "i8", "n1-c64-k64-i6x6-f3x3-p1x1-g4", "NCHW16c", "64,1,1"},
    {0, "bf16", "n1-c7-k9-i3x5x4-f3x3x3-p1x1x1", "NDHWC", "64,1,1"},
    {0, "bf16", "n2-c32-k16-i40-f3-p2-d2", "NWC", "33,1,0"},
    {1, "bf16", "n2-c40-k24-i7x9-f3x3-p1x1", "NHWC", "64,2,1"},
    {1, "bf16", "n1-c16-k6-i8x7-f3x5-p2x0-d2x1", "NHWC", "8,1,0"},
    {1, "bf16", "n2-c32-k48-i5x5-f1x1", "NCHW16c", "64,1,1"},
};

enum { CASES = sizeof cases / sizeof *cases };

static kiln_problem problem(int i)
{
    kiln_problem p = direct_problem(cases[i].direction, cases[i].type, cases[i].shape);
    support_set_layouts(&p, cases[i].layout, cases[i].layout);
    return p;
}

START_TEST(every_case_is_exact)
{
    const kiln_problem p = problem(_i);
    check(&p, cases[_i].config, HOST_FILL_INT);
}
END_TEST

START_TEST(random_data_are_within_the_bound)
{
    const kiln_problem p = problem(3 * _i);
    check(&p, cases[3 * _i].config, HOST_FILL_UNIFORM);
}
END_TEST

/* Results of each type, of whole vectors and of parts. */
START_TEST(the_epilogue_is_applied)
{
    kiln_problem p = problem(_i % 3);
    if (p.x_type == KILN_I8)
        p.y_type = _i % 2 ? KILN_I8 : KILN_F32;
    p.epilogue = direct_epilogues[_i % DIRECT_EPILOGUES];
    check(&p, cases[_i % 3].config, HOST_FILL_INT);
}
END_TEST

/* "any" becomes NHWC, or the layout of the other tensor. */
START_TEST(any_becomes_channels_last)
{
    kiln_problem p = direct_problem(0, "bf16", "n1-c16-k16-i6x6-f3x3-p1x1");
    const kiln_choice choice = {.solver = "direct_amx", .ignore_rows = 1};
    kiln_op_info info;
    support_set_layouts(&p, "any", _i ? "NCHW16c" : "any");
    if (!has_amx())
        return;
    ck_assert_int_eq(kiln_conv_plan(support_open()->kiln, &p, &choice, &info), KILN_OK);
    ck_assert_str_eq(info.problem.x_layout, _i ? "NCHW16c" : "NHWC");
    ck_assert_str_eq(info.problem.y_layout, _i ? "NCHW16c" : "NHWC");
}
END_TEST

/* Whether the system lets this process use AMX, as the kernel tells. */
static bool is_told(void)
{
    FILE *cpu = fopen("/proc/cpuinfo", "r");
    char line[8192];
    bool told = false;
    while (cpu && !told && fgets(line, sizeof line, cpu))
        told = strncmp(line, "flags", 5) == 0 && strstr(line, " amx_bf16") &&
               strstr(line, " amx_int8");
    if (cpu)
        fclose(cpu);
    return told;
}

START_TEST(nothing_is_found_that_the_cpu_lacks)
{
    ck_assert(!has_amx() || is_told());
}
END_TEST

int main(void)
{
    if (!support_on_cpu())
        return SUPPORT_SKIPPED;
    if (!is_told())
        printf("this CPU has no AMX: only refusals are tested\n");
    Suite *s = suite_create("direct_amx");
    TCase *c = tcase_create("direct_amx");
    tcase_set_timeout(c, 300);
    tcase_add_loop_test(c, every_case_is_exact, 0, CASES);
    tcase_add_loop_test(c, random_data_are_within_the_bound, 0, CASES / 3);
    tcase_add_loop_test(c, the_epilogue_is_applied, 0, 2 * DIRECT_EPILOGUES);
    tcase_add_loop_test(c, any_becomes_channels_last, 0, 2);
    tcase_add_test(c, nothing_is_found_that_the_cpu_lacks);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
