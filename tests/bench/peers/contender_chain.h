/* Whole networks as contenders: kiln's in one of several ways, and oneDNN's. The result is the y of
 * the last link; all of them read the same plain arrays. */
#ifndef BENCH_CONTENDER_CHAIN_H
#define BENCH_CONTENDER_CHAIN_H

#include "tests/bench/work/chain_file.h"

#include "contender.h"

/* How kiln's layouts and places are decided. */
typedef enum chain_way {
    CHAIN_PLAIN,    /* NCHW everywhere */
    CHAIN_GREEDY,   /* link by link: x as it comes, y as the link's solver prefers */
    CHAIN_TOGETHER, /* kiln_chain() */
    CHAIN_ARENA,    /* kiln_chain(), with its tensors in one buffer; else each has its own */
    CHAIN_WAYS
} chain_way;

const char *chain_way_name(chain_way way);

/* Makes kiln's contender, which `detail` describes. Returns NULL with a sentence in `why`. */
contender *contender_chain(const session *s, const chain_net *net, chain_way way, char *why);

/* Returns the time in ms of kiln's convolutions, each of them measured alone, the best of
 * many rows of runs, all together; negative: a run failed. */
double contender_chain_alone(contender *c);

/* Makes oneDNN's: formats that it chooses, reorders where they differ, bias, sum and activation in
 * the convolutions, y in place of a residual that nobody else reads. Returns NULL with an empty
 * `why` where oneDNN was not found when this was built. */
contender *contender_chain_onednn(const chain_net *net, char *why);

#endif
