/* What the Winograd solvers share: the convolutions that tiles exist for, and their errors. */
#ifndef KILN_WINOGRAD_H
#define KILN_WINOGRAD_H

#include "generator/plan/solver.h"

/* The convolution that the tiles compute: backward data is a forward pass over dy, with the filter
 * rotated by 180 degrees and the rest of the padding. */
typedef struct kiln_winograd {
    bool backward;
    int block;                    /* channels that lie together: lanes of a vector */
    int64_t src_pixel, dst_pixel; /* elements from pixel to pixel, if channels lie together in
                                     memory too; 0: plain */
    bool src_ahead, dst_streamed; /* as kiln_better_fetched(), kiln_better_streamed() */
    bool has_bf16;                /* of the device */
    const kiln_core *cpu;         /* of the device */
    int64_t cache;                /* bytes of the device's last level */
    int64_t images, groups;
    int64_t filter[2], stride[2], dilation[2]; /* H, W */
    int taps[2];  /* taps of a phase: each of stride * stride phases has every stride-th tap */
    double waste; /* the taps of all phases by those of the filter */
    int64_t src[2], dst[2]; /* H, W */
    int64_t src_c, dst_c;   /* channels of one group */
    int64_t src_rows;       /* channels of all phases, with the padding of blocks between phases */
    int64_t src_blocks, dst_blocks; /* of src_rows, dst_c */
    int64_t lead[2];                /* the patch of destination 0 starts at source -lead */
} kiln_winograd;

/* For prefer(): blocks of channels wherever channels fill them. */
void kiln_winograd_prefer(const kiln_solver *self, kiln_shape *s, const kiln_device_facts *d);
/* Returns true, with the reason, where no tiles exist for the convolution, whatever the layouts. */
bool kiln_winograd_reject_problem(const kiln_shape *s, kiln_why *why);
/* Returns true likewise, and for layouts other than NCHW, NHWC and blocks of channels. */
bool kiln_winograd_reject(const kiln_shape *s, const kiln_device_facts *d, kiln_why *why);
/* Returns the convolution of a shape that passed that check. */
kiln_winograd kiln_winograd_of(const kiln_shape *s, const kiln_device_facts *d);

/* Returns the factor for bound_error(), with tiles of t products along an axis, `taps` along H and
 * W, and sums over `channels`. The gradient of a 3x3 filter has 4x4 taps, which are a tile of dy,
 * and sums over tiles. */
double kiln_winograd_amplification(int t, const int taps[2], int64_t channels);

/* ---- configs ---- */

/* The parameter tables of winograd_fused and winograd_staged begin with these, and so does the
 * table of winograd_int8, which has T_SIDE for T_T. */
enum { WINOGRAD_T, WINOGRAD_TILES, WINOGRAD_W, WINOGRAD_KV, WINOGRAD_SHARED };

/* The largest T_T along one axis, and along both, where errors multiply. */
enum { WINOGRAD_LONGEST = 10, WINOGRAD_SQUARE = 8 };

/* Returns the products of a tile. */
int kiln_winograd_elements(const kiln_winograd *w, const kiln_config *c);
/* Returns the least T_T for the filter. */
int kiln_winograd_least(const kiln_winograd *w);
/* Returns the tiles of all images. */
int64_t kiln_winograd_all_tiles(const kiln_winograd *w, const kiln_config *c);
/* Returns the items of T_TILES tiles. */
int64_t kiln_winograd_items(const kiln_winograd *w, const kiln_config *c);
/* Returns the tiles of T_KV blocks of the destination channels of one group. */
int64_t kiln_winograd_dst_tiles(const kiln_winograd *w, const kiln_config *c);
/* Returns the bytes of the strip in local memory. */
int64_t kiln_winograd_strip(const kiln_winograd *w, const kiln_config *c);

/* Returns how many tiles of `side` elements a run has at most, in a row of `row` tiles. */
int64_t kiln_winograd_run(int64_t row, int side, const kiln_config *c);

/* Returns true, with the reason, where tiles and vectors contradict each other or the blocks of
 * destination channels of a group. */
bool kiln_winograd_illegal_tiles(int64_t dst_blocks, const kiln_config *c, kiln_why *why);
/* Returns true, with the reason, where the `arrays` arrays of a kernel do not fit local memory. */
bool kiln_winograd_no_room(const kiln_device_facts *d, int64_t bytes, int arrays, kiln_why *why);
/* Returns true, with the reason, where the shared parameters contradict each other or the shape. */
bool kiln_winograd_illegal(const kiln_winograd *w, const kiln_config *c, kiln_why *why);
/* Returns true where a search should skip the config. */
bool kiln_winograd_skip(const kiln_winograd *w, const kiln_device_facts *d, const kiln_config *c);
/* Returns whether sums and the operands of one step fit the vector registers. */
bool kiln_winograd_fits(const kiln_device_facts *d, const kiln_config *c);

/* For guess(): the values to try. */
typedef struct kiln_winograd_range {
    int first, last; /* of the first parameter, every other value */
    int tiles;       /* most T_TILES */
    int split; /* most of the parameter behind the shared ones; 0: the guess does not change it */
    bool (*fits)(const kiln_device_facts *d, const kiln_config *c);
} kiln_winograd_range;

/* Sets *c to the legal config with the least predicted time, or leaves it if none is faster. */
void kiln_winograd_guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                         const kiln_winograd_range *range, kiln_config *c);

/* Times of the three steps for an item of `count` tiles, in vector multiply-adds of one core; the
 * last two for one tile of K. */
typedef struct kiln_winograd_cost {
    double source, products, destination;
} kiln_winograd_cost;

kiln_winograd_cost kiln_winograd_cost_of(const kiln_winograd *w, const kiln_config *c,
                                         int64_t count);
/* Returns the time of so many vector multiply-adds on all cores, in ms. */
double kiln_winograd_ms(const kiln_winograd *w, const kiln_device_facts *d, double operations);
/* Returns the time of so many vector multiply-adds in ms, while `readers` items read all filters.
 * If a cache holds the filters the sums hide most of the time to read them. */
double kiln_winograd_multiply_ms(const kiln_winograd *w, const kiln_device_facts *d,
                                 const kiln_config *c, double operations, int64_t readers);

/* Adds the pack stage. */
void kiln_winograd_emit_pack(const kiln_shape *s, const kiln_winograd *w, const kiln_solver *solver,
                             const kiln_config *c, bool staged, kiln_plan *plan);
/* Adds a stage and everything that templates/winograd.cl wants defined, but no argument. All stages
 * of a plan are one program. */
void kiln_winograd_stage(const kiln_shape *s, const kiln_winograd *w, const kiln_solver *solver,
                         const kiln_config *c, bool staged, const char *kernel, kiln_plan *plan);

#endif
