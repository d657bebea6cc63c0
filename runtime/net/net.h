/* The insides of a net. */
#ifndef KILN_NET_INTERNAL_H
#define KILN_NET_INTERNAL_H

#include "build.h"

enum { KILN_NET_HELD = 16 };

struct kiln_net {
    kiln *k; /* held */
    kiln_graph *graph;
    kiln_net_options options;
    pthread_mutex_t lock; /* guards all below */
    kiln_net_build build;
    kiln_buffer arena, workspace;
    cl_mem own_arena, own_workspace; /* NULL: lent, or not made yet */
    bool lent;                       /* one of them is the caller's */
    bool has_weights;
    int runs;               /* enqueues so far, up to 2 */
    kiln_helpers *helpers;  /* until the second enqueue */
    cl_command_queue queue; /* of the last enqueue, retained; NULL: none yet */
};

/* Makes the arena and the workspace that the caller has not lent. */
kiln_status kiln_net_make_memory(kiln_net *net);

/* Returns KILN_INVALID unless the queue is in order and of the net's device. */
kiln_status kiln_net_check_queue(const kiln_net *net, cl_command_queue queue);

/* Waits until nothing of the net runs any more. */
kiln_status kiln_net_wait(kiln_net *net);

#endif
