/* Makes models of devices, and checks plans for them. */
#include "plans.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

kiln_device_facts support_h100(void)
{
    const double clock_ghz = 1.98;
    kiln_device_facts d = kiln_device_generic();
    d.kind = KILN_DEVICE_GPU;
    d.compute_units = 132;
    d.local_memory = 48 << 10;
    d.max_group = d.max_local[0] = d.max_local[1] = 1024;
    d.max_local[2] = 64;
    d.gpu = (kiln_gpu_facts){.id = {KILN_GPU_NVIDIA, KILN_GPU_VERSION(9, 0)},
                             .subgroup = 32,
                             .group_registers = 65536,
                             .clock_ghz = clock_ghz,
                             .has_mma = true,
                             .has_wgmma = true,
                             .has_tma = true,
                             .static_local_memory = 200 << 10};
    kiln_device_set_roofline(&d, clock_ghz);
    return d;
}

kiln_shape support_shape(const char *problem)
{
    kiln_problem p;
    char why[KILN_ERROR_TEXT];
    ck_assert_msg(kiln_problem_parse(&p, problem, why) == KILN_OK, "%s: %s", problem, why);
    return kiln_shape_of(&p);
}

void support_check_refused(const kiln_solver *solver, const char *problem,
                           const kiln_device_facts *d, const char *reason)
{
    kiln_shape own, s = support_shape(problem);
    kiln_why why = {0};
    s.native_layout = true; /* the reason is that of the layouts named */
    ck_assert_msg(!kiln_solver_takes(solver, &s, d, &own, &why), "%s", problem);
    ck_assert_msg(strstr(why.text, reason), "%s: %s", problem, why.text);
}

void support_check_refusals(const kiln_solver *solver, const kiln_device_facts *d,
                            const support_refusal refusals[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        support_check_refused(solver, refusals[i].problem, d, refusals[i].reason);
}

static kiln_shape take(const kiln_solver *solver, const char *problem, const kiln_device_facts *d)
{
    const kiln_shape s = support_shape(problem);
    kiln_shape own;
    kiln_why why = {0};
    ck_assert_msg(kiln_solver_takes(solver, &s, d, &own, &why), "%s: %s", problem, why.text);
    return own;
}

kiln_shape support_check_guess(const kiln_solver *solver, const char *problem,
                               const kiln_device_facts *d, kiln_config *guess)
{
    const kiln_shape own = take(solver, problem, d);
    kiln_why why = {0};
    *guess = (kiln_config){0};
    solver->guess(solver, &own, d, guess);
    ck_assert_msg(!kiln_config_refused(solver, &own, d, guess, false, &why), "%s: %s", problem,
                  why.text);
    ck_assert_msg(solver->predict(solver, &own, d, guess) > 0, "%s: no time", problem);
    return own;
}

void support_check_guesses(const kiln_solver *solver, const kiln_device_facts *d,
                           const char *const problems[], size_t count)
{
    kiln_config guess;
    for (size_t i = 0; i < count; i++)
        support_check_guess(solver, problems[i], d, &guess);
}

void support_check_stages(const kiln_solver *solver, const char *problem,
                          const kiln_device_facts *d, const char *config, const char *stages)
{
    const kiln_shape own = take(solver, problem, d);
    kiln_why why = {0};
    kiln_config c = {0};
    kiln_plan plan;
    char text[512] = "";
    ck_assert_msg(kiln_config_parse(solver, config, &c, &why), "%s: %s", config, why.text);
    ck_assert_msg(!kiln_config_refused(solver, &own, d, &c, true, &why), "%s: %s", problem,
                  why.text);
    ck_assert_msg(kiln_solver_plan(solver, &own, d, &c, &plan, &why), "%s: %s", problem, why.text);
    for (int i = 0; i < plan.nstages; i++) {
        const kiln_stage *at = &plan.stage[i];
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s %zux%zux%zu/%zu", i ? ", " : "", at->kernel,
                 at->global[0], at->global[1], at->global[2], at->local[0]);
    }
    ck_assert_str_eq(text, stages);
}
