/* What was fitted of the time of the solver gemm_tma. docs/fitting.md tells how to fit it anew. */
#ifndef KILN_GEMM_TMA_FIT_H
#define KILN_GEMM_TMA_FIT_H

#include "generator/plan/fit.h"

#define KILN_GEMM_TMA_FIT(NUMBER)                                                                  \
    NUMBER(unit_copy, "bytes that a unit copies in a cycle")                                       \
    NUMBER(all_copy, "bytes that all units together copy in a cycle")                              \
    NUMBER(multiply, "rows by columns of a step that a unit multiplies in a cycle")                \
    NUMBER(step, "cycles of a step beside its products")                                           \
    NUMBER(delay, "cycles from the begin of a copy to its end")                                    \
    NUMBER(begin, "cycles of a launch before the first tile")                                      \
    NUMBER(end, "cycles of a tile after its steps, beside its stores")                             \
    NUMBER(store, "bytes of results that a unit stores in a cycle")                                \
    NUMBER(moves, "time to move the tensors, in that of a copy of them")

KILN_FIT_STRUCT(kiln_gemm_tma_numbers, KILN_GEMM_TMA_FIT);

static const kiln_fit gemm_tma_fit = {
    .name = "gemm_tma",
    .device = "NVIDIA H100",
    .driver = "580.159.04",
    .date = "2026-11-28",
    .command = KILN_NOT_RECORDED,
    .error = KILN_NOT_RECORDED,
    .remark =
        "moves is of an H200: 1x1 layers of few channels moved 71 to 91 % of a copy, those of "
        "gemm_wgmma 65 to 77 %, as a group copies for its next tile while it stores one",
    .ghz = 1.67,
    .told_ghz = 1.98,
    KILN_FIT_NUMBERS(kiln_gemm_tma_numbers, .unit_copy = 57, .all_copy = 5800, .multiply = 32,
                     .step = 16, .delay = 1700, .begin = 3500, .end = 1500, .store = 24,
                     .moves = 0.75),
};

#endif
