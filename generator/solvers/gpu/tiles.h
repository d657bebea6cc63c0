/* Products of matrices in tiles that the items of a work-group share through local memory: the
 * common part of the gemm solvers, whatever the matrices are made of
 * (templates/gpu/gemm_tile.cl). */
#ifndef KILN_TILES_H
#define KILN_TILES_H

#include "generator/geometry/blocked.h"
#include "generator/plan/config_best.h"
#include "generator/plan/solver.h"

/* Positions in the parameter tables. */
enum { TILES_BM, TILES_BN, TILES_BK, TILES_TM, TILES_TN, TILES_SPLIT, TILES_PARAMS };

/* The rows of all parameters but T_SPLIT, which a solver limits itself. */
#define TILES_TABLE                                                                                \
    [TILES_BM] = {"T_BM", 4, {16, 32, 64, 128}, 0, 0},                                             \
    [TILES_BN] = {"T_BN", 4, {32, 64, 128, 256}, 0, 0},                                            \
    [TILES_BK] = {"T_BK", 5, {8, 16, 32, 64, 128}, 0, 0}, [TILES_TM] = {"T_TM", 2, {4, 8}, 0, 0},  \
    [TILES_TN] = {"T_TN", 2, {4, 8}, 0, 0}

/* The config of the smallest tile, which is legal where any is. */
extern const kiln_config kiln_tiles_smallest;

/* How an item brings an element of a piece: as one of a vector of four; alone, by the tap that a
 * step has; alone, inside or outside of the source, by a tap of its own; by a tap of its own
 * that divisions find. */
typedef enum kiln_tiles_load {
    KILN_TILES_OF_FOUR,
    KILN_TILES_ALONE,
    KILN_TILES_BOUNDED,
    KILN_TILES_LOOKED_FOR
} kiln_tiles_load;

/* A product of matrices in tiles of a config. */
typedef struct kiln_tiles {
    int64_t items;                  /* work-items of a work-group */
    int64_t local_bytes;            /* bytes of local memory of a work-group */
    double count;                   /* work-groups in all */
    int64_t steps;                  /* steps of T_BK terms that one group adds up */
    kiln_tiles_load a_load, b_load; /* how elements of both pieces are brought */
    double b_lines; /* cache lines in which elements of b lie, over those of neighbours */
} kiln_tiles;

/* A convolution as the kernels see it: forward, or backward data as forward over dy. */
typedef struct kiln_tiles_walk {
    int64_t src_c, dst_c; /* channels of one group */
    int64_t src[3], dst[3], filter[3], pad[3];
} kiln_tiles_walk;

/* Returns the slices of a group, each of which multiplies its share of the terms of a step. */
int kiln_tiles_slices(const kiln_config *c);
/* Returns the items of a work-group. */
int64_t kiln_tiles_items(const kiln_config *c);
/* Returns the elements of local memory in which slices add up their sums. */
int64_t kiln_tiles_slices_room(const kiln_config *c);
/* Returns whether `items` items can read `rows` rows of `across` pieces, each item equally many
 * of them. */
bool kiln_tiles_share(int64_t items, int64_t across, int64_t rows);
/* For illegal(): returns true, with the reason, where tiles and the items' parts contradict each
 * other, or the device has no group or local memory of that size. */
bool kiln_tiles_refused(const kiln_tiles *t, const kiln_device_facts *d, const kiln_config *c,
                        kiln_why *why);
/* For guess() and skip(): returns whether groups are so large, or items need so many registers,
 * that a config is not worth trying. */
bool kiln_tiles_unfit(const kiln_tiles *t, const kiln_config *c);
/* For guess(): sets *c to g->best, a legal config, or on a GPU to the fastest of all whose tiles
 * the table has, whose splits are in `splits`, and whose other parameters are in the `nmore`
 * ranges. */
void kiln_tiles_guess(kiln_guess *g, const kiln_param *params, kiln_range splits,
                      const kiln_range *more, int nmore, kiln_config *c);
/* For skip(): returns whether a search leaves out groups so small or large. */
bool kiln_tiles_skipped(const kiln_tiles *t, const kiln_device_facts *d, const kiln_config *c);
/* Returns the same problem on the same memory with fewer axes: filters as large as images become
 * 1x1 filters of images of one pixel, and images of other 1x1 filters become one row. Any other
 * shape stays as it is. */
kiln_shape kiln_tiles_fold(const kiln_shape *s);
/* For reject(): returns whether x and y are NCHW or NHWC (or their 1-D and 3-D kin) without
 * padding, which nobody would write. */
bool kiln_tiles_take_layouts(const kiln_shape *s);
/* Returns whether four pixels of an image follow one another, in groups of four from the first
 * on. */
bool kiln_tiles_have_quads(const kiln_pitch *p, const int64_t size[3]);
/* For emit(): defines types, sizes and parameters, for the last stage. */
void kiln_tiles_define(const kiln_shape *s, const kiln_tiles_walk *w, const kiln_device_facts *d,
                       const kiln_config *c, kiln_plan *plan);

/* Returns the expected time, in ms, of operations in a row of `launches` launches each that keep
 * the device busy for `ms`: the host needs time for each launch, too. */
double kiln_tiles_row_ms(const kiln_device_facts *d, double ms, int launches);

/* The first fit of all solvers that call kiln_tiles_ms(). */
extern const kiln_fit kiln_tiles_fit;

/* Returns the expected time of a launch, in ms, without moving tensors from memory. `fit` is the
 * first of the solver's. */
double kiln_tiles_ms(const kiln_fit *fit, const kiln_tiles *t, const kiln_device_facts *d,
                     const kiln_config *c);

#endif
