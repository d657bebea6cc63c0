/* The verification fails every planted error: among all elements, in samples, in a bias gradient.
 */
#include "driver/reference/bound.h"
#include "driver/reference/verify.h"
#include "support/suite.h"
#include "problems.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- a million elements, one of them wrong ---- */

/* 1 x 64 x 125 x 125 = 10^6 outputs, 9 * 13 terms each. */
static kiln_problem million(kiln_type from, kiln_type to)
{
    return checked((kiln_problem){.batch = 1,
                                  .in_channels = 13,
                                  .out_channels = 64,
                                  .input = {125, 125},
                                  .filter = {3, 3},
                                  .pad_begin = {1, 1},
                                  .pad_end = {1, 1},
                                  .x_type = from,
                                  .w_type = from,
                                  .y_type = to});
}

enum { SPOT = 567123 }; /* no border */

/* Returns the product of x and w at tap 4 (the middle one) of channel c at the spot. */
static double product(const kiln_problem *p, const operands *t, int c)
{
    int64_t plane = 125 * 125, k = SPOT / plane, at = SPOT % plane;
    return host_get(p->x_type, t->x, c * plane + at) *
           host_get(p->w_type, t->w, (k * 13 + c) * 9 + 4);
}

/* Plants `value`, expects a failure there and nowhere else, and restores the right value. */
static void plant(const kiln_problem *p, const operands *t, void *got, double value, bool exact,
                  const char *what)
{
    kiln_type type = reference_type(p);
    double before = host_get(type, got, SPOT);
    host_set(type, got, SPOT, value);
    ck_assert_msg(host_get(type, got, SPOT) != before, "%s: no change planted", what);
    verify_options o = {.exact = exact};
    verify_result r = verify_destination(p, &t->r, got, &o);
    ck_assert_msg(!r.ok && r.bad == 1 && r.worst > 1, "%s, %s: %lld bad, worst %g", name_of(p),
                  what, (long long)r.bad, r.worst);
    ck_assert_int_eq(r.checked, r.total);
    host_set(type, got, SPOT, before);
}

static void plant_all(kiln_type from, kiln_type to, host_fill fill)
{
    kiln_problem p = million(from, to);
    operands t = operands_new(&p, fill, 7);
    void *got = rounded_result(&p, &t);
    bool exact = fill == HOST_FILL_INT;
    verify_options o = {.exact = exact};
    verify_result r = verify_destination(&p, &t.r, got, &o);
    ck_assert_msg(r.ok && r.bad == 0 && r.checked == 1000000 && r.total == 1000000 &&
                      r.max_ulp <= 0.5 && r.worst <= 1 && r.rms <= r.tolerance,
                  "%s: %lld bad, %g ulp, worst %g, rms %g", name_of(&p), (long long)r.bad,
                  r.max_ulp, r.worst, r.rms);

    double value = host_get(to, got, SPOT), next = host_get(to, got, SPOT + 1);
    int c = 0;
    while (fabs(product(&p, &t, c)) < 0.2 * fabs(value) / 13)
        c++;
    plant(&p, &t, got, value - product(&p, &t, c), exact, "a dropped product");
    plant(&p, &t, got, value + product(&p, &t, c), exact, "a product too many");
    plant(&p, &t, got, next, exact, "the neighbour's value");
    if (from != KILN_I8) {
        plant(&p, &t, got, NAN, exact, "NaN");
        plant(&p, &t, got, INFINITY, exact, "infinity");
    }
    if (from == KILN_F32)
        plant(&p, &t, got, value * 1.001, exact, "a thousandth too much");
    if (exact || from == KILN_I8)
        plant(&p, &t, got, value + bound_ulp(to, value), exact, "one unit in the last place");
    free(got);
    operands_free(&t);
}

