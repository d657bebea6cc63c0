/* What was fitted of the time of the solver first_mma. docs/fitting.md tells how to fit it anew. */
#ifndef KILN_FIRST_MMA_FIT_H
#define KILN_FIRST_MMA_FIT_H

#include "generator/plan/fit.h"

#define KILN_FIRST_MMA_FIT(NUMBER)                                                                 \
    NUMBER(step, "cycles of a unit for 16 pixels by 32 channels in a step")                        \
    NUMBER(pixel, "cycles of a unit to copy a pixel")                                              \
    NUMBER(weights, "cycles of a unit to read the weights of 32 channels, in a step")              \
    NUMBER(crowded, "how much longer eight warps take, as a unit has room for fewer groups")       \
    NUMBER(beside, "how much of the shorter time adds to the longer one")                          \
    NUMBER(burst, "time that a byte adds which a group writes at once, in that of all moves")      \
    NUMBER(begin_ms, "ms of a launch")

KILN_FIT_STRUCT(kiln_first_mma_numbers, KILN_FIRST_MMA_FIT);

static const kiln_fit first_mma_fit = {
    .name = "first_mma",
    .device = "NVIDIA H100",
    .driver = "580.159",
    .date = "2026-11-27",
    .command = KILN_NOT_RECORDED,
    .configs = 28,
    .problems = 4,
    .error = "of those measured the guess is the fastest",
    .remark = "at a batch of 64",
    .ghz = 1.7,
    .told_ghz = 1.98,
    KILN_FIT_NUMBERS(kiln_first_mma_numbers, .step = 7.5, .pixel = 0.93, .weights = 65,
                     .crowded = 0.52, .beside = 0.04, .burst = 0.15 / 65536, .begin_ms = 1.5e-3),
};

#endif
