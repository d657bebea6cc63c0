/* What was fitted of the time of the transforms round the products of winograd_gemm; the
 * products have the numbers of tiles_fit.h. docs/fitting.md tells how to fit it anew. */
#ifndef KILN_WINOGRAD_GEMM_FIT_H
#define KILN_WINOGRAD_GEMM_FIT_H

#include "generator/plan/fit.h"

#define KILN_WINOGRAD_GEMM_FIT(NUMBER)                                                             \
    NUMBER(moves, "time of what the transforms move, in that of a copy")                           \
    NUMBER(moves_8, "the same of patches of 8 x 8")

KILN_FIT_STRUCT(kiln_winograd_gemm_numbers, KILN_WINOGRAD_GEMM_FIT);

static const kiln_fit winograd_gemm_fit = {
    .name = "winograd_gemm",
    .device = KILN_NOT_RECORDED,
    .driver = KILN_NOT_RECORDED,
    .date = "2026-11-27",
    .command = KILN_NOT_RECORDED,
    .error = KILN_NOT_RECORDED,
    KILN_FIT_NUMBERS(kiln_winograd_gemm_numbers, .moves = 1.3, .moves_8 = 1.8),
};

#endif
