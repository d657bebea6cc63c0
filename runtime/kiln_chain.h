/* Chains: convolutions that read each other's results, with layouts that suit the whole, and places
 * for the tensors in one buffer: the plan of a net (kiln_net.h), for a program that creates and
 * enqueues the operations itself.
 *
 * A solver that is fastest in its own layout may cost its neighbours more than it saves.
 * kiln_chain() decides all layouts that are "any" together, by the predicted time of all
 * convolutions and of the reformats between them. Tuning rows have no say in that; the operations
 * that are created for the links use them as ever.
 *
 *     kiln_link net[3] = {
 *         {.problem = expand},                                     // x comes from outside
 *         {.problem = depthwise, .x_back = 1},                     // reads the y of net[0]
 *         {.problem = project, .x_back = 1, .residual_back = 2}};  // residual: the y of net[0]
 *     kiln_chain_info info;
 *     kiln_chain(k, net, 3, &info);                                // then, for each link:
 *     kiln_conv_create(k, &net[i].problem, &choice, &op[i]);
 *
 * Set the layouts that the chain may decide to "any": "" stands for NCHW, here too. Where two
 * neighbours want different layouts, the link has a reformat, for kiln_reformat_create(), which
 * runs before it.
 *
 * Places. info.arena_size bytes hold the tensors that the links write, for a caller that runs the
 * links in order, each after the one before: what no later link reads gives its bytes to others. A
 * chain in one such buffer of a few MiB stays in a CPU's caches, which tensors of their own leave;
 * where the cores share no cache, it is no faster (docs/network.md).
 */
#ifndef KILN_CHAIN_H
#define KILN_CHAIN_H

#include "kiln.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One convolution of a chain, KILN_FORWARD. The caller sets the first three fields, and
 * kiln_chain() the others. */
typedef struct kiln_link {
    kiln_problem problem; /* checked and completed by kiln_chain(), with no layout "any" any more */
    /* How many links back the link stands whose y is this one's x, or its residual, which needs
     * problem.epilogue.beta. 0: the tensor comes from outside the chain. */
    int x_back, residual_back;

    /* What must run before the link. A reformat reads the y of the link that x_back or
     * residual_back names, and writes to x_offset or residual_offset; its `to` is "" where there is
     * none. */
    kiln_reformat x_reformat, residual_reformat;
    /* Bytes into the arena where the tensors of kiln_buffers lie; -1: x or residual come from
     * outside. A residual may lie where y does, as kiln_buffers allows. */
    int64_t x_offset, residual_offset, y_offset;
    double predicted_ms; /* of the solvers' guesses; with its reformats */
} kiln_link;

typedef struct kiln_chain_info {
    double predicted_ms; /* of all links */
    int reformats;       /* how many there are */
    int exact;           /* 1: no other layouts that its solvers prefer are predicted to take less
                            time; 0: too many tensors are in use at once to try all */
    int64_t arena_size;  /* bytes; offsets are multiples of what kiln_buffer asks for */
} kiln_chain_info;

/* Decides the layouts of `count` links, in the order in which they run. `info` may be NULL. May be
 * called from any thread, and needs no device. Returns KILN_INVALID, naming the link, where a
 * problem makes no sense, is not KILN_FORWARD, or does not fit the tensor that it reads;
 * KILN_UNSUPPORTED where no solver takes a link, or more than 64 tensors are in use at once; the
 * call then changes no link. Images are not chosen, and refused. */
KILN_API kiln_status kiln_chain(kiln *k, kiln_link *links, size_t count, kiln_chain_info *info);

#ifdef __cplusplus
}
#endif

#endif
