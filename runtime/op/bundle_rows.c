/* Copies files of tuning rows into a bundle. */
#include "bundle_rows.h"

#include "runtime/base/environment.h"
#include "runtime/base/plain_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Copies what can be read of `from`. Returns 0 or an errno. */
static int copy(FILE *from, const char *to)
{
    char temporary[PATH_MAX + 32], block[4096];
    size_t got;
    snprintf(temporary, sizeof temporary, "%s.%ld.tmp", to, (long)getpid());
    FILE *out = fopen(temporary, "w");
    if (!out)
        return errno;
    while ((got = fread(block, 1, sizeof block, from)) > 0 && fwrite(block, 1, got, out) == got)
        ;
    int error = ferror(from) || ferror(out) ? EIO : 0;
    if (fclose(out) != 0 && !error)
        error = errno;
    if (!error && rename(temporary, to) != 0)
        error = errno;
    if (error)
        unlink(temporary);
    return error;
}

/* A file that is not there has no rows. */
static kiln_status copy_rows(const char *from, const char *dir, const char *name)
{
    char to[PATH_MAX], text[128];
    FILE *file = *from ? kiln_plain_file_stream(from) : NULL;
    if (!file)
        return !*from || errno == ENOENT
                   ? KILN_OK
                   : kiln_fail(KILN_FILE, "%s: %s", from, kiln_plain_file_reason(errno, text));
    int error = mkdir(dir, 0755) == 0 || errno == EEXIST ? 0 : errno;
    if (!error && snprintf(to, sizeof to, "%s/%s", dir, name) >= (int)sizeof to)
        error = ENAMETOOLONG;
    if (!error)
        error = copy(file, to);
    fclose(file);
    return error ? kiln_fail(KILN_FILE, "%s/%s: %s; name a folder that you may write to", dir, name,
                             strerror_r(error, text, sizeof text))
                 : KILN_OK;
}

kiln_status kiln_bundle_rows(const kiln *k, const char *dir)
{
    char slug[128], name[160], from[4096 + 176], shipped[PATH_MAX];
    kiln_status status = copy_rows(k->rows_file, dir, KILN_BUNDLE_ROWS);
    if (status || !*k->shipped_dir)
        return status;
    kiln_device_slug(k->facts.name, slug, sizeof slug);
    snprintf(name, sizeof name, "%s.yaml", slug);
    snprintf(shipped, sizeof shipped, "%s/" KILN_BUNDLE_SHIPPED, dir);
    snprintf(from, sizeof from, "%s/%s", k->shipped_dir, name);
    if ((status = copy_rows(from, shipped, name)))
        return status;
    snprintf(from, sizeof from, "%s/generic.yaml", k->shipped_dir);
    return copy_rows(from, shipped, "generic.yaml");
}
