/* What direct_blocked and nhwc_direct share, which differ only in their layouts: parameters, what a
 * config makes of a shape, the predicted time, and the plan. */
#ifndef KILN_DIRECT_BLOCKED_H
#define KILN_DIRECT_BLOCKED_H

#include "generator/geometry/blocked.h"

/* Positions in the parameter table. */
enum {
    BLOCKED_TILE_W,
    BLOCKED_TILE_KV,
    BLOCKED_ORDER,
    BLOCKED_LANES,
    BLOCKED_GROUP,
    BLOCKED_STREAM,
    BLOCKED_PARAMS
};

extern const kiln_param kiln_direct_blocked_params[BLOCKED_PARAMS];

static inline bool is_cpu(const kiln_device_facts *d)
{
    return d->kind == KILN_DEVICE_CPU;
}

/* Which items follow one another (T_ORDER). PIXELS: tiles of pixels, then tiles of channels, then
 * images. CHANNELS: tiles of channels, then tiles of pixels. IMAGES: tiles of pixels of all images,
 * then tiles of channels. PARTS: as PIXELS, but of all images within a part of the channels, whose
 * weights stay in the cache of a core. */
enum { ORDER_PIXELS, ORDER_CHANNELS, ORDER_IMAGES, ORDER_PARTS };

/* Which tiles read a copy of their source row that has zeros in the place of padding. */
typedef enum blocked_strips { STRIPS_NEVER, STRIPS_AT_BORDERS, STRIPS_ALWAYS } blocked_strips;

blocked_strips kiln_direct_blocked_strips(const kiln_blocked *b, const kiln_shape *s,
                                          const kiln_device_facts *d, const kiln_blocked_borders *e,
                                          const kiln_config *c);

/* Return the vectors of destination channels of one group, and the empty vectors besides. The
 * vectors of the last group cover the padding of the layout, except the empty ones: whole vectors
 * of padding, which items store as zero without summing. */
int64_t kiln_direct_blocked_vectors(const kiln_blocked *b, const kiln_config *c);
int64_t kiln_direct_blocked_empty(const kiln_blocked *b, const kiln_config *c);
/* Returns the channels of padding in the layout of the destination. */
int64_t kiln_direct_blocked_padding(const kiln_blocked *b);

/* Returns how many lanes of a vector to load or store at once: the most that divide `most`. */
int64_t kiln_direct_blocked_at_once(int64_t most);
/* Returns how many lanes of a destination vector lie together, wherever the channels of a group
 * begin. */
int64_t kiln_direct_blocked_piece(const kiln_blocked *b, int64_t lanes);

/* Returns how many source channels an item multiplies at once: with bytes 2 on a CPU, 4 with VNNI;
 * else 1. */
int kiln_direct_blocked_together(const kiln_blocked *b, const kiln_shape *s,
                                 const kiln_device_facts *d, const kiln_config *c);

/* Returns how many channels the loop over taps takes at a time: channels within a block or whole
 * blocks, wherever the channels of a group begin. */
int64_t kiln_direct_blocked_step(const kiln_blocked *b, const kiln_shape *s);

/* Returns the accumulators of each sum of a tile. With more of them fewer additions wait for one
 * another. */
int kiln_direct_blocked_accumulators(const kiln_blocked *b, const kiln_shape *s,
                                     const kiln_device_facts *d, const kiln_config *c);

/* Returns the hardware vectors of sums of a tile. */
int kiln_direct_blocked_sums(const kiln_device_facts *d, const kiln_config *c);

/* Return the tiles of the pixels of an image, and of all channels. */
int64_t kiln_direct_blocked_tiles(const kiln_blocked *b, const kiln_config *c);
int64_t kiln_direct_blocked_tiles_k(const kiln_blocked *b, const kiln_config *c);

/* Returns the tiles of channels of a part (ORDER_PARTS); the last part may have fewer. */
int64_t kiln_direct_blocked_part(const kiln_blocked *b, const kiln_device_facts *d,
                                 const kiln_config *c);

/* Channel blocking: return how many tiles of pixels an item computes together, and how many source
 * channels it takes at a time for all of them. Blocking 1: each tile has an item of its own, which
 * takes all channels. A chunk of channels is whole steps. */
int64_t kiln_direct_blocked_channel_blocking(const kiln_blocked *b, const kiln_device_facts *d,
                                             const kiln_config *c);
int64_t kiln_direct_blocked_chunk(const kiln_blocked *b, const kiln_shape *s,
                                  const kiln_device_facts *d, const kiln_config *c);

/* Returns whether items of a filter of one tap had better prefetch pixels, because the tensors come
 * from beyond the caches of a core. */
bool kiln_direct_blocked_prefetches(const kiln_blocked *b, const kiln_shape *s,
                                    const kiln_device_facts *d);

/* Returns whether the layout of x or y ('x', 'y') has all channels of a pixel together: NHWC and
 * its kin, padded or not. NCHW does not count, however few its pixels or channels. */
bool kiln_direct_blocked_is_last(const kiln_shape *s, char tensor);

/* Returns true, with the reason, where neither solver takes the shape, whatever the layouts of the
 * data. */
bool kiln_direct_blocked_refuses(const kiln_shape *s, kiln_why *why);

/* As the members of kiln_solver. */
bool kiln_direct_blocked_illegal(const kiln_solver *self, const kiln_shape *s,
                                 const kiln_device_facts *d, const kiln_config *c, kiln_why *why);
bool kiln_direct_blocked_skip(const kiln_solver *self, const kiln_shape *s,
                              const kiln_device_facts *d, const kiln_config *c);
void kiln_direct_blocked_guess(const kiln_solver *self, const kiln_shape *s,
                               const kiln_device_facts *d, kiln_config *c);

double kiln_direct_blocked_predict(const kiln_solver *self, const kiln_shape *s,
                                   const kiln_device_facts *d, const kiln_config *c);
void kiln_direct_blocked_emit(const kiln_solver *self, const kiln_shape *s,
                              const kiln_device_facts *d, const kiln_config *c, kiln_plan *plan);

/* Returns what predict() does, of a shape whose geometry is known. */
double kiln_direct_blocked_ms(const kiln_blocked *b, const kiln_shape *s,
                              const kiln_device_facts *d, const kiln_config *c);

#endif
