/* Fits: each says where its numbers come from, predictions read all of them, and a descent finds
 * the numbers again with which times were made. */
#include "support/plans.h"
#include "support/suite.h"
#include "tests/bench/fit/fit_model.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const kiln_fit *fit_at(int index, const kiln_solver **solver)
{
    for (int i = 0; (*solver = kiln_solver_at(i)); i++) {
        if (index < (*solver)->nfits)
            return (*solver)->fits[index];
        index -= (*solver)->nfits;
    }
    return NULL;
}

START_TEST(every_fit_says_where_it_is_from)
{
    const kiln_solver *solver;
    const kiln_fit *f;
    int count = 0;
    for (; (f = fit_at(count, &solver)); count++) {
        const char *const facts[] = {f->name, f->device, f->driver, f->date, f->command, f->error};
        for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
            ck_assert_msg(facts[i] && *facts[i], "fact %zu of a fit of %s", i, solver->name);
        int year, month, day;
        ck_assert_msg(strcmp(f->date, KILN_NOT_RECORDED) == 0 ||
                          sscanf(f->date, "%4d-%2d-%2d", &year, &month, &day) == 3,
                      "%s: %s", f->name, f->date);
        ck_assert_msg((f->configs > 0) == (f->problems > 0), "%s", f->name);
        ck_assert_msg((f->ghz == 0) == (f->told_ghz == 0) && f->ghz <= f->told_ghz, "%s", f->name);
        ck_assert_msg(f->ghz == 0 || (f->ghz > 0.5 && f->ghz < 6), "%s", f->name);
        for (int i = 0; i < f->count; i++) {
            const double v = ((const double *)f->numbers)[i];
            ck_assert_msg(isfinite(v) && v >= 0 && *f->is[i].name && *f->is[i].meaning, "%s %d",
                          f->name, i);
        }
    }
    ck_assert_int_ge(count, 16);
}
END_TEST

/* ---- samples without a device: guesses and what a search tries ---- */

static const char *const layers[] = {
    "n64-c256-k64-i56x56-f1x1",
    "n1-c512-k512-i7x7-f3x3-p1x1",
    "n64-c64-k64-i56x56-f3x3-p1x1",
    "n2-c200-k100-i14x14-f3x3-s2x2-p1x1",
    "n64-c3-k64-i224x224-f7x7-s2x2-p3x3",
    "n64-c32-k32-i112x112-f3x3-p1x1-g32",
    "n64-c672-k672-i14x14-f5x5-p2x2-g672",
    "n64-c672-k168-i1x1-f1x1",
    "n1-c6-k5-i30x31-f3x3-s2x2-p1x1",
    "n8-c4096-k1000-i1x1-f1x1",
    "n1-c64-k64-i40x40-f3x3-p1x1",
    "n1-c64-k64-i28x28-f3x3-p1x1-g16",
    "n4-c5-k9-i20x20-f3x3-s3x3-p1x1",
    "n64-c192-k192-i28x28-f3x3-p1x1",
    "n64-c144-k144-i56x56-f3x3-s2x2-p1x1-g144",
    "n16-c16-k32-i28x28-f5x5-p2x2-g8",
};

enum { LAYERS = sizeof layers / sizeof *layers };

static void add(fit_samples *s, const kiln_shape *shape, const kiln_config *c, int solver)
{
    if (s->count == s->room) {
        s->room = s->room ? 2 * s->room : 1024;
        s->at = realloc(s->at, (size_t)s->room * sizeof *s->at);
        ck_assert_ptr_nonnull(s->at);
    }
    s->at[s->count++] = (fit_sample){
        .shape = *shape, .config = *c, .solver = solver, .problem = s->problems, .ms = 1};
}

/* Takes the guess, and some configs that a search tries, far from one another. */
static void add_problem(fit_samples *s, const fit_model *m, int number, const kiln_shape *shape)
{
    enum { CONFIGS = 24 };
    const kiln_solver *solver = &m->solver[number];
    kiln_shape own;
    kiln_why why;
    kiln_config c = {0};
    int64_t position = 0, all = 1;
    if (!kiln_solver_takes(solver, shape, s->device, &own, &why))
        return;
    solver->guess(solver, &own, s->device, &c);
    add(s, &own, &c, number);
    for (int i = 0; i < solver->nparams; i++)
        all *= solver->params[i].nvalues;
    for (int i = 0; i < CONFIGS && kiln_config_next(solver, &own, s->device, &position, &c); i++) {
        add(s, &own, &c, number);
        position += all / CONFIGS * 2 / 3 + (i * i) % 61; /* no value of a parameter is left out */
    }
    s->problems++;
}

