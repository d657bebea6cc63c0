/* What was fitted of the time of tiles in local memory: the solvers gemm, gemm_weights,
 * gemm_phases, winograd_gemm and winograd_gemm_weights. docs/fitting.md tells how to fit it anew.
 */
#ifndef KILN_TILES_FIT_H
#define KILN_TILES_FIT_H

#include "generator/plan/fit.h"

#define KILN_TILES_FIT(NUMBER)                                                                     \
    NUMBER(of_four, "cycles of a lane to bring an element of a vector of four")                    \
    NUMBER(alone, "the same of one element, by the tap of the step")                               \
    NUMBER(bounded, "the same by a tap of its own, inside or outside of the source")               \
    NUMBER(looked_for, "the same by a tap that divisions find")                                    \
    NUMBER(read_rate, "operands that a unit reads from local memory in a cycle")                   \
    NUMBER(multiply_add, "cycles of a lane for a multiply-add")                                    \
    NUMBER(item_cycles, "cycles of a lane for an item in a step, beside the above")                \
    NUMBER(step_latency, "cycles of a unit that a group alone waits in a step")                    \
    NUMBER(term_latency, "the same for each term of the step")                                     \
    NUMBER(slices_latency, "cycles to add up slices, for each halving of their number")            \
    NUMBER(other_steps, "steps that the first and the last one last longer")                       \
    NUMBER(overlap, "share of its groups' cycles that a unit cannot hide")

KILN_FIT_STRUCT(kiln_tiles_numbers, KILN_TILES_FIT);

const kiln_fit kiln_tiles_fit = {
    .name = "gemm",
    .device = "NVIDIA H100",
    .driver = "580.159",
    .date = "2026-11-27",
    .command = KILN_NOT_RECORDED,
    .configs = 560,
    .problems = 32,
    .error = "15 % (standard deviation); of the configs measured the one predicted to be the "
             "fastest has 0.96 of the speed of the fastest one (worst 0.75)",
    .remark =
        "of gemm and gemm_weights alone. What slices add was not fitted: among 800 configs of "
        "21 problems, all but one at a batch of 1, the guess has 0.96 (worst 0.77)",
    .ghz = 1.755,
    .told_ghz = 1.98,
    KILN_FIT_NUMBERS(kiln_tiles_numbers, .of_four = 2.5, .alone = 4.4, .bounded = 9.6,
                     .looked_for = 29.5, .read_rate = 500, .multiply_add = 1.38, .item_cycles = 3.6,
                     .step_latency = 390, .term_latency = 21, .slices_latency = 150,
                     .other_steps = 1.84, .overlap = 0.76),
};

#endif
