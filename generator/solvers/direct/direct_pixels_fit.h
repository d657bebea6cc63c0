/* What was fitted of the time of the solver direct_pixels. docs/fitting.md tells how to fit it
 * anew. */
#ifndef KILN_DIRECT_PIXELS_FIT_H
#define KILN_DIRECT_PIXELS_FIT_H

#include "generator/plan/fit.h"

#define KILN_DIRECT_PIXELS_FIT(NUMBER)                                                             \
    NUMBER(square, "cycles to turn a vector of pixels by as many channels, for each channel")      \
    NUMBER(copy, "cycles to copy a vector of neighbouring pixels")                                 \
    NUMBER(copy_second, "the same of every second pixel")                                          \
    NUMBER(copy_apart, "the same for each pixel of a vector, further apart")                       \
    NUMBER(merge, "cycles to make pairs or fours of a vector")                                     \
    NUMBER(row, "cycles of a row of a piece, beside its vectors")                                  \
    NUMBER(least, "cycles of a tap and a channel, at least")                                       \
    NUMBER(operand, "cycles for each vector of pixels and each weight of them, beside sums")       \
    NUMBER(carry, "cycles to load and store a sum between chunks of channels")                     \
    NUMBER(chunk, "cycles of a chunk, beside its sums")                                            \
    NUMBER(put_last, "cycles to store a sum where channels are last")                              \
    NUMBER(put_apart, "the same where pixels are no neighbours")                                   \
    NUMBER(put, "cycles to store a vector of sums")                                                \
    NUMBER(put_row, "cycles of a row of results, beside its vectors")                              \
    NUMBER(item, "cycles of an item, beside the above")                                            \
    NUMBER(held, "share of the time to move tensors from the last cache that shows")

KILN_FIT_STRUCT(kiln_direct_pixels_numbers, KILN_DIRECT_PIXELS_FIT);

static const kiln_fit direct_pixels_fit = {
    .name = "direct_pixels",
    .device = KILN_NOT_RECORDED,
    .driver = KILN_NOT_RECORDED,
    .date = "2026-11-26",
    .command = KILN_NOT_RECORDED,
    .error = KILN_NOT_RECORDED,
    .remark = "the same on all CPUs; what differs is in cpu/cores.def",
    KILN_FIT_NUMBERS(kiln_direct_pixels_numbers, .square = 8, .copy = 5, .copy_second = 8,
                     .copy_apart = 3, .merge = 1.5, .row = 4, .least = 4, .operand = 0.2,
                     .carry = 2, .chunk = 20, .put_last = 4, .put_apart = 2, .put = 5, .put_row = 6,
                     .item = 60, .held = 0.5),
};

#endif
