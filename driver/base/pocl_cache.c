/* Makes sure that PoCL has a folder for compiled kernels: without one it shows no device at all. */
#include "pocl_cache.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* PoCL 3.1 writes paths of its files, which are up to some 400 bytes longer, into 1024 bytes. It
 * ends the process where a folder is empty or somewhat longer, and shows no device where it is
 * longer still. */
enum { LONGEST_FOLDER = 600 };

static char trouble[PATH_MAX + 512];
static char temporary[PATH_MAX];

/* Makes a folder and its parents. Returns 0 or an errno. */
static int make_folder(char *path)
{
    for (char *p = path + 1;; p++) {
        if (*p && *p != '/')
            continue;
        const char end = *p;
        *p = '\0';
        int error = mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : errno;
        *p = end;
        if (error)
            return error;
        if (!end)
            break;
    }
    struct stat st;
    if (stat(path, &st) != 0)
        return errno;
    if (!S_ISDIR(st.st_mode))
        return ENOTDIR;
    return access(path, W_OK | X_OK) == 0 ? 0 : errno;
}

/* Writes the folder that PoCL would take. Returns the variable that says so. */
static const char *own_folder(char *path, size_t size)
{
    const char *own = getenv("POCL_CACHE_DIR"), *xdg = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    int length;
    const char *variable;
    if (own && *own) {
        variable = "POCL_CACHE_DIR";
        length = snprintf(path, size, "%s", own);
    } else if (xdg && *xdg) {
        variable = "XDG_CACHE_HOME";
        length = snprintf(path, size, "%s/pocl/kcache", xdg);
    } else if (home) {
        /* PoCL takes an empty HOME for the root folder; it is treated as a relative one here. */
        variable = "HOME";
        length = snprintf(path, size, "%s%s.cache/pocl/kcache", home, *home ? "/" : "");
    } else {
        variable = "no HOME";
        length = snprintf(path, size, "/tmp/pocl/kcache");
    }
    if (length >= (int)size)
        path[0] = '\0';
    return variable;
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *place)
{
    (void)st;
    (void)kind;
    (void)place;
    return remove(path);
}

static void remove_temporary(void)
{
    nftw(temporary, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* Sets POCL_CACHE_DIR to a new folder of this process. Returns 0 or an errno. */
static int use_temporary(void)
{
    const char *parent = getenv("TMPDIR");
    if (!parent || *parent != '/' || strlen(parent) > LONGEST_FOLDER ||
        snprintf(temporary, sizeof temporary, "%s/kiln-pocl-XXXXXX", parent) >=
            (int)sizeof temporary ||
        !mkdtemp(temporary)) {
        snprintf(temporary, sizeof temporary, "/tmp/kiln-pocl-XXXXXX");
        if (!mkdtemp(temporary))
            return errno;
    }
    atexit(remove_temporary);
    setenv("POCL_CACHE_DIR", temporary, 1);
    return 0;
}

void pocl_cache_prepare(void)
{
    static int done;
    char path[PATH_MAX];
    if (done++)
        return;
    const char *own = getenv("POCL_CACHE_DIR");
    if (own && !*own)
        unsetenv("POCL_CACHE_DIR"); /* empty, as other variables of folders: not set */
    const char *variable = own_folder(path, sizeof path);
    /* A folder that POCL_CACHE_DIR names may be relative: that is what was asked for. */
    const int named = strcmp(variable, "POCL_CACHE_DIR") == 0;
    const int relative = *path != '/' && !named;
    int error = relative                                  ? 0
                : !*path || strlen(path) > LONGEST_FOLDER ? ENAMETOOLONG
                                                          : make_folder(path);
    if (!error && !relative)
        return;
    size_t used = (size_t)snprintf(
        trouble, sizeof trouble,
        "PoCL cannot keep compiled kernels in %.200s%s (%s): ", *path ? path : "its folder",
        strlen(path) > 200 ? "..." : "", variable);
    if (used < sizeof trouble)
        snprintf(trouble + used, sizeof trouble - used, "%s",
                 relative ? "the path is not absolute" : strerror(error));
    used = strlen(trouble);
    error = use_temporary();
    if (error)
        snprintf(trouble + used, sizeof trouble - used, "; nor in %s: %s", temporary,
                 strerror(error));
    else
        snprintf(trouble + used, sizeof trouble - used,
                 "; it compiles them anew in a temporary folder");
    used = strlen(trouble);
    snprintf(trouble + used, sizeof trouble - used,
             "; set POCL_CACHE_DIR to a folder that you may write to");
}

const char *pocl_cache_folder(char *path, size_t size)
{
    own_folder(path, size);
    return path;
}

const char *pocl_cache_trouble(void)
{
    return *trouble ? trouble : NULL;
}
