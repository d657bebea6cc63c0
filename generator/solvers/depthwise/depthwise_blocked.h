/* What the files of the blocked depthwise solver share: its parameters, what a config makes of a
 * shape, and the time that takes. */
#ifndef KILN_DEPTHWISE_BLOCKED_H
#define KILN_DEPTHWISE_BLOCKED_H

#include "depthwise.h"

/* Positions in the parameter table. */
enum { TILE_W, TILE_H, TILES, STREAM, PARAMS };

/* A tile in pixels, and the source elements that its taps meet, from that of its first pixel. */
typedef struct depthwise_span {
    int64_t pixels, tiles, from, to;
} depthwise_span;

depthwise_span kiln_depthwise_span(const kiln_blocked *b, const kiln_config *c, int a);

/* Whether the compiler may know the columns that taps do not reach: they are in the first and last
 * tile only, and the code stays small. */
bool kiln_depthwise_unrolls(const kiln_blocked *b, const kiln_config *c);

/* Items that share one plane of a vector of channels. */
int64_t kiln_depthwise_strips(const kiln_blocked *b, const kiln_config *c);

/* Of plain tensors: source rows that an item turns into vectors of channels, and bytes that it
 * keeps of them and of its results. */
int64_t kiln_depthwise_rows(const kiln_blocked *b, const kiln_config *c);
int64_t kiln_depthwise_kept(const kiln_blocked *b, const kiln_config *c);

/* Whether vectors of results fill lines: such that do not are no good past the caches. */
bool kiln_depthwise_whole(const kiln_shape *s, const kiln_blocked *b, const kiln_config *c);

/* As kiln_solver has it. */
double kiln_depthwise_predict(const kiln_shape *s, const kiln_device_facts *d,
                              const kiln_config *c);

#endif
