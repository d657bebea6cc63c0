/* What the environment may say, in one table: a typing error must not pass for the default. */
#include "environment.h"

#include "generator/base/text.h"

#include "error.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_TEXT = 4096, MOST_KEEPALIVE_US = 1000000000, KEEPALIVE_US = 200 };

static bool is_switch(const char *text)
{
    static const char *const words[] = {"on", "off", "1", "0"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i]) == 0)
            return true;
    return false;
}

static bool read_number(const char *text, int64_t *number)
{
    return kiln_scan_int(&text, number) && *text == '\0' && *number >= 0;
}

static bool is_bytes(const char *text)
{
    int64_t bytes;
    return read_number(text, &bytes) && bytes > 0;
}

static bool is_stay(const char *text)
{
    int64_t us;
    return read_number(text, &us) && us <= MOST_KEEPALIVE_US;
}

static bool is_path(const char *text)
{
    return strlen(text) < PATH_TEXT;
}

static bool is_folder(const char *text)
{
    struct stat st;
    return strcmp(text, "off") == 0 ||
           (is_path(text) && stat(text, &st) == 0 && S_ISDIR(st.st_mode));
}

/* A folder with programs: any other would compile all the same, in silence. */
static bool is_bundle(const char *text)
{
    char programs[PATH_TEXT + sizeof "/" KILN_BUNDLE_PROGRAMS];
    snprintf(programs, sizeof programs, "%s/" KILN_BUNDLE_PROGRAMS, text);
    return strcmp(text, "off") == 0 || (is_path(text) && is_folder(programs));
}

#define SETTING(name) #name, offsetof(kiln_settings, name)
#define NO_SETTING NULL, 0

static const struct {
    const char *variable, *setting;
    size_t offset;
    bool (*fits)(const char *text);
    const char *rule;
} table[] = {
    {"KILN_CACHE", NO_SETTING, is_switch, "on or off"},
    {"KILN_CACHE_DIR", SETTING(cache_dir), is_path, "a path of less than 4096 bytes, or off"},
    {"KILN_CACHE_LIMIT", NO_SETTING, is_bytes,
     "a whole number of bytes, at least 1 (KILN_CACHE=off keeps nothing on disk)"},
    {"KILN_BUNDLE", SETTING(bundle), is_bundle, "a folder that kiln prepare -o made, or off"},
    {"KILN_COMMAND", NO_SETTING, is_path, "a path of less than 4096 bytes"},
    {"KILN_DB", SETTING(rows_file), is_path, "a path of less than 4096 bytes, or off"},
    {"KILN_SHIPPED_DB", SETTING(shipped_dir), is_folder, "a folder that exists, or off"},
    {"KILN_TEMPLATES", SETTING(template_dir), is_folder, "a folder that exists, or off"},
    {"KILN_KEEPALIVE_US", NO_SETTING, is_stay,
     "a whole number of microseconds from 0 to 1000000000"},
    {"KILN_CHECK_PADDING", NO_SETTING, is_switch, "1 or 0"},
    {"KILN_CHECK_PACKED", NO_SETTING, is_switch, "1 or 0"},
    {"KILN_CHECK_FLUSHED", NO_SETTING, is_switch, "1 or 0"},
    {"KILN_LOG_CMD", SETTING(call_log), is_path, "a path of less than 4096 bytes, or off"},
};

kiln_status kiln_environment_check(const kiln_settings *s)
{
    if (s->cache_limit < 0)
        return kiln_fail(KILN_INVALID,
                         "settings.cache_limit is %lld; it must be a number of bytes, or 0 for the "
                         "usual limit",
                         (long long)s->cache_limit);
    if (s->keepalive_us < -1 || s->keepalive_us > MOST_KEEPALIVE_US)
        return kiln_fail(
            KILN_INVALID,
            "settings.keepalive_us is %d; it must be a number of microseconds up to %d, 0 "
            "for the usual one, or -1 for none",
            s->keepalive_us, MOST_KEEPALIVE_US);
    if (s->first_use != KILN_FIRST_OWN && s->first_use != KILN_FIRST_QUICK)
        return kiln_fail(KILN_INVALID,
                         "settings.first_use is %d; it must be KILN_FIRST_OWN or KILN_FIRST_QUICK",
                         (int)s->first_use);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const char *set = NULL;
        if (table[i].setting)
            memcpy(&set, (const char *)s + table[i].offset, sizeof set);
        bool given = set && *set;
        const char *value = given ? set : getenv(table[i].variable);
        if (value && *value && !table[i].fits(value))
            return kiln_fail(KILN_INVALID, "%s%s is '%.200s'; it must be %s",
                             given ? "settings." : "", given ? table[i].setting : table[i].variable,
                             value, table[i].rule);
    }
    return KILN_OK;
}

bool kiln_switch_is_on(const char *text, bool standard)
{
    if (!text || !*text)
        return standard;
    return strcmp(text, "off") != 0 && strcmp(text, "0") != 0;
}

int64_t kiln_environment_cache_limit(const kiln_settings *s)
{
    const char *text = getenv("KILN_CACHE_LIMIT");
    int64_t bytes = (int64_t)256 << 20;
    if (s->cache_limit > 0)
        return s->cache_limit;
    if (text && *text)
        read_number(text, &bytes);
    return bytes;
}

int64_t kiln_environment_keepalive_us(const kiln_settings *s)
{
    const char *text = getenv("KILN_KEEPALIVE_US");
    int64_t us = KEEPALIVE_US;
    if (s->keepalive_us)
        return s->keepalive_us > 0 ? s->keepalive_us : 0;
    if (text && *text)
        read_number(text, &us);
    return us;
}
