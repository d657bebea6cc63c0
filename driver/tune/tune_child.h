/* Child processes that may crash: each does one job at the other end of a socket. */
#ifndef KILN_TUNE_CHILD_H
#define KILN_TUNE_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct tune_child {
    pid_t pid; /* 0: there is none */
    int fd;
    int trace; /* a file in memory that receives its stack if it crashes; -1: there is none */
} tune_child;

/* Starts a child that calls run(fd, user) and ends. It ends with its parent, too, leaves no core
 * file, gets no signals of the terminal, and may use `memory` bytes (0: any number). The calling
 * process must not have used OpenCL. Returns false, with errno. */
bool tune_child_start(tune_child *c, int (*run)(int fd, void *user), void *user, int64_t memory);

/* Begins to end a child. A driver takes a while to leave a process: kill many, then end them. */
void tune_child_kill(const tune_child *c);

/* Ends a child at once and writes how it had ended, if it had: "signal 11 (Segmentation fault) in
 * libpocl.so.2(...) < ...", with the calls that it was in. */
void tune_child_end(tune_child *c, char *how, unsigned size);

#endif
