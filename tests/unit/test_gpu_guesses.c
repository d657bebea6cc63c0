/* Guesses for a GPU: what each solver guesses and what a search tries is legal, and the solver made
 * for a kind of layer is the one that is predicted to be the fastest. No device is needed. */
#include "generator/solvers/gpu/depthwise_tile.h"
#include "support/plans.h"
#include "support/suite.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

/* Without what probes find. */
static kiln_device_facts gpu(void)
{
    kiln_device_facts d = support_h100();
    d.gpu.has_mma = d.gpu.has_wgmma = d.gpu.has_tma = false;
    d.gpu.static_local_memory = 0;
    return d;
}

static const char *const layers[] = {
    "n64-c3-k64-i224x224-f7x7-s2x2-p3x3", "n64-c48-k64-i35x35-f5x5-p2x2",
    "n1-c1-k32-i161x700-f20x5-s2x2",      "n3-c3-k5-i8x8-f5x5-s3x3-p2x2",
    "n64-c256-k512-i56x56-f1x1-s2x2",     "n2-c8-k16-i7x7-f7x7",
    "n1-c8-k8-i5x4-f3x3-p3x0-d2x1-g4",    "n1-c64-k3-i17x17-f1x7-p0x3",
    "n3-c3-k3-i268435456x3-f1x1-s3x3-g3",
};

START_TEST(configs_are_legal)
{
    static const char *const directions[] = {"fwd", "bwd", "wrw"};
    const kiln_device_facts d = gpu();
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        char name[256];
        snprintf(name, sizeof name, "%s-f32-%s", directions[_i], layers[i]);
        const kiln_shape s = support_shape(name);
        const kiln_solver *solver;
        for (int j = 0; (solver = kiln_solver_at(j)); j++) {
            kiln_shape own;
            kiln_why why = {0};
            kiln_config c = {0};
            int64_t position = 0;
            if (!kiln_solver_takes(solver, &s, &d, &own, &why))
                continue;
            solver->guess(solver, &own, &d, &c);
            ck_assert_msg(!kiln_config_refused(solver, &own, &d, &c, false, &why), "%s, %s: %s",
                          name, solver->name, why.text);
            ck_assert_double_gt(solver->predict(solver, &own, &d, &c), 0);
            for (int k = 0; k < 100 && kiln_config_next(solver, &own, &d, &position, &c); k++)
                ck_assert_double_gt(solver->predict(solver, &own, &d, &c), 0);
        }
    }
}
END_TEST

static bool gemm_takes(const char *problem, const char *driver)
{
    kiln_device_facts d = kiln_device_generic();
    snprintf(d.platform, sizeof d.platform, "Portable Computing Language");
    snprintf(d.driver, sizeof d.driver, "%s", driver);
    const kiln_shape s = support_shape(problem);
    kiln_shape own;
    kiln_why why;
    return kiln_solver_takes(kiln_solver_named("gemm"), &s, &d, &own, &why);
}

/* PoCL 5.0 compiles it wrongly. */
START_TEST(gemm_has_no_phases_on_pocl_5)
{
    ck_assert(!gemm_takes("bwd-f32-n1-c1-k1-i7-f2-s3", "5.0+debian"));
    ck_assert(gemm_takes("bwd-f32-n1-c1-k1-i7-f2", "5.0+debian"));
    ck_assert(gemm_takes("fwd-f32-n1-c1-k1-i7-f2-s3", "5.0+debian"));
    ck_assert(gemm_takes("bwd-f32-n1-c1-k1-i7-f2-s3", "3.1+debian"));
    ck_assert(gemm_takes("bwd-f32-n1-c1-k1-i7-f2-s3", "6.0+debian"));
}
END_TEST

static const char *fastest(const kiln_shape *s, const kiln_device_facts *d)
{
    const kiln_solver *solver, *best = NULL;
    double best_ms = 0;
    for (int j = 0; (solver = kiln_solver_at(j)); j++) {
        kiln_shape own;
        kiln_why why;
        kiln_config c = {0};
        if (!kiln_solver_takes(solver, s, d, &own, &why))
            continue;
        solver->guess(solver, &own, d, &c);
        const double ms = solver->predict(solver, &own, d, &c);
        if (!best || ms < best_ms) {
            best = solver;
            best_ms = ms;
        }
    }
    return best->name;
}

