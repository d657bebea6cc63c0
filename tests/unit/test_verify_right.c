/* The verification passes every right result, whatever the order of summation, and no wider bound
 * would do. */
#include "driver/reference/verify.h"
#include "support/suite.h"
#include "problems.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

typedef struct addend {
    float a, b;
    uint64_t order;
} addend;

static int by_order(const void *x, const void *y)
{
    uint64_t a = ((const addend *)x)->order, b = ((const addend *)y)->order;
    return a < b ? -1 : a > b;
}

/* Sums in float, fused or not, in `chains` chains that are added at the end. */
static float sum_up(const addend *v, int n, int chains, bool fused)
{
    float chain[8] = {0}, sum = 0;
    for (int i = 0; i < n; i++) {
        volatile float apart = v[i].a * v[i].b; /* volatile: rounded by itself */
        chain[i % chains] =
            fused ? fmaf(v[i].a, v[i].b, chain[i % chains]) : chain[i % chains] + apart;
    }
    for (int i = 0; i < chains; i++)
        sum += chain[i];
    return sum;
}

static float activated(const kiln_epilogue *e, float v)
{
    const float a = e->param[0], b = e->param[1];
    switch (e->activation) {
    case KILN_RELU:
        return fmaxf(v, 0);
    case KILN_CLIPPED_RELU:
        return fminf(fmaxf(v, 0), a);
    case KILN_LEAKY_RELU:
        return v >= 0 ? v : a * v;
    case KILN_ELU:
        return v >= 0 ? v : a * expm1f(v);
    case KILN_TANH:
        return b * tanhf(a * v);
    case KILN_SIGMOID:
        return 1 / (1 + expf(-v));
    case KILN_SILU:
        return v / (1 + expf(-v));
    case KILN_GELU:
        return 0.5f * v * (1 + erff(v * 0.70710678f));
    case KILN_HARD_SIGMOID:
        return fminf(fmaxf(a * v + b, 0), 1);
    case KILN_HARD_SWISH:
        return v * fminf(fmaxf(a * v + b, 0), 1);
    case KILN_HARD_TANH:
        return fminf(fmaxf(v, a), b);
    case KILN_MISH:
        return v * tanhf(v > 20 ? v : log1pf(expf(v)));
    case KILN_EXP:
        return expf(v);
    case KILN_ABS:
        return fabsf(v);
    case KILN_SQUARE:
        return v * v;
    case KILN_SOFTPLUS:
        return v > 20 ? v : log1pf(expf(v));
    default:
        return v;
    }
}

/* Computes in float a forward convolution with one group and a filter as large as the input: one
 * output per image and channel, a dot product. */
static void float_result(const kiln_problem *p, const operands *t, dice *d, void *got)
{
    int n = (int)reference_terms(p);
    addend *v = calloc((size_t)n, sizeof *v);
    for (int64_t i = 0; i < reference_count(p); i++) {
        int64_t image = i / p->out_channels, k = i % p->out_channels;
        bool shuffled = dice_roll(d, 0, 1), fused = dice_roll(d, 0, 1);
        int chains = (int[]){1, 1, 2, 8}[dice_roll(d, 0, 3)];
        for (int e = 0; e < n; e++)
            v[e] = (addend){(float)host_get(p->x_type, t->x, image * n + e),
                            (float)host_get(p->w_type, t->w, k * n + e),
                            shuffled ? (uint64_t)dice_roll(d, 0, 1 << 30) : 0};
        if (shuffled)
            qsort(v, (size_t)n, sizeof *v, by_order);
        float sum = sum_up(v, n, chains, fused) * p->epilogue.alpha;
        if (p->epilogue.beta != 0)
            sum += p->epilogue.beta * (float)host_get(p->y_type, t->residual, i);
        if (p->epilogue.bias)
            sum += t->bias[k];
        host_set(p->y_type, got, i, activated(&p->epilogue, sum));
    }
    free(v);
}

/* No right result may fail, over many lengths, types, fills, epilogues and orders of summation. The
 * bound must not be so wide that nothing can fail: the worst error comes within a factor of it. */
START_TEST(right_results_pass)
{
    static const int64_t lengths[] = {1, 2, 3, 7, 16, 63, 250, 1152, 4608, 20000};
    static const kiln_type types[][2] = {
        {KILN_F32, KILN_F32},  {KILN_F16, KILN_F16}, {KILN_F16, KILN_F32}, {KILN_BF16, KILN_BF16},
        {KILN_BF16, KILN_F32}, {KILN_I8, KILN_I32},  {KILN_I8, KILN_F32}};
    dice d = {.seed = 31};
    double worst = 0;
    for (int l = 0; l < 10; l++)
        for (int y = 0; y < 7; y++)
            for (int fill = 0; fill < 3; fill++)
                for (int arbitrary = 0; arbitrary < 2; arbitrary++) {
                    kiln_problem p = {.batch = 4,
                                      .in_channels = lengths[l],
                                      .out_channels = 9,
                                      .spatial_rank = 1,
                                      .input = {1},
                                      .filter = {1}};
                    p.x_type = p.w_type = types[y][0];
                    p.y_type = types[y][1];
                    random_epilogue(&d, &p, (kiln_activation)(KILN_ACTIVATIONS - 1));
                    p = checked(p);
                    operands t = operands_new(&p, (host_fill)fill, (uint64_t)l);
                    void *got = array_new(p.y_type, reference_count(&p));
                    float_result(&p, &t, &d, got);
                    verify_options o = {.arbitrary = arbitrary};
                    o.exact = verify_can_be_exact(&p, (host_fill)fill, 1);
                    verify_result r = verify_destination(&p, &t.r, got, &o);
                    ck_assert_msg(
                        r.ok,
                        "%s %s%s: %lld bad, worst %g: error %g at %lld, got %.9g not %.9g, "
                        "bound %g",
                        name_of(&p), host_fill_name((host_fill)fill), o.exact ? ", exact" : "",
                        (long long)r.bad, r.worst, r.max_abs, (long long)r.max_abs_at, r.got,
                        r.expected, r.bound);
                    ck_assert_int_eq(r.checked, 36);
                    if (!arbitrary && p.y_type == KILN_F32)
                        worst = fmax(worst, r.worst);
                    free(got);
                    operands_free(&t);
                }
    ck_assert_msg(worst > 0.1, "the bound is never used by more than %g", worst);
}
END_TEST

