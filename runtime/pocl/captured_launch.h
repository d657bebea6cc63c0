/* What is known of an operation's launch of one work-group, so that it can follow others (command_batch.h)
 * without PoCL: the launch itself tells, once for all buffers that it is given. */
#ifndef KILN_CAPTURED_LAUNCH_H
#define KILN_CAPTURED_LAUNCH_H

#include "command_batch.h"

/* What one launch tells. */
typedef struct kiln_telling kiln_telling;

/* All zero at first; one call at a time of each function. */
typedef struct kiln_captured {
    kiln_telling *telling; /* NULL: no launch was asked */
    unsigned bound;        /* which buffers it was given, by their number */
    bool given;            /* the memory, to a launch that is not enqueued yet */
} kiln_captured;

/* The address of the memory that the launch about to be enqueued with the buffers number `bound` is
 * to be given; 0: it need not tell. */
uint64_t kiln_captured_ask(kiln_captured *n, unsigned bound, kiln_command_batch *f);
/* It is enqueued, and ends with `done`; of a launch that was given no memory nothing happens. */
void kiln_captured_asked(kiln_captured *n, cl_event done);
/* What a launch with these buffers does; NULL: not known. */
const kiln_sharing_call *kiln_captured_call(const kiln_captured *n, unsigned bound);
void kiln_captured_close(kiln_captured *n, kiln_command_batch *f);

#endif
