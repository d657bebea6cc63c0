/* Opens plain files to read. */
#include "plain_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Closes a descriptor without losing what errno is to be. */
static void give_up(int fd, int code)
{
    close(fd);
    errno = code;
}

int kiln_plain_file_open(const char *path, off_t *size)
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -1;
    const int code = fstat(fd, &st) != 0 ? errno : S_ISREG(st.st_mode) ? 0 : EINVAL;
    if (code) {
        give_up(fd, code);
        return -1;
    }
    *size = st.st_size;
    return fd;
}

FILE *kiln_plain_file_stream(const char *path)
{
    off_t size;
    const int fd = kiln_plain_file_open(path, &size);
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "rb");
    if (fd >= 0 && !stream)
        give_up(fd, errno);
    return stream;
}

const char *kiln_plain_file_reason(int code, char text[128])
{
    return code == EINVAL ? "it is not a plain file" : strerror_r(code, text, 128);
}
