/* A captured launch: what a launch of one work-group does, so that a command batch can repeat it
 * without PoCL. The launch itself writes it, once for all buffers that it is given. */
#ifndef KILN_CAPTURED_LAUNCH_H
#define KILN_CAPTURED_LAUNCH_H

#include "command_batch.h"

typedef struct kiln_capture kiln_capture;

/* One stage of an operation. All zero at first; one call at a time of each function. */
typedef struct kiln_captured {
    kiln_capture *capture; /* NULL: no launch was captured */
    unsigned binding;      /* of the buffers that this launch was given */
    bool pending;          /* the launch has the memory, but is not enqueued yet */
} kiln_captured;

/* Returns the address of memory that the next launch, with the buffers of `binding`, is to be given
 * so that it is captured; 0: it needs none. */
uint64_t kiln_captured_begin(kiln_captured *c, unsigned binding, kiln_command_batch *b);
/* Says that the launch is enqueued, and ends with `done`. Does nothing for a launch that was given
 * no memory. */
void kiln_captured_enqueued(kiln_captured *c, cl_event done);
/* Returns what a launch with the buffers of `binding` does; NULL: not known. */
const kiln_sharing_call *kiln_captured_call(const kiln_captured *c, unsigned binding);
void kiln_captured_close(kiln_captured *c, kiln_command_batch *b);

#endif
