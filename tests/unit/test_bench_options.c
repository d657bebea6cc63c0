/* The command lines of the benches: what is measured is what was asked for. */
#include "support/suite.h"
#include "tests/bench/base/options.h"
#include "tests/bench/programs/gpu_options.h"

#include <check.h>
#include <getopt.h>

START_TEST(batches_are_numbers_between_commas)
{
    int64_t batch[3];
    ck_assert_int_eq(options_batches("64,1,0", batch, 3), 3);
    ck_assert_int_eq(batch[0], 64);
    ck_assert_int_eq(batch[1], 1);
    ck_assert_int_eq(batch[2], 0);
    ck_assert_int_eq(options_batches("16", batch, 3), 1);
    const char *const wrong[] = {"", "64x1", "64,", ",1", "-1", "1,2,3,4", "1 2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_msg(options_batches(wrong[i], batch, 3) == 0, "%s", wrong[i]);
}
END_TEST

static void read_gpu(gpu_options *o, char *every, char *batches)
{
    char *words[] = {"bench", "--quick", "--every", every, "--batch", batches, NULL};
    optind = 0; /* glibc: start afresh */
    ck_assert(gpu_options_read(o, 6, words));
}

/* One of N layers, but of that one all batches. */
START_TEST(every_layer_has_all_its_batches)
{
    gpu_options all, some;
    read_gpu(&all, "1", "64,1");
    read_gpu(&some, "3", "64,1");
    ck_assert_int_gt(all.layers.count, 6);
    ck_assert_int_eq(some.layers.count, 2 * ((all.layers.count / 2 + 2) / 3));
    for (int i = 0; i < some.layers.count; i++) {
        const kiln_problem *p = &some.layers.at[i].problem;
        ck_assert_int_eq(p->batch, i % 2 ? 1 : 64);
        ck_assert_str_eq(some.layers.at[i].name, all.layers.at[i / 2 * 6 + i % 2].name);
    }
    layers_free(&all.layers);
    layers_free(&some.layers);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bench_options");
    TCase *tests = tcase_create("bench_options");
    tcase_add_test(tests, batches_are_numbers_between_commas);
    tcase_add_test(tests, every_layer_has_all_its_batches);
    suite_add_tcase(suite, tests);
    return support_run_apart(suite);
}
