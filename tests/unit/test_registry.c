/* The table of solvers: each name and each number belongs to one solver. */
#include "generator/plan/solver.h"
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

int main(void)
{
    Suite *s = suite_create("registry");
    TCase *t = tcase_create("registry");
    tcase_add_test(t, names_and_ids_are_unique);
    tcase_add_test(t, tables_of_parameters_are_whole);
    suite_add_tcase(s, t);
    return support_run_apart(s);
}
