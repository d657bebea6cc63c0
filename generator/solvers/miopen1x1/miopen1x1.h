/* The parameter rule of MIOpen's solver ConvOclDirectFwd1x1: shape and config in, numbers out.
 *
 * MIOpen has two paths here. J1 takes f32 forward problems whose channel counts are multiples of
 * 16, strided or not; S takes everything else, backward data included. The rule below is MIOpen's
 * from 1.3.0 on (src/solver/conv_ocl_dir2Dfwd1x1.cpp and conv_ocl_dir2Dfwd_exhaustive_search.cpp);
 * its names are kept because users know them from option strings and tuning databases.
 */
#ifndef KILN_MIOPEN1X1_H
#define KILN_MIOPEN1X1_H

#include "generator/plan/solver.h"

/* Positions in a config: the order in which MIOpen writes its nine integers. */
enum {
    MIOPEN1X1_GRP_TILE1 = 0,
    MIOPEN1X1_GRP_TILE0,
    MIOPEN1X1_IN_TILE1,
    MIOPEN1X1_IN_TILE0,
    MIOPEN1X1_OUT_PIX_TILE1,
    MIOPEN1X1_OUT_PIX_TILE0,
    MIOPEN1X1_N_OUT_PIX_TILES,
    MIOPEN1X1_N_IN_DATA_TILES,
    MIOPEN1X1_N_STACKS,
    MIOPEN1X1_PARAMS
};

enum { MIOPEN1X1_J1_GROUP = 64 }; /* work-items of a group on the J1 path */

/* The tensors as the kernels see them: in backward data the input is dy and the output dx. */
typedef struct miopen1x1_view {
    bool forward, j1, strided;
    int64_t n, inputs, in_h, in_w, outputs, out_h, out_w, stride_h, stride_w;
} miopen1x1_view;

/* All numbers that follow from a config. Numbers that a path does not use stay 0, so that two
 * configs give the same kernel exactly when all numbers are equal. */
typedef struct miopen1x1_numbers {
    int64_t in_maps, out_maps; /* channels per step (S) or group (J1), and sums per work-item */
    int64_t in_groups, out_groups;
    int64_t cloop0, cloop2; /* steps; J1: of a full group of channels and of the last one */
    int64_t local, global[2];
    /* J1 */
    int64_t once;  /* channels loaded at a time */
    int64_t cheat; /* 1: hide the loop count from the compiler */
    /* S */
    int64_t read_unit;                   /* pixels in a row per work-item */
    int64_t map_sz4, out_width4;         /* work-items per image and per row */
    int64_t vert_aligned, horiz_aligned; /* dx is a whole number of strides high, wide */
    int64_t stacks;
} miopen1x1_numbers;

miopen1x1_view kiln_miopen1x1_view(const kiln_shape *s);
miopen1x1_numbers kiln_miopen1x1_numbers(const miopen1x1_view *v, const kiln_config *c);

extern const kiln_solver kiln_solver_miopen1x1;

/* Returns MIOpen's config for a shape it has no tuning row for. On the J1 path the config may split
 * the sum over C. */
kiln_config kiln_miopen1x1_default(const kiln_shape *s);

/* As emit() of kiln_solver, one function for each path. */
void kiln_miopen1x1_emit_j1(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                            kiln_plan *plan);
void kiln_miopen1x1_emit_s(const kiln_shape *s, const kiln_config *c, kiln_plan *plan);

#endif
