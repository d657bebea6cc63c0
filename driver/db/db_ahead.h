/* Processes that compile what a command measures next, so that it measures while nothing compiles.
 */
#ifndef KILN_DB_AHEAD_H
#define KILN_DB_AHEAD_H

#include "db_file.h"

#include <sys/types.h>

enum { DB_AHEAD_MOST = 16 };

typedef struct db_ahead {
    struct {
        pid_t pid;
        int fd;     /* -1: the process has ended */
        size_t row; /* that it compiles */
        bool busy;
    } process[DB_AHEAD_MOST];
    int count;
} db_ahead;

/* Starts up to `jobs` processes (0: one a CPU), which open the device by themselves. Call it before
 * the caller opens a device: OpenCL does not survive a fork(). */
void db_ahead_start(db_ahead *a, db_piece *const *rows, int jobs);

/* Compiles the configs of rows[index[0..n-1]] and their guesses, and returns when all is done or a
 * signal has come. Sets lost[i] where index[i]'s compilation ended its process. */
void db_ahead_compile(db_ahead *a, const size_t *index, size_t n, bool *lost);

/* Ends the processes. */
void db_ahead_end(db_ahead *a);

#endif
