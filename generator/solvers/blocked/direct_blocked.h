/* What the blocked direct solvers share, direct_blocked and nhwc_direct: all but the layouts they
 * take. Parameters, what a config makes of a shape, the time that takes, and the plan. */
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

/* What follows what: tiles of pixels within one of channels within an image (T_ORDER); channels
 * within pixels; tiles of pixels of all images within one of channels; as the first, but of all
 * images within a part of the channels, whose weights stay in a core's cache. */
enum { ORDER_PIXELS, ORDER_CHANNELS, ORDER_IMAGES, ORDER_PARTS };

/* Which tiles read a copy of their source row that has zeros in the place of padding. */
typedef enum blocked_strips { STRIPS_NEVER, STRIPS_AT_ENDS, STRIPS_ALWAYS } blocked_strips;

blocked_strips kiln_direct_blocked_strips(const kiln_blocked *b, const kiln_shape *s,
                                          const kiln_device_facts *d, const kiln_blocked_ends *e,
                                          const kiln_config *c);

/* Vectors of destination channels of one group; those of the last group cover the padding, but for
 * the empty ones: whole ones in the padding, which are zero unsummed. */
int64_t kiln_direct_blocked_vectors(const kiln_blocked *b, const kiln_config *c);
int64_t kiln_direct_blocked_empty(const kiln_blocked *b, const kiln_config *c);
/* Channels of padding in the destination's layout. */
int64_t kiln_direct_blocked_padding(const kiln_blocked *b);

/* Vectors are loaded and stored in this many lanes at once, if they divide `most`. */
int64_t kiln_direct_blocked_at_once(int64_t most);
/* Lanes of a destination vector that lie together, wherever the channels of a group begin. */
int64_t kiln_direct_blocked_piece(const kiln_blocked *b, int64_t lanes);

/* Source channels that an item multiplies at once: 2 bytes on a CPU, 4 with VNNI; else 1. */
int kiln_direct_blocked_together(const kiln_blocked *b, const kiln_shape *s,
                                 const kiln_device_facts *d, const kiln_config *c);

/* Channels that the loop over taps takes at a time: within a block or whole blocks, wherever the
 * channels of a group begin. */
int64_t kiln_direct_blocked_step(const kiln_blocked *b);

/* Accumulators of each sum of a tile. With more of them fewer additions wait for one another. */
int kiln_direct_blocked_accumulators(const kiln_blocked *b, const kiln_device_facts *d,
                                     const kiln_config *c);

/* Hardware vectors of sums that a tile has. */
int kiln_direct_blocked_sums(const kiln_device_facts *d, const kiln_config *c);

/* Tiles of an image's pixels, and of all channels. */
int64_t kiln_direct_blocked_tiles(const kiln_blocked *b, const kiln_config *c);
int64_t kiln_direct_blocked_tiles_k(const kiln_blocked *b, const kiln_config *c);

/* Tiles of channels of a part (ORDER_PARTS); the last part may have fewer. */
int64_t kiln_direct_blocked_part(const kiln_blocked *b, const kiln_device_facts *d,
                                 const kiln_config *c);

/* Channel blocking: tiles of pixels that an item computes together, chunk by chunk of source
 * channels. 1: each tile has an item of its own, which computes all channels. A chunk is whole
 * steps. */
int64_t kiln_direct_blocked_channel_blocking(const kiln_blocked *b, const kiln_device_facts *d,
                                             const kiln_config *c);
int64_t kiln_direct_blocked_chunk(const kiln_blocked *b, const kiln_device_facts *d,
                                  const kiln_config *c);

/* Whether a filter of one tap reads pixels from so far away that items had better fetch them. */
bool kiln_direct_blocked_far(const kiln_blocked *b, const kiln_shape *s,
                             const kiln_device_facts *d);

/* Whether the layout of x or y ('x', 'y') has all channels of a pixel together: NHWC
 * and its kin, padded or not. NCHW is none, however few its pixels or channels. */
bool kiln_direct_blocked_is_last(const kiln_shape *s, char tensor);

/* What neither solver takes, whatever the layouts of the data. */
bool kiln_direct_blocked_refuses(const kiln_shape *s, kiln_why *why);

/* As kiln_solver has them. */
bool kiln_direct_blocked_illegal(const kiln_shape *s, const kiln_device_facts *d,
                                 const kiln_config *c, kiln_why *why);
bool kiln_direct_blocked_skip(const kiln_shape *s, const kiln_device_facts *d,
                              const kiln_config *c);
void kiln_direct_blocked_guess(const kiln_shape *s, const kiln_device_facts *d, kiln_config *c);

double kiln_direct_blocked_predict(const kiln_shape *s, const kiln_device_facts *d,
                                   const kiln_config *c);
void kiln_direct_blocked_emit(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                              kiln_plan *plan);

/* As predict(), of a shape whose geometry is known. */
double kiln_direct_blocked_ms(const kiln_blocked *b, const kiln_shape *s,
                              const kiln_device_facts *d, const kiln_config *c);

#endif
