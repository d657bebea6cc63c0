/* The verification of results that are not finite: values that are due pass, and no others. */
#include "driver/reference/nonfinite.h"
#include "driver/reference/verify.h"
#include "support/suite.h"
#include "problems.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>

/* ---- the right class ---- */

static verify_result judged(const kiln_problem *p, const operands *t, const void *got,
                            double amplification)
{
    const verify_options o = {.arbitrary = true, .poisoned = true, .amplification = amplification};
    return verify_destination(p, &t->r, got, &o);
}

/* Expects that element `at` is right with its own value and wrong with each of the others;
 * `spoilt`: a NaN is right too. */
static void expect_only(const kiln_problem *p, const operands *t, void *got, int64_t at,
                        bool spoilt)
{
    static const double others[] = {NAN, INFINITY, -INFINITY, 0.123456};
    const kiln_type type = reference_type(p);
    const double right = host_get(type, got, at);
    verify_result r = judged(p, t, got, 1);
    ck_assert_msg(r.ok && r.worst <= 1 && isfinite(r.rms) && isfinite(r.bound),
                  "%s: %lld bad, element %lld is %g, not %g", name_of(p), (long long)r.bad,
                  (long long)r.max_abs_at, r.got, r.expected);
    for (int i = 0; i < 4; i++) {
        if (others[i] == right || (isnan(others[i]) && isnan(right)))
            continue;
        host_set(type, got, at, others[i]);
        r = judged(p, t, got, 1);
        if (spoilt && i == 0) {
            ck_assert(r.ok);
            continue;
        }
        ck_assert_msg(!r.ok && r.bad == 1 && r.max_abs_at == at && r.worst > 1,
                      "%s: element %lld may be %g instead of %g", name_of(p), (long long)at,
                      others[i], right);
    }
    host_set(type, got, at, right);
}

/* Whether backward weights may multiply element 11 of a source (dy, x), in its channel 0, with a
 * zero that it stores beside the other source. */
static bool is_spoilt(const kiln_problem *p, int which, int64_t at)
{
    const int64_t k = at / 6 / 3, c = at / 6 % 3;
    return p->direction == KILN_BACKWARD_WEIGHTS && (which == 1 ? c : k) == 0;
}

/* Every direction, type and activation; one NaN or infinity in either source. */
START_TEST(class_decides)
{
    static const double values[] = {NAN, INFINITY, -INFINITY};
    static const kiln_type types[] = {KILN_F32, KILN_F16, KILN_BF16};
    for (int d = KILN_FORWARD; d <= KILN_BACKWARD_WEIGHTS; d++)
        for (int y = 0; y < 3; y++)
            for (int a = KILN_IDENTITY; a < (d == KILN_FORWARD ? (int)KILN_ACTIVATIONS : 1); a++)
                for (int v = 0; v < 3; v++)
                    for (int which = 0; which < 2; which++) {
                        kiln_problem p = {.direction = (kiln_direction)d,
                                          .batch = 2,
                                          .in_channels = 3,
                                          .out_channels = 5,
                                          .input = {6, 7},
                                          .filter = {3, 2},
                                          .pad_begin = {1, 1},
                                          .pad_end = {1, 0}};
                        p.x_type = p.w_type = p.y_type = types[y];
                        p.epilogue.activation = (kiln_activation)a;
                        p.epilogue.param[0] = a == KILN_IDENTITY ? 0 : 0.5f;
                        p.epilogue.param[1] = a == KILN_TANH || a == KILN_HARD_TANH ? 1 : 0;
                        p = checked(p);
                        operands t = operands_new(&p, HOST_FILL_UNIFORM, 3);
                        reference_source s[2];
                        reference_sources(&p, &t.r, s);
                        host_set(s[which].type, (void *)(uintptr_t)s[which].data, 11, values[v]);
                        void *got = rounded_result(&p, &t);
                        int64_t count = reference_count(&p);
                        for (int64_t at = 0; at < count; at += 1 + count / 5)
                            expect_only(&p, &t, got, at, is_spoilt(&p, which, at));
                        free(got);
                        operands_free(&t);
                    }
}
END_TEST

/* The sample of a tensor too large to check as a whole knows the NaNs that are due, too. */
START_TEST(sample_knows)
{
    kiln_problem p = checked((kiln_problem){
        .batch = 2, .in_channels = 16, .out_channels = 16, .input = {60, 60}, .filter = {3, 3}});
    operands t = operands_new(&p, HOST_FILL_UNIFORM, 3);
    ((float *)t.w)[7 * 144 + 5] = NAN;
    float *got = rounded_result(&p, &t);
    verify_options o = {.max_seconds = 1e-9, .seed = 5, .poisoned = true};
    verify_result r = verify_destination(&p, &t.r, got, &o);
    ck_assert(r.ok && r.nonfinite > 1000 && r.checked < r.total);
    const int64_t plane = 58 * 58, spot = 9 * plane + 30 * 58 + 31;
    got[spot] = NAN;
    r = verify_destination(&p, &t.r, got, &o);
    ck_assert(!r.ok && r.bad == 1 && r.max_abs_at == spot);
    /* An element that was not written is no NaN that is due. */
    got[spot] = (float)reference_sum(&p, &t.r, spot, &(double){0});
    host_poison(KILN_F32, got + 7 * plane + 900, 1);
    r = verify_destination(&p, &t.r, got, &o);
    ck_assert(!r.ok && r.bad == 1 && r.untouched == 1);
    o.max_seconds = 0;
    r = verify_destination(&p, &t.r, got, &o);
    ck_assert(!r.ok && r.bad == 1 && r.untouched == 1);
    free(got);
    operands_free(&t);
}
END_TEST

