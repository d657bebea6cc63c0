/* depthwise_blocked_plain.cl: transposes channels by pixels of a plain tensor to the vectors of
 * channels of depthwise_blocked.cl, and back. Empty unless D_PLAIN=1.
 *
 *   gather(to, from)       copies the source rows that an item needs
 *   scatter(dst, from, channel, skip, count, at)   stores results
 */
#include "caches.cl"
#include "depthwise_blocked_elements.cl"
#include "rows.cl"
#include "transpose.cl"

#if D_PLAIN
KILN_DEFINE_TRANSPOSE(transpose, SUM_V)

/* Source rows of D_B channels; the last square is moved back to end where they end. */
INLINE void gather(SUM_V *to, global const SRC_T *from)
{
#pragma nounroll
    for (int i = 0; i < D_ROWS * P_SRC_W; i += D_B) {
        const int first = min(i, D_ROWS * P_SRC_W - D_B);
        SUM_V square[D_B];
#pragma unroll
        for (int c = 0; c < D_B; c++) {
            square[c] = LOAD(from, (INDEX_T)c * D_SRC_CHANNEL + first);
            KILN_FETCH(from + ((INDEX_T)c * D_SRC_CHANNEL + first + D_NEXT_ITEM));
        }
        transpose(square);
#pragma unroll
        for (int p = 0; p < D_B; p++)
            to[first + p] = square[p];
    }
}

/* Stores `count` neighbouring pixels, from element `at` of the first channel on, of all channels
 * but the first `skip`. The last square is moved back too, but not where that would read residuals
 * that are results by then. */
INLINE void scatter(global DST_T *dst, const SUM_V *from, const int channel, const int skip,
                    const int count, const INDEX_T at EPILOGUE_PARAMS)
{
#ifdef P_BETA
    const int squares = count / D_B * D_B;
#else
    const int squares = count < D_B ? 0 : count;
#endif
#pragma nounroll
    for (int i = 0; i < squares; i += D_B) {
        const int first = min(i, count - D_B);
        SUM_V square[D_B];
#pragma unroll
        for (int p = 0; p < D_B; p++)
            square[p] = from[first + p];
        transpose(square);
        EACH_RESULT
        for (int c = 0; c < D_B; c++)
            if (c >= skip)
                PUT_ROW(dst, SUMMED(square[c]), channel + c,
                        at + (INDEX_T)c * D_DST_CHANNEL + first);
    }
#pragma nounroll
    for (int i = squares; i < count; i++) {
        private const SUM_T *lane = (private const SUM_T *)(from + i);
#pragma nounroll
        for (int c = skip; c < D_B; c++) {
            const INDEX_T to = at + (INDEX_T)c * D_DST_CHANNEL + i;
            DST_STORE(dst, to, FINISH((ACC_T)lane[c], channel + c, to));
        }
    }
}
#endif
