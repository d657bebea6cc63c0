/* Products of matrices on tensor cores, in tiles that the warps of a work-group share: the
 * common part of solvers whose kernels build on templates/gpu/mma.cl. */
#ifndef KILN_MMA_TILES_H
#define KILN_MMA_TILES_H

#include "generator/plan/config_best.h"
#include "generator/plan/solver.h"

/* Positions in the parameter tables: rows and columns of a tile, warps along both, bytes of terms
 * in a stage, stages in local memory, groups that share the terms of a tile. */
enum {
    MMA_ROWS,
    MMA_COLUMNS,
    MMA_WARPS_R,
    MMA_WARPS_C,
    MMA_BYTES,
    MMA_STAGES,
    MMA_SPLIT,
    MMA_PARAMS
};

/* The instructions that multiply, of templates/gpu/mma.cl or of wgmma.cl. Turned: rows of local
 * memory hold the same term. */
typedef enum kiln_mma_kind {
    KILN_MMA,
    KILN_WGMMA,
    KILN_MMA_TURNED,
    KILN_WGMMA_TURNED
} kiln_mma_kind;

/* The data by which solvers of a product differ, besides their parameter tables:
 * kiln_solver.own. */
typedef struct kiln_mma_variant {
    kiln_mma_kind kind;
    kiln_config smallest; /* a config that is legal where any is */
} kiln_mma_variant;

/* A product of matrices in tiles of a config. */
typedef struct kiln_mma_tiles {
    kiln_mma_kind kind;
    kiln_type type;      /* type of the factors */
    int64_t items;       /* work-items of a work-group */
    int64_t local_bytes; /* bytes of local memory of a work-group */
    int64_t out_size;    /* bytes of a result that a group writes */
    double count;        /* work-groups in all */
    double steps;        /* steps of T_BYTES of terms that one group adds up */
    double share;        /* share of a step's products that are multiplied; others meet zeros */
} kiln_mma_tiles;

/* Returns how many teams of warps multiply the terms of a step, 128 bytes each. */
int kiln_mma_teams(const kiln_config *c);

/* Returns the tiles of a config, without `count` and `steps`. Where results are `exchanged`, they
 * pass through local memory. A group has `most_steps` steps at most, and no more stages than that.
 */
kiln_mma_tiles kiln_mma_tiles_of(kiln_mma_kind kind, kiln_type type, int64_t out_size,
                                 bool exchanged, int64_t most_steps, const kiln_config *c);

/* For reject(): returns true, with the reason, where the device has no tensor cores that kiln
 * reaches, or they do not multiply the shape's types as its math mode asks. */
bool kiln_mma_lacks(const kiln_shape *s, const kiln_device_facts *d, kiln_mma_kind kind,
                    kiln_why *why);
/* For illegal(): returns true, with the reason, where tiles and warps contradict each other, or the
 * device has no group, registers or local memory of that size. */
bool kiln_mma_refused(const kiln_mma_tiles *t, const kiln_device_facts *d, const kiln_config *c,
                      kiln_why *why);
/* For guess() and skip(): returns whether groups are so large that a config is not worth trying. */
bool kiln_mma_unfit(const kiln_mma_tiles *t, const kiln_config *c);
/* For guess() of a variant: returns the config that takes least time, among all values in the
 * parameter table and the numbers of parts in `splits`. `guess` has all but the best config. */
kiln_config kiln_mma_best(const kiln_guess *guess, const int *splits, int nsplits);
/* Defines every parameter and the kind, for the last stage. */
void kiln_mma_define(const kiln_mma_tiles *t, const kiln_device_facts *d, const kiln_config *c,
                     kiln_plan *plan);

/* Returns how many times as large the errors are as those of plain sums of `terms` products;
 * `chain` of the products are added one after the other in the same register. */
double kiln_mma_amplification(kiln_type type, double terms, double chain);

/* The fit for each kind. */
extern const kiln_fit *const kiln_mma_fits[KILN_WGMMA_TURNED + 1];

/* Returns the expected time of a launch, in ms, without moving tensors from memory. `fit` is the
 * solver's only one. */
double kiln_mma_ms(const kiln_fit *fit, const kiln_mma_tiles *t, const kiln_device_facts *d,
                   const kiln_config *c);
/* Returns the time to multiply and to move, of which the shorter one is never quite hidden: of
 * configs that move the same for as long, the one that multiplies for less time is faster. */
double kiln_mma_both_ms(const kiln_fit *fit, double multiply, double move);
/* Returns the time of an operation of `ms` and so many launches: where there are several, the host
 * may set the pace. */
double kiln_mma_row_ms(const kiln_device_facts *d, double ms, int launches);

#endif
