/* Keeps a process from taking a program's binary while another process compiles the same program.
 *
 * PoCL puts what it compiles into a folder of the program, by way of temporary files, and reads
 * that folder for the binary. A file that another process renames at that moment makes PoCL 3.1
 * read a NULL directory (recursively_serialize_path() in its pocl_binary.c does not check stat()).
 *
 * Locks are of single bytes of a file "lock" in the cache's directory, a byte a program; they end
 * with the process. Processes with caches of their own over one cache of PoCL's are not protected.
 */
#ifndef KILN_CACHE_LOCK_H
#define KILN_CACHE_LOCK_H

#include <stdbool.h>

/* Opens the locks of a directory, which is made when it is missing. Returns a file descriptor; -1:
 * there are no locks, and the functions below let everything pass. */
int kiln_cache_locks_open(const char *dir);
void kiln_cache_locks_close(int locks);

/* Says that this process compiles the program of `key`, until kiln_cache_unlock(). Waits while
 * another process takes the program's binary. */
void kiln_cache_lock_compiling(int locks, const char *key);
/* Returns true where no other process compiles the program; none will begin to then. Without
 * waiting.
 */
bool kiln_cache_lock_taking(int locks, const char *key);
void kiln_cache_unlock(int locks, const char *key);

#endif
