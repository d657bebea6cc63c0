/* A convolution as a product of matrices on tensor cores: forward and backward data of any filter,
 * stride, dilation and groups, in f16, bf16 and int8, and in f32 where the caller lets products be
 * rounded; in NHWC as it lies, from NCHW by way of a stage that turns it. */
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

static bool reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why)
{
    return kiln_gemm_mma_rejects(s, d, KILN_MMA, &kiln_mma_smallest, why);
}

static bool illegal(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    const kiln_gemm_mma g = kiln_gemm_mma_of(s, KILN_MMA, c);
    return kiln_gemm_mma_exceeds(&g, d, c, why);
}

static bool skip(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c)
{
    const kiln_gemm_mma g = kiln_gemm_mma_of(s, KILN_MMA, c);
    return kiln_gemm_mma_skips(&g, d, c);
}

static double predict(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c)
{
    const kiln_gemm_mma g = kiln_gemm_mma_of(s, KILN_MMA, c);
    return kiln_gemm_mma_ms(&g, s, d, c);
}

static void guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                  kiln_config *c)
{
    kiln_gemm_mma_guess(s, d, KILN_MMA, params, &kiln_mma_smallest, c);
}

static void emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c, kiln_plan *plan)
{
    kiln_gemm_mma_emit(s, d, KILN_MMA, c, plan);
}

const kiln_solver kiln_solver_gemm_mma = {
    .name = "gemm_mma",
    .id = 1060,
    .algorithm = 5,
    .version = 1,
    .params = params,
    .nparams = MMA_PARAMS,
    .prefer = kiln_mma_prefer,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
