/* What was fitted of the time of the solver depthwise_reduce: one count for scalars, one for
 * vectors. docs/fitting.md tells how to fit it anew. */
#ifndef KILN_DEPTHWISE_REDUCE_FIT_H
#define KILN_DEPTHWISE_REDUCE_FIT_H

#include "generator/plan/fit.h"

#define KILN_REDUCE_PLAIN_FIT(NUMBER)                                                              \
    NUMBER(begin_ms, "ms of a launch")                                                             \
    NUMBER(group_ms, "ms of a unit to begin a group")                                              \
    NUMBER(load_ms, "ms that an item waits for a load, one after the other")                       \
    NUMBER(level_ms, "ms of a level of the tree that adds up a tap's sums")                        \
    NUMBER(least, "cycles of a lane for a column of a piece, at least")                            \
    NUMBER(each, "cycles of a lane for a load or a multiply-add, in groups of several channels")   \
    NUMBER(move, "time to move the tensors, in that of a copy of them")                            \
    NUMBER(uneven, "how much longer moves take for units with more groups than others")            \
    NUMBER(beside, "how much of the shorter times adds to the longest one")                        \
    NUMBER(again, "time to add up the parts, in that to move them")

#define KILN_REDUCE_VECTOR_FIT(NUMBER)                                                             \
    NUMBER(begin_ms, "ms of a launch")                                                             \
    NUMBER(group_ms, "ms of a unit to begin a group")                                              \
    NUMBER(piece_ms, "ms that an item waits for memory in a piece")                                \
    NUMBER(level_ms, "ms of a level of the tree that adds up a tap's sums")                        \
    NUMBER(word, "cycles of a lane to load a word")                                                \
    NUMBER(element, "cycles of a lane to make a float of an element")                              \
    NUMBER(sum, "cycles of a lane for a multiply-add")                                             \
    NUMBER(spill, "how much longer instructions take where twice the registers are needed")        \
    NUMBER(held, "registers of an item that do not grow with vectors")                             \
    NUMBER(held_sums, "registers for each element of dy and each sum")                             \
    NUMBER(held_columns, "registers for each column of x")                                         \
    NUMBER(busy_items, "items that keep a unit's lanes busy")                                      \
    NUMBER(rounded, "share of an item's pieces that is counted as whole pieces")                   \
    NUMBER(move, "time to move the tensors, in that of a copy of them")                            \
    NUMBER(together, "power by which the three times add up: 1 is a sum, infinity the longest")    \
    NUMBER(launch_ms, "ms of the second launch")                                                   \
    NUMBER(again, "time to add up the parts, in that to move them")

KILN_FIT_STRUCT(kiln_reduce_plain_numbers, KILN_REDUCE_PLAIN_FIT);
KILN_FIT_STRUCT(kiln_reduce_vector_numbers, KILN_REDUCE_VECTOR_FIT);

static const kiln_fit reduce_plain_fit = {
    .name = "depthwise_reduce, without vectors",
    .device = "NVIDIA H100",
    .driver = "580.159",
    .date = "2026-11-27",
    .command = KILN_NOT_RECORDED,
    .configs = 340,
    .problems = 10,
    .error = KILN_NOT_RECORDED,
    .remark = "at a batch of 64, groups of one source channel; each is not of these measurements",
    KILN_FIT_NUMBERS(kiln_reduce_plain_numbers, .begin_ms = 1.3e-3, .group_ms = 8e-5,
                     .load_ms = 3.8e-5, .level_ms = 1.3e-5, .least = 59, .each = 1.4, .move = 0.9,
                     .uneven = 0.4, .beside = 0.85, .again = 8.7),
};

static const kiln_fit reduce_vector_fit = {
    .name = "depthwise_reduce, vectors",
    .device = "NVIDIA H200",
    .driver = "580.159",
    .date = "2026-11-28",
    .command = KILN_NOT_RECORDED,
    .configs = 2300,
    .problems = 19,
    .error = "30 % (standard deviation); of the configs measured that a guess may take the one "
             "predicted to be the fastest has 0.89 of the speed of the fastest one (worst 0.69)",
    .remark = "depthwise problems in f16 at a batch of 64",
    KILN_FIT_NUMBERS(kiln_reduce_vector_numbers, .begin_ms = 5e-4, .group_ms = 3.3e-4,
                     .piece_ms = 6.5e-4, .level_ms = 1.8e-5, .word = 0.22, .element = 3.1,
                     .sum = 0.45, .spill = 0.17, .held = 33, .held_sums = 0.5, .held_columns = 0.42,
                     .busy_items = 1350, .rounded = 0.3, .move = 0.82, .together = 1.57,
                     .launch_ms = 0.0029, .again = 0.25),
};

#endif