/* An item that needs more registers than it has, as few configs do. */
static void add_crowded(fit_samples *s, const fit_model *m)
{
    const kiln_shape shape =
        support_shape("wrw-f16-n64-c672-k672-i28x28-f1x2-g672-l:NHWC.OIHW.NHWC");
    kiln_shape own;
    kiln_config c;
    kiln_why why = {0};
    const kiln_solver *solver = &m->solver[0];
    if (strcmp(solver->name, "depthwise_reduce") != 0 ||
        !kiln_solver_takes(solver, &shape, s->device, &own, &why))
        return;
    ck_assert_msg(kiln_config_parse(solver, "512,8,2,1,8,8", &c, &why) &&
                      !kiln_config_refused(solver, &own, s->device, &c, false, &why),
                  "%s", why.text);
    add(s, &own, &c, 0);
}

static fit_samples samples_of(const fit_model *m, const kiln_device_facts *d)
{
    static const char *const heads[] = {"fwd-f32", "bwd-f16", "wrw-f16", "wrw-f32",
                                        "fwd-f16", "fwd-i8",  "fwd-bf16"};
    static const char *const layouts[] = {"", "-l:NHWC.OIHW.NHWC"};
    fit_samples s = {.device = d};
    for (int i = 0; i < LAYERS; i++)
        for (size_t j = 0; j < sizeof heads / sizeof *heads; j++)
            for (int l = 0; l < 2; l++) {
                char name[256];
                snprintf(name, sizeof name, "%s-%s%s", heads[j], layers[i], layouts[l]);
                const kiln_shape shape = support_shape(name);
                for (int k = 0; k < m->solvers; k++)
                    add_problem(&s, m, k, &shape);
            }
    add_crowded(&s, m);
    return s;
}

static kiln_device_facts zen4(void)
{
    kiln_device_facts d = kiln_device_generic();
    d.simd_floats = 16;
    d.local_memory = 512 << 10;
    d.has_vnni = d.has_bf16 = true;
    d.cpu = kiln_core_named("zen4");
    kiln_device_set_roofline(&d, 2.6);
    return d;
}

/* ---- predictions ---- */

static bool is_read(fit_model *m, const fit_samples *s, int fit, int number)
{
    const double old = m->now[fit][number];
    bool read = false;
    for (int i = 0; i < s->count && !read; i++) {
        const double before = fit_model_ms(m, s, &s->at[i]);
        m->now[fit][number] = 8 * old;
        read = fit_model_ms(m, s, &s->at[i]) != before;
        m->now[fit][number] = old;
    }
    return read;
}

static bool shares(const kiln_solver *a, const kiln_solver *b)
{
    for (int i = 0; i < a->nfits; i++)
        for (int j = 0; j < b->nfits; j++)
            if (a->fits[i] == b->fits[j])
                return true;
    return false;
}

/* Writes the names of a solver and of all later ones with the same fit; "" where there are earlier
 * ones, or no fit. */
static void name_family(int index, char *names, size_t size)
{
    const kiln_solver *solver = kiln_solver_at(index), *other;
    size_t n = 0;
    *names = '\0';
    for (int i = 0; (other = kiln_solver_at(i)); i++) {
        if (!shares(solver, other))
            continue;
        if (i < index) {
            *names = '\0';
            return;
        }
        n += (size_t)snprintf(names + n, size - n, "%s%s", n ? "," : "", other->name);
    }
}

/* A number that is 0 has no term in the formula. */
START_TEST(predictions_read_every_number)
{
    static fit_model m;
    const kiln_device_facts devices[] = {support_h100(), zen4()};
    char why[200], names[400];
    name_family(_i, names, sizeof names);
    if (!*names)
        return;
    ck_assert_msg(fit_model_open(&m, names, why, sizeof why), "%s", why);
    const fit_samples s[] = {samples_of(&m, &devices[0]), samples_of(&m, &devices[1])};
    for (int f = 0; f < m.fits; f++)
        for (int n = 0; n < m.fit[f].count; n++)
            ck_assert_msg(m.now[f][n] == 0 || is_read(&m, &s[0], f, n) || is_read(&m, &s[1], f, n),
                          "%s: no prediction reads %s of %s (%d and %d samples)", names,
                          m.fit[f].is[n].name, m.fit[f].name, s[0].count, s[1].count);
    free(s[0].at);
    free(s[1].at);
}
END_TEST

