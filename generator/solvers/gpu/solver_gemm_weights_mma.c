/* Backward weights as a product of matrices on tensor cores, summed over pixels that groups share:
 * any filter, stride, dilation and groups, in f16 and bf16; in NHWC as it lies, from NCHW by way of
 * stages that turn x and dy. */
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

static const kiln_config smallest = {{[MMA_ROWS] = 64,
                                      [MMA_COLUMNS] = 64,
                                      [MMA_WARPS_R] = 2,
                                      [MMA_WARPS_C] = 2,
                                      [MMA_BYTES] = 64,
                                      [MMA_STAGES] = 2,
                                      [MMA_SPLIT] = 1}};

static bool reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why)
{
    return kiln_gemm_weights_mma_rejects(s, d, KILN_MMA_TURNED, &smallest, why);
}

static bool illegal(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    const kiln_gemm_weights_mma g = kiln_gemm_weights_mma_of(s, KILN_MMA_TURNED, c);
    return kiln_gemm_weights_mma_exceeds(&g, d, c, why);
}

static bool skip(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c)
{
    const kiln_gemm_weights_mma g = kiln_gemm_weights_mma_of(s, KILN_MMA_TURNED, c);
    return kiln_gemm_weights_mma_skips(&g, d, c);
}

static double predict(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c)
{
    const kiln_gemm_weights_mma g = kiln_gemm_weights_mma_of(s, KILN_MMA_TURNED, c);
    return kiln_gemm_weights_mma_ms(&g, d, c);
}

static void guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                  kiln_config *c)
{
    kiln_gemm_weights_mma_guess(s, d, KILN_MMA_TURNED, params, &smallest, c);
}

static void emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c, kiln_plan *plan)
{
    kiln_gemm_weights_mma_emit(s, d, KILN_MMA_TURNED, c, plan);
}

const kiln_solver kiln_solver_gemm_weights_mma = {
    .name = "gemm_weights_mma",
    .id = 1061,
    .algorithm = 5,
    .version = 2,
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
