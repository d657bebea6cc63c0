/* The places of files: by setting, by variable, by a bundle, else the usual ones. */
#include "places.h"

#include "runtime/base/environment.h"
#include "runtime/programs/cache_dir.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void kiln_place_resolve(char *out, size_t size, const char *setting, const char *variable)
{
    const char *value = setting && *setting ? setting : variable ? getenv(variable) : NULL;
    if (!value || strcmp(value, "off") == 0)
        value = "";
    snprintf(out, size, "%s", value);
}

static bool given(const char *setting)
{
    return setting && *setting;
}

/* Finds the rows that were installed with this library or program, wherever that lies now. */
static bool find_shipped_beside(char *dir, size_t size)
{
    static const char here;
    Dl_info info;
    const char *slash = dladdr(&here, &info) ? strrchr(info.dli_fname, '/') : NULL;
    char path[PATH_MAX];
    int length = slash ? snprintf(path, sizeof path, "%.*s/" KILN_SHIPPED_DIR_BESIDE,
                                  (int)(slash - info.dli_fname), info.dli_fname)
                       : PATH_MAX;
    char *real = length < PATH_MAX ? realpath(path, NULL) : NULL;
    const bool found = real && snprintf(dir, size, "%s", real) < (int)size;
    free(real);
    return found;
}

/* Installed rows first, so that an installed library does not depend on its build tree. */
static void find_shipped_dir(char *dir, size_t size)
{
    static const char *const others[] = {KILN_SHIPPED_DIR_INSTALLED, KILN_SHIPPED_DIR_BUILD};
    struct stat st;
    bool found = find_shipped_beside(dir, size);
    for (int i = 0; i < 2 && !found; i++)
        found = stat(others[i], &st) == 0 && snprintf(dir, size, "%s", others[i]) < (int)size;
    if (!found)
        dir[0] = '\0';
}

/* Writes the path of a bundle's part; "" where there is no bundle, or not that part. */
static void bundle_part(const char *bundle, const char *part, char *path, size_t size)
{
    struct stat st;
    const int length = snprintf(path, size, "%s/%s", bundle, part);
    if (!*bundle || length >= (int)size || stat(path, &st) != 0)
        path[0] = '\0';
}

/* A bundle's rows stand in for the rows that would be taken unasked. */
static void set_bundle(kiln *k, const kiln_settings *s)
{
    char bundle[sizeof k->rows_file];
    kiln_place_resolve(bundle, sizeof bundle, s->bundle, "KILN_BUNDLE");
    if (!*bundle)
        return;
    bundle_part(bundle, KILN_BUNDLE_PROGRAMS, k->bundle_programs, sizeof k->bundle_programs);
    if (!given(s->rows_file) && !getenv("KILN_DB"))
        bundle_part(bundle, KILN_BUNDLE_ROWS, k->rows_file, sizeof k->rows_file);
    if (!given(s->shipped_dir) && !getenv("KILN_SHIPPED_DB"))
        bundle_part(bundle, KILN_BUNDLE_SHIPPED, k->shipped_dir, sizeof k->shipped_dir);
}

void kiln_places_set(kiln *k, const kiln_settings *s)
{
    kiln_place_resolve(k->cache_dir, sizeof k->cache_dir, s->cache_dir, NULL);
    if (!given(s->cache_dir))
        kiln_cache_default_dir(k->cache_dir, sizeof k->cache_dir);
    kiln_place_resolve(k->rows_file, sizeof k->rows_file, s->rows_file, NULL);
    if (!given(s->rows_file))
        kiln_rows_default_file(k->facts.name, k->rows_file, sizeof k->rows_file);
    kiln_place_resolve(k->shipped_dir, sizeof k->shipped_dir, s->shipped_dir, "KILN_SHIPPED_DB");
    if (!given(s->shipped_dir) && !getenv("KILN_SHIPPED_DB"))
        find_shipped_dir(k->shipped_dir, sizeof k->shipped_dir);
    kiln_place_resolve(k->template_dir, sizeof k->template_dir, s->template_dir, "KILN_TEMPLATES");
    set_bundle(k, s);
}

const char *kiln_place_namer(const char *value, const char *setting, const char *variable)
{
    const char *set = getenv(variable);
    return given(value) ? setting : given(set) ? variable : NULL;
}
