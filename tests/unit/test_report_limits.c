/* The measured limits of a report: the best of rounds counts, and a busy machine is told. */
#include "driver/report/limit_rounds.h"
#include "driver/report/page.h"
#include "driver/report/report_limits.h"
#include "support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static limit_rounds rounds_of(const double *value)
{
    limit_rounds r = {.count = 0};
    for (int i = 0; i < LIMIT_ROUNDS; i++)
        limit_rounds_add(&r, value[i]);
    return r;
}

static const double quiet[LIMIT_ROUNDS] = {350, 354, 352, 349, 351, 353},
                    once[LIMIT_ROUNDS] = {350, 354, 286, 349, 351, 353},
                    busy[LIMIT_ROUNDS] = {286, 354, 290, 349, 300, 310};

START_TEST(the_best_round_counts)
{
    limit_rounds r = rounds_of(busy);
    ck_assert_double_eq(limit_rounds_best(&r), 354);
    ck_assert_double_eq(limit_rounds_least(&r), 286);
    limit_rounds_add(&r, 1000); /* one more than there is room for */
    ck_assert_double_eq(limit_rounds_best(&r), 354);
    const limit_rounds none = {.count = 0};
    ck_assert_double_eq(limit_rounds_best(&none), 0);
    limit_rounds failed = {.count = 0};
    limit_rounds_add(&failed, 0);
    ck_assert_int_eq(failed.count, 0);
}
END_TEST

START_TEST(a_busy_machine_is_told)
{
    static const struct {
        const double *gflops, *gbs;
        machine_share others;
        const char *says;
    } cases[] = {
        {quiet, quiet, {0, 0}, NULL},
        {once, quiet, {0.05, 0.01}, NULL},
        {busy, quiet, {0, 0}, "4 of 6 rounds"},
        {quiet, busy, {0, 0}, "4 of 6 rounds"},
        {quiet, quiet, {0.4, 0}, "other programs had 40 % of the cores)"},
        {quiet, quiet, {0, 0.3}, "(30 % of the cores' time was another machine's)"},
        {busy, busy, {0.4, 0.3}, "best; other programs had 40 % of the cores; 30 % of"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char why[256];
        const limit_rounds gflops = rounds_of(cases[i].gflops), gbs = rounds_of(cases[i].gbs);
        const bool doubt = limit_rounds_doubt(&gflops, &gbs, &cases[i].others, why, sizeof why);
        ck_assert_int_eq(doubt, cases[i].says != NULL);
        ck_assert_msg(doubt == (*why != '\0') && (!doubt || strstr(why, cases[i].says)), "%s", why);
    }
}
END_TEST

/* Two cores for ten seconds: this process had 8 s of them, others 4, another machine 2. */
START_TEST(linux_tells_who_had_the_cores)
{
    machine_load from, to;
    ck_assert(machine_load_read("cpu  100 0 0 900 0 0 0 10 0 0\n", 100, &from));
    ck_assert(machine_load_read("cpu  1000 200 50 1450 50 30 20 210 0 0\n", 100, &to));
    from.own = 1;
    to.own = 9;
    const machine_share share = machine_load_between(&from, &to);
    ck_assert_double_eq_tol(share.used, 4 / 20.0, 1e-9);
    ck_assert_double_eq_tol(share.stolen, 2 / 20.0, 1e-9);
    ck_assert(!machine_load_read("cpu0 1 2 3\n", 100, &to));
    const machine_share unknown = machine_load_between(&from, &to);
    ck_assert_double_eq(unknown.used, 0);
    ck_assert_double_eq(unknown.stolen, 0);
}
END_TEST

/* What this process does is no other's doing. */
START_TEST(the_load_of_now_is_read)
{
    const machine_load from = machine_load_now();
    machine_load to = machine_load_now();
    while (to.known && to.own < from.own + 0.02)
        to = machine_load_now();
    const machine_share share = machine_load_between(&from, &to);
    ck_assert(share.used >= 0 && share.used <= 1 && share.stolen >= 0 && share.stolen <= 1);
}
END_TEST

/* The page states how far the rounds are apart, and the doubt. */
START_TEST(the_page_states_rounds_and_doubts)
{
    char *text = NULL;
    size_t size;
    report_data data = {.devices = 0};
    report_layer *l = report_data_layer(&data, report_data_device(&data, "a card", ""),
                                        "fwd-f32-n1-c16-k16-i8x8-f3x3");
    const report_best best = {.ms = 1, .solver = "direct", .config = "1"};
    report_data_best(l, FROM_ROW, &best);
    data.device[0].gflops[KILN_F32] = (report_limit){
        .value = 354, .least = 286, .rounds = 6, .seconds = 4.2, .origin = LIMIT_MEASURED};
    data.device[0].gbs = (report_limit){.value = 53, .origin = LIMIT_GIVEN};
    snprintf(data.device[0].doubt, sizeof data.device[0].doubt, "the machine was <busy>");
    report_data_finish(&data);
    const page p = {.to = open_memstream(&text, &size), .data = &data};
    ck_assert_ptr_nonnull(p.to);
    page_write(&p);
    fclose(p.to);
    ck_assert_ptr_nonnull(strstr(text, "354 GFLOP/s, measured for this page: the best of 6 rounds "
                                       "over 4 s, the least of which is 286"));
    ck_assert_ptr_nonnull(strstr(text, "53 GB/s, as given on the command line</li>"));
    ck_assert_ptr_nonnull(strstr(text, "Warning: the machine was &lt;busy&gt;."));
    free(text);
    report_data_free(&data);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("report_limits");
    TCase *all = tcase_create("report_limits");
    tcase_add_test(all, the_best_round_counts);
    tcase_add_test(all, a_busy_machine_is_told);
    tcase_add_test(all, linux_tells_who_had_the_cores);
    tcase_add_test(all, the_load_of_now_is_read);
    tcase_add_test(all, the_page_states_rounds_and_doubts);
    suite_add_tcase(suite, all);
    return support_run_apart(suite);
}
