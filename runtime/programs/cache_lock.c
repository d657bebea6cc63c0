/* Locks between processes that compile the same program, as bytes of one file. */
#include "cache_lock.h"

#include "cache_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

int kiln_cache_locks_open(const char *dir)
{
    const int at = kiln_cache_open_dir(dir);
    if (at < 0)
        return -1;
    const int locks = openat(at, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    close(at);
    return locks;
}

void kiln_cache_locks_close(int locks)
{
    if (locks >= 0)
        close(locks);
}

/* The locks belong to the open file, not to the process: two caches of one process exclude each
 * other, too. */
static bool set(int locks, const char *key, short type, bool waits)
{
    struct flock byte = {.l_type = type,
                         .l_whence = SEEK_SET,
                         .l_start = (off_t)(XXH3_64bits(key, strlen(key)) >> 2),
                         .l_len = 1};
    int code;
    while ((code = fcntl(locks, waits ? F_OFD_SETLKW : F_OFD_SETLK, &byte)) != 0 && errno == EINTR)
        ;
    return code == 0;
}

void kiln_cache_lock_compiling(int locks, const char *key)
{
    if (locks >= 0)
        set(locks, key, F_RDLCK, true);
}

bool kiln_cache_lock_taking(int locks, const char *key)
{
    /* A file system without locks is no reason to do without a cache. */
    return locks < 0 || set(locks, key, F_WRLCK, false) || (errno != EAGAIN && errno != EACCES);
}

void kiln_cache_unlock(int locks, const char *key)
{
    if (locks >= 0)
        set(locks, key, F_UNLCK, false);
}
