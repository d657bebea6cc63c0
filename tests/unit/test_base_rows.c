/* The rows of types and activations, and what other files say of them: kernels, the host's
 * conversions, the reference. */
#include "driver/reference/activation.h"
#include "driver/reference/host.h"
#include "generator/base/activations.h"
#include "generator/base/types.h"
#include "runtime/programs/template.h"
#include "support/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number that a template defines a word as; -1 where it does not. */
static int defined(const char *template, const char *word)
{
    char *source, line[64];
    ck_assert_int_eq(kiln_template_source(NULL, template, &source), KILN_OK);
    snprintf(line, sizeof line, "#define %s ", word);
    const char *at = strstr(source, line);
    const int number = at ? atoi(at + strlen(line)) : -1;
    free(source);
    return number;
}

START_TEST(kernels_number_types_as_the_library_does)
{
    for (int t = KILN_TYPE_DEFAULT + 1; t < KILN_TYPES; t++)
        ck_assert_int_eq(defined("types.cl", kiln_type_facts((kiln_type)t)->kernel), t);
}
END_TEST

START_TEST(every_type_has_its_facts)
{
    for (int t = KILN_TYPE_DEFAULT + 1; t < KILN_TYPES; t++) {
        const kiln_type type = (kiln_type)t;
        kiln_type named;
        ck_assert(kiln_type_named(kiln_type_name(type), &named) && named == type);
        const int bits = 8 * (int)kiln_type_size(type);
        if (kiln_type_is_integer(type))
            ck_assert(!kiln_type_fraction_bits(type) && !kiln_type_exponent_bits(type));
        else
            ck_assert_int_eq(1 + kiln_type_exponent_bits(type) + kiln_type_fraction_bits(type),
                             bits);
        ck_assert(bits == 32 || kiln_type_poison(type) >> bits == 0);
        uint32_t element;
        host_poison(type, &element, 1);
        ck_assert(host_is_poison(type, &element, 0));
        ck_assert_int_eq(isnan(host_get(type, &element, 0)), !kiln_type_is_integer(type));
    }
}
END_TEST

/* The smallest step above 1 tells the bits of the fraction. */
START_TEST(fractions_are_those_of_the_conversions)
{
    for (int t = KILN_TYPE_DEFAULT + 1; t < KILN_TYPES; t++) {
        const kiln_type type = (kiln_type)t;
        const double step = ldexp(1, -kiln_type_fraction_bits(type));
        ck_assert(host_round(type, 1 + step) == 1 + step);
        ck_assert(host_round(type, 1 + step / 4) == 1);
    }
}
END_TEST

START_TEST(numbers_without_a_row_are_no_types)
{
    kiln_type type = KILN_BF16;
    ck_assert(!kiln_type_named("f33", &type) && !kiln_type_named("default", &type));
    ck_assert(!kiln_type_named(NULL, &type) && type == KILN_BF16);
    ck_assert_uint_eq(kiln_type_size((kiln_type)KILN_TYPES), 0);
    ck_assert_str_eq(kiln_type_name((kiln_type)-1), "?");
    ck_assert(!kiln_type_is_integer((kiln_type)99) && !kiln_type_poison((kiln_type)99));
}
END_TEST

START_TEST(kernels_have_a_formula_of_every_activation)
{
    char *source, line[64];
    ck_assert_int_eq(kiln_template_source(NULL, "epilogue.cl", &source), KILN_OK);
    for (int a = 0; a <= KILN_ACTIVATIONS; a++) {
        snprintf(line, sizeof line, "#define KILN_ACTIVATION_%d(T, v)", a);
        ck_assert_msg(!strstr(source, line) == (a == KILN_ACTIVATIONS), "%s", line);
    }
    free(source);
}
END_TEST

START_TEST(activations_have_names)
{
    kiln_activation named;
    for (int a = 0; a < KILN_ACTIVATIONS; a++)
        ck_assert(kiln_activation_named(kiln_activation_name((kiln_activation)a), &named) &&
                  (int)named == a);
    ck_assert(kiln_activation_named("gelu_erf", &named) && named == KILN_GELU);
    ck_assert(kiln_activation_named("logistic", &named) && named == KILN_SIGMOID);
    ck_assert(!kiln_activation_named("", &named) && !kiln_activation_named("gelu_", &named));
    ck_assert(!kiln_activation_named("gelu_erf ", &named) && named == KILN_SIGMOID);
}
END_TEST

static kiln_epilogue completed(kiln_activation activation, float a, float b)
{
    kiln_problem p = {.batch = 1,
                      .in_channels = 1,
                      .out_channels = 1,
                      .input = {1, 1},
                      .filter = {1, 1},
                      .epilogue = {.activation = activation, .param = {a, b}}};
    char why[KILN_ERROR_TEXT] = "";
    ck_assert_msg(kiln_problem_check(&p, why) == KILN_OK, "%s", why);
    return p.epilogue;
}

/* What a library's user gets who names no parameter, as the frameworks' users do. */
START_TEST(usual_parameters_are_the_default)
{
    kiln_epilogue e = completed(KILN_CLIPPED_RELU, 0, 0);
    ck_assert(activation_value(&e, 7) == 6 && activation_value(&e, 5) == 5);
    e = completed(KILN_LEAKY_RELU, 0, 0);
    ck_assert_double_eq_tol(activation_value(&e, -1), -0.01, 1e-9);
    e = completed(KILN_ELU, 0, 0);
    ck_assert_double_eq_tol(activation_value(&e, -1), expm1(-1), 1e-9);
    e = completed(KILN_TANH, 0, 0);
    ck_assert_double_eq_tol(activation_value(&e, 1), tanh(1), 1e-9);
    e = completed(KILN_HARD_SIGMOID, 0, 0);
    ck_assert_double_eq_tol(activation_value(&e, 1), 4 / 6.0, 1e-7);
    e = completed(KILN_HARD_SWISH, 0, 0);
    ck_assert_double_eq_tol(activation_value(&e, -1.5), -0.375, 1e-7);
    e = completed(KILN_HARD_TANH, 0, 0);
    ck_assert(activation_value(&e, -7) == -1 && activation_value(&e, 7) == 1);
    e = completed(KILN_SOFTPLUS, 0, 0);
    ck_assert_double_eq_tol(activation_value(&e, 0), M_LN2, 1e-9);
}
END_TEST

/* Parameters that are given stay; an activation without one drops them. */
START_TEST(given_parameters_stay)
{
    kiln_epilogue e = completed(KILN_TANH, 0, 2);
    ck_assert(e.param[0] == 0 && e.param[1] == 2);
    e = completed(KILN_LEAKY_RELU, 0.5f, 3);
    ck_assert(e.param[0] == 0.5f && e.param[1] == 0);
    e = completed(KILN_GELU, 1, 2);
    ck_assert(e.param[0] == 0 && e.param[1] == 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("base_rows");
    TCase *c = tcase_create("types");
    tcase_add_test(c, kernels_number_types_as_the_library_does);
    tcase_add_test(c, every_type_has_its_facts);
    tcase_add_test(c, fractions_are_those_of_the_conversions);
    tcase_add_test(c, numbers_without_a_row_are_no_types);
    suite_add_tcase(s, c);
    TCase *a = tcase_create("activations");
    tcase_add_test(a, kernels_have_a_formula_of_every_activation);
    tcase_add_test(a, activations_have_names);
    tcase_add_test(a, usual_parameters_are_the_default);
    tcase_add_test(a, given_parameters_stay);
    suite_add_tcase(s, a);
    return support_run_suite(s);
}
