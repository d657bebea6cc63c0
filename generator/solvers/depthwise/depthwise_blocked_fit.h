/* What was fitted of the time of the solver depthwise_blocked. docs/fitting.md tells how to fit it
 * anew. */
#ifndef KILN_DEPTHWISE_BLOCKED_FIT_H
#define KILN_DEPTHWISE_BLOCKED_FIT_H

#include "generator/plan/fit.h"

#define KILN_DEPTHWISE_BLOCKED_FIT(NUMBER)                                                         \
    NUMBER(add, "cycles of a multiply-add beside its turn of a unit")                              \
    NUMBER(load, "cycles of a load beside multiply-adds")                                          \
    NUMBER(group_load, "cycles to load each source channel of a group of several")                 \
    NUMBER(least, "cycles of a tap and a source channel, at least")                                \
    NUMBER(row, "cycles of a tile, beside the above")                                              \
    NUMBER(spill, "how much longer multiply-adds take whose operands have no register")            \
    NUMBER(checked_add, "cycles of a multiply-add in groups of several, where taps check columns") \
    NUMBER(checked_row, "cycles of a row of taps that check columns")                              \
    NUMBER(checked_tap, "cycles of such a tap")                                                    \
    NUMBER(checked_pixel, "the same for each vector of the row")                                   \
    NUMBER(item, "cycles of an item, beside its tiles")                                            \
    NUMBER(kept, "time where the rows of an item leave the first cache")                           \
    NUMBER(reached, "share of the peak that tiles reach")                                          \
    NUMBER(wait, "share of an item for which all cores wait in the end")                           \
    NUMBER(shared, "share of the rows of two items that is read twice")                            \
    NUMBER(fetched, "time to move tensors whose lines are fetched ahead")                          \
    NUMBER(streamed, "time to move results by the wrong kind of stores")                           \
    NUMBER(beside, "how much of the shorter time, to add or to move, adds to the longer one")

KILN_FIT_STRUCT(kiln_depthwise_blocked_numbers, KILN_DEPTHWISE_BLOCKED_FIT);

static const kiln_fit depthwise_blocked_fit = {
    .name = "depthwise_blocked",
    .device = KILN_NOT_RECORDED,
    .driver = KILN_NOT_RECORDED,
    .date = KILN_NOT_RECORDED,
    .command = KILN_NOT_RECORDED,
    .error = KILN_NOT_RECORDED,
    .remark =
        "the same on all CPUs; fetched is of a kernel that fetched all rows ahead: shapes whose "
        "rows are no longer fetched take up to a tenth less",
    KILN_FIT_NUMBERS(kiln_depthwise_blocked_numbers, .add = 0.1, .load = 0.25, .group_load = 0.8,
                     .least = 4, .row = 15, .spill = 0.6, .checked_add = 1.8, .checked_row = 50,
                     .checked_tap = 1.5, .checked_pixel = 0.15, .item = 250, .kept = 1.1,
                     .reached = 0.8, .wait = 0.7, .shared = 0.5, .fetched = 0.8, .streamed = 1.3,
                     .beside = 0.3),
};

#endif
