/* The layout of a filter changes nothing but the packing of weights: the stages of a run and the
 * predicted time are those of plain weights. */
#include "support/plans.h"
#include "support/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The layouts of x, w and y follow. */
static const char *const problems[] = {
    "fwd-f32-n1-c64-k64-i14x14-f3x3-p1x1",
    "bwd-f32-n1-c64-k64-i14x14-f3x3-p1x1",
    "fwd-f32-n2-c3-k17-i9x10-f3x2-s2x2",
    "bwd-f32-n2-c5-k17-i9x10-f3x2-s2x2",
    "fwd-f32-n2-c24-k24-i9x9-f3x3-g24",
    "bwd-f32-n2-c24-k36-i9x9-f3x3-g12",
    "fwd-bf16-n1-c64-k96-i14x14-f3x3",
    "fwd-i8-n1-c64-k64-i14x14-f3x3-p1x1",
    "fwd-f16-n16-c64-k64-i14x14-f1x1",
    "bwd-f16-n16-c64-k64-i14x14-f3x3-p1x1",
    "fwd-f16-n1-c480-k20-i1x1-f1x1",
    "fwd-f16-n32-c3-k32-i64x64-f3x3-s2x2-p1x1",
    "wrw-f32-n1-c64-k64-i14x14-f3x3-p1x1",
    "wrw-f32-n2-c5-k17-i9x10-f3x2-s2x2",
    "wrw-f32-n2-c24-k24-i9x9-f3x3-g24",
    "wrw-bf16-n1-c64-k96-i14x14-f3x3",
    "wrw-f32-n2-c16-k32-i9x9-f3x3-g16",
    "wrw-f32-n2-c24-k48-i9x9-f1x1-g3",
    "wrw-f16-n16-c64-k64-i14x14-f1x1",
    "fwd-i8-n2-c24-k48-i9x9-f3x3-g24",
    "bwd-bf16-n1-c64-k96-i14x14-f3x3",
    "bwd-i8-n1-c64-k64-i14x14-f3x3-p1x1",
    "fwd-i8-n1-c256-k64-i14x14-f1x1",
    "fwd-f32-n1-c256-k64-i14x14-f1x1",
    "fwd-bf16-n1-c512-k512-i7x7-f1x1",
    "bwd-f32-n1-c3-k64-i112x112-f7x7-s2x2-p3x3",
    "bwd-f16-n1-c24-k24-i9x9-f3x3-g24",
    "fwd-bf16-n2-c24-k24-i9x9-f5x5-s2x2-p2x2-g24",
    "fwd-f16-n1-c64-k64-i56x56-f3x3-p1x1",
    "wrw-bf16-n1-c3-k64-i112x112-f7x7-s2x2-p3x3",
    "fwd-f32-n1-c16-k24-i9x9-f3x3-trans",
    "fwd-bf16-n1-c128-k256-i28x28-f3x3-p1x1",
    "fwd-i8-n1-c64-k128-i28x28-f3x3-s2x2-p1x1",
};
static const char *const data[] = {"NCHW", "NHWC", "NCHW16c"};
static const char *const filters[] = {"OHWI", "HWIO", "HWOI", "MIHW", "HWIM", "OIHW8i", "OHWI4o"};
/* Whether a gradient may be moved by a stage: out of blocks, and where channels of a group do not
 * follow those of another. */
static bool may_move(const char *filter)
{
    return strpbrk(filter, "48") || strcmp(filter, "MIHW") == 0;
}

static bool plan_of(const kiln_solver *solver, const kiln_device_facts *d, const char *problem,
                    const char *x, const char *w, kiln_shape *own, kiln_plan *plan)
{
    char name[256];
    kiln_why why;
    kiln_config c = {0};
    snprintf(name, sizeof name, "%s-l:%s.%s.%s", problem, x, w, x);
    const kiln_shape s = support_shape(name);
    if (!kiln_solver_takes(solver, &s, d, own, &why))
        return false;
    solver->guess(solver, own, d, &c);
    return kiln_solver_plan(solver, own, d, &c, plan, &why);
}

static int skip_packing(const kiln_plan *plan, int stage)
{
    while (stage < plan->nstages && plan->stage[stage].pack)
        stage++;
    return stage;
}

