/* A planned network with its operations, and with what belongs to them. */
#ifndef KILN_NET_BUILD_H
#define KILN_NET_BUILD_H

#include "runtime/op/op.h"

#include "plan.h"

typedef struct kiln_net_node {
    kiln_op *op;                          /* of a convolution or pool; else NULL */
    kiln_op **move;                       /* for each source: its reformat or copy; NULL: none */
    cl_mem constant[KILN_NODE_CONSTANTS]; /* w: until the weights are packed */
    cl_mem packed;
    bool is_packed;
} kiln_net_node;

/* Counts the operations that still run a stand-in, and tells when there are none. */
typedef struct kiln_net_pending {
    atomic_int count;
    void (*ready)(void *user);
    void *user;
} kiln_net_pending;

typedef struct kiln_net_build {
    kiln_net_plan plan;
    kiln_net_node *node;
    int64_t workspace_size, packed_size;
    kiln_net_pending *pending;
} kiln_net_build;

/* Plans a graph and plans its operations. */
kiln_status kiln_net_build_plan(kiln *k, const kiln_graph *g, kiln_net_build *b);
/* Compiles the planned operations. `quick`: convolutions have stand-ins, where there are some. */
kiln_status kiln_net_build_compile(kiln *k, const kiln_graph *g, kiln_net_build *b, bool quick);
/* Releases all. What was enqueued must have ended. */
void kiln_net_build_free(const kiln_graph *g, kiln_net_build *b);

/* Reads the weights, and packs what is compiled. Enqueues; waits for nothing. */
kiln_status kiln_net_build_pack(kiln *k, const kiln_graph *g, kiln_net_build *b,
                                cl_command_queue queue, const kiln_buffer *workspace);
/* Sets what a node is given besides tensors. */
void kiln_net_give_constants(const kiln_net_node *n, kiln_buffers *b);
/* Packs the weights of one node. */
kiln_status kiln_net_node_pack(kiln_net_node *n, cl_command_queue queue,
                               const kiln_buffer *workspace);
/* Releases the weights that were packed, once that has ended. */
void kiln_net_build_drop_weights(kiln_net_build *b);

#endif
