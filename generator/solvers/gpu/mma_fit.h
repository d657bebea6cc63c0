/* What was fitted of the time of products on tensor cores: the solvers gemm_mma, gemm_wgmma,
 * gemm_weights_mma and gemm_weights_wgmma. docs/fitting.md tells how to fit it anew. */
#ifndef KILN_MMA_FIT_H
#define KILN_MMA_FIT_H

#include "generator/plan/fit.h"

#define KILN_MMA_FIT(NUMBER)                                                                       \
    NUMBER(own_registers, "registers of an item beside sums and operands")                         \
    NUMBER(multiply, "products of 16 bits that a unit does in a cycle")                            \
    NUMBER(read, "cycles to read 128 bytes of local memory")                                       \
    NUMBER(copy, "cycles to copy 128 bytes into local memory")                                     \
    NUMBER(issue, "cycles of 128 items in a step, beside the above")                               \
    NUMBER(latency, "cycles from the begin of a copy to its end")                                  \
    NUMBER(alone, "share of its own cycles for which a group that is alone waits")                 \
    NUMBER(one, "cycles from one copy of an item to its next one")                                 \
    NUMBER(chain, "cycles of a group's step, however little there is to do")                       \
    NUMBER(overlap, "share of its groups' cycles that a unit cannot hide")                         \
    NUMBER(begin, "cycles of a group before its steps")                                            \
    NUMBER(setup, "cycles of a group to find the places of one copy of each item")                 \
    NUMBER(first, "cycles of a group's first copies, where one step is ahead")                     \
    NUMBER(store, "bytes of results that a unit stores in a cycle")                                \
    NUMBER(mixed, "power of a unit's groups by which stores hide behind copies of others")         \
    NUMBER(beside, "how much of the shorter time, to multiply or to move, adds to the longer one")

KILN_FIT_STRUCT(kiln_mma_numbers, KILN_MMA_FIT);

static const kiln_fit mma_fit = {
    .name = "gemm_mma",
    .device = "NVIDIA H200",
    .driver = "580.159",
    .date = "2026-11-28",
    .command = "kiln tune LIST --types f16 --solvers gemm_mma,gemm_wgmma",
    .configs = 4069,
    .problems = 12,
    .error = "12 % (standard deviation) of the fastest configs, 18 % of the guesses of 40 layers",
    .remark = "1x1 layers at a batch of 64, with 3.7 TB/s and 1.9 us a run in place of what "
              "predictions count. Cycles are a seventh more than fitted, as predictions of what "
              "looked fastest were low; chain is from small layers at a batch of 1",
    .ghz = 1.7,
    .told_ghz = 1.98,
    KILN_FIT_NUMBERS(kiln_mma_numbers, .own_registers = 20, .multiply = 1250, .read = 0.1,
                     .copy = 2, .issue = 75, .latency = 30, .alone = 0.73, .one = 0.03,
                     .chain = 430, .overlap = 1, .begin = 1430, .setup = 115, .first = 870,
                     .store = 12, .mixed = 0, .beside = 0.1),
};

static const kiln_fit wgmma_fit = {
    .name = "gemm_wgmma",
    .device = "NVIDIA H200",
    .driver = "580.159",
    .date = "2026-11-28",
    .command = "kiln tune LIST --types f16 --solvers gemm_mma,gemm_wgmma",
    .configs = 4069,
    .problems = 12,
    .error = "12 % (standard deviation) of the fastest configs, 18 % of the guesses of 40 layers",
    .remark = "as gemm_mma's, with which it shares the configs; latency is between that of these "
              "layers and that of a few groups at a batch of 1",
    .ghz = 1.7,
    .told_ghz = 1.98,
    KILN_FIT_NUMBERS(kiln_mma_numbers, .own_registers = 20, .multiply = 1820, .read = 0.59,
                     .copy = 1.77, .issue = 0, .latency = 800, .alone = 0.11, .one = 1.2,
                     .chain = 0, .overlap = 0.08, .begin = 2490, .setup = 97, .first = 700,
                     .store = 16.7, .mixed = 0.1, .beside = 0.1),
};

static const kiln_fit mma_turned_fit = {
    .name = "gemm_weights_mma",
    .device = "NVIDIA H100",
    .driver = "580.159",
    .date = "2026-11-27",
    .command = KILN_NOT_RECORDED,
    .configs = 36,
    .problems = 5,
    .error = "7 % (standard deviation)",
    .ghz = 1.7,
    .told_ghz = 1.98,
    KILN_FIT_NUMBERS(kiln_mma_numbers, .own_registers = 31, .multiply = 1200, .read = 0.4,
                     .copy = 3.3, .issue = 14, .latency = 550, .alone = 0.29, .one = 0.3,
                     .chain = 0, .overlap = 0.77, .begin = 0, .setup = 0, .first = 0, .store = 11.5,
                     .mixed = 0, .beside = 0),
};

static const kiln_fit wgmma_turned_fit = {
    .name = "gemm_weights_wgmma",
    .device = "NVIDIA H100",
    .driver = "580.159",
    .date = "2026-11-27",
    .command = KILN_NOT_RECORDED,
    .configs = 23,
    .problems = 5,
    .error = "5 % (standard deviation)",
    .remark = "numbers are a little higher than fitted, as predictions of configs that were not "
              "measured were low",
    .ghz = 1.7,
    .told_ghz = 1.98,
    KILN_FIT_NUMBERS(kiln_mma_numbers, .own_registers = 24, .multiply = 1750, .read = 0,
                     .copy = 2.6, .issue = 8, .latency = 830, .alone = 0.03, .one = 31, .chain = 0,
                     .overlap = 0.93, .begin = 0, .setup = 0, .first = 0, .store = 11.5,
                     .mixed = 0.35, .beside = 0),
};

#endif
