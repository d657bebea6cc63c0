/* Host tensors: conversions against independent ones, fills against their contracts. */
#include "driver/reference/host.h"
#include "support/suite.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

static double set_get(kiln_type type, double value)
{
    uint32_t room = 0;
    host_set(type, &room, 0, value);
    return host_get(type, &room, 0);
}

static uint16_t bits16(kiln_type type, double value)
{
    uint16_t room = 0;
    host_set(type, &room, 0, value);
    return room;
}

/* Decodes by the definition of the format: sign, exponent, fraction. */
static double short_float(uint16_t bits, int exponent_bits)
{
    int fraction_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
    int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
    double fraction = (bits & ((1 << fraction_bits) - 1)) / (double)(1 << fraction_bits);
    double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1)
        return fraction != 0 ? NAN : sign * INFINITY;
    return sign *
           (exponent == 0 ? ldexp(fraction, 1 - bias) : ldexp(1 + fraction, exponent - bias));
}

START_TEST(every_pattern)
{
    static const struct {
        kiln_type type;
        int exponent_bits;
    } types[] = {{KILN_F16, 5}, {KILN_BF16, 8}};
    for (int t = 0; t < 2; t++)
        for (uint32_t i = 0; i < 65536; i++) {
            uint16_t bits = (uint16_t)i;
            double wanted = short_float(bits, types[t].exponent_bits);
            double got = host_get(types[t].type, &bits, 0);
            uint16_t back = bits16(types[t].type, got);
            if (isnan(wanted)) {
                ck_assert(isnan(got) && isnan(set_get(types[t].type, got)));
                continue;
            }
            ck_assert_msg(got == wanted && !signbit(got) == !signbit(wanted), "%04x: %a, not %a", i,
                          got, wanted);
            ck_assert_msg(back == bits, "%04x came back as %04x", i, back);
        }
}
END_TEST

/* Between two neighbours, the middle rounds to the even one, any other value to the nearer one. */
START_TEST(rounding_to_nearest_even)
{
    static const struct {
        kiln_type type;
        uint16_t infinity;
        int exponent_bits;
    } types[] = {{KILN_F16, 0x7c00, 5}, {KILN_BF16, 0x7f80, 8}};
    for (int t = 0; t < 2; t++)
        for (uint16_t low = 0; low < types[t].infinity; low++) {
            uint16_t high = low + 1;
            double a = short_float(low, types[t].exponent_bits);
            /* The next value if the format had no infinity. */
            double b = high == types[t].infinity
                           ? a + (a - short_float(low - 1, types[t].exponent_bits))
                           : short_float(high, types[t].exponent_bits);
            double middle = (a + b) / 2;
            kiln_type type = types[t].type;
            ck_assert_int_eq(bits16(type, middle), low % 2 == 0 ? low : high);
            ck_assert_int_eq(bits16(type, nextafter(middle, -INFINITY)), low);
            ck_assert_int_eq(bits16(type, nextafter(middle, INFINITY)), high);
            ck_assert_int_eq(bits16(type, -middle), (low % 2 == 0 ? low : high) | 0x8000);
        }
}
END_TEST

/* Decodes by the definition of OCP's 8-bit floats: e4m3 has the values of the largest exponent but
 * its last, a NaN; e5m2 has infinities and NaNs there. */
static double byte_float(uint8_t bits, int exponent_bits)
{
    const int fraction_bits = 7 - exponent_bits, bias = exponent_bits == 4 ? 7 : 15;
    const int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
    const int fraction = bits & ((1 << fraction_bits) - 1);
    const double part = (double)fraction / (1 << fraction_bits), sign = bits & 0x80 ? -1 : 1;
    if (exponent_bits == 4 && exponent == 15 && fraction == 7)
        return NAN;
    if (exponent_bits == 5 && exponent == 31)
        return fraction ? NAN : sign * INFINITY;
    return sign * (exponent ? ldexp(1 + part, exponent - bias) : ldexp(part, 1 - bias));
}

