/* rows.cl: the epilogue and stores of vectors of D_ROW neighbouring pixels of a channel. Empty
 * without D_ROW.
 *
 *   ROW_T                                D_ROW times VAL_T
 *   FINISH_ROW(acc, residual, channel)   the results for their sums
 *   PUT_ROW(p, acc, channel, i)          stores FINISH_ROW() at element i, by KILN_STORE
 *   STORE_SOME(p, v, count, i)           stores the first `count` elements of v at element i
 *   OLD_SOME(count, i)                   `count` elements of the residual, then zeros; all zeros
 *                                        without one
 */
#include "caches.cl"
#include "epilogue.cl"

#if D_ROW
#define ROW_T KILN_CAT(VAL_T, D_ROW)
typedef KILN_LOOSE(KILN_BITS_T, D_ROW) kiln_loose_row;

KILN_DEFINE_ACTIVATE(kiln_activate_row, KILN_CAT(float, D_ROW))

/* The results for the sums of neighbouring pixels of a channel. */
static inline ROW_T kiln_finish_row(KILN_CAT(ACC_T, D_ROW) acc, ROW_T residual,
                                    int channel KILN_BIAS_PARAM)
{
    ROW_T v = KILN_CAT(convert_, ROW_T)(acc);
#if DST_TYPE != TYPE_I32
    KILN_SCALE_AND_ADD(v, residual, bias[channel]);
    v = kiln_activate_row(v);
#endif
    return v;
}

#define FINISH_ROW(acc, residual, channel) kiln_finish_row(acc, residual, channel KILN_BIAS_PASS)

static inline void kiln_put_row(global DST_T *dst, KILN_CAT(ACC_T, D_ROW) acc, int channel,
                                INDEX_T i EPILOGUE_PARAMS)
{
#ifdef P_BETA
    const ROW_T v = FINISH_ROW(acc, DST_LOADN(D_ROW, residual, i), channel);
#else
    const ROW_T v = FINISH_ROW(acc, (ROW_T)((VAL_T)0), channel);
#endif
    KILN_STORE(D_ROW, kiln_loose_row, dst + i, v);
}

#define PUT_ROW(p, acc, channel, i) kiln_put_row(p, acc, channel, i EPILOGUE_PASS)

typedef KILN_LOOSE(KILN_BITS_T, 2) kiln_loose2;
typedef KILN_LOOSE(KILN_BITS_T, 4) kiln_loose4;
typedef KILN_LOOSE(KILN_BITS_T, 8) kiln_loose8;

/* The first `count` lanes, the largest pieces first. */
static inline void kiln_store_some(global DST_T *dst, ROW_T v, int count, INDEX_T i)
{
    global KILN_BITS_T *to = (global KILN_BITS_T *)dst + i;
    KILN_CAT(KILN_BITS_T, D_ROW) bits = KILN_BITS(D_ROW, v);
    if (count == D_ROW) {
        *(global kiln_loose_row *)to = bits;
        return;
    }
#if D_ROW == 16
    if (count & 8) {
        *(global kiln_loose8 *)to = bits.lo;
        bits.lo = bits.hi;
        to += 8;
    }
#endif
#if D_ROW > 4
    if (count & 4) {
        *(global kiln_loose4 *)to = bits.s0123;
        bits.s0123 = bits.s4567;
        to += 4;
    }
#endif
    if (count & 2) {
        *(global kiln_loose2 *)to = bits.s01;
        bits.s01 = bits.s23;
        to += 2;
    }
    if (count & 1)
        *to = bits.s0;
}

#define STORE_SOME(p, v, count, i) kiln_store_some(p, v, count, i)

#ifdef P_BETA
INLINE ROW_T kiln_load_some(global const DST_T *from, int count, INDEX_T i)
{
    if (count == D_ROW)
        return DST_LOADN(D_ROW, from, i);
    VAL_T lane[D_ROW] __attribute__((aligned(64)));
#pragma nounroll
    for (int l = 0; l < D_ROW; l++)
        lane[l] = l < count ? DST_LOAD(from, i + l) : 0;
    return *(private const ROW_T *)lane;
}
#define OLD_SOME(count, i) kiln_load_some(residual, count, i)
#else
#define OLD_SOME(count, i) ((ROW_T)((VAL_T)0))
#endif
#endif
