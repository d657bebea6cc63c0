/* Environment variables and settings: a wrong value is an error that names it, not the default. */
#include "runtime/base/environment.h"
#include "support/suite.h"

#include "kiln.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char long_path[5000];

static const struct {
    const char *variable, *value;
    bool fine;
} values[] = {
    {"KILN_CACHE", "off", true},
    {"KILN_CACHE", "0", true},
    {"KILN_CACHE", "on", true},
    {"KILN_CACHE", "", true},
    {"KILN_CACHE", "OFF", false},
    {"KILN_CACHE", "/tmp", false},
    {"KILN_CACHE_DIR", "not/there/yet", true},
    {"KILN_CACHE_DIR", long_path, false},
    {"KILN_CACHE_LIMIT", "", true},
    {"KILN_CACHE_LIMIT", "1", true},
    {"KILN_CACHE_LIMIT", "9223372036854775807", true},
    {"KILN_CACHE_LIMIT", "9223372036854775808", false},
    {"KILN_CACHE_LIMIT", "0", false},
    {"KILN_CACHE_LIMIT", "-1", false},
    {"KILN_CACHE_LIMIT", " 5", false},
    {"KILN_CACHE_LIMIT", "64M", false},
    {"KILN_CACHE_LIMIT", "1e9", false},
    {"KILN_CACHE_LIMIT", "lots", false},
    {"KILN_DB", "not/there/yet.yaml", true},
    {"KILN_DB", long_path, false},
    {"KILN_SHIPPED_DB", "off", true},
    {"KILN_SHIPPED_DB", "/", true},
    {"KILN_SHIPPED_DB", "/not there", false},
    {"KILN_SHIPPED_DB", "/dev/null", false},
    {"KILN_TEMPLATES", "/", true},
    {"KILN_TEMPLATES", "/not there", false},
    {"KILN_TEMPLATES", long_path, false},
    {"KILN_KEEPALIVE_US", "", true},
    {"KILN_KEEPALIVE_US", "0", true},
    {"KILN_KEEPALIVE_US", "1000000000", true},
    {"KILN_KEEPALIVE_US", "1000000001", false},
    {"KILN_KEEPALIVE_US", "-1", false},
    {"KILN_KEEPALIVE_US", "1ms", false},
    {"KILN_CHECK_PADDING", "1", true},
    {"KILN_CHECK_PADDING", "off", true},
    {"KILN_CHECK_PADDING", "yes", false},
    {"KILN_CHECK_PACKED", "yes", false},
    {"KILN_CHECK_FLUSHED", "yes", false},
};

/* Returns whether kiln opens. Where it does not, checks that the error has the words. */
static bool opens(const kiln_settings *settings, const char *name, const char *value)
{
    kiln *k;
    kiln_status status = kiln_open(&k, NULL, NULL, settings);
    if (status) {
        ck_assert_int_eq(status, KILN_INVALID);
        ck_assert_ptr_null(k);
        ck_assert_msg(strstr(kiln_last_error(), name), "%s: %s", name, kiln_last_error());
        ck_assert_msg(strstr(kiln_last_error(), value), "%s: %s", value, kiln_last_error());
        ck_assert_msg(strstr(kiln_last_error(), "; it must be "), "%s", kiln_last_error());
    }
    kiln_close(k);
    return status == KILN_OK;
}

START_TEST(variables)
{
    char beginning[64];
    memset(long_path, 'x', sizeof long_path - 1);
    snprintf(beginning, sizeof beginning, "'%.40s", values[_i].value);
    ck_assert_int_eq(setenv(values[_i].variable, values[_i].value, 1), 0);
    ck_assert_msg(opens(NULL, values[_i].variable, beginning) == values[_i].fine, "%s=%s",
                  values[_i].variable, values[_i].value);
}
END_TEST

START_TEST(settings)
{
    kiln_settings s = {.cache_limit = -5};
    ck_assert(!opens(&s, "settings.cache_limit", "-5"));
    s = (kiln_settings){.keepalive_us = -2};
    ck_assert(!opens(&s, "settings.keepalive_us", "-2"));
    s = (kiln_settings){.keepalive_us = 1000000001};
    ck_assert(!opens(&s, "settings.keepalive_us", "1000000001"));
    s = (kiln_settings){.template_dir = "/not there"};
    ck_assert(!opens(&s, "settings.template_dir", "'/not there'"));
    s = (kiln_settings){.shipped_dir = "/not there"};
    ck_assert(!opens(&s, "settings.shipped_dir", "'/not there'"));
    s = (kiln_settings){.shipped_dir = "off", .template_dir = "off"};
    ck_assert(opens(&s, "", ""));
}
END_TEST

/* A setting overrides the variable. */
START_TEST(settings_come_first)
{
    const kiln_settings s = {.template_dir = "/", .cache_limit = 7, .keepalive_us = 8};
    setenv("KILN_TEMPLATES", "/not there", 1);
    setenv("KILN_CACHE_LIMIT", "99", 1);
    ck_assert(opens(&s, "", ""));
    ck_assert_int_eq(kiln_environment_cache_limit(&s), 7);
    ck_assert_int_eq(kiln_environment_cache_limit(&(kiln_settings){0}), 99);
    setenv("KILN_KEEPALIVE_US", "98", 1);
    ck_assert_int_eq(kiln_environment_keepalive_us(&s), 8);
    ck_assert_int_eq(kiln_environment_keepalive_us(&(kiln_settings){.keepalive_us = -1}), 0);
    ck_assert_int_eq(kiln_environment_keepalive_us(&(kiln_settings){0}), 98);
    unsetenv("KILN_CACHE_LIMIT");
    ck_assert_int_eq(kiln_environment_cache_limit(&(kiln_settings){0}), 268435456);
}
END_TEST

static void see_entry(void *user, const kiln_cache_entry *e)
{
    (void)user, (void)e;
}

START_TEST(the_default_cache_is_not_guessed)
{
    setenv("KILN_CACHE", "nein", 1);
    ck_assert_int_eq(kiln_cache_list(NULL, see_entry, NULL), KILN_INVALID);
    ck_assert_int_eq(kiln_cache_clear(NULL, NULL), KILN_INVALID);
    ck_assert_ptr_nonnull(strstr(kiln_last_error(), "KILN_CACHE is 'nein'"));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("environment");
    TCase *t = tcase_create("environment");
    tcase_add_loop_test(t, variables, 0, sizeof values / sizeof *values);
    tcase_add_test(t, settings);
    tcase_add_test(t, settings_come_first);
    tcase_add_test(t, the_default_cache_is_not_guessed);
    suite_add_tcase(s, t);
    return support_run_apart(s);
}
