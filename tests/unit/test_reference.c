/* The CPU reference against brute force and against cases computed by hand. */
#include "driver/reference/reference.h"
#include "support/suite.h"
#include "brute.h"
#include "problems.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double *doubles(int64_t n)
{
    return calloc((size_t)n, sizeof(double));
}

typedef struct outcome {
    double *sum, *magnitude;
} outcome;

static void keep(void *user, int thread, const contraction_part *part)
{
    (void)thread;
    outcome *o = user;
    for (int i = 0; i < part->count; i++) {
        o->sum[part->index[i]] = part->sum[i];
        o->magnitude[part->index[i]] = part->magnitude[i];
    }
}

/* One element: its sum and magnitude among all, by itself, and by brute force. */
typedef struct element {
    double sum, magnitude, one, one_magnitude, brute, absolute;
} element;

/* The magnitude among all elements is a bound; that of a single element is exact. */
static bool is_right(const element *e)
{
    const double slack = 1e-12 * e->absolute + 1e-300;
    return fabs(e->sum - e->brute) <= slack && fabs(e->one - e->brute) <= slack &&
           e->magnitude >= e->absolute * (1 - 1e-12) &&
           fabs(e->one_magnitude - e->absolute) <= slack;
}

/* Compares all elements at once and one by one with brute force. One assertion serves all elements,
 * because Check writes each assertion to a file. */
static void compare(const kiln_problem *p, host_fill fill, uint64_t seed)
{
    int64_t n = reference_count(p), wrong = 0, at = 0;
    operands t = operands_new(p, fill, seed);
    double *sum = doubles(n), *absolute = doubles(n);
    outcome o = {doubles(n), doubles(n)};
    element bad = {0};
    for (int64_t i = 0; i < n; i++)
        o.sum[i] = NAN;
    brute_sums(p, t.x, t.w, t.y, sum, absolute, n);
    ck_assert(reference_sums(p, &t.r, keep, &o));
    for (int64_t i = 0; i < n; i++) {
        element e = {o.sum[i], o.magnitude[i], .brute = sum[i], .absolute = absolute[i]};
        e.one = reference_sum(p, &t.r, i, &e.one_magnitude);
        if (!is_right(&e) && wrong++ == 0) {
            bad = e;
            at = i;
        }
    }
    ck_assert_msg(wrong == 0,
                  "%s: %lld elements are wrong; number %lld is %g (magnitude %g), alone %g (%g), "
                  "not %g (%g)",
                  name_of(p), (long long)wrong, (long long)at, bad.sum, bad.magnitude, bad.one,
                  bad.one_magnitude, bad.brute, bad.absolute);
    free(sum);
    free(absolute);
    free(o.sum);
    free(o.magnitude);
    operands_free(&t);
}

START_TEST(random_against_brute)
{
    dice d = {.seed = 11};
    for (int i = 0; i < 600; i++) {
        kiln_problem p = random_problem(&d, 12, 9);
        compare(&p, HOST_FILL_UNIFORM, (uint64_t)i);
    }
}
END_TEST

/* More rows, columns and terms than a block has, in numbers that the sizes of blocks do not divide.
 */
START_TEST(blocks_against_brute)
{
    for (int direction = 0; direction < 3; direction++)
        for (int transposed = 0; transposed < 2; transposed++) {
            kiln_problem p = {.direction = (kiln_direction)direction,
                              .transposed = transposed,
                              .batch = 2,
                              .in_channels = 2 * 67,
                              .out_channels = 2 * 37,
                              .groups = 2,
                              .input = {19, 11},
                              .filter = {2, 3},
                              .stride = {1, 2},
                              .pad_begin = {1, 2},
                              .pad_end = {0, 1}};
            ck_assert_int_eq(kiln_problem_check(&p, NULL), KILN_OK);
            compare(&p, HOST_FILL_UNIFORM, 5);
        }
    kiln_problem wide = {
        .batch = 1, .in_channels = 3, .out_channels = 1037, .input = {3, 3}, .filter = {3, 3}};
    ck_assert_int_eq(kiln_problem_check(&wide, NULL), KILN_OK);
    compare(&wide, HOST_FILL_UNIFORM, 6);
}
END_TEST

