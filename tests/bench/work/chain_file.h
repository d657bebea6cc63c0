/* Networks: convolutions that read each other's results, from files in networks/. */
#ifndef BENCH_CHAIN_FILE_H
#define BENCH_CHAIN_FILE_H

#include "kiln_chain.h"

#include <stdbool.h>

enum { CHAIN_LINKS = 256, CHAIN_NAME = 48 };

/* A network with plain layouts, and its constants as plain arrays. */
typedef struct chain_net {
    char name[CHAIN_NAME];
    kiln_link link[CHAIN_LINKS];
    int count;
    float *x; /* of the links that read from outside */
    float *w[CHAIN_LINKS], *bias[CHAIN_LINKS];
} chain_net;

/* Reads "mobilenet_v2", or the path of a file, and makes constants that keep results small. Returns
 * false, with the reason on standard error. */
bool chain_net_read(chain_net *net, const char *file);
void chain_net_free(chain_net *net);

#endif
