/* mma.cl for devices without tensor cores: what kernels on wgmma.cl use of the template of this
 * name, so that all of such a kernel but the instructions can run anywhere. Copies are done at
 * once. */
#include "types.cl"

#if SRC_TYPE == TYPE_F16 || SRC_TYPE == TYPE_BF16
#define MMA_T ushort
#define MMA_BYTES 2
#elif SRC_TYPE == TYPE_I8
#define MMA_T char
#define MMA_BYTES 1
#else
#define MMA_T float
#define MMA_BYTES 4
#endif
#define mma_factor(v) (v)

typedef local uchar *ADDRESS_T;
#define LOCAL_ADDRESS(p) ((local uchar *)(p))

static inline void copy_now(local uchar *to, global const MMA_T *from, const int bytes,
                            const int given)
{
    for (int i = 0; i < bytes / MMA_BYTES; i++)
        ((local MMA_T *)to)[i] = i * MMA_BYTES < given ? from[i] : 0;
}
#define COPY_ASYNC(bytes, to, from, given) copy_now(to, from, bytes, given)
#define COPY_COMMIT
#define COPY_WAIT(n)

static inline uint narrow_pair(const float a, const float b)
{
    ushort half_of[2] = {0, 0};
#if DST_TYPE == TYPE_BF16
    half_of[0] = kiln_bf16(a);
    half_of[1] = kiln_bf16(b);
#elif DST_TYPE == TYPE_F16
    vstore_half_rte(a, 0, (private half *)half_of);
    vstore_half_rte(b, 1, (private half *)half_of);
#endif
    return half_of[0] | (uint)half_of[1] << 16;
}

/* mma_tile.cl has a function that calls it. */
#define multiply(sum, left, right)

#define WARP_BARRIER barrier(CLK_LOCAL_MEM_FENCE)