START_TEST(bias_gradient)
{
    kiln_problem p = checked((kiln_problem){.direction = KILN_BACKWARD_WEIGHTS,
                                            .batch = 1,
                                            .in_channels = 1,
                                            .out_channels = 2,
                                            .input = {3, 3},
                                            .filter = {1, 1},
                                            .epilogue = {.bias = 1}});
    float y[18] = {1, 2, INFINITY};
    const verify_options o = {.arbitrary = true};
    ck_assert(verify_bias_gradient(&p, y, (float[]){INFINITY, 0}, &o).ok);
    ck_assert(!verify_bias_gradient(&p, y, (float[]){NAN, 0}, &o).ok);
    ck_assert(!verify_bias_gradient(&p, y, (float[]){INFINITY, NAN}, &o).ok);
    y[12] = NAN;
    ck_assert(verify_bias_gradient(&p, y, (float[]){INFINITY, NAN}, &o).ok);
    ck_assert(!verify_bias_gradient(&p, y, (float[]){INFINITY, 0}, &o).ok);
}
END_TEST

/* ---- sums that overflow on the way ---- */

static bool sum_may_be(const float x[3], float alpha, kiln_activation activation, double got)
{
    kiln_problem p =
        checked((kiln_problem){.batch = 1,
                               .in_channels = 3,
                               .out_channels = 1,
                               .spatial_rank = 1,
                               .input = {1},
                               .filter = {1},
                               .epilogue = {.alpha = alpha, .activation = activation}});
    const float w[3] = {1, 1, 1}, y = (float)got;
    const reference_tensors t = {.x = x, .w = w};
    const verify_options o = {.arbitrary = true};
    return verify_destination(&p, &t, &y, &o).ok;
}

START_TEST(overflow_on_the_way)
{
    const float up[3] = {3e38f, 3e38f, -3e38f}, both[3] = {INFINITY, -INFINITY, 1},
                small[3] = {1e38f, 1e38f, -1e38f}, mixed[3] = {INFINITY, -3e38f, -3e38f};
    ck_assert(sum_may_be(up, 1, KILN_IDENTITY, 3e38f));
    ck_assert(sum_may_be(up, 1, KILN_IDENTITY, INFINITY));
    ck_assert(sum_may_be(up, -1, KILN_IDENTITY, -INFINITY));
    ck_assert(sum_may_be(up, -1, KILN_RELU, 0));
    ck_assert(sum_may_be(up, 1, KILN_SIGMOID, 1));
    ck_assert(!sum_may_be(up, 1, KILN_IDENTITY, 1e38f));
    ck_assert(sum_may_be(both, 1, KILN_IDENTITY, NAN));
    ck_assert(!sum_may_be(both, 1, KILN_IDENTITY, INFINITY));
    ck_assert(sum_may_be(small, 1, KILN_IDENTITY, 1e38f));
    ck_assert(!sum_may_be(small, 1, KILN_IDENTITY, INFINITY));
    ck_assert(!sum_may_be(small, 1, KILN_IDENTITY, NAN));
    ck_assert(sum_may_be(small, 4, KILN_IDENTITY, INFINITY));
    ck_assert(sum_may_be(mixed, 1, KILN_IDENTITY, INFINITY));
    ck_assert(sum_may_be(mixed, 1, KILN_IDENTITY, NAN));
    ck_assert(!sum_may_be(mixed, 1, KILN_IDENTITY, -INFINITY));
}
END_TEST

/* x = 1, w = 1, a residual times beta, and a bias: finite terms may overflow before an infinite one
 * is added. */
static bool epilogue_may_be(float residual, float bias, float beta, double got)
{
    kiln_problem p = checked((kiln_problem){.batch = 1,
                                            .in_channels = 1,
                                            .out_channels = 1,
                                            .spatial_rank = 1,
                                            .input = {1},
                                            .filter = {1},
                                            .epilogue = {.bias = 1, .beta = beta}});
    const float one = 1, y = (float)got;
    const reference_tensors t = {.x = &one, .w = &one, .bias = &bias, .residual = &residual};
    const verify_options o = {.arbitrary = true};
    return verify_destination(&p, &t, &y, &o).ok;
}

