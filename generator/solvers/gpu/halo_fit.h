/* What was fitted of the time of the solver halo_wgmma. docs/fitting.md tells how to fit it anew.
 */
#ifndef KILN_HALO_FIT_H
#define KILN_HALO_FIT_H

#include "generator/plan/fit.h"

#define KILN_HALO_FIT(NUMBER)                                                                      \
    NUMBER(read, "cycles to read a byte of local memory")                                          \
    NUMBER(waits, "cycles that a team waits in a tile, with two patches of its own")               \
    NUMBER(waits_less, "the same with more patches")                                               \
    NUMBER(high, "time that a team of two blocks waits, in that of one block")                     \
    NUMBER(lost, "time where pixels have two rows, or a team has a unit for itself")               \
    NUMBER(lost_more, "time where pixels have three rows or more")                                 \
    NUMBER(lost_bytes, "time where elements are bytes")                                            \
    NUMBER(beside, "how much of the shorter time adds to the longer one")                          \
    NUMBER(begin_ms, "ms more where a team has fewer than six tiles")

KILN_FIT_STRUCT(kiln_halo_numbers, KILN_HALO_FIT);

static const kiln_fit halo_fit = {
    .name = "halo_wgmma",
    .device = "NVIDIA H100",
    .driver = "580.159",
    .date = "2026-11-27",
    .command = KILN_NOT_RECORDED,
    .configs = 19,
    .problems = 15,
    .error = "14 % (standard deviation) of all 30 configs that were measured",
    .remark =
        "lost, lost_more: gemm_wgmma was faster in four of five such problems, and faster than "
        "it predicts; three rows had 0.74 of cuDNN's speed. lost_bytes: predictions of int8 "
        "were a third too low. beside: of configs that move as much, the one that multiplies "
        "for less time",
    .ghz = 1.63,
    .told_ghz = 1.98,
    KILN_FIT_NUMBERS(kiln_halo_numbers, .read = 0.75 / 128, .waits = 450, .waits_less = 355,
                     .high = 1.6, .lost = 1.3, .lost_more = 1.7, .lost_bytes = 1.35, .beside = 0.05,
                     .begin_ms = 8e-3),
};

#endif
