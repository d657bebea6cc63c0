/* What the Winograd solvers share: which convolutions there are tiles for, and how they err. */
#ifndef KILN_WINOGRAD_H
#define KILN_WINOGRAD_H

#include "generator/plan/solver.h"

/* The convolution that the tiles are computed for: backward data is a forward pass over dy with the
 * filter turned round and what remains of the padding. */
typedef struct kiln_winograd {
    bool backward;
    int block;                    /* channels that lie together: lanes of a vector */
    int64_t src_pixel, dst_pixel; /* in memory too: elements from pixel to pixel; 0: plain */
    bool src_ahead, dst_streamed; /* as kiln_better_fetched(), kiln_better_streamed() */
    const kiln_core *cpu;         /* of the device */
    int64_t cache;                /* bytes of the device's last level */
    int64_t images, groups;
    int64_t filter[2], stride[2], dilation[2]; /* H, W */
    int taps[2];            /* of a phase: each of stride * stride has every stride-th tap */
    double waste;           /* the taps of all phases by those of the filter */
    int64_t src[2], dst[2]; /* H, W */
    int64_t src_c, dst_c;   /* channels of one group */
    int64_t src_rows;       /* their phases, with the padding of blocks between them */
    int64_t src_blocks, dst_blocks; /* of src_rows, dst_c */
    int64_t lead[2];                /* destination 0 starts its patch at source -lead */
} kiln_winograd;

/* Blocks of channels wherever they are filled. */
void kiln_winograd_prefer(kiln_shape *s, const kiln_device_facts *d);
/* True, with the reason, where there are no tiles for the convolution, whatever the layouts. */
bool kiln_winograd_reject_problem(const kiln_shape *s, kiln_why *why);
/* The same, and for layouts other than NCHW, NHWC and blocks of channels. */
bool kiln_winograd_reject(const kiln_shape *s, const kiln_device_facts *d, kiln_why *why);
/* `s` passed that check. */
kiln_winograd kiln_winograd_of(const kiln_shape *s, const kiln_device_facts *d);

/* The factor for bound_error(), with tiles of t products along an axis, so many taps along H and W
 * and sums over `channels`. The gradient of a filter of 3x3 is that of 4x4 taps, which are a tile
 * of dy, with sums over tiles. */
double kiln_winograd_amplification(int t, const int taps[2], int64_t channels);

/* ---- configs ---- */

extern const kiln_solver kiln_solver_winograd_fused, kiln_solver_winograd_staged,
    kiln_solver_winograd_int8;

/* The tables of both begin with these, and that of winograd_int8, which has T_SIDE for T_T. */
enum { WINOGRAD_T, WINOGRAD_TILES, WINOGRAD_W, WINOGRAD_KV, WINOGRAD_SHARED };

/* The largest T_T along one axis, and along both, where errors multiply. */
enum { WINOGRAD_LONGEST = 10, WINOGRAD_SQUARE = 8 };

/* Products along axis 0 or 1 (H, W) of a tile, elements of the destination there, and products of a
 * whole tile. */
int kiln_winograd_products(const kiln_winograd *w, const kiln_config *c, int axis);
int kiln_winograd_side(const kiln_winograd *w, const kiln_config *c, int axis);
int kiln_winograd_elements(const kiln_winograd *w, const kiln_config *c);
/* The least T_T for its filter. */
int kiln_winograd_least(const kiln_winograd *w);
/* Tiles along axis 0 or 1 (H, W), and of all images. */
int64_t kiln_winograd_tiles(const kiln_winograd *w, const kiln_config *c, int axis);
int64_t kiln_winograd_all_tiles(const kiln_winograd *w, const kiln_config *c);
/* Items of T_TILES tiles. */
int64_t kiln_winograd_items(const kiln_winograd *w, const kiln_config *c);
/* Tiles of T_KV blocks of one group's destination channels. */
int64_t kiln_winograd_dst_tiles(const kiln_winograd *w, const kiln_config *c);
/* Elements of one group's transformed filters. */
int64_t kiln_winograd_filters(const kiln_winograd *w, const kiln_config *c);
/* Bytes of the strip in local memory. */
int64_t kiln_winograd_strip(const kiln_winograd *w, const kiln_config *c);

/* How many tiles of `side` elements a run has at most, of a row of so many. */
int64_t kiln_winograd_run(int64_t row, int side, const kiln_config *c);

/* True, with the reason, where tiles and vectors contradict each other or a group's blocks of
 * destination channels. */
bool kiln_winograd_illegal_tiles(int64_t dst_blocks, const kiln_config *c, kiln_why *why);
/* True, with the reason, where a kernel's arrays, so many, do not fit local memory. */
bool kiln_winograd_no_room(const kiln_device_facts *d, int64_t bytes, int arrays, kiln_why *why);
/* True, with the reason, where the shared parameters contradict each other or the shape. */
bool kiln_winograd_illegal(const kiln_winograd *w, const kiln_config *c, kiln_why *why);
/* True where a search should leave them out. */
bool kiln_winograd_skip(const kiln_winograd *w, const kiln_device_facts *d, const kiln_config *c);
/* Sums and the operands of one step fit the vector registers. */
bool kiln_winograd_fits(const kiln_device_facts *d, const kiln_config *c);

/* For guess(): what it tries. */
typedef struct kiln_winograd_range {
    int first, last; /* of the first parameter, every other value */
    int tiles;       /* most T_TILES */
    int split;       /* most of the parameter behind the shared ones; 0: it stays as it is */
    bool (*fits)(const kiln_device_facts *d, const kiln_config *c);
} kiln_winograd_range;

/* The legal config with the least predicted time, or *c if none is faster. */
void kiln_winograd_guess(const kiln_solver *solver, const kiln_shape *s, const kiln_device_facts *d,
                         const kiln_winograd_range *range, kiln_config *c);

/* Time of the three steps for an item of so many tiles, in vector multiply-adds of one core. The
 * last two are for one tile of K. */
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
