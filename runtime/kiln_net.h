/* Networks: a graph of convolutions and what stands between them, planned as a whole and run by one
 * call.
 *
 *     kiln_graph *g = kiln_graph_new();
 *     int x = kiln_graph_add(g, &(kiln_node){.name = "image", .kind = KILN_NODE_INPUT,
 *                                            .form = {.batch = 1, .channels = 3,
 *                                                     .size = {224, 224}}});
 *     x = kiln_graph_add(g, &(kiln_node){.name = "stem", .from = {x}, .w.data = w, .kept = 1,
 *                                        .problem = {.out_channels = 32, .filter = {3, 3}}});
 *     kiln_net *net;
 *     kiln_net_create(k, g, NULL, &net);              // plans, and compiles
 *     kiln_net_pack(net, queue);                      // weights, once
 *     kiln_net_enqueue(net, queue, &image, &result, 0, NULL, NULL);
 *
 * Sizes. A node takes batch, channels, sizes and type of what it reads from the nodes before it:
 * only inputs say them. Layouts: a layout of a convolution that is left at "" is open, and the net
 * decides all open ones together, by the predicted time of all nodes and of the reformats between
 * unlike layouts. Tuning rows have no say in that; the convolutions then use them as ever. Results
 * that a caller wants are `kept`; every other tensor lies in one buffer, the arena, in which
 * tensors that are not in use at once share bytes. Concatenation and split take no time where the
 * layout has a range of channels in one piece; else a copy is made.
 *
 * Promises. A net keeps the promises that settings.buffers_stay and .queues_flushed ask of a
 * program, for its own operations, whatever the settings say: it keeps its buffers and the caller's
 * until they are no longer in use, and it flushes. A caller need not call kiln_flush() for it.
 *
 * Threads: calls on one net are serialized by a lock inside it; a graph belongs to one thread at a
 * time. A net holds its kiln.
 */
#ifndef KILN_NET_H
#define KILN_NET_H

#include "kiln.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kiln_graph kiln_graph;
typedef struct kiln_net kiln_net;

/* ---- the graph ----------------------------------------------------------------------------------
 */

typedef enum kiln_node_kind {
    KILN_NODE_CONV = 0, /* `problem`, forward; reads x, and the residual with epilogue.beta */
    KILN_NODE_POOL,     /* `pool`; reads x, and the other tensor with pool.with */
    KILN_NODE_CONCAT,   /* joins what it reads along the channels */
    KILN_NODE_SPLIT,    /* `channels` channels from `first` on of what it reads */
    KILN_NODE_FOREIGN,  /* the program's own work: `enqueue` */
    KILN_NODE_INPUT     /* `form`: a buffer of the caller's, given with each enqueue */
} kiln_node_kind;

/* A tensor: type, sizes, and how it is stored. */
typedef struct kiln_form {
    kiln_type type;   /* default: f32 */
    int spatial_rank; /* 1, 2 or 3; 0 = 2 */
    int64_t batch, channels, size[KILN_MAX_RANK];
    char layout[KILN_LAYOUT_TEXT]; /* "" = NCHW and its kin; no image */
} kiln_form;

/* Weights or a bias, in the type and layout that the problem says: in memory, or in a file from
 * `offset` on. Memory and file must stay until kiln_net_pack() has returned, and for
 * kiln_net_resize() as long as the net. */
typedef struct kiln_weights {
    const void *data;
    const char *file; /* read where `data` is NULL */
    int64_t offset;   /* bytes */
} kiln_weights;

enum { KILN_NODE_SOURCES = 64 };

typedef struct kiln_node {
    const char *name; /* for messages; copied. NULL: its number */
    kiln_node_kind kind;
    int from[KILN_NODE_SOURCES]; /* numbers of the nodes that it reads; 0: no more */
    /* Batch, in_channels, input, x_type and spatial_rank are those of the source; what is set must
     * agree. */
    kiln_problem problem;
    kiln_weights w, bias;
    kiln_weights w_scales, x_zero, w_zero, y_zero; /* with the bits of problem.quant.buffers */
    kiln_pool pool; /* likewise batch, channels, input, x_type, spatial_rank; no ranges */
    int64_t first, channels;
    /* The tensor of an input. What a foreign node gives: a type, channels or sizes left at 0 are
     * those of its first source, as the batch always is. Of other nodes that are kept, `layout`. */
    kiln_form form;
    int kept; /* 1: a result of the net, in a buffer of the caller's, in form.layout ("any": the net
                 decides, and kiln_net_tensor() tells) */
    char takes[KILN_LAYOUT_TEXT]; /* foreign: the layout that all its sources come in; "" = NCHW */
    /* Enqueues the node's work in the queue, which is in order; reads from[0], from[1], ... and
     * writes `to`. Buffers may have offsets. Returns KILN_OK, or another status that
     * kiln_net_enqueue() returns with the node's name. Called with the net's lock held: it must not
     * call functions of this net. */
    kiln_status (*enqueue)(void *user, cl_command_queue queue, const kiln_buffer *from,
                           const kiln_buffer *to);
    void *user;
} kiln_node;

