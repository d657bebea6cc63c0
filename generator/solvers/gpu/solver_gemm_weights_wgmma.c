/* The solver gemm_weights_mma with the instructions of NVIDIA's compute capability 9.0 alone:
 * groups of four warps multiply what lies in local memory, beside the copies. Tiles of 256 rows or
 * columns were slower for every problem that was measured. */
#include "gemm_weights_mma.h"

static const kiln_param params[MMA_PARAMS] = {
    [MMA_ROWS] = {"T_ROWS", 2, {64, 128}, 0, 0},
    [MMA_COLUMNS] = {"T_COLUMNS", 2, {64, 128}, 0, 0},
    [MMA_WARPS_R] = {"T_WARPS_R", 2, {4, 8}, 0, 0},
    [MMA_WARPS_C] = {"T_WARPS_C", 1, {1}, 0, 0},
    [MMA_BYTES] = {"T_BYTES", 1, {128}, 0, 0},
    [MMA_STAGES] = {"T_STAGES", 4, {3, 4, 5, 6}, 0, 0},
    [MMA_SPLIT] = {"T_SPLIT", 10, {1, 2, 4, 8, 16, 32, 64, 128, 256, 512}, 1, 4096},
};

static const kiln_config smallest = {{[MMA_ROWS] = 64,
                                      [MMA_COLUMNS] = 64,
                                      [MMA_WARPS_R] = 4,
                                      [MMA_WARPS_C] = 1,
                                      [MMA_BYTES] = 128,
                                      [MMA_STAGES] = 3,
                                      [MMA_SPLIT] = 1}};

static bool reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why)
{
    return kiln_gemm_weights_mma_rejects(s, d, KILN_WGMMA_TURNED, &smallest, why);
}

static bool illegal(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    const kiln_gemm_weights_mma g = kiln_gemm_weights_mma_of(s, KILN_WGMMA_TURNED, c);
    return kiln_gemm_weights_mma_exceeds(&g, d, c, why);
}

static bool skip(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c)
{
    const kiln_gemm_weights_mma g = kiln_gemm_weights_mma_of(s, KILN_WGMMA_TURNED, c);
    return kiln_gemm_weights_mma_skips(&g, d, c);
}

static double predict(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c)
{
    const kiln_gemm_weights_mma g = kiln_gemm_weights_mma_of(s, KILN_WGMMA_TURNED, c);
    return kiln_gemm_weights_mma_ms(&g, d, c);
}

static void guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                  kiln_config *c)
{
    kiln_gemm_weights_mma_guess(s, d, KILN_WGMMA_TURNED, params, &smallest, c);
}

static void emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c, kiln_plan *plan)
{
    kiln_gemm_weights_mma_emit(s, d, KILN_WGMMA_TURNED, c, plan);
}

const kiln_solver kiln_solver_gemm_weights_wgmma = {
    .name = "gemm_weights_wgmma",
    .id = 1063,
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