static void check_values(const kiln_problem *given, const reference_tensors *t, int64_t n,
                         const double *wanted)
{
    kiln_problem p = *given;
    double value[16], magnitude[16];
    ck_assert_int_eq(kiln_problem_check(&p, NULL), KILN_OK);
    ck_assert_int_eq(reference_count(&p), n);
    reference_run(&p, t, NULL, n, value, magnitude);
    for (int i = 0; i < n; i++)
        ck_assert_msg(fabs(value[i] - wanted[i]) < 1e-6, "%s: element %d is %g, not %g",
                      name_of(&p), i, value[i], wanted[i]);
}

/* Computed by hand. */
START_TEST(tiny_cases)
{
    const float x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, w[] = {1, 10, 100, 1000};
    const reference_tensors t = {.x = x, .w = w};
    kiln_problem p = {
        .batch = 1, .in_channels = 1, .out_channels = 1, .input = {3, 3}, .filter = {2, 2}};
    check_values(&p, &t, 4, (double[]){5421, 6532, 8754, 9865});
    p.stride[1] = 2;
    p.pad_end[1] = 1; /* columns 0,1 and 2,pad */
    check_values(&p, &t, 4, (double[]){5421, 603, 8754, 906});

    kiln_problem line = {.batch = 1,
                         .in_channels = 1,
                         .out_channels = 1,
                         .spatial_rank = 1,
                         .input = {3},
                         .filter = {2},
                         .dilation = {2}};
    check_values(&line, &t, 1, (double[]){31});
    line.transposed = 1; /* 1 and 10 laid down at distance 2 */
    check_values(&line, &t, 5, (double[]){1, 2, 13, 20, 30});
    line.stride[0] = 3;
    line.dilation[0] = 1;
    line.output_pad[0] = 1;
    check_values(&line, &t, 9, (double[]){1, 10, 0, 2, 20, 0, 3, 30, 0});

    const float dy[] = {1, 10};
    const reference_tensors b = {.x = x, .w = w, .y = dy};
    kiln_problem back = {.direction = KILN_BACKWARD_DATA,
                         .batch = 1,
                         .in_channels = 1,
                         .out_channels = 1,
                         .spatial_rank = 1,
                         .input = {3},
                         .filter = {2}};
    check_values(&back, &b, 3, (double[]){1, 20, 100});
    back.direction = KILN_BACKWARD_WEIGHTS;
    check_values(&back, &b, 2, (double[]){21, 32});
}
END_TEST

/* Sums of 3 and -2, from alpha, residual and bias, through every activation. The expected values
 * come from tables of the functions. */
START_TEST(epilogue_cases)
{
    static const double at_3[] = {
        3,           3,           1.5,        3, 3, 0.905148254, 0.952574127,
        2.857722381, 2.995950305, 1,          3, 1, 2.986535005, 20.085536923,
        3,           9,           3.402826556};
    static const double at_minus_2[] = {
        -2,           0, 0, -1,          -0.432332358, -0.761594156, 0.119202922, -0.238405844,
        -0.045500264, 0, 0, 0.500000000, -0.252501483, 0.135335283,  2,           4,
        0.626523375};
    const float x[] = {1, -2}, w[] = {2}, bias[] = {-1}, residual[] = {3, -1};
    const reference_tensors t = {.x = x, .w = w, .bias = bias, .residual = residual};
    for (int i = 0; kiln_activation_name((kiln_activation)i); i++) {
        kiln_problem p = {.batch = 1,
                          .in_channels = 1,
                          .out_channels = 1,
                          .spatial_rank = 1,
                          .input = {2},
                          .filter = {1},
                          .epilogue = {.bias = 1,
                                       .alpha = 0.5f,
                                       .beta = 1,
                                       .activation = (kiln_activation)i,
                                       .param = {0.5f, 1}}};
        if (i == KILN_CLIPPED_RELU)
            p.epilogue.param[0] = 1.5f;
        /* 0.5 * 2 * 1 + 3 - 1 = 3; with beta = -1, 0.5 * 2 * -2 + 1 - 1 = -2 */
        double value[2], magnitude[2];
        ck_assert_int_eq(kiln_problem_check(&p, NULL), KILN_OK);
        reference_run(&p, &t, NULL, 2, value, magnitude);
        ck_assert_msg(fabs(value[0] - at_3[i]) < 1e-8, "activation %d of 3 is %.9f", i, value[0]);
        ck_assert(fabs(magnitude[0] - 5) < 1e-9);
        p.epilogue.beta = -1;
        reference_run(&p, &t, NULL, 2, value, magnitude);
        ck_assert_msg(fabs(value[1] - at_minus_2[i]) < 1e-8, "activation %d of -2 is %.9f", i,
                      value[1]);
        ck_assert(fabs(magnitude[1] - 4) < 1e-9);
    }
}
END_TEST

