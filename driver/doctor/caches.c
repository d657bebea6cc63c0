/* The checks of the folders that keep compiled programs. */
#include "driver/base/number_text.h"
#include "driver/base/pocl_cache.h"
#include "kiln.h"

#include "finding.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    int64_t files, bytes, foreign;
} sum;

static int add_entry(const char *path, const struct stat *st, int kind, struct FTW *place)
{
    (void)path;
    (void)place;
    if (kind == FTW_F) {
        sum.files++;
        sum.bytes += st->st_size;
    }
    sum.foreign += kind != FTW_NS && st->st_uid != geteuid();
    return 0;
}

/* Returns 0 where a folder can be written, or made; else an errno. */
static int trouble_with(const char *folder)
{
    char path[PATH_MAX];
    struct stat st;
    if (snprintf(path, sizeof path, "%s", folder) >= (int)sizeof path)
        return ENAMETOOLONG;
    while (stat(path, &st) != 0) {
        char *slash = strrchr(path, '/');
        if (errno != ENOENT)
            return errno;
        if (!slash)
            strcpy(path, ".");
        else
            slash[slash == path] = '\0';
    }
    if (!S_ISDIR(st.st_mode))
        return ENOTDIR;
    return access(path, W_OK | X_OK) == 0 ? 0 : errno;
}

static void check_folder(const call *c, const char *folder)
{
    struct stat st;
    char size[NUMBER_TEXT], owner[48] = "yours";
    const int error = trouble_with(folder);
    if (stat(folder, &st) != 0) {
        tell(c, error ? FOUND_WARNING : FOUND_OK, NULL, "%s: %s", folder,
             error ? strerror(error) : "not made yet");
        return;
    }
    nftw(folder, add_entry, 16, FTW_PHYS);
    if (st.st_uid != geteuid())
        snprintf(owner, sizeof owner, "of user %lu", (unsigned long)st.st_uid);
    size_text(sum.bytes, size);
    if (error)
        tell(c, FOUND_WARNING, NULL, "%s: %s; %s", folder, strerror(error), owner);
    else if (sum.foreign && geteuid() != 0)
        tell(c, FOUND_WARNING, "give them back: sudo chown -R $USER FOLDER",
             "%s: %lld entries are another user's; %lld files, %s, %s", folder,
             (long long)sum.foreign, (long long)sum.files, size, owner);
    else
        tell(c, FOUND_OK, NULL, "%s: %lld files, %s, %s", folder, (long long)sum.files, size,
             owner);
}

void check_cache(const call *c)
{
    /* A handle without a device is enough to tell where the cache is. */
    const kiln_settings settings = {.rows_file = "off", .shipped_dir = "off"};
    kiln *k;
    if (kiln_open(&k, NULL, NULL, &settings))
        tell(c, FOUND_BAD, "mend the variable that it names", "%s", kiln_last_error());
    else if (!*kiln_cache_dir(k))
        tell(c, FOUND_OK, NULL, "off: KILN_CACHE=off, or no home directory");
    else
        check_folder(c, kiln_cache_dir(k));
}

/* PoCL has had its folder prepared, or another one in its place. */
void check_pocl_cache(const call *c)
{
    char folder[PATH_MAX];
    if (pocl_cache_trouble())
        tell(c, FOUND_WARNING, "PoCL then compiles in each process", "%s", pocl_cache_trouble());
    else
        check_folder(c, pocl_cache_folder(folder, sizeof folder));
}