static uint8_t bits8(kiln_type type, double value)
{
    uint8_t room = 0;
    host_set(type, &room, 0, value);
    return room;
}

static const struct {
    kiln_type type;
    int exponent_bits;
    uint8_t most; /* the largest finite value */
    double value;
} bytes[] = {{KILN_F8E4M3, 4, 0x7e, 448}, {KILN_F8E5M2, 5, 0x7b, 57344}};

START_TEST(every_byte)
{
    const kiln_type type = bytes[_i].type;
    ck_assert(byte_float(bytes[_i].most, bytes[_i].exponent_bits) == bytes[_i].value);
    for (int i = 0; i < 256; i++) {
        const uint8_t bits = (uint8_t)i;
        const double wanted = byte_float(bits, bytes[_i].exponent_bits);
        const double got = host_get(type, &bits, 0);
        if (isnan(wanted)) {
            ck_assert(isnan(got) && bits8(type, got) == 0x7f);
            continue;
        }
        ck_assert_msg(got == wanted && !signbit(got) == !signbit(wanted), "%02x: %a", i, got);
        ck_assert_int_eq(bits8(type, got),
                         isinf(got) ? bytes[_i].most | (i & 0x80) : i); /* saturates */
    }
}
END_TEST

START_TEST(bytes_round_to_nearest_even)
{
    const kiln_type type = bytes[_i].type;
    for (uint8_t low = 0; low < bytes[_i].most; low++) {
        const uint8_t high = low + 1, even = low % 2 ? high : low;
        const double middle =
            (byte_float(low, bytes[_i].exponent_bits) + byte_float(high, bytes[_i].exponent_bits)) /
            2;
        ck_assert_int_eq(bits8(type, middle), even);
        ck_assert_int_eq(bits8(type, -middle), even | 0x80);
        ck_assert_int_eq(bits8(type, nextafter(middle, -INFINITY)), low);
        ck_assert_int_eq(bits8(type, nextafter(middle, INFINITY)), high);
    }
    const double beyond[] = {bytes[_i].value * 1.05, bytes[_i].value * 2, 1e300, INFINITY};
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(bits8(type, beyond[i]), bytes[_i].most);
        ck_assert_int_eq(bits8(type, -beyond[i]), bytes[_i].most | 0x80);
    }
}
END_TEST

#ifdef __FLT16_MAX__
/* The compiler's own conversion, on values of all magnitudes. */
START_TEST(against_the_compiler)
{
    for (uint64_t i = 0; i < 2000000; i++) {
        uint32_t random = (uint32_t)host_random(1, 2, i);
        float f;
        memcpy(&f, &random, sizeof f);
        if (i % 2) /* most floats are outside the range of f16 */
            f = ldexpf(f, -ilogbf(f == 0 || !isfinite(f) ? 1 : f) + (int)(i % 50) - 30);
        _Float16 h = (_Float16)f;
        uint16_t wanted, got = bits16(KILN_F16, f);
        memcpy(&wanted, &h, sizeof wanted);
        if (isnan(f))
            ck_assert(isnan(set_get(KILN_F16, f)));
        else
            ck_assert_msg(got == wanted, "%a: %04x, not %04x", (double)f, got, wanted);
    }
}
END_TEST
#endif

/* From double, not through float: 1 + 2^-11 + 2^-40 is above the tie of f16, but as a float it is
 * the tie.
 */
START_TEST(rounds_once)
{
    ck_assert(set_get(KILN_F16, 1 + 0x1p-11 + 0x1p-40) == 1 + 0x1p-10);
    ck_assert(set_get(KILN_F16, 1 + 0x1p-11) == 1);
    ck_assert(set_get(KILN_BF16, 1 + 0x1p-8 + 0x1p-40) == 1 + 0x1p-7);
    ck_assert(set_get(KILN_F32, 0.1) == (double)0.1f);
}
END_TEST

