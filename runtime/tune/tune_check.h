/* Checks of a search before it begins. */
#ifndef KILN_TUNE_CHECK_H
#define KILN_TUNE_CHECK_H

#include "runtime/kiln/kiln_internal.h"

/* Checks everything that can be known before hours are spent, the place of the row included, and
 * completes `problem`. `who` is the function that the caller called. Returns what kiln_tune()
 * returns. */
kiln_status kiln_tune_check(const char *who, const kiln *k, kiln_problem *problem,
                            cl_command_queue queue, const kiln_buffers *buffers,
                            const kiln_tune_options *options);

#endif