/* With several channels and images, bias and residual must meet the right elements. */
START_TEST(epilogue_indices)
{
    kiln_problem p = {.batch = 2,
                      .in_channels = 2,
                      .out_channels = 3,
                      .input = {2, 3},
                      .filter = {1, 1},
                      .epilogue = {.bias = 1, .beta = 1}};
    ck_assert_int_eq(kiln_problem_check(&p, NULL), KILN_OK);
    float x[24] = {0}, w[6] = {0}, bias[3] = {100, 200, 300}, residual[36];
    double value[36], magnitude[36];
    for (int i = 0; i < 36; i++)
        residual[i] = (float)i;
    const reference_tensors t = {.x = x, .w = w, .bias = bias, .residual = residual};
    reference_run(&p, &t, NULL, 36, value, magnitude);
    for (int i = 0; i < 36; i++)
        ck_assert(value[i] == bias[i / 6 % 3] + i);
    const int64_t some[] = {35, 0, 13};
    reference_run(&p, &t, some, 3, value, magnitude);
    ck_assert(value[0] == 335 && value[1] == 100 && value[2] == 313);
}
END_TEST

START_TEST(bias_gradient)
{
    kiln_problem p = {.direction = KILN_BACKWARD_WEIGHTS,
                      .batch = 2,
                      .in_channels = 1,
                      .out_channels = 2,
                      .input = {1, 3},
                      .filter = {1, 1},
                      .epilogue = {.bias = 1}};
    ck_assert_int_eq(kiln_problem_check(&p, NULL), KILN_OK);
    const float dy[] = {1, -2, 3, 10, 20, 30, 4, 5, 6, 40, -50, 60};
    double value[2], magnitude[2];
    reference_bias_gradient(&p, dy, value, magnitude);
    ck_assert(value[0] == 17 && value[1] == 110);
    ck_assert(magnitude[0] == 21 && magnitude[1] == 210);
}
END_TEST

/* Sums of i8 products are exact, however long. */
START_TEST(i8_is_exact)
{
    kiln_problem p = {.batch = 1,
                      .in_channels = 20011,
                      .out_channels = 5,
                      .input = {3, 1},
                      .filter = {3, 1},
                      .x_type = KILN_I8};
    ck_assert_int_eq(kiln_problem_check(&p, NULL), KILN_OK);
    operands t = operands_new(&p, HOST_FILL_UNIFORM, 1);
    double value[5], magnitude[5];
    reference_run(&p, &t.r, NULL, 5, value, magnitude);
    for (int k = 0; k < 5; k++) {
        int64_t sum = 0;
        for (int i = 0; i < 3 * 20011; i++)
            sum += (int64_t)((int8_t *)t.x)[i] * ((int8_t *)t.w)[k * 3 * 20011 + i];
        ck_assert(value[k] == (double)sum);
    }
    operands_free(&t);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("reference");
    TCase *c = tcase_create("reference");
    tcase_set_timeout(c, 300);
    tcase_add_test(c, random_against_brute);
    tcase_add_test(c, blocks_against_brute);
    tcase_add_test(c, tiny_cases);
    tcase_add_test(c, epilogue_cases);
    tcase_add_test(c, epilogue_indices);
    tcase_add_test(c, bias_gradient);
    tcase_add_test(c, i8_is_exact);
    suite_add_tcase(s, c);
    return support_run_apart(s);
}