START_TEST(integers_saturate)
{
    ck_assert(set_get(KILN_I8, 127.5) == 127 && set_get(KILN_I8, 1e300) == 127);
    ck_assert(set_get(KILN_I8, -128.4) == -128 && set_get(KILN_I8, -INFINITY) == -128);
    ck_assert(set_get(KILN_I8, 2.5) == 2 && set_get(KILN_I8, 3.5) == 4);
    ck_assert(set_get(KILN_I8, -2.5) == -2 && set_get(KILN_I8, NAN) == 0);
    ck_assert(set_get(KILN_I32, 3e9) == INT32_MAX && set_get(KILN_I32, -3e9) == INT32_MIN);
    ck_assert(set_get(KILN_I32, 123456789) == 123456789);
}
END_TEST

/* ---- fills ---- */

static const kiln_type sources[] = {KILN_F32, KILN_F16,    KILN_BF16,
                                    KILN_I8,  KILN_F8E4M3, KILN_F8E5M2};
enum { N = 200003 };

static void *filled(host_fill fill, uint64_t seed, int tensor, kiln_type type, int64_t terms,
                    int64_t n)
{
    void *data = calloc((size_t)n, kiln_type_size(type));
    host_fill_tensor(fill, seed, tensor, type, terms, data, n);
    return data;
}

START_TEST(fills_depend_on_the_index_only)
{
    for (int fill = 0; fill < 3; fill++)
        for (int t = 0; t < 6; t++) {
            size_t size = kiln_type_size(sources[t]);
            omp_set_num_threads(1);
            void *one = filled((host_fill)fill, 3, HOST_X, sources[t], 100, N);
            omp_set_num_threads(3);
            void *three = filled((host_fill)fill, 3, HOST_X, sources[t], 100, N);
            void *part = filled((host_fill)fill, 3, HOST_X, sources[t], 100, 1000);
            void *seed = filled((host_fill)fill, 4, HOST_X, sources[t], 100, N);
            void *tensor = filled((host_fill)fill, 3, HOST_Y, sources[t], 100, N);
            ck_assert(memcmp(one, three, N * size) == 0);
            ck_assert(memcmp(one, part, 1000 * size) == 0);
            ck_assert(memcmp(one, seed, 1000 * size) != 0);
            ck_assert(memcmp(one, tensor, 1000 * size) != 0);
            free(one);
            free(three);
            free(part);
            free(seed);
            free(tensor);
        }
}
END_TEST

static void check_range(host_fill fill, int tensor, kiln_type type, double low, double high)
{
    void *data = filled(fill, 1, tensor, type, 100, N);
    double least = INFINITY, most = -INFINITY, sum = 0;
    for (int64_t i = 0; i < N; i++) {
        double v = host_get(type, data, i);
        least = fmin(least, v);
        most = fmax(most, v);
        sum += v;
    }
    double span = high - low, slack = span / 100;
    ck_assert_msg(least >= low && least <= low + slack && most <= high && most >= high - slack,
                  "%s %d %s: %g .. %g", host_fill_name(fill), tensor, kiln_type_name(type), least,
                  most);
    ck_assert(fabs(sum / N - (low + high) / 2) < slack);
    free(data);
}

START_TEST(miopen_ranges)
{
    static const double rounding[] = {1 + 1e-7, 1.001, 1.01}; /* of the upper limit */
    for (int t = 0; t < 3; t++) {
        check_range(HOST_FILL_MIOPEN, HOST_X, sources[t], 0, 0.01 * rounding[t]);
        check_range(HOST_FILL_MIOPEN, HOST_Y, sources[t], 0, 0.01 * rounding[t]);
        check_range(HOST_FILL_UNIFORM, HOST_W, sources[t], -1, 1);
    }
    check_range(HOST_FILL_MIOPEN, HOST_W, KILN_F32, -0.00500001, 0.00500001);
    check_range(HOST_FILL_MIOPEN, HOST_W, KILN_F16, -0.003335, 0.005003);
    for (int t = 4; t < 6; t++) {
        check_range(HOST_FILL_MIOPEN, HOST_X, sources[t], 0, 1);
        check_range(HOST_FILL_MIOPEN, HOST_W, sources[t], -0.5, 0.5);
        check_range(HOST_FILL_UNIFORM, HOST_W, sources[t], -1, 1);
    }
    check_range(HOST_FILL_MIOPEN, HOST_X, KILN_I8, 0, 126);
    check_range(HOST_FILL_MIOPEN, HOST_W, KILN_I8, -126, 126);
    float *bias = filled(HOST_FILL_MIOPEN, 1, HOST_BIAS, KILN_F32, 100, 1000);
    for (int i = 0; i < 1000; i++)
        ck_assert(bias[i] >= i % 8 && bias[i] <= i % 8 + 1);
    free(bias);
}
END_TEST

