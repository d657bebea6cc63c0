/* What was fitted of the time of the solver direct on a GPU. A CPU's share of its peak is in its
 * row (generator/cpu/cores.def). docs/fitting.md tells how to fit it anew. */
#ifndef KILN_DIRECT_FIT_H
#define KILN_DIRECT_FIT_H

#include "generator/plan/fit.h"

#define KILN_DIRECT_FIT(NUMBER)                                                                    \
    NUMBER(forward, "share of the peak that forward passes reach")                                 \
    NUMBER(backward, "share of the peak that backward data reaches")                               \
    NUMBER(backward_few, "the same with fewer than eight destination channels")                    \
    NUMBER(weights, "share of the peak that backward weights reaches")                             \
    NUMBER(channel_ms, "ms that an item waits for memory at a channel")                            \
    NUMBER(tap_ms, "the same at a tap of a channel")

KILN_FIT_STRUCT(kiln_direct_numbers, KILN_DIRECT_FIT);

const kiln_fit kiln_direct_fit = {
    .name = "direct, on a GPU",
    .device = "NVIDIA H100",
    .driver = KILN_NOT_RECORDED,
    .date = "2026-11-27",
    .command = KILN_NOT_RECORDED,
    .error = KILN_NOT_RECORDED,
    .remark = "shares of the layers of quick.txt at a batch of 64, waits at a batch of 1",
    KILN_FIT_NUMBERS(kiln_direct_numbers, .forward = 0.52, .backward = 0.34, .backward_few = 0.16,
                     .weights = 0.25, .channel_ms = 1.2e-4, .tap_ms = 5e-5),
};

#endif
