/* Backward weights as a product of matrices on tensor cores, summed over pixels that groups share:
 * any filter, stride, dilation and groups, in f16 and bf16.
 *
 * NHWC is read as it lies; stages turn x and dy of NCHW. templates/gpu/gemm_weights_mma.cl has the
 * picture of a tile, mma_tiles.c the time. The two solvers differ in the instructions that
 * multiply.
 */
#include "gemm_weights_mma.h"

static const kiln_param params[MMA_PARAMS] = {
    [MMA_ROWS] = {"T_ROWS", 3, {64, 128, 256}, 0, 0},
    [MMA_COLUMNS] = {"T_COLUMNS", 3, {64, 128, 256}, 0, 0},
    [MMA_WARPS_R] = {"T_WARPS_R", 3, {1, 2, 4}, 0, 0},
    [MMA_WARPS_C] = {"T_WARPS_C", 3, {1, 2, 4}, 0, 0},
    [MMA_BYTES] = {"T_BYTES", 2, {64, 128}, 0, 0},
    [MMA_STAGES] = {"T_STAGES", 4, {2, 3, 4, 5}, 0, 0},
    [MMA_SPLIT] = {"T_SPLIT", 10, {1, 2, 4, 8, 16, 32, 64, 128, 256, 512}, 1, 4096},
};

/* The instructions of NVIDIA's compute capability 9.0 alone: groups of four warps multiply what
 * lies in local memory, beside the copies. Tiles of 256 rows or columns were slower for every
 * problem that was measured. */
static const kiln_param wgmma_params[MMA_PARAMS] = {
    [MMA_ROWS] = {"T_ROWS", 2, {64, 128}, 0, 0},
    [MMA_COLUMNS] = {"T_COLUMNS", 2, {64, 128}, 0, 0},
    [MMA_WARPS_R] = {"T_WARPS_R", 2, {4, 8}, 0, 0},
    [MMA_WARPS_C] = {"T_WARPS_C", 1, {1}, 0, 0},
    [MMA_BYTES] = {"T_BYTES", 1, {128}, 0, 0},
    [MMA_STAGES] = {"T_STAGES", 4, {3, 4, 5, 6}, 0, 0},
    [MMA_SPLIT] = {"T_SPLIT", 10, {1, 2, 4, 8, 16, 32, 64, 128, 256, 512}, 1, 4096},
};

static const kiln_mma_variant mma = {
    .kind = KILN_MMA_TURNED,
    .smallest = {{[MMA_ROWS] = 64,
                  [MMA_COLUMNS] = 64,
                  [MMA_WARPS_R] = 2,
                  [MMA_WARPS_C] = 2,
                  [MMA_BYTES] = 64,
                  [MMA_STAGES] = 2,
                  [MMA_SPLIT] = 1}},
};
static const kiln_mma_variant wgmma = {
    .kind = KILN_WGMMA_TURNED,
    .smallest = {{[MMA_ROWS] = 64,
                  [MMA_COLUMNS] = 64,
                  [MMA_WARPS_R] = 4,
                  [MMA_WARPS_C] = 1,
                  [MMA_BYTES] = 128,
                  [MMA_STAGES] = 3,
                  [MMA_SPLIT] = 1}},
};

/* Members that the variants share. */
#define SHARED                                                                                     \
    .algorithm = 5, .nparams = MMA_PARAMS, .nfits = 1, .prefer = kiln_mma_prefer,                  \
    .reject = kiln_gemm_weights_mma_reject, .illegal = kiln_gemm_weights_mma_illegal,              \
    .skip = kiln_gemm_weights_mma_skip, .guess = kiln_gemm_weights_mma_guess,                      \
    .predict = kiln_gemm_weights_mma_predict, .emit = kiln_gemm_weights_mma_emit

const kiln_solver kiln_solver_gemm_weights_mma = {
    .name = "gemm_weights_mma",
    .id = 1061,
    .version = 2,
    .params = params,
    .own = &mma,
    .fits = &kiln_mma_fits[KILN_MMA_TURNED],
    SHARED,
};

const kiln_solver kiln_solver_gemm_weights_wgmma = {
    .name = "gemm_weights_wgmma",
    .id = 1063,
    .version = 1,
    .params = wgmma_params,
    .own = &wgmma,
    .fits = &kiln_mma_fits[KILN_WGMMA_TURNED],
    SHARED,
};
