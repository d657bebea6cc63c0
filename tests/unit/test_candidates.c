/* The order in which a limited search tries the grids. */
#include "generator/plan/solver.h"
#include "runtime/tune/candidates.h"
#include "support/suite.h"

#include <check.h>
#include <stdlib.h>

static kiln_candidate candidate(int solver, double expected, double measured)
{
    return (kiln_candidate){
        .solver = kiln_solver_at(solver), .expected = expected, .measured = measured, .luck = 1};
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
        ck_assert_double_le(at[i - 1].turn, at[i].turn);
    ck_assert_ptr_eq(at[3].solver, kiln_solver_at(2)); /* 0.15 to 0.45: 3 is the largest scale */
    ck_assert_ptr_eq(at[4].solver, kiln_solver_at(1)); /* at most 1.35 */
    ck_assert_ptr_eq(at[5].solver, kiln_solver_at(0)); /* 1.5 to 4.5 */
    ck_assert_ptr_eq(at[6].solver, kiln_solver_at(0)); /* 6 to 18 */
    ck_assert_ptr_eq(at[7].solver, kiln_solver_at(1)); /* 20 to 60 */
    ck_assert_ptr_eq(at[8].solver, kiln_solver_at(2)); /* 75 to 225 */
}
END_TEST

/* The order before the firsts have run leaves no trace in the one that follows them. */
START_TEST(sorting_again_forgets_the_first_order)
{
    enum { COUNT = 200, FIRSTS = 2 };
    static kiln_candidate once[COUNT], twice[COUNT];
    for (int i = 0; i < COUNT; i++) {
        once[i] = twice[i] = candidate(i % FIRSTS, 1 + 0.05 * i, i == 0 ? 1 : i == 1 ? 4 : 0);
        once[i].luck = twice[i].luck = 0.5 + i * 7 % COUNT / (double)COUNT;
    }
    kiln_candidates a = {.at = once, .count = COUNT, .firsts = FIRSTS}, b = a;
    b.at = twice;
    for (int i = 0; i < FIRSTS; i++)
        twice[i].measured = 0;
    kiln_candidates_sort(&b);
    ck_assert_double_le(twice[FIRSTS].turn, twice[FIRSTS + 1].turn);
    for (int i = 0; i < FIRSTS; i++)
        twice[i].measured = once[i].measured;
    kiln_candidates_sort(&a);
    kiln_candidates_sort(&b);
    for (int i = FIRSTS; i < COUNT; i++) {
        ck_assert_double_eq(once[i].turn, twice[i].turn);
        ck_assert_double_eq(once[i].expected, twice[i].expected);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("candidates");
    TCase *t = tcase_create("order");
    tcase_add_test(t, measured_firsts_correct_the_predictions);
    tcase_add_test(t, sorting_again_forgets_the_first_order);
    suite_add_tcase(s, t);
    return support_run_apart(s);
}
