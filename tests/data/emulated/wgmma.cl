/* wgmma.cl for devices without tensor cores: an item computes its own sums, from local memory as it
 * lies. PoCL aligns that memory to 128 bytes, not to 1024: what counts as a multiple of 1024
 * follows from the right factor, which begins at one. */
#include "types.cl"

/* A CPU's compiler would take minutes. */
#undef UNROLL
#define UNROLL _Pragma("nounroll")

#ifndef WGMMA_EIGHTH
#define WGMMA_EIGHTH 1024
#endif

#define WGMMA_FENCE_COPIES
#define WGMMA_BEGIN
#define WGMMA_END
#define WGMMA_WAIT(n) barrier(CLK_LOCAL_MEM_FENCE) /* others may still read */
#define WGMMA_BARRIER(team) barrier(CLK_LOCAL_MEM_FENCE)
#define wgmma_settle(sum)

/* A term of the row of 128 bytes at `row`; 16 bytes stand where the bits of the row's address say,
 * counted from `zero`. */
INLINE ACC_T wgmma_term(local const uchar *row, const int byte, const ulong zero)
{
    const ulong turn = ((ulong)row - zero) >> 7 & 7;
    const MMA_T v = *(local const MMA_T *)(row + (((byte >> 4) ^ turn) << 4) + (byte & 15));
#if SRC_TYPE == TYPE_BF16
    return as_float((uint)v << 16);
#elif SRC_TYPE == TYPE_F16
    return vload_half(0, (const private half *)&v);
#else
    return v;
#endif
}

/* 32 bytes of terms; both addresses lie as far behind a multiple of 128. */
INLINE void wgmma_step(ACC_T sum[T_COLUMNS / 8][4], local const uchar *left,
                       local const uchar *right)
{
    const int lane = get_local_id(0) % 32, warp = get_local_id(0) / 32 % 4;
    const int first = (int)((ulong)left & 127);
    left -= first;
    right -= first;
    const ulong zero = (ulong)right;
    for (int j = 0; j < T_COLUMNS / 8; j++)
        for (int e = 0; e < 4; e++) {
            const int r = warp * 16 + e / 2 * 8 + lane / 4, c = j * 8 + lane % 4 * 2 + e % 2;
            for (int byte = first; byte < first + 32; byte += MMA_BYTES)
                sum[j][e] += wgmma_term(left + r / 8 * WGMMA_EIGHTH + r % 8 * 128, byte, zero) *
                             wgmma_term(right + c * 128, byte, zero);
        }
}

INLINE void wgmma(ACC_T sum[T_COLUMNS / 8][4], local const uchar *left, local const uchar *right)
{
    for (int step = 0; step < 4; step++)
        wgmma_step(sum, left + step * 32, right + step * 32);
}