START_TEST(planted_real)
{
    plant_all(KILN_F32, KILN_F32, HOST_FILL_MIOPEN);
    plant_all(KILN_F32, KILN_F32, HOST_FILL_UNIFORM);
    plant_all(KILN_F16, KILN_F16, HOST_FILL_MIOPEN);
    plant_all(KILN_F16, KILN_F32, HOST_FILL_UNIFORM);
    plant_all(KILN_BF16, KILN_BF16, HOST_FILL_UNIFORM);
    plant_all(KILN_I8, KILN_I32, HOST_FILL_MIOPEN);
}
END_TEST

START_TEST(planted_exact)
{
    plant_all(KILN_F32, KILN_F32, HOST_FILL_INT);
    plant_all(KILN_F16, KILN_F16, HOST_FILL_INT);
    plant_all(KILN_BF16, KILN_BF16, HOST_FILL_INT);
    plant_all(KILN_I8, KILN_I32, HOST_FILL_INT);
    plant_all(KILN_I8, KILN_F32, HOST_FILL_INT);
    plant_all(KILN_I8, KILN_I8, HOST_FILL_INT);
}
END_TEST

/* Two exchanged neighbours are two wrong elements; an element that was not written counts as
 * untouched.
 */
START_TEST(swapped_and_unwritten)
{
    static const kiln_type types[][2] = {
        {KILN_F32, KILN_F32}, {KILN_F16, KILN_F16}, {KILN_BF16, KILN_F32}, {KILN_I8, KILN_I32}};
    for (int i = 0; i < 4; i++) {
        kiln_problem p = million(types[i][0], types[i][1]);
        operands t = operands_new(&p, HOST_FILL_UNIFORM, 8);
        void *got = rounded_result(&p, &t);
        verify_options o = {.poisoned = true};
        double a = host_get(p.y_type, got, SPOT), b = host_get(p.y_type, got, SPOT + 1);
        host_set(p.y_type, got, SPOT, b);
        host_set(p.y_type, got, SPOT + 1, a);
        verify_result r = verify_destination(&p, &t.r, got, &o);
        ck_assert(!r.ok && r.bad == 2 && r.untouched == 0);
        host_set(p.y_type, got, SPOT, a);
        host_poison(p.y_type, (char *)got + (SPOT + 1) * kiln_type_size(p.y_type), 1);
        r = verify_destination(&p, &t.r, got, &o);
        ck_assert(!r.ok && r.bad == 1 && r.untouched == 1);
        ck_assert_int_eq(r.max_abs_at, SPOT + 1);
        free(got);
        operands_free(&t);
    }
}
END_TEST

/* ---- samples ---- */

START_TEST(sampling)
{
    kiln_problem p = million(KILN_F32, KILN_F32);
    operands t = operands_new(&p, HOST_FILL_UNIFORM, 3);
    float *got = rounded_result(&p, &t);
    verify_options o = {.max_seconds = 1e-3, .seed = 5};
    verify_result r = verify_destination(&p, &t.r, got, &o);
    ck_assert(r.ok && r.checked < r.total && r.checked >= 900); /* of 1000, some of them equal */
    /* A border is checked in some channel, so an error in all of them is found. */
    for (int k = 0; k < 64; k++)
        got[k * 125 * 125 + 124] += 1;
    r = verify_destination(&p, &t.r, got, &o);
    ck_assert(!r.ok && r.bad >= 1);
    ck_assert_int_eq(r.max_abs_at % (125 * 125), 124);
    for (int k = 0; k < 64; k++)
        got[k * 125 * 125 + 124] -= 1;
    /* NaN is found wherever it is. */
    got[SPOT] = NAN;
    r = verify_destination(&p, &t.r, got, &o);
    ck_assert(!r.ok && r.bad == 1 && r.checked < r.total);
    ck_assert_int_eq(r.max_abs_at, SPOT);
    free(got);
    operands_free(&t);
}
END_TEST

