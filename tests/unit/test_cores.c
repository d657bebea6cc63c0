/* The rows of CPUs: each is found by what it says, no two are for the same CPU, and their numbers
 * are within the ranges that a formula expects. */
#include "generator/plan/device.h"
#include "support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { MODELS = 256 };

static const kiln_core *generic(void)
{
    return kiln_core_named("generic");
}

/* A model that the row is for: one that no range of another row takes, if it has none itself. */
static kiln_core_id example_of(const kiln_core *core)
{
    kiln_core_id id = {core->vendor, core->family, core->models[0].first, core->vector_floats};
    for (unsigned model = 0; core->models[0].last == 0 && model < MODELS; model++) {
        bool taken = false;
        const kiln_core *other;
        id.model = model;
        for (int i = 0; (other = kiln_core_at(i)); i++)
            taken = taken || kiln_core_is(other, &id, true);
        if (!taken)
            break;
    }
    return id;
}

START_TEST(rows_are_found_by_what_they_say)
{
    const kiln_core *core;
    for (int i = 0; (core = kiln_core_at(i)); i++) {
        ck_assert_ptr_eq(kiln_core_named(core->name), core);
        if (!core->vendor)
            continue;
        kiln_core_id id = example_of(core);
        ck_assert_msg(kiln_core_of(&id) == core, "%s is taken for %s", core->name,
                      kiln_core_of(&id)->name);
        for (int r = 0; r < KILN_CORE_RANGES && core->models[r].last > 0; r++) {
            id.model = core->models[r].last;
            ck_assert_msg(kiln_core_of(&id) == core, "%s, model %u, is taken for %s", core->name,
                          id.model, kiln_core_of(&id)->name);
        }
    }
}
END_TEST

