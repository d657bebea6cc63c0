/* Opens files, devices and pipes without waiting for a pipe's other end. */
#include "open_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static FILE *open_at_once(const char *name, int flags, const char *mode)
{
    const int fd = open(name, flags | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    FILE *file = fcntl(fd, F_SETFL, 0) == 0 ? fdopen(fd, mode) : NULL;
    if (!file) {
        const int code = errno;
        close(fd);
        errno = code;
    }
    return file;
}

FILE *open_file_to_read(const char *name)
{
    return open_at_once(name, O_RDONLY, "rb");
}

FILE *open_file_to_write(const char *name)
{
    return open_at_once(name, O_WRONLY, "wb");
}
