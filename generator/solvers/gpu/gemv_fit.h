/* What was fitted of the time of the solver gemv. docs/fitting.md tells how to fit it anew. */
#ifndef KILN_GEMV_FIT_H
#define KILN_GEMV_FIT_H

#include "generator/plan/fit.h"

#define KILN_GEMV_FIT(NUMBER)                                                                      \
    NUMBER(begin_ms, "ms of a launch")                                                             \
    NUMBER(step_ms, "ms that an item waits in a step, one after the other")                        \
    NUMBER(add_ms, "ms to add a lane's sum, one after the other")                                  \
    NUMBER(warp, "cycles of a unit for 32 items, whatever they do")                                \
    NUMBER(read, "cycles of a unit for 32 items to read a vector")                                 \
    NUMBER(multiply, "cycles of a unit for 32 multiply-adds")                                      \
    NUMBER(copy, "bytes that a unit reads in a cycle")                                             \
    NUMBER(less_ms, "ms that predictions of solvers for tensor cores leave out")

KILN_FIT_STRUCT(kiln_gemv_numbers, KILN_GEMV_FIT);

static const kiln_fit gemv_fit = {
    .name = "gemv",
    .device = "NVIDIA H200",
    .driver = KILN_NOT_RECORDED,
    .date = "2026-11-28",
    .command = KILN_NOT_RECORDED,
    .configs = 112,
    .problems = 11,
    .error =
        "9 % (standard deviation); of the configs measured the one predicted to be the fastest "
        "has 0.99 of the speed of the fastest one (worst 0.93)",
    .remark =
        "f32, f16 and int8, with the host ahead of the device. begin_ms is a microsecond less "
        "than fitted, as others' predictions leave out as much",
    .ghz = 1.7,
    .told_ghz = 1.98,
    KILN_FIT_NUMBERS(kiln_gemv_numbers, .begin_ms = 1e-3, .step_ms = 1.2e-4, .add_ms = 4.2e-6,
                     .warp = 25, .read = 2, .multiply = 0.7, .copy = 44, .less_ms = 5e-4),
};

#endif
