/* What a program makes: each distinct convolution that it runs, with the number of runs, in a file
 * of driver lines. */
#ifndef KILN_CALL_LOG_H
#define KILN_CALL_LOG_H

#include "runtime/base/error.h"

typedef struct kiln_call kiln_call; /* one convolution, which lasts as long as the process */

/* Returns the call of a checked problem in the file; NULL: out of memory. */
kiln_call *kiln_call_of(const char *file, const kiln_problem *problem);

/* Counts a run. The file is written when the number is a power of two, so a program that is killed
 * leaves more than half of its runs. NULL is fine. */
void kiln_call_count(kiln_call *call);

/* Adds the runs that the file does not have: other processes may share it. Writes a temporary file
 * and renames it. What cannot be written is a warning. */
void kiln_call_log_write(const char *file, const kiln_logger *logger);

#endif
