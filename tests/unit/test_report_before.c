/* The page of `kiln report --before`: layers beside the same layers in older files. */
#include "driver/report/page.h"
#include "driver/report/report_before.h"
#include "support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define A "fwd-f32-n1-c16-k16-i8x8-f3x3-p1x1"
#define B "bwd-f32-n1-c16-k16-i8x8-f1x1"
#define C "wrw-f16-n4-c16-k32-i8x8-f1x1"
#define D "fwd-f32-n1-c3-k8-i8x8-f1x1"

static report_data older, now;
static char *text;

static void setup(void)
{
    older = now = (report_data){.devices = 0};
}

static void teardown(void)
{
    report_data_free(&older);
    report_data_free(&now);
    free(text);
    text = NULL;
}

static void give(report_data *d, const char *device, const char *core, const char *name, double ms,
                 double iqr, const char *date)
{
    report_layer *l = report_data_layer(d, report_data_device(d, device, core), name);
    report_best best = {.ms = ms, .iqr = iqr, .solver = "direct", .config = "1"};
    snprintf(best.date, sizeof best.date, "%s", date);
    report_data_best(l, FROM_ROW, &best);
}

static size_t compare(void)
{
    size_t size;
    report_data_finish(&older);
    report_data_finish(&now);
    const size_t found = report_before_find(&now, &older);
    const report_file file = {.name = "old <&>.yaml", .kind = "tuning rows", .count = 7};
    const page p = {
        .to = open_memstream(&text, &size), .data = &now, .before = &file, .befores = 1};
    ck_assert_ptr_nonnull(p.to);
    page_write(&p);
    fclose(p.to);
    return found;
}

static bool has(const char *what)
{
    return strstr(text, what) != NULL;
}

START_TEST(layers_are_compared)
{
    give(&older, "a card", "x", A, 4, 0, "2026-01-01");
    give(&older, "a card", "x", B, 1, 0, "2026-01-03");
    give(&older, "a card", "x", C, 3, 0.5, "2026-01-02");
    give(&older, "a card", "x", "fwd-f32-n1-c5-k5-i5x5-f1x1", 3, 0, "");
    give(&now, "a card", "", A, 2, 0, "2026-02-01");
    give(&now, "a card", "", B, 2, 0, "2026-02-01");
    give(&now, "a card", "", C, 2.5, 0, "2026-02-01");
    give(&now, "a card", "", D, 1, 0, "2026-02-02");
    ck_assert_uint_eq(compare(), 3);
    ck_assert(has("<section id=\"d1-before\">"));
    ck_assert(has("3 layers are in both: 1 faster now, 1 slower, 1 within 2 % or the spread"));
    ck_assert(has("In sum 8 ms before and 6.5 ms now; 1.06 times as fast in the geometric mean."));
    ck_assert(has(" 1 are new. 1 are gone."));
    ck_assert(has("from 2026-01-01 to 2026-01-03 before, and from 2026-02-01 to 2026-02-01 now"));
    ck_assert(has("<button>before ms</button>"));
    ck_assert(has("data-v=\"0.5\">0.5</td>")); /* B, which is slower */
    ck_assert(has("<li><code>old &lt;&amp;&gt;.yaml</code> (before): tuning rows, 7 used</li>"));
}
END_TEST

/* A row tells nothing of the epilogue: it is compared with a log's problem that has one. */
START_TEST(rows_are_compared_with_problems)
{
    give(&older, "a card", "", A "-bias", 4, 0, "");
    give(&now, "a card", "", A, 2, 0, "");
    ck_assert_uint_eq(compare(), 1);
    ck_assert_str_eq(now.layer[0].before->name, A "-bias");
}
END_TEST

START_TEST(other_devices_are_not_compared)
{
    give(&older, "a card", "x", A, 4, 0, "");
    give(&older, "another card", "", B, 4, 0, "");
    give(&now, "a card", "y", A, 2, 0, "");
    give(&now, "a card", "y", B, 2, 0, "");
    ck_assert_uint_eq(compare(), 0);
    ck_assert(!has("-before\">"));
    ck_assert(!has("<button>before ms</button>"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("report_before");
    TCase *all = tcase_create("report_before");
    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_test(all, layers_are_compared);
    tcase_add_test(all, rows_are_compared_with_problems);
    tcase_add_test(all, other_devices_are_not_compared);
    suite_add_tcase(suite, all);
    return support_run_apart(suite);
}
