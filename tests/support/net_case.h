/* Graphs for tests of nets, and what each of their nodes should give, by plain loops in double. */
#ifndef NET_CASE_H
#define NET_CASE_H

#include "kiln_net.h"

#include <stdbool.h>

enum { NET_NODES = 64 };

/* A graph and its numbers. Tensors of `value` are plain: [N][C][H][W]. */
typedef struct net_case {
    kiln_graph *graph;
    int count;
    kiln_node node[NET_NODES];
    kiln_form form[NET_NODES];
    float *w[NET_NODES], *bias[NET_NODES];
    float *input[NET_NODES]; /* of the nodes that are inputs */
    double *value[NET_NODES];
    bool keep_all; /* every node that may be kept is */
} net_case;

/* Each adds a node with weights and a name and returns its number. */
int net_input(net_case *c, int64_t batch, int64_t channels, int64_t side);
/* With a bias; `residual` may be 0. */
int net_conv(net_case *c, int x, int residual, int64_t channels, int64_t filter, int64_t stride,
             int64_t groups, kiln_activation activation);
/* A transposed 2x2 convolution with stride 2. */
int net_up(net_case *c, int x, int64_t channels);
int net_pool(net_case *c, int x, int other, kiln_pool pool);
int net_concat(net_case *c, int a, int b, int d);
int net_split(net_case *c, int x, int64_t first, int64_t channels);
/* A foreign node that copies. */
int net_foreign(net_case *c, int x, const char *layout);

/* Marks the node that was added last. */
void net_keep(net_case *c, const char *layout);

/* Makes the graph again, with the case's `keep_all` and other sizes of its inputs, and all values.
 */
void net_compute(net_case *c, int64_t batch, int64_t side);
void net_free(net_case *c);

/* Whole graphs: residuals; skips and transposed convolutions; branches, splits, squeeze and excite.
 */
void net_mobile(net_case *c);
void net_u(net_case *c);
void net_branches(net_case *c);

#endif