/* The solver may read the filter as it lies, and then packs nothing of its own. */
static void check_equal_runs(const char *name, const kiln_plan *plain, const kiln_plan *other)
{
    int i = skip_packing(plain, 0), j = skip_packing(other, 0);
    while (i < plain->nstages && j < other->nstages) {
        const kiln_stage *a = &plain->stage[i], *b = &other->stage[j];
        ck_assert_msg(strcmp(a->options, b->options) == 0 && strcmp(a->kernel, b->kernel) == 0 &&
                          memcmp(a->global, b->global, sizeof a->global) == 0,
                      "%s: %s %s against %s %s", name, a->kernel, a->options, b->kernel,
                      b->options);
        i = skip_packing(plain, i + 1);
        j = skip_packing(other, j + 1);
    }
    ck_assert_msg(i == plain->nstages && j == other->nstages, "%s has other stages", name);
    ck_assert_msg(other->workspace_bytes <=
                      plain->workspace_bytes + plain->packed_bytes + other->packed_bytes,
                  "%s: %lld bytes of workspace, %lld by plain weights", name,
                  (long long)other->workspace_bytes, (long long)plain->workspace_bytes);
}

/* Returns whether the options are the same but for the places of elements in dw. */
static bool equal_but_places(const char *a, const char *b)
{
    for (;;) {
        const size_t n = strcspn(a, " "), m = strcspn(b, " "), head = strlen("-DD_W_");
        const bool place = strncmp(a, "-DD_W_", head) == 0 && strncmp(b, "-DD_W_", head) == 0;
        if (!place && (n != m || strncmp(a, b, n) != 0))
            return false;
        if (!a[n] || !b[m])
            return a[n] == b[m];
        a += n + 1, b += m + 1;
    }
}

static bool writes_gradient(const kiln_stage *stage)
{
    for (int i = 0; i < stage->nargs; i++)
        if (stage->arg[i].kind == KILN_ARG_BUFFER && stage->arg[i].role == KILN_ROLE_W)
            return true;
    return false;
}

/* The stage that writes dw may differ, and one more may move it into blocks. */
static void check_equal_gradients(const char *name, const kiln_plan *plain, const kiln_plan *other,
                                  bool may_move)
{
    ck_assert_msg(other->nstages <= plain->nstages + may_move, "%s: %d stages, %d of plain weights",
                  name, other->nstages, plain->nstages);
    for (int i = 0; i < plain->nstages && i < other->nstages; i++) {
        const kiln_stage *a = &plain->stage[i], *b = &other->stage[i];
        const bool last = writes_gradient(a);
        ck_assert_msg(
            (last && may_move) || (strcmp(a->kernel, b->kernel) == 0 &&
                                   (last || equal_but_places(a->options, b->options)) &&
                                   (last || memcmp(a->global, b->global, sizeof a->global) == 0)),
            "%s: %s %s against %s %s", name, a->kernel, a->options, b->kernel, b->options);
    }
    ck_assert_msg(may_move || other->workspace_bytes == plain->workspace_bytes,
                  "%s: %lld bytes of workspace, %lld by plain weights", name,
                  (long long)other->workspace_bytes, (long long)plain->workspace_bytes);
}

/* Returns whether the solver reads filters of any layout by itself. */
static bool reads_any(const kiln_solver *solver)
{
    return strcmp(solver->name, "naive") == 0;
}

static void check_solver(const kiln_solver *solver, const kiln_device_facts *d, const char *problem,
                         const char *x)
{
    static kiln_plan plain, other;
    kiln_shape own, own_other;
    if (reads_any(solver) || !plan_of(solver, d, problem, x, "OIHW", &own, &plain))
        return;
    for (size_t f = 0; f < sizeof filters / sizeof *filters; f++) {
        char name[256];
        snprintf(name, sizeof name, "%s of %s, x in %s, w in %s", solver->name, problem, x,
                 filters[f]);
        if (strchr(filters[f], 'M') && own.c != own.g)
            continue; /* no depthwise convolution */
        ck_assert_msg(plan_of(solver, d, problem, x, filters[f], &own_other, &other), "%s", name);
        ck_assert_msg(strcmp(own.x_outer, own_other.x_outer) == 0 &&
                          strcmp(own.y_outer, own_other.y_outer) == 0,
                      "%s restages x or y", name);
        const bool gradient = own.direction == KILN_BACKWARD_WEIGHTS, moved = *own_other.w_outer;
        ck_assert_msg(!gradient || !moved || may_move(filters[f]), "%s moves dw", name);
        if (!gradient)
            check_equal_runs(name, &plain, &other);
        else if (d->kind == KILN_DEVICE_CPU)
            check_equal_gradients(name, &plain, &other, may_move(filters[f]));
        kiln_config c = {0};
        solver->guess(solver, &own, d, &c);
        const double ms = kiln_solver_predict(solver, &own, d, &c);
        const double other_ms = kiln_solver_predict(solver, &own_other, d, &c);
        ck_assert_msg((gradient && (moved || d->kind == KILN_DEVICE_GPU)) ||
                          fabs(ms - other_ms) < 1e-9,
                      "%s: %g ms predicted, %g of plain weights", name, other_ms, ms);
    }
}

