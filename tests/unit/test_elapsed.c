/* The sum of the times of an operation's launches: pauses, packing, launches in any order. */
#include "runtime/op/elapsed.h"
#include "support/suite.h"

#include <check.h>

static const struct {
    const char *what;
    int count;
    kiln_span span[4];
    double ms, pack_ms;
} table[] = {
    {"nothing ran", 0, {{0}}, 0, 0},
    {"one launch", 1, {{false, 1000000, 4000000}}, 3, 0},
    {"a launch that the clock did not see", 1, {{false, 7, 7}}, 0, 0},
    {"the pauses between launches count",
     3,
     {{false, 1000000, 2000000}, {false, 5000000, 6000000}, {false, 6000000, 9000000}},
     8,
     0},
    {"packing before, and the pause behind it, do not",
     3,
     {{true, 1000000, 2000000}, {true, 4000000, 6000000}, {false, 9000000, 10000000}},
     1,
     3},
    {"packing after does not", 2, {{false, 1000000, 2000000}, {true, 4000000, 8000000}}, 1, 4},
    {"packing between is taken out, the pauses beside it are not",
     3,
     {{false, 1000000, 2000000}, {true, 4000000, 6000000}, {false, 7000000, 8000000}},
     5,
     2},
    {"packing that overlaps the ends is taken out where it does",
     4,
     {{true, 0, 3000000},
      {false, 2000000, 5000000},
      {false, 5000000, 7000000},
      {true, 6000000, 9000000}},
     3,
     6},
    {"launches in another order",
     3,
     {{false, 7000000, 8000000}, {true, 4000000, 5000000}, {false, 1000000, 2000000}},
     6,
     1},
    {"a launch within another", 2, {{false, 1000000, 9000000}, {false, 2000000, 3000000}}, 8, 0},
    {"packing at the same time, as some clocks have it",
     2,
     {{true, 5000000, 6000000}, {false, 5000000, 6000000}},
     1,
     1},
    {"packing alone", 2, {{true, 1000000, 2000000}, {true, 5000000, 8000000}}, 0, 4},
    {"a clock past 2^63",
     2,
     {{false, UINT64_MAX - 4000000, UINT64_MAX - 3000000},
      {false, UINT64_MAX - 2000000, UINT64_MAX - 1000000}},
     3,
     0},
};

START_TEST(launches_add_up)
{
    kiln_elapsed e = kiln_elapsed_of(table[_i].span, table[_i].count);
    ck_assert_msg(e.ms == table[_i].ms, "%s: %.9g ms, not %.9g", table[_i].what, e.ms,
                  table[_i].ms);
    ck_assert_msg(e.pack_ms == table[_i].pack_ms, "%s: %.9g ms of packing, not %.9g",
                  table[_i].what, e.pack_ms, table[_i].pack_ms);
}
END_TEST

/* A clock that shows less than some ns for a launch stands still; PoCL's shortest launches take a
 * fifth of a microsecond. */
START_TEST(a_clock_that_stands_is_known)
{
    ck_assert(kiln_clock_stands(0));
    ck_assert(kiln_clock_stands(1e-6));
    ck_assert(!kiln_clock_stands(1e-4));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("elapsed");
    TCase *t = tcase_create("elapsed");
    tcase_add_loop_test(t, launches_add_up, 0, sizeof table / sizeof *table);
    tcase_add_test(t, a_clock_that_stands_is_known);
    suite_add_tcase(s, t);
    return support_run_apart(s);
}
