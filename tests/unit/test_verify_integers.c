/* The verification of int8 convolutions is exact where nothing is rounded: every integer result
 * that is off by one fails, however long the sum, and a sum beyond 32 bits wraps in an i32 only. */
#include "driver/reference/verify.h"
#include "support/suite.h"
#include "problems.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 2 }; /* results of a problem */

/* Returns a convolution with two results, each a sum of so many products. */
static kiln_problem sums_of(int64_t terms, kiln_direction direction, bool transposed, kiln_type to)
{
    kiln_problem p = {.direction = direction,
                      .transposed = transposed,
                      .batch = 1,
                      .in_channels = COUNT,
                      .out_channels = COUNT,
                      .input = {1, 1},
                      .filter = {1, 1},
                      .x_type = KILN_I8,
                      .w_type = KILN_I8,
                      .y_type = KILN_I8};
    switch (direction) {
    case KILN_FORWARD:
        p.in_channels = terms;
        p.y_type = to;
        break;
    case KILN_BACKWARD_DATA:
        p.out_channels = terms;
        p.x_type = to;
        break;
    default:
        p.in_channels = 1;
        p.input[1] = terms;
        p.w_type = to;
    }
    return checked(p);
}

static operands filled(const kiln_problem *p, int x, int w)
{
    operands t = operands_new(p, HOST_FILL_INT, 1);
    const int y = p->direction == KILN_FORWARD ? 0 : x;
    memset(t.x, x, (size_t)kiln_problem_count(p, 'x') * kiln_type_size(p->x_type));
    memset(t.w, w, (size_t)kiln_problem_count(p, 'w') * kiln_type_size(p->w_type));
    memset(t.y, p->direction == KILN_BACKWARD_WEIGHTS ? w : y,
           (size_t)kiln_problem_count(p, 'y') * kiln_type_size(p->y_type));
    return t;
}

/* Returns the result of an exact sum, without the reference. */
static double result_of(kiln_type to, int64_t sum)
{
    if (to == KILN_I32)
        return (int32_t)(uint32_t)(uint64_t)sum;
    return to == KILN_I8 ? (double)(sum > 127 ? 127 : sum < -128 ? -128 : sum) : (double)(float)sum;
}

static double beside(kiln_type to, double value, int steps)
{
    for (; to == KILN_F32 && steps > 0; steps--)
        value = nextafterf((float)value, INFINITY);
    for (; to == KILN_F32 && steps < 0; steps++)
        value = nextafterf((float)value, -INFINITY);
    return value + steps;
}

/* How a result is judged. */
typedef struct way {
    const char *name;
    double max_seconds;
    bool keeps, caches;
} way;

static const way ways[] = {{"all elements", 0, false, false},
                           {"a sample", 1e-9, false, false},
                           {"kept sums", 0, true, false},
                           {"stored sums", 0, false, true}};

/* Expects `value` as the second result to be right or wrong, twice: kept and stored sums are those
 * of the second judgement. */
static void judge(const kiln_problem *p, const operands *t, void *got, double value, bool right,
                  const way *by)
{
    const kiln_type to = reference_type(p);
    const double before = host_get(to, got, 1);
    struct verify_kept kept = {.whole = {.count = 0}};
    const verify_options o = {.arbitrary = true,
                              .poisoned = true,
                              .max_seconds = by->max_seconds,
                              .kept = by->keeps ? &kept : NULL,
                              .cache = by->caches ? "test_verify_integers.dir" : NULL};
    host_set(to, got, 1, value);
    for (int turn = 0; turn < 1 + (by->keeps || by->caches); turn++) {
        const verify_result r = verify_destination(p, &t->r, got, &o);
        ck_assert_msg(r.ok == right && r.bad == !right && r.checked == COUNT,
                      "%s, %s: %.17g is %s, %lld wrong of %lld", name_of(p), by->name, value,
                      r.ok ? "right" : "wrong", (long long)r.bad, (long long)r.checked);
    }
    kept_sums_free(&kept.whole);
    kept_sums_free(&kept.sample);
    host_set(to, got, 1, before);
}

