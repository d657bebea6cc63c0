/* cells.cl: elements that move from buffer to buffer, as a reformat moves them.
 *
 *   CELL_T            an element on its way: its bits where the types are equal (P_RAW=1), those of
 *                     P_FLIP inverted, else a VAL_T
 *   kiln_value(v)     an ACC_T as the destination's VAL_T, rounded to nearest even and saturated
 *   LOAD(p, i)        element i of the source as a CELL_T
 *   STORE(p, i, v), STOREN(n, p, i, v)    one CELL_T of the destination, or n of them; no
 *                     assumption on alignment
 *   LOADN(n, p, i)    n of them from i on; with P_RAW
 *   kiln_pad()        what padding holds, P_PAD, a VAL_T, as a CELL_T
 */
#include "types.cl"

/* An element as the destination's VAL_T. */
static inline VAL_T kiln_value(ACC_T v)
{
#if DST_TYPE == TYPE_I32 && (SRC_TYPE == TYPE_I8 || SRC_TYPE == TYPE_U8 || SRC_TYPE == TYPE_I32)
    return v;
#elif DST_TYPE == TYPE_I32
    return convert_int_sat_rte(KILN_NUMBER(float, v));
#elif DST_TYPE == TYPE_BF16 && SRC_TYPE == TYPE_I32
    /* Rounding twice may differ from rounding once; not if the first time keeps, in the last bit,
     * whether anything was lost. */
    const float cut = convert_float_rtz(v);
    return as_float(as_int(cut) | (convert_int(cut) != v));
#else
    return convert_float(v);
#endif
}

#ifdef P_RAW
#if DST_BYTES == 4
#define CELL_T uint
#elif DST_BYTES == 1
#define CELL_T uchar
#else
#define CELL_T ushort
#endif
#ifdef P_FLIP
#define LOAD(p, i) ((CELL_T)(((global const CELL_T *)(p))[i] ^ P_FLIP))
#define LOADN(n, p, i) (KILN_CAT(vload, n)(0, (global const CELL_T *)(p) + (i)) ^ (CELL_T)(P_FLIP))
#else
#define LOAD(p, i) (((global const CELL_T *)(p))[i])
#define LOADN(n, p, i) KILN_CAT(vload, n)(0, (global const CELL_T *)(p) + (i))
#endif
#define STORE(p, i, v) (((global CELL_T *)(p))[i] = (v))
#define STOREN(n, p, i, v) KILN_CAT(vstore, n)(v, 0, (global CELL_T *)(p) + (i))

static inline CELL_T kiln_pad(void)
{
#if DST_TYPE == TYPE_F32
    return as_uint((VAL_T)(P_PAD));
#elif DST_TYPE == TYPE_F16
    ushort bits;
    vstore_half_rte(P_PAD, 0, (private half *)&bits);
    return bits;
#elif DST_TYPE == TYPE_BF16
    return kiln_bf16(P_PAD);
#elif DST_TYPE == TYPE_I8
    return as_uchar(kiln_to_char(P_PAD));
#elif DST_TYPE == TYPE_U8
    return kiln_to_uchar(P_PAD);
#elif DST_BYTES == 1
    return kiln_to_f8_(P_PAD, KILN_DST_FRACTION);
#else
    return as_uint((VAL_T)(P_PAD));
#endif
}
#else
#define CELL_T VAL_T
#define LOAD(p, i) kiln_value(SRC_LOAD(p, i))
#define STORE(p, i, v) DST_STORE(p, i, v)
#define STOREN(n, p, i, v) DST_STOREN(n, p, i, v)
#define kiln_pad() ((VAL_T)(P_PAD))
#endif