/* Times are made with numbers that differ, and a little noise. */
START_TEST(a_descent_finds_numbers_again)
{
    static fit_model m;
    static const double factors[] = {1.5, 0.6, 1.2, 2, 0.7, 1.4, 0.5, 1};
    const kiln_device_facts d = support_h100();
    char why[200];
    ck_assert(fit_model_open(&m, "gemv", why, sizeof why));
    ck_assert_int_eq(m.fits, 1);
    ck_assert_int_eq(m.fit[0].count, sizeof factors / sizeof *factors);
    fit_samples s = samples_of(&m, &d);
    ck_assert_int_ge(s.count, 100);
    for (int n = 0; n < m.fit[0].count; n++)
        m.now[0][n] *= factors[n];
    unsigned noise = 1;
    for (int i = 0; i < s.count; i++) {
        noise = noise * 1103515245u + 12345u;
        s.at[i].ms = fit_model_ms(&m, &s, &s.at[i]) * (1 + 0.02 * ((noise >> 16) % 3 - 1.0));
    }
    for (int n = 0; n < m.fit[0].count; n++)
        m.now[0][n] /= factors[n];
    const fit_worth before = fit_model_worth(&m, &s, FIT_ALL);
    fit_model_descend(&m, &s);
    const fit_worth after = fit_model_worth(&m, &s, FIT_ALL);
    ck_assert_double_gt(before.deviation, 0.1);
    ck_assert_double_lt(after.deviation, 0.025);
    ck_assert_double_le(after.deviation, before.deviation);
    ck_assert_double_eq_tol(after.mean, 1, 0.01);
    ck_assert_double_ge(after.choice, before.choice - 0.001);
    free(s.at);
}
END_TEST

START_TEST(a_number_that_is_not_told_stays)
{
    static fit_model m;
    const kiln_device_facts d = support_h100();
    char why[200];
    ck_assert(fit_model_open(&m, "gemm", why, sizeof why));
    const kiln_shape shape = support_shape("fwd-f32-n64-c64-k64-i56x56-f1x1");
    fit_samples s = {.device = &d};
    add_problem(&s, &m, 0, &shape);
    for (int i = 0; i < s.count; i++)
        s.at[i].ms = 1.3 * fit_model_ms(&m, &s, &s.at[i]);
    fit_model_descend(&m, &s);
    for (int n = 0; n < m.fit[0].count; n++)
        if (strcmp(m.fit[0].is[n].name, "looked_for") == 0) {
            ck_assert(!m.shown[0][n]);
            ck_assert_double_eq(m.now[0][n], ((const double *)m.from[0]->numbers)[n]);
        }
    free(s.at);
}
END_TEST

START_TEST(unknown_solvers_are_refused)
{
    static fit_model m;
    char why[200];
    ck_assert(!fit_model_open(&m, "gemv,nobody", why, sizeof why));
    ck_assert_ptr_nonnull(strstr(why, "nobody"));
    ck_assert(!fit_model_open(&m, "naive", why, sizeof why));
    ck_assert_ptr_nonnull(strstr(why, "naive"));
    ck_assert(fit_model_open(&m, "gemm,gemm_weights", why, sizeof why));
    ck_assert_int_eq(m.solvers, 2);
    ck_assert_int_eq(m.fits, 1);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("fits");
    TCase *c = tcase_create("fits");
    int solvers = 0;
    while (kiln_solver_at(solvers))
        solvers++;
    tcase_set_timeout(c, 120);
    tcase_add_test(c, every_fit_says_where_it_is_from);
    tcase_add_loop_test(c, predictions_read_every_number, 0, solvers);
    tcase_add_test(c, a_descent_finds_numbers_again);
    tcase_add_test(c, a_number_that_is_not_told_stays);
    tcase_add_test(c, unknown_solvers_are_refused);
    suite_add_tcase(s, c);
    return support_run_apart(s);
}
