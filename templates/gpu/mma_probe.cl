/* mma_probe.cl: one product of small matrices by the means of mma.cl, for the runtime to see whether
 * kernels reach tensor cores, and whether they may declare D_LOCAL_BYTES of local memory.
 *
 *     product[r][c] = sum over t of left[r][t] * right[c][t], 16 x 16 of 16 halves each
 *
 * Grid      (32), one group
 * Defines   those of mma.cl, with SRC_TYPE=TYPE_F16, and D_LOCAL_BYTES, at least 1024
 */
#include "mma.cl"

kernel GROUP_SIZE(32, 1, 1) void mma_probe(global const MMA_T *left, global const MMA_T *right,
                                           global float *product)
{
    local uint4 memory[D_LOCAL_BYTES / 16] __attribute__((aligned(128)));
    const int lane = get_local_id(0);
    /* At both ends of the memory. */
    const uint at[2] = {LOCAL_ADDRESS(memory), LOCAL_ADDRESS(memory) + D_LOCAL_BYTES - 512};
    COPY_ASYNC(16, at[0] + lane * 16, left + lane * 8, 16);
    COPY_ASYNC(8, at[1] + lane * 16, right + lane * 8, 8);
    COPY_ASYNC(8, at[1] + lane * 16 + 8, right + lane * 8 + 4, 8);
    COPY_COMMIT;
    COPY_WAIT(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint a[4], b[4];
    float sum[2][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    read_left(a, at[0] + ROW_OF_LEFT(lane) * 32 + BYTE_OF_LEFT(lane));
    read_right(b, at[1] + ROW_OF_RIGHT(lane) * 32 + BYTE_OF_RIGHT(lane));
    for (int j = 0; j < 2; j++) {
        multiply(sum[j], a, b + 2 * j);
        for (int e = 0; e < 4; e++)
            product[(lane / 4 + e / 2 * 8) * 16 + j * 8 + lane % 4 * 2 + e % 2] = sum[j][e];
    }
}
