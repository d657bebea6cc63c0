/* What is known of an operation's launch of one work-group, so that it can follow others (follow.h)
 * without PoCL: the launch itself tells, once for all buffers that it is given. */
#ifndef KILN_KNOWN_H
#define KILN_KNOWN_H

#include "follow.h"

/* What one launch tells. */
typedef struct kiln_telling kiln_telling;

/* All zero at first; one call at a time of each function. */
typedef struct kiln_known {
    kiln_telling *telling; /* NULL: no launch was asked */
    unsigned bound;        /* which buffers it was given, by their number */
    bool given;            /* the memory, to a launch that is not enqueued yet */
} kiln_known;

/* The address of the memory that the launch about to be enqueued with the buffers number `bound` is
 * to be given; 0: it need not tell. */
uint64_t kiln_known_ask(kiln_known *n, unsigned bound, kiln_follow *f);
/* It is enqueued, and ends with `done`; of a launch that was given no memory nothing happens. */
void kiln_known_asked(kiln_known *n, cl_event done);
/* What a launch with these buffers does; NULL: not known. */
const kiln_team_call *kiln_known_call(const kiln_known *n, unsigned bound);
void kiln_known_close(kiln_known *n, kiln_follow *f);

#endif
