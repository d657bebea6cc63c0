/* The CPU reference obeys the identities of convolutions: adjoints and linearity. */
#include "driver/reference/reference.h"
#include "support/suite.h"
#include "problems.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

static double *doubles(int64_t n)
{
    return calloc((size_t)n, sizeof(double));
}

static double dot(kiln_type type, const void *data, const double *value, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += host_get(type, data, i) * value[i];
    return sum;
}

/* <conv(x, w), y> = <x, backward_data(y, w)> = <w, backward_weights(x, y)>: each is the sum of x w
 * y over all places where they meet. */
START_TEST(adjoints)
{
    static const kiln_direction all[] = {KILN_FORWARD, KILN_BACKWARD_DATA, KILN_BACKWARD_WEIGHTS};
    dice d = {.seed = 21};
    for (int i = 0; i < 100; i++) {
        kiln_problem p = random_problem(&d, 20, 14);
        p.x_type = p.w_type = p.y_type = KILN_F32;
        p.epilogue = (kiln_epilogue){.alpha = 1};
        operands t = operands_new(&p, HOST_FILL_UNIFORM, (uint64_t)i);
        const void *data[] = {t.y, t.x, t.w};
        double product[3], scale = 0;
        for (int j = 0; j < 3; j++) {
            p.direction = all[j];
            int64_t n = reference_count(&p);
            double *value = doubles(n), *magnitude = doubles(n);
            reference_run(&p, &t.r, NULL, n, value, magnitude);
            product[j] = dot(KILN_F32, data[j], value, n);
            for (int64_t e = 0; e < n; e++)
                scale += magnitude[e];
            free(value);
            free(magnitude);
        }
        ck_assert_msg(fabs(product[0] - product[1]) <= 1e-12 * scale &&
                          fabs(product[0] - product[2]) <= 1e-12 * scale,
                      "%s: %g %g %g", name_of(&p), product[0], product[1], product[2]);
        operands_free(&t);
    }
}
END_TEST

/* A transposed convolution is the adjoint of the plain one with the same filter:
 * <conv(a), b> = <a, transposed(b)>. */
START_TEST(transposed_is_adjoint)
{
    dice d = {.seed = 22};
    int tried = 0;
    for (int i = 0; i < 100; i++) {
        kiln_problem p = random_problem(&d, 20, 14);
        p.direction = KILN_FORWARD;
        p.transposed = 0;
        p.x_type = p.w_type = p.y_type = KILN_F32;
        p.epilogue = (kiln_epilogue){.alpha = 1};
        memset(p.output_pad, 0, sizeof p.output_pad);
        if (kiln_problem_check(&p, NULL) != KILN_OK)
            continue;
        kiln_problem q = p; /* from y's shape back to x's */
        q.transposed = 1;
        q.in_channels = p.out_channels;
        q.out_channels = p.in_channels;
        bool possible = true;
        for (int a = 0; a < p.spatial_rank; a++) {
            q.input[a] = kiln_problem_output(&p, a);
            q.output_pad[a] = p.input[a] - kiln_problem_output(&q, a);
            possible = possible && q.output_pad[a] >= 0;
        }
        if (!possible || kiln_problem_check(&q, NULL) != KILN_OK)
            continue;
        tried++;
        operands t = operands_new(&p, HOST_FILL_UNIFORM, (uint64_t)i);
        const reference_tensors back = {.x = t.y, .w = t.w};
        int64_t nx = kiln_problem_count(&p, 'x'), ny = kiln_problem_count(&p, 'y');
        double *a = doubles(ny), *b = doubles(nx), *m = doubles(nx + ny);
        reference_run(&p, &t.r, NULL, ny, a, m);
        reference_run(&q, &back, NULL, nx, b, m);
        double one = dot(KILN_F32, t.y, a, ny), other = dot(KILN_F32, t.x, b, nx);
        ck_assert_msg(fabs(one - other) <= 1e-9, "%s: %g %g", name_of(&p), one, other);
        free(a);
        free(b);
        free(m);
        operands_free(&t);
    }
    ck_assert_int_ge(tried, 30);
}
END_TEST

/* conv(a x, w) = a conv(x, w), for a power of two exactly; conv(x, 0) = 0. */
START_TEST(linearity)
{
    dice d = {.seed = 23};
    for (int i = 0; i < 50; i++) {
        kiln_problem p = random_problem(&d, 20, 14);
        p.direction = KILN_FORWARD;
        p.x_type = p.w_type = p.y_type = KILN_F32;
        p.epilogue = (kiln_epilogue){.alpha = 1};
        operands t = operands_new(&p, HOST_FILL_UNIFORM, (uint64_t)i);
        int64_t nx = kiln_problem_count(&p, 'x'), n = reference_count(&p);
        double *one = doubles(n), *four = doubles(n), *m = doubles(n);
        reference_run(&p, &t.r, NULL, n, one, m);
        for (int64_t e = 0; e < nx; e++)
            ((float *)t.x)[e] *= 4;
        reference_run(&p, &t.r, NULL, n, four, m);
        int64_t unlike = 0;
        for (int64_t e = 0; e < n; e++)
            unlike += four[e] != 4 * one[e];
        ck_assert_int_eq(unlike, 0);
        free(one);
        free(four);
        free(m);
        operands_free(&t);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("reference_identities");
    TCase *c = tcase_create("reference_identities");
    tcase_set_timeout(c, 300);
    tcase_add_test(c, adjoints);
    tcase_add_test(c, transposed_is_adjoint);
    tcase_add_test(c, linearity);
    suite_add_tcase(s, c);
    return support_run_apart(s);
}
