/* Writes beside a file, then renames. */
#include "replaced_file.h"

#include "open_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static kiln_status fail(const replaced_file *f, int code, char *why)
{
    snprintf(why, KILN_ERROR_TEXT, "cannot write %.150s: %s", f->name,
             code ? strerror(code) : "not everything was written");
    return KILN_FILE;
}

static bool is_whole(replaced_file *f)
{
    return fflush(f->to) == 0 && !ferror(f->to);
}

/* A link stays, and the file that it points to is replaced; the new file has the modes of the old
 * one. A pipe or a device is written to. */
kiln_status replaced_file_open(replaced_file *f, const char *name, char *why)
{
    struct stat st;
    char *target = realpath(name, NULL);
    *f = (replaced_file){.to = NULL};
    if (!target && errno == ELOOP) {
        snprintf(f->name, sizeof f->name, "%s", name);
        return fail(f, ELOOP, why);
    }
    const int length = snprintf(f->name, sizeof f->name, "%s", target ? target : name);
    free(target);
    if (length >= (int)sizeof f->name - 32)
        return fail(f, ENAMETOOLONG, why);
    if (strcmp(name, "-") == 0) {
        strcpy(f->name, "standard output");
        f->to = stdout;
        return KILN_OK;
    }
    const bool there = stat(f->name, &st) == 0;
    if (there && S_ISDIR(st.st_mode))
        return fail(f, EISDIR, why);
    if (there && !S_ISREG(st.st_mode)) {
        f->to = open_file_to_write(f->name);
    } else {
        memcpy(f->temporary, f->name, sizeof f->temporary);
        sprintf(f->temporary + strlen(f->temporary), ".%ld.tmp", (long)getpid());
        f->to = fopen(f->temporary, "wxe");
        if (f->to && there && fchmod(fileno(f->to), st.st_mode & 07777) != 0) {
            const int code = errno;
            replaced_file_discard(f);
            return fail(f, code, why);
        }
    }
    return f->to ? KILN_OK : fail(f, errno, why);
}

kiln_status replaced_file_close(replaced_file *f, char *why)
{
    if (!f->to)
        return KILN_OK;
    errno = 0;
    bool ok = is_whole(f);
    int code = errno;
    if (f->to != stdout && fclose(f->to) != 0 && ok) {
        ok = false;
        code = errno;
    }
    f->to = NULL;
    if (ok && *f->temporary && rename(f->temporary, f->name) != 0) {
        ok = false;
        code = errno;
    }
    if (!ok && *f->temporary)
        unlink(f->temporary);
    return ok ? KILN_OK : fail(f, code, why);
}

void replaced_file_discard(replaced_file *f)
{
    if (f->to && f->to != stdout)
        fclose(f->to);
    if (f->to && *f->temporary)
        unlink(f->temporary);
    f->to = NULL;
}
