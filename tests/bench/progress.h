/* How far a long run is, for those who sent its rows elsewhere. */
#ifndef BENCH_PROGRESS_H
#define BENCH_PROGRESS_H

#include <stdbool.h>

typedef struct progress {
    bool shown; /* standard error is a terminal and standard output is not */
    double start;
    int count;
} progress;

progress progress_start(int count);
/* Layer `i`, from 0, begins. With i == count, the line goes. */
void progress_tell(const progress *p, int i);

#endif
