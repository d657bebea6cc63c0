/* Writes a file of the size of a compiled program to each folder that a compiler needs. */
#include "means.h"

#include "pocl_cache.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* PoCL keeps several files of a program. */
enum { PROBE_BYTES = 1 << 20, BLOCK = 1 << 16 };

/* Returns 0 or an errno. */
static int write_probe(int fd)
{
    static const char block[BLOCK];
    for (int done = 0; done < PROBE_BYTES; done += BLOCK) {
        const ssize_t n = write(fd, block, BLOCK);
        if (n != BLOCK)
            return n < 0 ? errno : ENOSPC;
    }
    return 0;
}

static int probe(const char *folder)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/.kiln-probe-XXXXXX", folder) >= (int)sizeof path)
        return ENAMETOOLONG;
    const int fd = mkstemp(path);
    if (fd < 0)
        return errno;
    int error = write_probe(fd);
    if (close(fd) != 0 && !error)
        error = errno;
    unlink(path);
    return error;
}

bool means_are_there(char why[KILN_ERROR_TEXT])
{
    char folder[PATH_MAX];
    const char *temporary = getenv("TMPDIR");
    const struct {
        const char *path, *variable;
    } needed[] = {{pocl_cache_folder(folder, sizeof folder), "POCL_CACHE_DIR"},
                  {temporary && *temporary ? temporary : "/tmp", "TMPDIR"}};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        const int error = *needed[i].path ? probe(needed[i].path) : 0;
        if (!error)
            continue;
        snprintf(why, KILN_ERROR_TEXT,
                 "programs cannot be compiled: %.100s: %s; make room, or name another folder in %s",
                 needed[i].path, strerror(error), needed[i].variable);
        return false;
    }
    return true;
}