/* Returns NULL where there is no memory. */
KILN_API kiln_graph *kiln_graph_new(void);
KILN_API void kiln_graph_release(kiln_graph *graph); /* NULL is fine */
/* Adds a node and returns its number, from 1 on. Nodes that it reads come before it, and nodes run
 * in the order in which they were added. Returns 0 with kiln_last_error(), which names the node,
 * where something does not fit; the graph then refuses all later nodes, and kiln_net_create()
 * returns that error again: a program may check once, at the end. */
KILN_API int kiln_graph_add(kiln_graph *graph, const kiln_node *node);
/* Tells the tensor that a node gives. Its layout is "" where the net will decide. Returns
 * KILN_INVALID for a number that is no node's. */
KILN_API kiln_status kiln_graph_form(const kiln_graph *graph, int node, kiln_form *form);

/* ---- the net ------------------------------------------------------------------------------------
 */

/* Everything left at zero: the default written here. */
typedef struct kiln_net_options {
    int helpers; /* processes that compile beside the caller, as kiln_prepare_begin() has them: 0:
                    one per CPU less the caller's; -1: none */
    /* Called, by any thread, when no operation runs a stand-in any more (settings.first_use,
     * kiln_net_resize()): inside kiln_net_create() where there are none. It must not call functions
     * of this net. */
    void (*ready)(void *user);
    void *user;
} kiln_net_options;

/* Plans a graph, which is copied, and creates the operations. Returns KILN_INVALID with the graph's
 * error or where no node is kept; KILN_UNSUPPORTED where no solver takes a convolution, or more
 * than 64 tensors are in use at once; KILN_OPENCL where a kernel did not build. Without a device
 * (kiln_open()) the net is planned only. */
KILN_API kiln_status kiln_net_create(kiln *k, const kiln_graph *graph,
                                     const kiln_net_options *options, kiln_net **out);
/* Waits for the last enqueue. NULL is fine. */
KILN_API void kiln_net_release(kiln_net *net);

typedef struct kiln_net_info {
    int nodes, convolutions, inputs, outputs;
    int reformats; /* between layouts */
    int copies;    /* of sources of concatenations, and splits, that do not lie in place */
    int exact;     /* 1: no other layouts that the solvers prefer are predicted to take less time;
                      0: too many tensors are in use at once to try all */
    double predicted_ms;
    int64_t arena_size, workspace_size, packed_size; /* bytes */
} kiln_net_info;

KILN_API kiln_status kiln_net_describe(const kiln_net *net, kiln_net_info *info);
/* Tells the tensor that a node gives, with its layout, and (if op is not NULL) the operation of a
 * convolution as kiln_op_describe() does. */
KILN_API kiln_status kiln_net_tensor(const kiln_net *net, int node, kiln_form *form,
                                     kiln_op_info *op);

/* Lends the net an arena and a workspace of at least the sizes that kiln_net_describe() tells, in
 * place of its own. To be called before kiln_net_pack(). A buffer without memory object: the net
 * makes its own. Nets that never run at the same time may share both. */
KILN_API kiln_status kiln_net_lend(kiln_net *net, kiln_buffer arena, kiln_buffer workspace);

/* Reads all weights, packs them, and waits for that. The queue must be in order. */
KILN_API kiln_status kiln_net_pack(kiln_net *net, cl_command_queue queue);

/* Enqueues all nodes. `inputs` and `outputs` are the buffers of the inputs and of the kept nodes,
 * in the order in which they were added; they must not overlap. The queue must be in order, and may
 * change from call to call: runs of one net never overlap. The net waits for the n_wait events of
 * `wait`; *done (if not NULL) completes with the last node. */
KILN_API kiln_status kiln_net_enqueue(kiln_net *net, cl_command_queue queue,
                                      const kiln_buffer *inputs, const kiln_buffer *outputs,
                                      cl_uint n_wait, const cl_event *wait, cl_event *done);

/* Sets *ready to 1 where no operation runs a stand-in any more. Returns KILN_OPENCL, and names the
 * node, where an operation could not be compiled and goes on with its stand-in. */
KILN_API kiln_status kiln_net_ready(const kiln_net *net, int *ready);

/* Has everything compiled that a driver leaves to the first launch, as kiln_op_warm(), and waits
 * for it. */
KILN_API kiln_status kiln_net_warm(kiln_net *net);

/* Warms the net, and writes a bundle of all its programs into `dir`, as kiln_bundle(). */
KILN_API kiln_status kiln_net_bundle(kiln_net *net, const char *dir);

/* Gives all inputs another batch, and input i the spatial sizes sizes[i]; 0 and NULL: as they are.
 * Plans again. Operations that are not compiled yet run a program of general shape until they are,
 * as with settings.first_use, so that the call takes milliseconds. The queue is the one for
 * packing; waits for the last enqueue. On failure the net is as before. */
KILN_API kiln_status kiln_net_resize(kiln_net *net, cl_command_queue queue, int64_t batch,
                                     const int64_t (*sizes)[KILN_MAX_RANK]);

#ifdef __cplusplus
}
#endif

#endif
