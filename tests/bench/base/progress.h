/* Shows the progress of a long run whose rows go to a file or a pipe. */
#ifndef BENCH_PROGRESS_H
#define BENCH_PROGRESS_H

#include <stdbool.h>

typedef struct progress {
    bool shown; /* standard error is a terminal and standard output is not */
    double start;
    int count;
} progress;

progress progress_start(int count);
/* Tells that layer `i`, from 0 on, begins. With i == count, removes the line. */
void progress_tell(const progress *p, int i);

#endif
