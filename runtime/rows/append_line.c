/* Lines of text, and appending them to files that other processes append to. */
#include "append_line.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PATH_TEXT = 4096 };

void kiln_line_put(kiln_line *l, const char *text)
{
    size_t length = strlen(text);
    if (l->full || length >= sizeof l->text - l->used) {
        l->full = true;
        return;
    }
    memcpy(l->text + l->used, text, length + 1);
    l->used += length;
}

char kiln_line_plain(char c)
{
    return (unsigned char)c < 0x20 || (unsigned char)c > 0x7e ? '?' : c;
}

void kiln_line_put_quoted(kiln_line *l, const char *text)
{
    kiln_line_put(l, "\"");
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            kiln_line_put(l, "\\");
        kiln_line_put(l, (char[]){kiln_line_plain(*text), '\0'});
    }
    kiln_line_put(l, "\"");
}

void kiln_line_put_number(kiln_line *l, double value)
{
    enum { SOME = 6, ALL = 15 };
    char text[64];
    const bool whole = value == trunc(value) && fabs(value) < 1e15;
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = c ? uselocale(c) : (locale_t)0;
    snprintf(text, sizeof text, "%.*g", whole ? ALL : SOME, value);
    if (c) {
        uselocale(before);
        freelocale(c);
    }
    kiln_line_put(l, text);
}

bool kiln_make_folders(const char *file)
{
    char path[PATH_TEXT];
    if (snprintf(path, sizeof path, "%s", file) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return false;
    }
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0755) != 0 && errno != EEXIST)
            return false;
        *slash = '/';
    }
    return true;
}

int kiln_append_open(const char *file)
{
    struct stat st;
    int fd = open(file, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644);
    if (fd >= 0 && fstat(fd, &st) == 0 && !S_ISREG(st.st_mode)) {
        close(fd);
        errno = EINVAL;
        fd = -1;
    }
    return fd;
}

static bool is_still(const char *file, int fd)
{
    struct stat named, opened;
    return stat(file, &named) == 0 && fstat(fd, &opened) == 0 && named.st_dev == opened.st_dev &&
           named.st_ino == opened.st_ino;
}

/* Returns false where another process has the lock for longer. */
static bool take_lock(int fd, int *wait_ms)
{
    enum { PAUSE_MS = 2 };
    if (*wait_ms < 0) {
        while (flock(fd, LOCK_EX) != 0 && errno == EINTR)
            ;
        return true;
    }
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) /* no locks here */
            return true;
        if ((*wait_ms -= PAUSE_MS) < 0)
            return false;
        usleep(PAUSE_MS * 1000);
    }
    return true;
}

/* A process that waits for the lock may wait for a file that is replaced meanwhile. */
int kiln_append_open_locked(const char *file, int wait_ms)
{
    enum { MOST_TRIES = 1000 };
    int fd = -1;
    for (int i = 0; i < MOST_TRIES && (fd = kiln_append_open(file)) >= 0; i++) {
        const bool locked = take_lock(fd, &wait_ms);
        if (locked && is_still(file, fd))
            return fd;
        close(fd);
        fd = -1;
        errno = EWOULDBLOCK;
        if (!locked)
            break;
    }
    return fd;
}

static bool write_whole(int fd, const struct iovec *pieces, int n)
{
    size_t size = 0;
    ssize_t done;
    for (int i = 0; i < n; i++)
        size += pieces[i].iov_len;
    do
        done = writev(fd, pieces, n);
    while (done < 0 && errno == EINTR);
    if (done >= 0 && (size_t)done != size)
        errno = ENOSPC;
    return done >= 0 && (size_t)done == size;
}

/* Returns whether the line just written stands behind the stump of one that a kill cut short after
 * kiln_append_cut_short() had looked. */
static bool is_behind_a_stump(int fd, const kiln_line *l)
{
    const off_t start = lseek(fd, 0, SEEK_CUR) - (off_t)l->used;
    char before = '\n';
    return l->text[0] != '\n' && start > 0 && pread(fd, &before, 1, start - 1) == 1 &&
           before != '\n';
}

bool kiln_append_write(int fd, const kiln_line *l)
{
    char newline[] = "\n", *text = (char *)l->text;
    const struct iovec pieces[] = {{newline, 1}, {text, l->used}};
    return write_whole(fd, &pieces[1], 1) &&
           (!is_behind_a_stump(fd, l) || write_whole(fd, pieces, 2));
}

bool kiln_append_cut_short(int fd)
{
    struct stat st;
    char last = '\n';
    return fstat(fd, &st) == 0 && st.st_size > 0 && pread(fd, &last, 1, st.st_size - 1) == 1 &&
           last != '\n';
}
