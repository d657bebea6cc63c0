/* The order in which a limited search tries the grids. */
#include "generator/plan/solver.h"
#include "runtime/tune/candidates.h"

#include <check.h>
#include <stdlib.h>

static kiln_candidate candidate(int solver, double expected, double measured)
{
    return (kiln_candidate){
        .solver = kiln_solver_at(solver), .expected = expected, .measured = measured};
}

/* Solver 0 promised three times too much, solver 1 was right, solver 2 did not run. */
START_TEST(measured_firsts_correct_the_predictions)
{
    kiln_candidate at[] = {
        candidate(0, 1.0, 3.0), candidate(1, 2.0, 2.0), candidate(2, 0.5, 0),
        candidate(2, 0.1, 0),   candidate(0, 4.0, 0),   candidate(0, 1.0, 0),
        candidate(1, 0.9, 0),   candidate(1, 40.0, 0),  candidate(2, 50.0, 0),
    };
    kiln_candidates list = {.at = at, .count = 9, .firsts = 3};
    kiln_candidates_sort(&list);
    ck_assert_ptr_eq(at[0].solver, kiln_solver_at(0));
    ck_assert_double_eq(at[1].measured, 2.0);
    ck_assert_double_eq(at[2].expected, 0.5);
    for (int i = 4; i < 9; i++)
        ck_assert_double_le(at[i - 1].expected, at[i].expected);
    ck_assert_ptr_eq(at[3].solver, kiln_solver_at(2)); /* 0.15 to 0.45: 3 is the largest scale */
    ck_assert_ptr_eq(at[4].solver, kiln_solver_at(1)); /* at most 1.35 */
    ck_assert_ptr_eq(at[5].solver, kiln_solver_at(0)); /* 1.5 to 4.5 */
    ck_assert_ptr_eq(at[6].solver, kiln_solver_at(0)); /* 6 to 18 */
    ck_assert_ptr_eq(at[7].solver, kiln_solver_at(1)); /* 20 to 60 */
    ck_assert_ptr_eq(at[8].solver, kiln_solver_at(2)); /* 75 to 225 */
}
END_TEST

/* Configs of similar predictions change places; one that is predicted four times slower does not
 * come first. */
START_TEST(an_order_is_shuffled_a_little_and_always_alike)
{
    enum { COUNT = 200 };
    static kiln_candidate one[COUNT], two[COUNT];
    for (int i = 0; i < COUNT; i++)
        one[i] = two[i] = candidate(0, i ? 1 + 0.05 * i : 1, i ? 0 : 1);
    kiln_candidates a = {.at = one, .count = COUNT, .firsts = 1}, b = a;
    b.at = two;
    kiln_candidates_sort(&a);
    kiln_candidates_sort(&b);
    for (int i = 0; i < COUNT; i++)
        ck_assert_double_eq(one[i].expected, two[i].expected);
    for (int i = 2; i < COUNT; i++)
        ck_assert_double_le(one[i - 1].expected, one[i].expected);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("candidates");
    TCase *t = tcase_create("order");
    tcase_add_test(t, measured_firsts_correct_the_predictions);
    tcase_add_test(t, an_order_is_shuffled_a_little_and_always_alike);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
