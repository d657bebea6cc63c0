/* A convolution as a product of matrices on tensor cores: forward and backward data of any filter,
 * stride, dilation and groups, in f16, bf16 and int8, and in f32 where the caller lets products be
 * rounded.
 *
 * NHWC and blocks of channels are read as they lie; a stage turns NCHW. templates/gpu/gemm_mma.cl
 * has the picture of a tile, mma_tiles.c the time. The two solvers differ in the instructions that
 * multiply.
 */
#include "gemm_mma.h"

static const kiln_param params[MMA_PARAMS] = {
    [MMA_ROWS] = {"T_ROWS", 3, {64, 128, 256}, 0, 0},
    [MMA_COLUMNS] = {"T_COLUMNS", 8, {16, 32, 48, 64, 96, 128, 192, 256}, 0, 0},
    [MMA_WARPS_R] = {"T_WARPS_R", 3, {1, 2, 4}, 0, 0},
    [MMA_WARPS_C] = {"T_WARPS_C", 3, {1, 2, 4}, 0, 0},
    [MMA_BYTES] = {"T_BYTES", 4, {64, 128, 256, 512}, 0, 0},
    [MMA_STAGES] = {"T_STAGES", 4, {2, 3, 4, 5}, 0, 0},
    [MMA_SPLIT] = {"T_SPLIT", 6, {1, 2, 4, 8, 16, 32}, 1, 128},
};

/* The instructions of NVIDIA's compute capability 9.0 alone: groups of four warps multiply what
 * lies in local memory, beside the copies. */
static const kiln_param wgmma_params[MMA_PARAMS] = {
    [MMA_ROWS] = {"T_ROWS", 4, {64, 128, 192, 256}, 0, 0},
    [MMA_COLUMNS] = {"T_COLUMNS", 6, {32, 64, 96, 128, 192, 256}, 0, 0},
    [MMA_WARPS_R] = {"T_WARPS_R", 3, {4, 8, 12}, 0, 0},
    [MMA_WARPS_C] = {"T_WARPS_C", 1, {1}, 0, 0},
    [MMA_BYTES] = {"T_BYTES", 1, {128}, 0, 0},
    [MMA_STAGES] = {"T_STAGES", 4, {3, 4, 5, 6}, 0, 0},
    [MMA_SPLIT] = {"T_SPLIT", 6, {1, 2, 4, 8, 16, 32}, 1, 128},
};

static const kiln_mma_variant mma = {
    .kind = KILN_MMA,
    .smallest = {{[MMA_ROWS] = 64,
                  [MMA_COLUMNS] = 32,
                  [MMA_WARPS_R] = 4,
                  [MMA_WARPS_C] = 1,
                  [MMA_BYTES] = 64,
                  [MMA_STAGES] = 2,
                  [MMA_SPLIT] = 1}},
};
static const kiln_mma_variant wgmma = {
    .kind = KILN_WGMMA,
    .smallest = {{[MMA_ROWS] = 64,
                  [MMA_COLUMNS] = 32,
                  [MMA_WARPS_R] = 4,
                  [MMA_WARPS_C] = 1,
                  [MMA_BYTES] = 128,
                  [MMA_STAGES] = 3,
                  [MMA_SPLIT] = 1}},
};

/* Members that the variants share. */
#define SHARED                                                                                     \
    .algorithm = 5, .nparams = MMA_PARAMS, .nfits = 1, .prefer = kiln_mma_prefer,                  \
    .reject = kiln_gemm_mma_reject, .illegal = kiln_gemm_mma_illegal, .skip = kiln_gemm_mma_skip,  \
    .guess = kiln_gemm_mma_guess, .predict = kiln_gemm_mma_predict, .emit = kiln_gemm_mma_emit

const kiln_solver kiln_solver_gemm_mma = {
    .name = "gemm_mma",
    .id = 1060,
    .version = 1,
    .params = params,
    .own = &mma,
    .fits = &kiln_mma_fits[KILN_MMA],
    SHARED,
};

const kiln_solver kiln_solver_gemm_wgmma = {
    .name = "gemm_wgmma",
    .id = 1062,
    .version = 1,
    .params = wgmma_params,
    .own = &wgmma,
    .fits = &kiln_mma_fits[KILN_WGMMA],
    SHARED,
};