START_TEST(overflow_in_the_epilogue)
{
    ck_assert(epilogue_may_be(-1e38f, INFINITY, 1e30f, NAN));
    ck_assert(epilogue_may_be(-1e38f, INFINITY, 1e30f, INFINITY));
    ck_assert(!epilogue_may_be(-1e38f, INFINITY, 1e30f, -INFINITY));
    ck_assert(epilogue_may_be(-INFINITY, 3.4e38f, 1, -INFINITY));
    ck_assert(!epilogue_may_be(-INFINITY, 3.4e38f, 1, NAN));
    ck_assert(!epilogue_may_be(-1, INFINITY, 1, NAN));
    ck_assert(epilogue_may_be(-INFINITY, INFINITY, 1, NAN));
    ck_assert(!epilogue_may_be(-INFINITY, INFINITY, 1, INFINITY));
}
END_TEST

/* ---- padding and tiles ---- */

/* A NaN weight meets padding: the reference leaves the product out; a kernel that stores padding as
 * zeros makes a NaN, there only. */
START_TEST(padding_contributes_nothing)
{
    kiln_problem p = checked((kiln_problem){.batch = 1,
                                            .in_channels = 2,
                                            .out_channels = 2,
                                            .input = {6, 6},
                                            .filter = {3, 3},
                                            .pad_begin = {1, 1},
                                            .pad_end = {1, 1}});
    operands t = operands_new(&p, HOST_FILL_UNIFORM, 3);
    ((float *)t.w)[0] = NAN; /* the upper left tap of channel 0 */
    double value[72], magnitude[72];
    reference_run(&p, &t.r, NULL, 72, value, magnitude);
    float *got = rounded_result(&p, &t);
    for (int64_t i = 0; i < 72; i++) {
        double m, alone = reference_sum(&p, &t.r, i, &m);
        bool due = i < 36 && i / 6 > 0 && i % 6 > 0, border = i < 36 && !due;
        ck_assert_int_eq(isnan(value[i]), due);
        ck_assert_int_eq(isnan(alone), due);
        ck_assert_int_eq(reference_pads(&p, &t.r, i), border);
        if (due)
            continue;
        const float before = got[i];
        got[i] = NAN;
        ck_assert_int_eq(judged(&p, &t, got, 1).ok, border);
        got[i] = before + 1;
        ck_assert(!judged(&p, &t, got, 1).ok);
        got[i] = before;
    }
    free(got);
    operands_free(&t);
}
END_TEST

/* Winograd spreads a NaN over the tiles that hold it, but not over the image, nor over others. */
static void spread_by_tiles(float value, float weight)
{
    kiln_problem p = checked((kiln_problem){.batch = 2,
                                            .in_channels = 2,
                                            .out_channels = 2,
                                            .input = {40, 40},
                                            .filter = {3, 3},
                                            .pad_begin = {1, 1},
                                            .pad_end = {1, 1}});
    operands t = operands_new(&p, HOST_FILL_UNIFORM, 3);
    ((float *)t.x)[20 * 40 + 5] = value;
    ((float *)t.w)[18] = weight; /* of channel 1 */
    float *got = rounded_result(&p, &t);
    const struct {
        int64_t at;
        bool near;
    } spots[] = {{20 * 40 + 9, true},         {24 * 40 + 5, true},
                 {20 * 40 + 30, false},       {35 * 40 + 5, false},
                 {3200 + 20 * 40 + 9, false}, {1600 + 20 * 40 + 30, !isfinite(weight)}};
    for (int i = 0; i < 6; i++) {
        const float before = got[spots[i].at];
        got[spots[i].at] = NAN;
        ck_assert_int_eq(judged(&p, &t, got, 50).ok, spots[i].near);
        got[spots[i].at] = before;
    }
    got[20 * 40 + 9] = NAN;
    ck_assert(!judged(&p, &t, got, 1).ok);
    free(got);
    operands_free(&t);
}

START_TEST(tiles_spread)
{
    spread_by_tiles(NAN, 1);
    spread_by_tiles(INFINITY, NAN);
    spread_by_tiles(1e38f, 1);
}
END_TEST

/* ---- the reference's activations ---- */

START_TEST(nan_stays)
{
    for (int a = KILN_IDENTITY; a < KILN_ACTIVATIONS; a++) {
        kiln_problem p = {.epilogue = {.activation = (kiln_activation)a, .param = {1, 1}}};
        ck_assert_msg(isnan(reference_activate(&p, &(reference_tensors){0}, 0, NAN)),
                      "%s hides a NaN", kiln_activation_name((kiln_activation)a));
    }
}
END_TEST

int main(void)
{
    omp_set_num_threads(
        1); /* thousands of small results, whose threads would wait for each other */
    Suite *s = suite_create("nonfinite");
    TCase *c = tcase_create("nonfinite");
    tcase_set_timeout(c, 300);
    tcase_add_test(c, class_decides);
    tcase_add_test(c, sample_knows);
    tcase_add_test(c, bias_gradient);
    tcase_add_test(c, overflow_on_the_way);
    tcase_add_test(c, overflow_in_the_epilogue);
    tcase_add_test(c, padding_contributes_nothing);
    tcase_add_test(c, tiles_spread);
    tcase_add_test(c, nan_stays);
    suite_add_tcase(s, c);
    return support_run_apart(s);
}
