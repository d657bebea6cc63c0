/* What the files of the blocked depthwise solver share: its parameters, what a config makes of a
 * shape, and the predicted time. */
#ifndef KILN_DEPTHWISE_BLOCKED_H
#define KILN_DEPTHWISE_BLOCKED_H

#include "depthwise.h"

/* Positions in the parameter table. */
enum { TILE_W, TILE_H, TILES, STREAM, PARAMS };

/* A tile in pixels, and the source elements that its taps meet, counted from the element of its
 * first pixel. */
typedef struct depthwise_span {
    int64_t pixels, tiles, from, to;
} depthwise_span;

depthwise_span kiln_depthwise_span(const kiln_blocked *b, const kiln_config *c, int a);

/* Returns how many source channels of a group are multiplied at once: 4 where the CPU multiplies
 * bytes like that, else 1. */
int kiln_depthwise_together(const kiln_shape *s, const kiln_device_facts *d, const kiln_blocked *b,
                            const kiln_config *c);

/* Returns whether to let the compiler know the columns that taps do not reach: only the first and
 * the last tile have such columns, and the code stays small. */
bool kiln_depthwise_unrolls(const kiln_shape *s, const kiln_device_facts *d, const kiln_blocked *b,
                            const kiln_config *c);

/* Returns how many items share one plane of a vector of channels. */
int64_t kiln_depthwise_strips(const kiln_blocked *b, const kiln_config *c);

/* For plain tensors: return how many source rows an item transposes to vectors of channels, and how
 * many bytes it keeps of these rows and of its results. */
int64_t kiln_depthwise_rows(const kiln_blocked *b, const kiln_config *c);
int64_t kiln_depthwise_kept(const kiln_blocked *b, const kiln_config *c);

/* Returns whether vectors of results fill whole cache lines: others are slow to store past the
 * caches. */
bool kiln_depthwise_whole(const kiln_shape *s, const kiln_blocked *b, const kiln_config *c);

extern const kiln_fit *const kiln_depthwise_blocked_fits[1];

/* As predict() of kiln_solver; `b` is kiln_depthwise_of(s, d). */
double kiln_depthwise_predict(const kiln_solver *self, const kiln_shape *s,
                              const kiln_device_facts *d, const kiln_blocked *b,
                              const kiln_config *c);

#endif