START_TEST(cpus_that_were_measured_have_their_row)
{
    static const struct {
        kiln_core_id id;
        const char *row;
    } cases[] = {
        {{"AuthenticAMD", 0x19, 0x11, 16}, "zen4"},
        {{"AuthenticAMD", 0x1a, 0x02, 16}, "zen5"},
        {{"AuthenticAMD", 0x1a, 0x44, 16}, "zen5"},
        {{"AuthenticAMD", 0x1a, 0x24, 16}, "zen5_mobile"},
        {{"AuthenticAMD", 0x1a, 0x60, 16}, "zen5_mobile"},
        {{"GenuineIntel", 6, 207, 16}, "emerald_rapids"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_str_eq(kiln_core_of(&cases[i].id)->name, cases[i].row);
}
END_TEST

START_TEST(unknown_cpus_are_generic)
{
    static const kiln_core_id cases[] = {
        {"AuthenticAMD", 0x19, 0x21, 8}, /* narrower vectors than the row is for */
        {"AuthenticAMD", 0x17, 0x31, 16},
        {"GenuineIntel", 0x19, 1, 16},
        {"GenuineIntel", 6, 207, 8},
        {"SomebodyElse", 6, 207, 16},
        {"", 0, 0, 16},
    };
    ck_assert_ptr_nonnull(generic());
    ck_assert_ptr_null(generic()->vendor);
    ck_assert_ptr_eq(kiln_core_of(NULL), generic());
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_str_eq(kiln_core_of(&cases[i])->name, "generic");
    ck_assert_ptr_null(kiln_core_named("no such row"));
    ck_assert_ptr_null(kiln_core_at(-1));
}
END_TEST

/* Ranges of models come before whole families; within each kind there is one row at most. */
START_TEST(no_two_rows_are_for_the_same_cpu)
{
    const kiln_core *core, *other;
    for (int i = 0; (core = kiln_core_at(i)); i++)
        for (int j = i + 1; (other = kiln_core_at(j)); j++) {
            ck_assert_str_ne(core->name, other->name);
            ck_assert_msg(core->vendor || other->vendor, "%s and %s are for all other CPUs",
                          core->name, other->name);
            for (unsigned model = 0; core->vendor && model < MODELS; model++) {
                const kiln_core_id id = {core->vendor, core->family, model, core->vector_floats};
                for (int ranged = 0; ranged < 2; ranged++)
                    ck_assert_msg(
                        !kiln_core_is(core, &id, ranged) || !kiln_core_is(other, &id, ranged),
                        "%s and %s are both for model %u", core->name, other->name, model);
            }
        }
}
END_TEST

static void within(const kiln_core *core, const char *what, double value, double least, double most)
{
    ck_assert_msg(value >= least && value <= most, "%s: %s is %g, not within %g and %g", core->name,
                  what, value, least, most);
}

static bool is_power_of_two(int64_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

static void check_units(const kiln_core *c)
{
    within(c, "unit_floats", c->unit_floats, 0, c->vendor ? c->vector_floats : 0);
    ck_assert_msg(c->unit_floats == 0 || c->vector_floats % c->unit_floats == 0,
                  "%s: a vector is no whole number of units", c->name);
    within(c, "sums", c->sums, 1, 4);
    within(c, "sum_latency", c->sum_latency, 2, 8);
    within(c, "clock", c->clock, 1, 3);
    within(c, "reached", c->fit.reached, 0.3, 1);
    within(c, "reached_direct", c->fit.reached_direct, 0.3, 1);
    within(c, "pairs", c->pairs, 0, 8);
    within(c, "sum_beside_loads", c->fit.sum_beside_loads, 0.5, 1);
    within(c, "load_beside_sums", c->fit.load_beside_sums, 0, 1);
    ck_assert_msg(c->fit.load_bound == (c->fit.load_beside_sums > 0),
                  "%s: loads take time beside sums where it is load_bound, and nowhere else",
                  c->name);
    within(c, "load", c->fit.load, 0.5, 2);
    within(c, "load_of_bank", c->fit.load_of_bank, 1, 2);
    within(c, "moves", c->fit.moves, 1, 4);
}

static void check_memory(const kiln_core *c)
{
    within(c, "l1_counted", (double)c->fit.l1_counted, 16 << 10, 256 << 10);
    within(c, "l2_counted", (double)c->fit.l2_counted, (double)(4 * c->fit.l1_counted),
           (double)c->l2_bytes);
    within(c, "l2_bytes", (double)c->l2_bytes, 256 << 10, 16 << 20);
    within(c, "last_bytes", (double)c->last_bytes, (double)c->l2_bytes, 256 << 20);
    ck_assert_msg(is_power_of_two(c->line_bytes) && c->line_bytes >= 32, "%s: line_bytes", c->name);
    ck_assert_msg(is_power_of_two(c->page_bytes) && c->page_bytes >= 4096, "%s: page_bytes",
                  c->name);
    ck_assert_msg(c->fit.l1_ways_counted > 0 &&
                      c->fit.l1_counted % (c->line_bytes * c->fit.l1_ways_counted) == 0,
                  "%s: the first cache is no whole number of sets", c->name);
    within(c, "held", c->fit.held, 0.3, 1);
    within(c, "memory_gbs", c->memory_gbs, 1, 200);
    within(c, "cache_gbs", c->cache_gbs, c->memory_gbs, 1000);
    within(c, "own_share", c->fit.own_share, 0.2, 1);
    const double pages[] = {c->fit.page.begin,  c->fit.page.slope, c->fit.page.square,
                            c->fit.page.narrow, c->fit.page.far,   c->fit.page.far_narrow};
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        within(c, "page", pages[i], 0, 100);
}

START_TEST(numbers_are_sane)
{
    const kiln_core *core;
    for (int i = 0; (core = kiln_core_at(i)); i++) {
        check_units(core);
        check_memory(core);
    }
}
END_TEST

/* What formulas ask of a device, from a row and the device's own counts. */
START_TEST(facts_follow_from_rows)
{
    kiln_device_facts d = kiln_device_generic();
    ck_assert_ptr_eq(d.cpu, generic());
    ck_assert_int_eq(kiln_device_unit_floats(&d), d.simd_floats);
    ck_assert(!kiln_device_double_pumped(&d));
    d.cpu = kiln_core_named("zen4");
    d.simd_floats = 16;
    ck_assert_int_eq(kiln_device_unit_floats(&d), 8);
    ck_assert(kiln_device_double_pumped(&d));
    kiln_device_set_roofline(&d, 2.5);
    ck_assert_double_eq_tol(d.peak_gflops, 320, 1e-9);
    ck_assert_double_eq_tol(d.bandwidth_gbs, 20, 1e-9);
    ck_assert_double_eq_tol(kiln_device_memory_gbs(&d), 40, 1e-9);
    d.simd_floats = 8; /* kernels with narrow vectors */
    ck_assert(!kiln_device_double_pumped(&d));
    d.cache = 10 << 20;
    ck_assert_double_lt(2 * kiln_device_move_ms(&d, 1e6), kiln_device_move_ms(&d, 1e7));
    ck_assert(!kiln_device_large_l2(&d));
    d.core_cache = 2 << 20;
    ck_assert(kiln_device_large_l2(&d));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cores");
    TCase *tests = tcase_create("cores");
    tcase_add_test(tests, rows_are_found_by_what_they_say);
    tcase_add_test(tests, cpus_that_were_measured_have_their_row);
    tcase_add_test(tests, unknown_cpus_are_generic);
    tcase_add_test(tests, no_two_rows_are_for_the_same_cpu);
    tcase_add_test(tests, numbers_are_sane);
    tcase_add_test(tests, facts_follow_from_rows);
    suite_add_tcase(suite, tests);
    return support_run_apart(suite);
}