static void check_device(const kiln_device_facts *d)
{
    const kiln_solver *solver;
    for (int i = 0; (solver = kiln_solver_at(i)); i++)
        for (size_t p = 0; p < sizeof problems / sizeof *problems; p++)
            for (size_t l = 0; l < sizeof data / sizeof *data; l++)
                check_solver(solver, d, problems[p], data[l]);
}

START_TEST(a_filters_layout_costs_a_cpu_nothing)
{
    kiln_device_facts d = kiln_device_generic();
    d.cpu = kiln_core_named("zen5");
    d.simd_floats = 16;
    d.max_group = d.max_local[0] = 4096;
    d.local_memory = 512 << 10;
    d.cache = 32 << 20;
    d.has_vnni = d.has_bf16 = d.has_amx = d.shares_work = true;
    kiln_device_set_roofline(&d, 3);
    check_device(&d);
}
END_TEST

START_TEST(a_filters_layout_costs_a_gpu_nothing)
{
    const kiln_device_facts d = support_h100();
    check_device(&d);
}
END_TEST

/* Blocks are left to a stage. */
START_TEST(a_gpu_writes_gradients_in_any_order_of_axes)
{
    static const char *const solvers[][2] = {
        {"gemm_weights", "wrw-f32-n2-c17-k5-i9x9-f3x2"},
        {"gemm_weights_mma", "wrw-f16-n2-c16-k24-i9x9-f3x3"},
        {"gemm_weights_wgmma", "wrw-bf16-n8-c64-k64-i14x14-f3x3-p1x1"},
        {"winograd_gemm_weights", "wrw-f32-n2-c16-k24-i9x9-f3x3-p1x1"},
        {"depthwise_reduce", "wrw-f32-n2-c16-k32-i9x9-f3x3-g16"},
    };
    static const char *const orders[] = {"OIHW", "OHWI", "HWIO", "HWOI", "IOHW", "OIHW8i"};
    const kiln_device_facts d = support_h100();
    for (size_t i = 0; i < sizeof solvers / sizeof *solvers; i++)
        for (size_t f = 0; f < sizeof orders / sizeof *orders; f++) {
            static kiln_plan plan;
            kiln_shape own;
            const bool blocked = strcmp(orders[f], "OIHW8i") == 0;
            ck_assert_msg(plan_of(kiln_solver_named(solvers[i][0]), &d, solvers[i][1], "NHWC",
                                  orders[f], &own, &plan),
                          "%s, dw in %s", solvers[i][0], orders[f]);
            ck_assert_msg(!*own.x_outer && !*own.y_outer && (*own.w_outer != 0) == blocked,
                          "%s, dw in %s: stages", solvers[i][0], orders[f]);
        }
}
END_TEST

/* A problem's own limit may be larger. */
START_TEST(a_workspace_has_a_quarter_of_the_memory)
{
    static kiln_plan plan;
    kiln_device_facts d = support_h100();
    const kiln_solver *solver = kiln_solver_named("winograd_gemm");
    kiln_shape s = support_shape("fwd-f32-n16-c64-k64-i56x56-f3x3-p1x1"), own;
    kiln_config c = {0};
    kiln_why why;
    ck_assert(kiln_solver_takes(solver, &s, &d, &own, &why));
    solver->guess(solver, &own, &d, &c);
    ck_assert(kiln_solver_plan(solver, &own, &d, &c, &plan, &why));
    const int64_t all = plan.workspace_bytes + plan.packed_bytes + plan.image_bytes;
    d.global_memory = 4 * all;
    ck_assert(kiln_solver_plan(solver, &own, &d, &c, &plan, &why));
    d.global_memory = 4 * all - 4;
    ck_assert(!kiln_solver_plan(solver, &own, &d, &c, &plan, &why));
    ck_assert_msg(strstr(why.text, "a quarter of the device's memory") && why.limit, "%s",
                  why.text);
    own.workspace_limit = all;
    ck_assert(kiln_solver_plan(solver, &own, &d, &c, &plan, &why));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("filter_layout_plans");
    TCase *tests = tcase_create("plans");
    tcase_add_test(tests, a_filters_layout_costs_a_cpu_nothing);
    tcase_add_test(tests, a_filters_layout_costs_a_gpu_nothing);
    tcase_add_test(tests, a_gpu_writes_gradients_in_any_order_of_axes);
    tcase_add_test(tests, a_workspace_has_a_quarter_of_the_memory);
    suite_add_tcase(suite, tests);
    return support_run_apart(suite);
}