static const struct {
    int64_t terms;
    int x, w;
} sums[] = {
    {1041, 127, 127},     /* just above 2^24 */
    {131000, 127, 127},   /* 2,112,899,000 */
    {131000, 127, -127},  /* the same below 0 */
    {131072, -128, -128}, /* 2^31 */
    {131073, -128, -128}, /* a term later */
    {132105, -128, 127},  /* below -2^31 */
    {262144, -128, -128}, /* 2^32 */
};

/* Plants errors of one and of a hundred steps beside a right result. */
static void plant(const kiln_problem *p, int x, int w, const way *by)
{
    static const int steps[] = {-100, -1, 1, 100};
    const kiln_type to = reference_type(p);
    operands t = filled(p, x, w);
    const double right = result_of(to, reference_terms(p) * x * w);
    void *got = array_new(to, COUNT);
    for (int i = 0; i < COUNT; i++)
        host_set(to, got, i, right);
    judge(p, &t, got, right, true, by);
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
        const double wrong = host_round(to, beside(to, right, steps[k]));
        if (wrong != right)
            judge(p, &t, got, wrong, false, by);
    }
    free(got);
    operands_free(&t);
}

static const kiln_type types[] = {KILN_I32, KILN_F32, KILN_I8};

START_TEST(off_by_one)
{
    for (int to = 0; to < 3; to++)
        for (int direction = 0; direction < 3; direction++) {
            const kiln_problem p =
                sums_of(sums[_i].terms, (kiln_direction)direction, false, types[to]);
            plant(&p, sums[_i].x, sums[_i].w, &ways[0]);
        }
}
END_TEST

START_TEST(in_every_way)
{
    for (int to = 0; to < 3; to++)
        for (int i = 0; i < 6; i++) {
            const kiln_problem p = sums_of(1041, (kiln_direction)(i % 3), i / 3, types[to]);
            plant(&p, 127, 127, &ways[_i]);
        }
}
END_TEST

/* What the epilogue rounds has a bound, but wraps nowhere. */
START_TEST(scaled_bytes)
{
    kiln_problem p = sums_of(131072, KILN_FORWARD, _i, KILN_I8);
    p.epilogue.alpha = 1e-8f;
    operands t = filled(&p, -128, -128);
    int8_t got[COUNT] = {21, 21};
    judge(&p, &t, got, 21, true, &ways[0]);
    judge(&p, &t, got, -21, false, &ways[0]);
    judge(&p, &t, got, 22, false, &ways[0]);
    judge(&p, &t, got, 20, false, &ways[0]);
    operands_free(&t);
}
END_TEST

/* The bias gradient of bytes is a whole number, rounded once. */
START_TEST(bias_gradient)
{
    kiln_problem p = {.direction = KILN_BACKWARD_WEIGHTS,
                      .batch = 1,
                      .in_channels = 1,
                      .out_channels = COUNT,
                      .input = {1, 200001},
                      .filter = {1, 1},
                      .x_type = KILN_I8,
                      .y_type = KILN_I8,
                      .epilogue = {.bias = 1}};
    p = checked(p);
    operands t = filled(&p, 1, 127);
    const verify_options o = {.arbitrary = true};
    float got[COUNT] = {200001 * 127.0f, 200001 * 127.0f};
    ck_assert(verify_bias_gradient(&p, t.y, got, &o).ok);
    got[1] = nextafterf(got[1], INFINITY);
    ck_assert_int_eq(verify_bias_gradient(&p, t.y, got, &o).bad, 1);
    operands_free(&t);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("verify_integers");
    TCase *c = tcase_create("verify_integers");
    tcase_set_timeout(c, 600);
    tcase_add_loop_test(c, off_by_one, 0, sizeof sums / sizeof *sums);
    tcase_add_loop_test(c, in_every_way, 0, sizeof ways / sizeof *ways);
    tcase_add_loop_test(c, scaled_bytes, 0, 2);
    tcase_add_test(c, bias_gradient);
    suite_add_tcase(s, c);
    return support_run_apart(s);
}
