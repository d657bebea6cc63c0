/* What was fitted of the time of the solver depthwise_gather, for each kind of item.
 * docs/fitting.md tells how to fit it anew. */
#ifndef KILN_DEPTHWISE_GATHER_FIT_H
#define KILN_DEPTHWISE_GATHER_FIT_H

#include "generator/plan/fit.h"

#define KILN_GATHER_FIT(NUMBER)                                                                    \
    NUMBER(load, "cycles of a lane to load 8 bytes of the source")                                 \
    NUMBER(convert, "cycles of a lane to make a float of an element")                              \
    NUMBER(sum, "cycles of a lane for a multiply-add")                                             \
    NUMBER(weight, "cycles of a lane to load the weight of a channel and a tap")                   \
    NUMBER(result, "cycles of a lane to store a result")                                           \
    NUMBER(item, "cycles of a lane for an item, beside the above")                                 \
    NUMBER(crowded, "how much longer an item takes for each hundred registers above roomy")        \
    NUMBER(roomy, "hundreds of registers that an item has at no cost")                             \
    NUMBER(begin_ms, "ms of a launch")                                                             \
    NUMBER(load_ms, "ms that an item waits for a load, one after the other")                       \
    NUMBER(row_ms, "ms that an item waits for a row that it meets, one after the other")           \
    NUMBER(move, "time to move the tensors, in that of a copy of them")                            \
    NUMBER(beside, "how much of the shorter time adds to the longer one")

KILN_FIT_STRUCT(kiln_gather_numbers, KILN_GATHER_FIT);

static const kiln_fit gather_plain_fit = {
    .name = "depthwise_gather, without vectors",
    .device = "NVIDIA H100",
    .driver = "580.159",
    .date = "2026-11-27",
    .command = KILN_NOT_RECORDED,
    .configs = 230,
    .problems = 10,
    .error = KILN_NOT_RECORDED,
    .remark = "at a batch of 64",
    KILN_FIT_NUMBERS(kiln_gather_numbers, .load = 3.4, .convert = 0, .sum = 1.4, .weight = 4.5,
                     .result = 0, .item = 20, .crowded = 0, .roomy = 0, .begin_ms = 1.3e-3,
                     .load_ms = 5e-5, .row_ms = 0, .move = 0.88, .beside = 0.44),
};

static const kiln_fit gather_floats_by_columns_fit = {
    .name = "depthwise_gather, vectors of floats, by columns",
    .device = "NVIDIA H100",
    .driver = "580.159",
    .date = "2026-11-27",
    .command = KILN_NOT_RECORDED,
    .configs = 203,
    .problems = 16,
    .error = KILN_NOT_RECORDED,
    .remark = "at a batch of 64; configs by columns and by rows together",
    KILN_FIT_NUMBERS(kiln_gather_numbers, .load = 1.8, .convert = 0, .sum = 0.49, .weight = 0.49,
                     .result = 0.9, .item = 9, .crowded = 0, .roomy = 0, .begin_ms = 0,
                     .load_ms = 0, .row_ms = 2.7e-4, .move = 0.935, .beside = 0.285),
};

static const kiln_fit gather_floats_by_rows_fit = {
    .name = "depthwise_gather, vectors of floats, by rows",
    .device = "NVIDIA H100",
    .driver = "580.159",
    .date = "2026-11-27",
    .command = KILN_NOT_RECORDED,
    .configs = 203,
    .problems = 16,
    .error = KILN_NOT_RECORDED,
    .remark = "at a batch of 64; configs by columns and by rows together",
    KILN_FIT_NUMBERS(kiln_gather_numbers, .load = 1.5, .convert = 0, .sum = 0.41, .weight = 0.41,
                     .result = 0.75, .item = 7.5, .crowded = 1.2, .roomy = 1, .begin_ms = 0,
                     .load_ms = 0, .row_ms = 0, .move = 0.955, .beside = 1),
};

#define KILN_GATHER_SHORTS                                                                         \
    .device = "NVIDIA H200", .driver = "580.159", .date = "2026-11-28",                            \
    .command = KILN_NOT_RECORDED, .configs = 827, .problems = 23,                                  \
    .error = "of 22 problems the guess has 0.94 of the speed of the fastest config (worst 0.77, "  \
             "where one without vectors is the fastest)",                                          \
    .remark =                                                                                      \
        "at a batch of 64; configs by columns and by rows together, 360 of them cut short "        \
        "as slow. Tensors take as long whatever the config, so that nothing is said of what "      \
        "moves; products hide behind the conversions"

static const kiln_fit gather_shorts_by_columns_fit = {
    .name = "depthwise_gather, vectors of shorter elements, by columns",
    KILN_GATHER_SHORTS,
    KILN_FIT_NUMBERS(kiln_gather_numbers, .load = 2, .convert = 1.47, .sum = 0, .weight = 0.48,
                     .result = 2.97, .item = 0, .crowded = 0, .roomy = 0, .begin_ms = 0,
                     .load_ms = 0, .row_ms = 4.4e-5, .move = 0.955, .beside = 1),
};

static const kiln_fit gather_shorts_by_rows_fit = {
    .name = "depthwise_gather, vectors of shorter elements, by rows",
    KILN_GATHER_SHORTS,
    KILN_FIT_NUMBERS(kiln_gather_numbers, .load = 2, .convert = 1.65, .sum = 0.05, .weight = 0.87,
                     .result = 0, .item = 0, .crowded = 0.52, .roomy = 0.46, .begin_ms = 0,
                     .load_ms = 0, .row_ms = 7.9e-6, .move = 0.955, .beside = 1),
};

#endif