/* The data are integers, sums of products fit the shortest destination, and there are enough
 * non-zero numbers to show an error in an index. */
START_TEST(integers_stay_exact)
{
    static const double limit[] = {0x1p24, 2048, 256, 127, 16, 8};
    static const double products_least[] = {500, 500, 500, 500, 3, 3};
    for (int t = 0; t < 6; t++)
        for (int64_t terms = 1; terms <= 1000000; terms *= 10) {
            int64_t n = terms < 1000 ? 1000 * terms : 10 * terms;
            void *x = filled(HOST_FILL_INT, 1, HOST_X, sources[t], terms, n);
            void *w = filled(HOST_FILL_INT, 1, HOST_W, sources[t], terms, n);
            int64_t products = 0, over = 0, others = 0;
            double sum = 0;
            for (int64_t i = 0; i < n; i++) {
                double a = host_get(sources[t], x, i), b = host_get(sources[t], w, i);
                others += a != rint(a) || b != rint(b) || fabs(a) > 8 || fabs(b) > 8;
                sum = i % terms ? sum + a * b : a * b;
                over += fabs(sum) > limit[t];
                products += a * b != 0;
            }
            ck_assert_int_eq(others, 0);
            ck_assert_msg(over <= (kiln_type_size(sources[t]) == 1 ? n / 1000 : 0),
                          "%s, %lld terms: %lld sums too large", kiln_type_name(sources[t]),
                          (long long)terms, (long long)over);
            ck_assert_msg((double)products / (double)n * (double)terms >=
                              fmin(0.5 * (double)terms, products_least[t]),
                          "%s, %lld terms: %lld products of %lld", kiln_type_name(sources[t]),
                          (long long)terms, (long long)products, (long long)n);
            free(x);
            free(w);
        }
}
END_TEST

START_TEST(poison_is_recognised)
{
    static const kiln_type all[] = {KILN_F32,    KILN_F16, KILN_BF16, KILN_F8E4M3,
                                    KILN_F8E5M2, KILN_I8,  KILN_I32};
    for (int t = 0; t < 7; t++) {
        uint32_t room[3] = {0};
        host_poison(all[t], room, 2);
        ck_assert(host_is_poison(all[t], room, 0) && host_is_poison(all[t], room, 1));
        ck_assert(!host_is_poison(all[t], room, 2));
        if (t < 5)
            ck_assert(isnan(host_get(all[t], room, 1)));
        host_set(all[t], room, 1, 1);
        ck_assert(host_is_poison(all[t], room, 0) && !host_is_poison(all[t], room, 1));
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("host");
    TCase *c = tcase_create("host");
    tcase_set_timeout(c, 120);
    tcase_add_test(c, every_pattern);
    tcase_add_test(c, rounding_to_nearest_even);
    tcase_add_loop_test(c, every_byte, 0, 2);
    tcase_add_loop_test(c, bytes_round_to_nearest_even, 0, 2);
#ifdef __FLT16_MAX__
    tcase_add_test(c, against_the_compiler);
#endif
    tcase_add_test(c, rounds_once);
    tcase_add_test(c, integers_saturate);
    tcase_add_test(c, fills_depend_on_the_index_only);
    tcase_add_test(c, miopen_ranges);
    tcase_add_test(c, integers_stay_exact);
    tcase_add_test(c, poison_is_recognised);
    suite_add_tcase(s, c);
    return support_run_apart(s);
}