START_TEST(samples_of_everything)
{
    dice d = {.seed = 41};
    for (int i = 0; i < 60; i++) {
        kiln_problem p = random_problem(&d, 30, 20);
        operands t = operands_new(&p, HOST_FILL_INT, 3);
        void *got = rounded_result(&p, &t);
        verify_options o = {.max_seconds = 1e-9, .seed = (uint64_t)i};
        verify_result r = verify_destination(&p, &t.r, got, &o);
        ck_assert_msg(r.ok, "%s: worst %g", name_of(&p), r.worst);
        ck_assert_int_gt(r.checked, 0);
        free(got);
        operands_free(&t);
    }
}
END_TEST

/* ---- bias gradient ---- */

START_TEST(bias_gradient)
{
    kiln_problem p = checked((kiln_problem){.direction = KILN_BACKWARD_WEIGHTS,
                                            .batch = 2,
                                            .in_channels = 1,
                                            .out_channels = 37,
                                            .input = {30, 30},
                                            .filter = {1, 1},
                                            .epilogue = {.bias = 1}});
    operands t = operands_new(&p, HOST_FILL_UNIFORM, 3);
    double value[37], magnitude[37];
    float got[37];
    verify_options o = {.seed = 0};
    reference_bias_gradient(&p, t.y, value, magnitude);
    for (int k = 0; k < 37; k++) {
        got[k] = 0;
        for (int n = 0; n < 2; n++)
            for (int i = 0; i < 900; i++)
                got[k] += ((float *)t.y)[(n * 37 + k) * 900 + i];
    }
    ck_assert(verify_bias_gradient(&p, t.y, got, &o).ok);
    got[17] += 0.5f;
    verify_result r = verify_bias_gradient(&p, t.y, got, &o);
    ck_assert(!r.ok && r.bad == 1 && r.max_abs_at == 17 && r.total == 37);
    operands_free(&t);
}
END_TEST

/* Several results of the same tensors are judged by one computation: what is in the tensors after
 * the first does not matter. A wrong result is found all the same. */
static void keep(double max_seconds)
{
    kiln_problem p = checked((kiln_problem){
        .batch = 2, .in_channels = 5, .out_channels = 7, .input = {30, 30}, .filter = {3, 3}});
    operands t = operands_new(&p, HOST_FILL_UNIFORM, 7);
    void *got = rounded_result(&p, &t);
    struct verify_kept kept = {.whole = {.count = 0}};
    const verify_options o = {.max_seconds = max_seconds, .seed = 5, .kept = &kept};
    const verify_result first = verify_destination(&p, &t.r, got, &o);
    ck_assert(first.ok);
    ck_assert_int_eq(first.checked<first.total, max_seconds> 0);
    host_set(p.x_type, t.x, 0, 3 * host_get(p.x_type, t.x, 0) + 1); /* a term of element 0 */
    const verify_result second = verify_destination(&p, &t.r, got, &o);
    ck_assert_msg(second.ok, "worst %g", second.worst);
    ck_assert_double_eq_tol(second.rms, first.rms, 1e-9);
    ck_assert_int_eq(second.checked, first.checked);
    host_set(p.y_type, got, 0, 2 * host_get(p.y_type, got, 0) + 1);
    ck_assert_int_eq(verify_destination(&p, &t.r, got, &o).bad, 1);
    kept_sums_free(&kept.whole);
    kept_sums_free(&kept.sample);
    free(got);
    operands_free(&t);
}

START_TEST(one_computation_for_many)
{
    keep(0);
    keep(1e-9);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("verify");
    TCase *c = tcase_create("verify");
    tcase_set_timeout(c, 600);
    tcase_add_test(c, planted_real);
    tcase_add_test(c, planted_exact);
    tcase_add_test(c, swapped_and_unwritten);
    tcase_add_test(c, sampling);
    tcase_add_test(c, samples_of_everything);
    tcase_add_test(c, bias_gradient);
    tcase_add_test(c, one_computation_for_many);
    suite_add_tcase(s, c);
    return support_run_apart(s);
}