/* Constant data round the same way every time, which needs the bound for arbitrary data. */
START_TEST(constant_data_pass)
{
    static const float values[] = {0.1f, 1.1f, 0.7f, 3.3f, 1e-3f};
    for (int64_t n = 10; n < 100000; n *= 3)
        for (int i = 0; i < 5; i++) {
            kiln_problem p = checked((kiln_problem){.batch = 1,
                                                    .in_channels = n,
                                                    .out_channels = 1,
                                                    .spatial_rank = 1,
                                                    .input = {1},
                                                    .filter = {1}});
            operands t = operands_new(&p, HOST_FILL_MIOPEN, 1);
            float sum = 0;
            for (int64_t e = 0; e < n; e++) {
                ((float *)t.x)[e] = values[i];
                ((float *)t.w)[e] = 0.3f;
                sum = fmaf(values[i], 0.3f, sum);
            }
            verify_options o = {.arbitrary = true};
            verify_result r = verify_destination(&p, &t.r, &sum, &o);
            ck_assert_msg(r.ok, "%lld times %g: worst %g", (long long)n, values[i], r.worst);
            operands_free(&t);
        }
}
END_TEST

/* ---- limits of the types ---- */

static verify_result dot(kiln_type from, kiln_type to, double x, double w, float alpha, double got)
{
    kiln_problem p = checked((kiln_problem){.batch = 1,
                                            .in_channels = 1,
                                            .out_channels = 1,
                                            .spatial_rank = 1,
                                            .input = {1},
                                            .filter = {1},
                                            .x_type = from,
                                            .w_type = from,
                                            .y_type = to,
                                            .epilogue = {.alpha = alpha}});
    uint32_t room[3] = {0};
    host_set(from, &room[0], 0, x);
    host_set(from, &room[1], 0, w);
    host_set(to, &room[2], 0, got);
    const reference_tensors t = {.x = &room[0], .w = &room[1]};
    verify_options o = {.seed = 0};
    return verify_destination(&p, &t, &room[2], &o);
}

START_TEST(ends_of_types)
{
    /* f16: 65520 is the first value that overflows, 2^-25 the tie below the smallest subnormal. */
    ck_assert(dot(KILN_F16, KILN_F16, 256, 300, 0, INFINITY).ok);
    ck_assert(!dot(KILN_F16, KILN_F16, 256, 300, 0, -INFINITY).ok);
    ck_assert(!dot(KILN_F16, KILN_F16, 256, 300, 0, 65504).ok);
    ck_assert(!dot(KILN_F16, KILN_F16, 256, 200, 0, INFINITY).ok);
    ck_assert(!dot(KILN_F16, KILN_F16, 256, 300, 0, NAN).ok);
    ck_assert(dot(KILN_F16, KILN_F16, 0x1p-12, 0x1p-12, 0, 0x1p-24).ok);
    ck_assert(!dot(KILN_F16, KILN_F16, 0x1p-12, 0x1p-12, 0, 0x1p-23).ok);
    ck_assert(dot(KILN_F32, KILN_F32, 3e38, 10, 0, INFINITY).ok);
    /* i8 saturates and rounds ties to even. */
    ck_assert(dot(KILN_I8, KILN_I8, 100, 100, 0, 127).ok);
    ck_assert(!dot(KILN_I8, KILN_I8, 100, 100, 0, 126).ok);
    ck_assert(dot(KILN_I8, KILN_I8, 100, -100, 0, -128).ok);
    ck_assert(dot(KILN_I8, KILN_I8, 5, 1, 0.5f, 2).ok);
    ck_assert(!dot(KILN_I8, KILN_I8, 5, 1, 0.25f, 2).ok);
    ck_assert(dot(KILN_I8, KILN_I8, 7, 1, 0.5f, 4).ok);
    ck_assert(!dot(KILN_I8, KILN_I8, 5, 1, 0, 6).ok);
    ck_assert(dot(KILN_I8, KILN_I32, -128, 127, 0, -16256).ok);
    ck_assert(!dot(KILN_I8, KILN_I32, -128, 127, 0, -16255).ok);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("verify_right");
    TCase *c = tcase_create("verify_right");
    tcase_set_timeout(c, 600);
    tcase_add_test(c, right_results_pass);
    tcase_add_test(c, constant_data_pass);
    tcase_add_test(c, ends_of_types);
    suite_add_tcase(s, c);
    return support_run_apart(s);
}
