/* Median and spread of a candidate's times. */
#include "runtime/tune/bench.h"
#include "support/suite.h"

#include <check.h>
#include <stdlib.h>

START_TEST(median_and_spread)
{
    double odd[] = {5, 1, 3}, even[] = {4, 1, 2, 3}, one[] = {7};
    double many[] = {11, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    ck_assert_double_eq(kiln_times_of(odd, 3).ms, 3);
    ck_assert_double_eq(kiln_times_of(even, 4).ms, 2.5);
    ck_assert_double_eq(kiln_times_of(one, 1).ms, 7);
    ck_assert_double_eq(kiln_times_of(one, 1).iqr, 0);
    kiln_times t = kiln_times_of(many, 11);
    ck_assert_double_eq(t.ms, 6);
    ck_assert_double_eq(t.iqr, (8.5 - 3.5) / 6);
    ck_assert_int_eq(t.runs, 11);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("times");
    TCase *tests = tcase_create("times");
    tcase_add_test(tests, median_and_spread);
    suite_add_tcase(suite, tests);
    return support_run_apart(suite);
}
