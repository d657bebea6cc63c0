/* mma.cl: products of small matrices on tensor cores, and copies to local memory that an item does
 * not wait for: NVIDIA's compute capability 8.0 and up, by inline PTX.
 *
 * A warp, 32 neighbouring items, multiplies m16 x k by k x n8 as one, 32 bytes of terms at a time:
 * 8 floats, 16 halves or 32 bytes. Rows of both factors lie in local memory, with their terms side
 * by side:
 *
 *                        terms: 32 bytes                item l holds of a product
 *     rows of the left  +-------+-------+              +-------------------------+
 *     factor, or        | 16 B  | 16 B  |              | [0] [1]                 |  row l / 4
 *     columns of the    | of 8 rows at a time          |   columns 2 (l % 4) + 0, 1
 *     right one         +-------+-------+              | [2] [3]                 |  row l / 4 + 8
 *
 *   MMA_T, MMA_BYTES                     an element of the factors as memory holds it, and its size
 *   COPY_ASYNC(bytes, to, from, given)   starts to copy 16 or 8 bytes to local address `to`; bytes
 *                                        past the first `given` become 0
 *   COPY_COMMIT, COPY_WAIT(n)            ends a batch of copies; waits for all but the last n
 *                                        batches
 *   ADDRESS_T, LOCAL_ADDRESS(p)          of a pointer to local memory
 *   read_left(f, address), read_right(f, address)     what an item holds of 16 rows of the left
 *                                        factor, or of 16 columns of the right one: four words
 *   multiply(sum, left, right)           adds a product to an item's four sums; `right` is two
 *                                        words
 *   multiply_half(sum, left, right)      the same for 16 bytes of terms: the first two words of
 *                                        `left` and the first of `right` are their first 16 bytes
 *   ROW_OF_LEFT, BYTE_OF_LEFT, ...       which row and byte of its 16 rows of 32 bytes the
 *                                        `address` of an item `lane` must be
 *   mma_factor(v)                        a factor as tensor cores take it, rounded to nearest
 *   narrow_pair(a, b)                    two floats as the destination's halves, side by side in a
 *                                        word
 *   WARP_BARRIER                         a barrier for local memory among the items of a warp
 *   read_turned(f, address)              the same for halves whose terms are rows; the address is
 *                                        that of term TERM_OF_LEFT and of row AT_OF_LEFT, and so on
 *
 * Defines   those of types.cl
 */
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

#if SRC_TYPE == TYPE_F16
#define MMA_NAME "m16n8k16.row.col.f32.f16.f16.f32"
#define MMA_HALF_NAME "m16n8k8.row.col.f32.f16.f16.f32"
#elif SRC_TYPE == TYPE_BF16
#define MMA_NAME "m16n8k16.row.col.f32.bf16.bf16.f32"
#define MMA_HALF_NAME "m16n8k8.row.col.f32.bf16.bf16.f32"
#elif SRC_TYPE == TYPE_I8
#define MMA_NAME "m16n8k32.row.col.s32.s8.s8.s32"
#define MMA_HALF_NAME "m16n8k16.row.col.s32.s8.s8.s32"
#else
#define MMA_NAME "m16n8k8.row.col.f32.tf32.tf32.f32"
#define MMA_HALF_NAME "m16n8k4.row.col.f32.tf32.tf32.f32"
#endif
#if SRC_TYPE == TYPE_I8
#define MMA_SUM "+r"
#else
#define MMA_SUM "+f"
#endif

typedef uint ADDRESS_T;
#define LOCAL_ADDRESS(p) ((uint)(ulong)(p))

/* Only copies of 16 bytes may pass by the first cache. */
#define COPY_LEVEL_16 "cg"
#define COPY_LEVEL_8 "ca"
#define COPY_ASYNC_(level, bytes, to, from, given)                                                 \
    __asm__ volatile("cp.async." level ".shared.global [%0], [%1], " #bytes ", %2;"                \
                     :                                                                             \
                     : "r"(to), "l"(from), "r"(given)                                              \
                     : "memory")
#define COPY_ASYNC_OF(level, bytes, to, from, given) COPY_ASYNC_(level, bytes, to, from, given)
#define COPY_ASYNC(bytes, to, from, given)                                                         \
    COPY_ASYNC_OF(KILN_CAT(COPY_LEVEL_, bytes), bytes, to, from, given)
#define COPY_COMMIT __asm__ volatile("cp.async.commit_group;" : : : "memory")
#define COPY_WAIT(n) __asm__ volatile("cp.async.wait_group %0;" : : "n"(n) : "memory")

#define ROW_OF_LEFT(lane) ((lane) & 15)
#define BYTE_OF_LEFT(lane) ((lane) >> 4 << 4)
#define ROW_OF_RIGHT(lane) (((lane) & 7) + ((lane) >> 4 << 3))
#define BYTE_OF_RIGHT(lane) ((lane) >> 3 << 4 & 16)

INLINE void read_matrices(uint f[4], const uint address)
{
    __asm__ volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
                     : "r"(address)
                     : "memory");
}

#if MMA_BYTES == 4
/* Tensor cores take the upper 19 bits of floats: rounded to nearest here. */
INLINE float mma_factor(const float v)
{
    uint rounded;
    __asm__("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(v));
    return as_float(rounded);
}
#else
#define mma_factor(v) (v)
#endif

INLINE void read_left(uint f[4], const uint address)
{
    read_matrices(f, address);
#if MMA_BYTES == 4
    UNROLL
    for (int i = 0; i < 4; i++)
        f[i] = as_uint(mma_factor(as_float(f[i])));
#endif
}

INLINE void read_right(uint f[4], const uint address)
{
    read_matrices(f, address);
}

#if MMA_BYTES == 2
/* A matrix whose rows lie the other way: rows of local memory hold the same term of 16 rows of the
 * left factor, or of 16 columns of the right one. */
#define TERM_OF_LEFT(lane) (((lane) & 7) + ((lane) >> 4 << 3))
#define AT_OF_LEFT(lane) ((lane) & 8)
#define TERM_OF_RIGHT(lane) ((lane) & 15)
#define AT_OF_RIGHT(lane) ((lane) >> 4 << 3)

INLINE void read_turned(uint f[4], const uint address)
{
    __asm__ volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
                     : "r"(address)
                     : "memory");
}
#endif

INLINE void multiply(ACC_T sum[4], const uint left[4], const uint right[2])
{
    __asm__("mma.sync.aligned." MMA_NAME " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : MMA_SUM(sum[0]), MMA_SUM(sum[1]), MMA_SUM(sum[2]), MMA_SUM(sum[3])
            : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]),
              "r"(right[1]));
}

INLINE void multiply_half(ACC_T sum[4], const uint left[2], const uint right[1])
{
    __asm__("mma.sync.aligned." MMA_HALF_NAME " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
            : MMA_SUM(sum[0]), MMA_SUM(sum[1]), MMA_SUM(sum[2]), MMA_SUM(sum[3])
            : "r"(left[0]), "r"(left[1]), "r"(right[0]));
}

#if DST_TYPE == TYPE_F16 || DST_TYPE == TYPE_BF16
INLINE uint narrow_pair(const float a, const float b)
{
    uint both;
#if DST_TYPE == TYPE_F16
    __asm__("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(b), "f"(a));
#else
    __asm__("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(b), "f"(a));
#endif
    return both;
}
#endif

#define WARP_BARRIER __asm__ volatile("bar.warp.sync 0xffffffff;" : : : "memory")
