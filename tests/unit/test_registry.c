/* The table of solvers: each name and each number belongs to one solver. */
#include "runtime/kiln/kiln_internal.h"
#include "support/plans.h"
#include "support/suite.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

START_TEST(names_and_ids_are_unique)
{
    const kiln_solver *a;
    for (int i = 0; (a = kiln_solver_at(i)); i++) {
        char id[16];
        snprintf(id, sizeof id, "%d", a->id);
        ck_assert_ptr_eq(kiln_solver_named(a->name), a);
        ck_assert_msg(kiln_solver_named(id) == a, "%s: id %d is of %s too", a->name, a->id,
                      kiln_solver_named(id)->name);
    }
    ck_assert_ptr_null(kiln_solver_named("no such solver"));
}
END_TEST

START_TEST(tables_of_parameters_are_whole)
{
    const kiln_solver *s;
    for (int i = 0; (s = kiln_solver_at(i)); i++) {
        ck_assert_int_le(s->nparams, KILN_MAX_PARAMS);
        ck_assert_int_gt(s->version, 0);
        for (int j = 0; j < s->nparams; j++) {
            ck_assert_msg(s->params[j].name && s->params[j].nvalues > 0, "%s, parameter %d",
                          s->name, j);
            for (int k = 0; k < j; k++)
                ck_assert_str_ne(s->params[j].name, s->params[k].name);
        }
    }
}
END_TEST

/* What a solver takes in f16 or f32 it refuses in 8-bit floats, and says so, unless it takes any
 * type. */
static int check_f8(const kiln_solver *s, const char *rest, const kiln_device_facts *d)
{
    static const char *const types[] = {"f32", "f16", "f8e4m3", "f8e5m2"};
    bool takes[4];
    kiln_why why;
    for (int t = 0; t < 4; t++) {
        char name[96];
        snprintf(name, sizeof name, rest, types[t]);
        const kiln_shape shape = support_shape(name);
        kiln_shape own;
        takes[t] = kiln_solver_takes(s, &shape, d, &own, &why);
        if (t > 1 && !takes[t] && (takes[0] || takes[1]))
            ck_assert_msg(strstr(why.text, types[t]), "%s, %s: %s", s->name, name, why.text);
    }
    for (int t = 2; t < 4; t++)
        ck_assert_msg(takes[t] == (s->any_type && takes[0]), "%s takes %s", s->name, rest);
    return takes[0] || takes[1];
}

START_TEST(types_that_are_only_stored_have_few_solvers)
{
    static const char *const problems[] = {"fwd-%s-n2-c64-k64-i28x28-f3x3-p1x1",
                                           "bwd-%s-n2-c64-k64-i28x28-f3x3-p1x1",
                                           "wrw-%s-n2-c64-k64-i28x28-f3x3-p1x1",
                                           "fwd-%s-n2-c64-k64-i28x28-f1x1",
                                           "fwd-%s-n2-c32-k32-i28x28-f3x3-p1x1-g32",
                                           "wrw-%s-n2-c32-k32-i28x28-f3x3-p1x1-g32",
                                           "fwd-%s-n1-c3-k64-i56x56-f7x7-s2x2-p3x3",
                                           "bwd-%s-n2-c3-k64-i28x28-f3x3-p1x1",
                                           "fwd-%s-n1-c256-k64-i1x1-f1x1",
                                           "fwd-%s-n1-c64-k64-i28x28-f3x3-p1x1-l:any.any.any"};
    const kiln_solver *s;
    int refused = 0;
    kiln *k;
    ck_assert_int_eq(kiln_open(&k, NULL, NULL, NULL), KILN_OK);
    const kiln_device_facts devices[] = {k->facts, support_h100()};
    for (int i = 0; (s = kiln_solver_at(i)); i++) {
        int taken = 0;
        for (size_t p = 0; p < sizeof problems / sizeof *problems; p++)
            for (int d = 0; d < 2; d++)
                taken += check_f8(s, problems[p], &devices[d]);
        refused += taken && !s->any_type;
    }
    ck_assert_int_ge(refused, 20); /* solvers that take one of the problems in f16 or f32 */
    kiln_close(k);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("registry");
    TCase *t = tcase_create("registry");
    tcase_add_test(t, names_and_ids_are_unique);
    tcase_add_test(t, tables_of_parameters_are_whole);
    tcase_add_test(t, types_that_are_only_stored_have_few_solvers);
    suite_add_tcase(s, t);
    return support_run_apart(s);
}