START_TEST(a_layer_gets_its_solver)
{
    static const struct {
        const char *problem, *solver;
    } cases[] = {
        {"bwd-f32-n64-c3-k64-i224x224-f7x7-s2x2-p3x3", "gemm_phases"},
        {"bwd-f32-n64-c3-k64-i224x224-f3x3-p1x1", "gemm_phases"},
        {"bwd-f32-n64-c1-k32-i161x700-f20x5-s2x2", "gemm_phases"},
        {"bwd-f32-n64-c48-k64-i35x35-f5x5-p2x2", "winograd_gemm"},
        {"wrw-f32-n64-c48-k64-i35x35-f5x5-p2x2", "winograd_gemm_weights"},
        {"fwd-f32-n64-c256-k64-i56x56-f1x1", "gemm"},
        {"bwd-f32-n64-c256-k512-i56x56-f1x1-s2x2", "gemm"},
        {"wrw-f32-n64-c128-k128-i56x56-f3x3-s2x2-p1x1", "gemm_weights"},
        {"fwd-f32-n1-c384-k384-i14x14-f3x3-p1x1-g384", "depthwise_gather"},
        {"bwd-f32-n1-c184-k184-i14x14-f3x3-p1x1-g184", "depthwise_gather"},
        {"bwd-f32-n64-c144-k144-i56x56-f3x3-s2x2-p1x1-g144", "depthwise_gather"},
        {"fwd-f16-n64-c32-k32-i112x112-f3x3-p1x1-g32-l:NHWC.OIHW.NHWC", "depthwise_gather"},
        {"fwd-i8-n64-c672-k672-i14x14-f5x5-p2x2-g672-l:any.OIHW.any", "depthwise_gather"},
        {"wrw-f32-n1-c960-k960-i7x7-f5x5-p2x2-g960", "depthwise_reduce"},
        {"wrw-f32-n64-c3-k5-i8x8-f5x5-s3x3-p2x2", "depthwise_reduce"},
        {"wrw-f32-n64-c256-k256-i28x28-f3x3-p1x1-g32", "depthwise_reduce"},
        {"wrw-f32-n64-c3-k64-i224x224-f7x7-s2x2-p3x3", "gemm_weights"},
        {"fwd-f32-n1-c320-k64-i28x28-f1x1", "gemm"},
        {"fwd-f32-n1-c480-k20-i1x1-f1x1", "gemv"},
        {"bwd-f32-n1-c168-k672-i1x1-f1x1", "gemv"},
        {"fwd-f32-n64-c672-k168-i1x1-f1x1", "gemv"},
        {"fwd-f32-n1-c512-k4096-i7x7-f7x7", "gemv"},
    };
    const kiln_device_facts d = gpu();
    const kiln_shape s = support_shape(cases[_i].problem);
    ck_assert_str_eq(fastest(&s, &d), cases[_i].solver);
}
END_TEST

/* Two columns of an item share what they read, but for a stride of nearly a filter; floats were not
 * measured so. */
START_TEST(short_elements_have_two_columns)
{
    static const struct {
        const char *problem;
        int columns;
    } cases[] = {
        {"fwd-f16-n64-c128-k128-i75x75-f3x3-p1x1-g128-l:NHWC.OIHW.NHWC", 2},
        {"bwd-bf16-n64-c128-k128-i75x75-f3x3-p1x1-g128-l:NHWC.OIHW.NHWC", 2},
        {"fwd-f16-n64-c672-k672-i14x14-f5x5-s2x2-p2x2-g672-l:NHWC.OIHW.NHWC", 2},
        {"fwd-f16-n64-c64-k64-i112x112-f3x3-s2x2-p1x1-g64-l:NHWC.OIHW.NHWC", 1},
        {"fwd-f32-n64-c128-k128-i75x75-f3x3-p1x1-g128-l:NHWC.OIHW.NHWC", 1},
    };
    const kiln_solver *solver = kiln_solver_named("depthwise_gather");
    const kiln_device_facts d = gpu();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const kiln_shape s = support_shape(cases[i].problem);
        kiln_config c = {0};
        solver->guess(solver, &s, &d, &c);
        ck_assert_msg(c.v[GATHER_COLUMNS] == cases[i].columns, "%s: %d columns", cases[i].problem,
                      c.v[GATHER_COLUMNS]);
    }
}
END_TEST

/* A group without an item for each of its vectors would have no sharers, and an item reads words.
 */
START_TEST(vectors_have_items_and_words)
{
    const kiln_device_facts d = gpu();
    const kiln_shape f16 =
                         support_shape("wrw-f16-n2-c256-k256-i8x8-f3x3-p1x1-g256-l:NHWC.OIHW.NHWC"),
                     i8 = support_shape("wrw-i8-n2-c256-k256-i8x8-f3x3-p1x1-g256-l:NHWC.OIHW.NHWC");
    const kiln_solver *solver = kiln_solver_named("depthwise_reduce");
    const kiln_config pairs = {{64, 128, 1, 1, 2, 1}}, single = {{64, 128, 1, 1, 1, 1}};
    kiln_why why = {0};
    ck_assert(!solver->illegal(solver, &f16, &d, &pairs, &why));
    ck_assert(solver->illegal(solver, &f16, &d, &single, &why));
    ck_assert_ptr_nonnull(strstr(why.text, "128 channels"));
    ck_assert(solver->illegal(solver, &i8, &d, &pairs, &why));
    ck_assert_ptr_nonnull(strstr(why.text, "shorter than a word"));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("gpu_guesses");
    TCase *t = tcase_create("gpu_guesses");
    tcase_add_loop_test(t, configs_are_legal, 0, 3);
    tcase_add_test(t, gemm_has_no_phases_on_pocl_5);
    tcase_add_loop_test(t, a_layer_gets_its_solver, 0, 22);
    tcase_add_test(t, vectors_have_items_and_words);
    tcase_add_test(t, short_elements_have_two_columns);
    suite_add_tcase(s, t);
    return support_run_apart(s);
}
