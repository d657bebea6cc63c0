/* The rows of types and what other files say of them: kernels' numbers, the host's conversions. */
#include "driver/reference/host.h"
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

int main(void)
{
    Suite *s = suite_create("base_rows");
    TCase *c = tcase_create("types");
    tcase_add_test(c, kernels_number_types_as_the_library_does);
    tcase_add_test(c, every_type_has_its_facts);
    tcase_add_test(c, fractions_are_those_of_the_conversions);
    tcase_add_test(c, numbers_without_a_row_are_no_types);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
