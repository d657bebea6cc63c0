/* types.cl: the types of tensors' elements and of indices, and how elements are read and written.
 *
 * Defines (made by kiln_define_types()):
 *   SRC_TYPE     storage of the two tensors that are read    TYPE_F32 TYPE_F16 TYPE_BF16 TYPE_I8
 *                TYPE_F8E4M3 TYPE_F8E5M2 (TYPE_I32 and TYPE_U8 too, where values only move)
 *   DST_TYPE     storage of the tensor that is written       the same, or TYPE_I32, TYPE_U8
 *   P_WIDE=1     a tensor has 2^31 elements or more, or a padded axis is that long
 *   D_ALIGNED=1  buffers are aligned for vectors of every length
 *   D_LONG_SUMS=1 sums of bytes may leave an int, and none of their bits is dropped; for templates
 *                without vectors of sums
 *   D_BF16=1     the CPU has AVX512_BF16, even if the compiler does not know; solvers for CPUs
 *                define it
 *
 * What templates use:
 *   SRC_T, SRC_LOAD(p, i), SRC_LOADN(n, p, i)      element i of p as ACC_T; n of them from i on
 *   DST_T, DST_LOAD(p, i), DST_LOADN(n, p, i)      the same of the destination, as VAL_T
 *   DST_STORE(p, i, v), DST_STOREN(n, p, i, v)     v, one VAL_T or n, rounded to nearest even
 *   SRC_LOAD_WHOLE(n, p, i), DST_LOAD_WHOLE(n, p, i), DST_STORE_WHOLE(n, p, i, v)
 *                                                  the same of n, whose place in their buffer is a
 *                                                  multiple of n; SRC_LOAD_QUAD(p, i),
 *                                                  DST_STORE_QUAD(p, i, v): of four
 *   WHOLE_AT(T, n, p), QUAD_AT(T, p)               n of type T from *p on, in such a place; four
 *   ACC_T                                          float; int for integer sources, long with
 *                                                  D_LONG_SUMS
 *   VAL_T                                          float, or int for an i32 destination
 *   SRC_BITS_T, SRC_OF_BITS(n, bits)               elements as memory holds them, of a type that
 *                                                  may be copied, and the n ACC_T that such a
 *                                                  vector stands for
 *   SRC_BYTES, DST_BYTES                           sizes of an element
 *   INDEX_T                                        int, or long with P_WIDE
 *   KILN_BITS(n, v)                                the vector v of n VAL_T as memory holds it, with
 *                                                  elements of type KILN_BITS_T
 *
 * Half is a storage type only, so cl_khr_fp16 is not needed. Write acc += a * b: it contracts to
 * an fma where there is one, while mad() does not on PoCL.
 */
#include "language.cl"

#define TYPE_F32 1
#define TYPE_F16 2
#define TYPE_BF16 3
#define TYPE_I8 4
#define TYPE_I32 5
#define TYPE_F8E4M3 6
#define TYPE_F8E5M2 7
#define TYPE_U8 8

#ifdef P_WIDE
#define INDEX_T long
#else
#define INDEX_T int
#endif

/* Vectors whose elements are aligned, the vectors maybe not. PoCL splits vloadn and vstoren, but
 * not loads and stores of these. */
#define KILN_LOOSE(T, n) KILN_CAT(T, n) __attribute__((aligned(sizeof(T))))

/* Vectors of half pass through a register: PoCL 3.1's vload_half16 and vstore_half16 assume an
 * alignment that OpenCL does not ask for, and fault without it. */
#ifdef __F16C__
/* Whole vectors in one instruction; PoCL's functions take several. */
#define KILN_HALF_DEFINE(n)                                                                        \
    typedef __fp16 KILN_CAT(kiln_half, n) __attribute__((ext_vector_type(n)));                     \
    static inline KILN_CAT(float, n) KILN_CAT(kiln_from_half, n)(KILN_CAT(ushort, n) bits)         \
    {                                                                                              \
        return __builtin_convertvector(*(const private KILN_CAT(kiln_half, n) *)&bits,             \
                                       KILN_CAT(float, n));                                        \
    }                                                                                              \
    static inline KILN_CAT(ushort, n) KILN_CAT(kiln_to_half, n)(KILN_CAT(float, n) v)              \
    {                                                                                              \
        const KILN_CAT(kiln_half, n) h = __builtin_convertvector(v, KILN_CAT(kiln_half, n));       \
        return *(const private KILN_CAT(ushort, n) *)&h;                                           \
    }
#else
#define KILN_HALF_DEFINE(n)                                                                        \
    static inline KILN_CAT(float, n) KILN_CAT(kiln_from_half, n)(KILN_CAT(ushort, n) bits)         \
    {                                                                                              \
        return KILN_CAT(vload_half, n)(0, (const private half *)&bits);                            \
    }                                                                                              \
    static inline KILN_CAT(ushort, n) KILN_CAT(kiln_to_half, n)(KILN_CAT(float, n) v)              \
    {                                                                                              \
        KILN_CAT(ushort, n) bits;                                                                  \
        KILN_CAT(KILN_CAT(vstore_half, n), _rte)(v, 0, (private half *)&bits);                     \
        return bits;                                                                               \
    }
#endif
#if SRC_TYPE == TYPE_F16 || DST_TYPE == TYPE_F16
KILN_HALF_DEFINE(2)
KILN_HALF_DEFINE(4)
KILN_HALF_DEFINE(8)
KILN_HALF_DEFINE(16)
#endif

/* 8-bit floats, by the bits of their fraction: 3 with 4 of exponent, which have one NaN and no
 * infinity, or 2 with 5. Large values saturate, and a NaN becomes 0x7f. Results below the smallest
 * normal value are rounded by the addition of a float whose last bit is worth as much as theirs. */
#define KILN_F8_BIAS(fraction) (fraction == 3 ? 7u : 15u)
#define KILN_F8_MOST(fraction) (fraction == 3 ? 448.0f : 57344.0f)
#define KILN_F8_LEAST(fraction) (fraction == 3 ? 0.015625f : 6.103515625e-5f)
#define KILN_F8_STEP(fraction) (fraction == 3 ? 0.001953125f : 1.52587890625e-5f)
#define KILN_F8_DEFINE(n)                                                                          \
    static inline KILN_CAT(float, n)                                                               \
        KILN_CAT(kiln_from_f8_, n)(KILN_CAT(uchar, n) bits, const uint fraction)                   \
    {                                                                                              \
        const KILN_CAT(uint, n) all = KILN_CAT(convert_uint, n)(bits), m = all & 0x7fu;            \
        const KILN_CAT(uint, n) normal =                                                           \
            (m << (23 - fraction)) + ((127 - KILN_F8_BIAS(fraction)) << 23);                       \
        const KILN_CAT(float, n) low = KILN_CAT(convert_float, n)(m) * KILN_F8_STEP(fraction);     \
        KILN_CAT(uint, n) u = m < (1u << fraction) ? KILN_CAT(as_uint, n)(low) : normal;           \
        u = m > (fraction == 3 ? 0x7eu : 0x7cu) ? (KILN_CAT(uint, n))(0x7fc00000u) : u;            \
        if (fraction == 2)                                                                         \
            u = m == 0x7cu ? (KILN_CAT(uint, n))(0x7f800000u) : u;                                 \
        return KILN_CAT(as_float, n)(u | (all & 0x80u) << 24);                                     \
    }                                                                                              \
    static inline KILN_CAT(uchar, n)                                                               \
        KILN_CAT(kiln_to_f8_, n)(KILN_CAT(float, n) v, const uint fraction)                        \
    {                                                                                              \
        const KILN_CAT(float, n) most = (KILN_CAT(float, n))(KILN_F8_MOST(fraction));              \
        const KILN_CAT(float, n) magic = (KILN_CAT(float, n))(8388608 * KILN_F8_STEP(fraction));   \
        KILN_CAT(float, n) a = KILN_CAT(as_float, n)(KILN_CAT(as_uint, n)(v) & 0x7fffffffu);       \
        a = a > most ? most : a;                                                                   \
        const KILN_CAT(uint, n) u = KILN_CAT(as_uint, n)(a), drop = 23 - fraction;                 \
        const KILN_CAT(uint, n) rounded = u + ((1u << (22 - fraction)) - 1) + (u >> drop & 1u);    \
        const KILN_CAT(uint, n) normal =                                                           \
            (rounded >> drop) - ((127 - KILN_F8_BIAS(fraction)) << fraction);                      \
        const KILN_CAT(uint, n) low =                                                              \
            KILN_CAT(as_uint, n)(a + magic) - KILN_CAT(as_uint, n)(magic);                         \
        KILN_CAT(uint, n) m = a < KILN_F8_LEAST(fraction) ? low : normal;                          \
        m |= KILN_CAT(as_uint, n)(v) >> 24 & 0x80u;                                                \
        m = u > 0x7f800000u ? (KILN_CAT(uint, n))(0x7fu) : m;                                      \
        return KILN_CAT(convert_uchar, n)(m);                                                      \
    }
#if SRC_TYPE == TYPE_F8E4M3 || SRC_TYPE == TYPE_F8E5M2 || DST_TYPE == TYPE_F8E4M3 ||               \
    DST_TYPE == TYPE_F8E5M2
KILN_F8_DEFINE()
KILN_F8_DEFINE(2)
KILN_F8_DEFINE(4)
KILN_F8_DEFINE(8)
KILN_F8_DEFINE(16)
#endif

/* A NaN as 0, which saturated conversions to integers only should do themselves. T is v's type. */
#define KILN_NUMBER(T, v) select((T)(0), (T)(v), isequal((T)(v), (T)(v)))

#define KILN_BYTES(type)                                                                           \
    (type == TYPE_F32 || type == TYPE_I32 ? 4 : type == TYPE_F16 || type == TYPE_BF16 ? 2 : 1)
#define SRC_BYTES KILN_BYTES(SRC_TYPE)
#define DST_BYTES KILN_BYTES(DST_TYPE)

/* ---- sources ---- */

#if SRC_TYPE == TYPE_I8
#define SRC_T char
#ifdef D_LONG_SUMS
#define ACC_T long
#else
#define ACC_T int
#endif
#define SRC_LOAD(p, i) ((int)(p)[i])
#define SRC_BITS_T char
#define SRC_OF_BITS(n, bits) KILN_CAT(convert_int, n)(bits)
#elif SRC_TYPE == TYPE_U8
#define SRC_T uchar
#define ACC_T int
#define SRC_LOAD(p, i) ((int)(p)[i])
#define SRC_BITS_T uchar
#define SRC_OF_BITS(n, bits) KILN_CAT(convert_int, n)(bits)
#elif SRC_TYPE == TYPE_I32
#define SRC_T int
#define ACC_T int
#define SRC_LOAD(p, i) ((p)[i])
#define SRC_BITS_T int
#define SRC_OF_BITS(n, bits) (bits)
#elif SRC_TYPE == TYPE_F16
#define SRC_T half
#define ACC_T float
#define SRC_LOAD(p, i) vload_half(i, p)
#define SRC_BITS_T ushort
#define SRC_OF_BITS(n, bits) KILN_CAT(kiln_from_half, n)(bits)
#elif SRC_TYPE == TYPE_BF16
#define SRC_T ushort
#define ACC_T float
#define SRC_LOAD(p, i) as_float((uint)(p)[i] << 16)
#define SRC_BITS_T ushort
#define SRC_OF_BITS(n, bits) KILN_CAT(as_float, n)(KILN_CAT(convert_uint, n)(bits) << 16)
#elif SRC_TYPE == TYPE_F8E4M3 || SRC_TYPE == TYPE_F8E5M2
#define SRC_T uchar
#define ACC_T float
#define KILN_SRC_FRACTION (SRC_TYPE == TYPE_F8E4M3 ? 3u : 2u)
#define SRC_LOAD(p, i) kiln_from_f8_((p)[i], KILN_SRC_FRACTION)
#define SRC_BITS_T uchar
#define SRC_OF_BITS(n, bits) KILN_CAT(kiln_from_f8_, n)(bits, KILN_SRC_FRACTION)
#else
#define SRC_T float
#define ACC_T float
#define SRC_LOAD(p, i) ((p)[i])
#define SRC_BITS_T float
#define SRC_OF_BITS(n, bits) (bits)
#endif
#define SRC_LOADN(n, p, i)                                                                         \
    SRC_OF_BITS(n, KILN_CAT(vload, n)(0, (const global SRC_BITS_T *)(p) + (i)))

/* ---- destination ---- */

#if DST_TYPE == TYPE_I32
#define DST_T int
#define VAL_T int
#define DST_LOAD(p, i) ((p)[i])
#define DST_STORE(p, i, v) ((p)[i] = (v))
#define KILN_BITS_T int
#define DST_OF_BITS(n, bits) (bits)
#define KILN_BITS(n, v) (v)
#elif DST_TYPE == TYPE_I8
#define DST_T char
#define VAL_T float
#define DST_LOAD(p, i) ((float)(p)[i])
#define DST_STORE(p, i, v) ((p)[i] = kiln_to_char(v))
#define KILN_BITS_T char
#define DST_OF_BITS(n, bits) KILN_CAT(convert_float, n)(bits)
#define KILN_BITS(n, v) KILN_CAT(kiln_to_char, n)(v)

/* Next to 1.5 * 2^23 a float has no fraction: the sum rounds, and its bits are the integer's. */
#define KILN_CHAR_DEFINE(n)                                                                        \
    static inline KILN_CAT(char, n) KILN_CAT(kiln_to_char, n)(KILN_CAT(float, n) v)                \
    {                                                                                              \
        const KILN_CAT(float, n) most = (KILN_CAT(float, n))(127.0f), least = -1.0f - most;        \
        v = KILN_NUMBER(KILN_CAT(float, n), v);                                                    \
        v = v > most ? most : v < least ? least : v;                                               \
        return KILN_CAT(convert_char, n)(KILN_CAT(as_int, n)(v + 12582912.0f) -                    \
                                         as_int(12582912.0f));                                     \
    }
static inline char kiln_to_char(float v)
{
    return convert_char_sat_rte(KILN_NUMBER(float, v));
}
KILN_CHAR_DEFINE(4)
KILN_CHAR_DEFINE(8)
KILN_CHAR_DEFINE(16)
#elif DST_TYPE == TYPE_U8
#define DST_T uchar
#define VAL_T float
#define DST_LOAD(p, i) ((float)(p)[i])
#define DST_STORE(p, i, v) ((p)[i] = kiln_to_uchar(v))
#define KILN_BITS_T uchar
#define DST_OF_BITS(n, bits) KILN_CAT(convert_float, n)(bits)
#define KILN_BITS(n, v) KILN_CAT(kiln_to_uchar, n)(v)

/* As kiln_to_char(). */
#define KILN_UCHAR_DEFINE(n)                                                                       \
    static inline KILN_CAT(uchar, n) KILN_CAT(kiln_to_uchar, n)(KILN_CAT(float, n) v)              \
    {                                                                                              \
        const KILN_CAT(float, n) most = (KILN_CAT(float, n))(255.0f), least = 0.0f * most;         \
        v = KILN_NUMBER(KILN_CAT(float, n), v);                                                    \
        v = v > most ? most : v < least ? least : v;                                               \
        return KILN_CAT(convert_uchar, n)(KILN_CAT(as_int, n)(v + 12582912.0f) -                   \
                                          as_int(12582912.0f));                                    \
    }
static inline uchar kiln_to_uchar(float v)
{
    return convert_uchar_sat_rte(KILN_NUMBER(float, v));
}
KILN_UCHAR_DEFINE(4)
KILN_UCHAR_DEFINE(8)
KILN_UCHAR_DEFINE(16)
#elif DST_TYPE == TYPE_F16
#define DST_T half
#define VAL_T float
#define DST_LOAD(p, i) vload_half(i, p)
#define DST_STORE(p, i, v) vstore_half_rte(v, i, p)
#define KILN_BITS_T ushort
#define DST_OF_BITS(n, bits) KILN_CAT(kiln_from_half, n)(bits)
#define KILN_BITS(n, v) KILN_CAT(kiln_to_half, n)(v)
#elif DST_TYPE == TYPE_BF16
#define DST_T ushort
#define VAL_T float
#define DST_LOAD(p, i) as_float((uint)(p)[i] << 16)
#define DST_STORE(p, i, v) ((p)[i] = kiln_bf16(v))
#define KILN_BITS_T ushort
#define DST_OF_BITS(n, bits) KILN_CAT(as_float, n)(KILN_CAT(convert_uint, n)(bits) << 16)
#define KILN_BITS(n, v) KILN_CAT(kiln_bf16_, n)(v)

/* Round to nearest even; a NaN stays a (quiet) NaN. */
#define KILN_BF16_DEFINE(name, F, U, H, as_u, to_h)                                                \
    static inline H name(F v)                                                                      \
    {                                                                                              \
        U u = as_u(v);                                                                             \
        U r = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;                                              \
        return to_h((u & 0x7fffffffu) > 0x7f800000u ? ((u >> 16) | 0x40u) : r);                    \
    }
KILN_BF16_DEFINE(kiln_bf16, float, uint, ushort, as_uint, convert_ushort)
KILN_BF16_DEFINE(kiln_bf16_4, float4, uint4, ushort4, as_uint4, convert_ushort4)
KILN_BF16_DEFINE(kiln_bf16_8, float8, uint8, ushort8, as_uint8, convert_ushort8)
#if defined __AVX512BW__ && (D_BF16 || defined __AVX512BF16__)
/* One instruction instead of nine; numbers below 2^-126 become zero. */
static inline ushort16 kiln_bf16_16(float16 v)
{
    ushort16 bits;
    __asm__("vcvtneps2bf16 %1, %0" : "=v"(bits) : "v"(v));
    return bits;
}
#else
KILN_BF16_DEFINE(kiln_bf16_16, float16, uint16, ushort16, as_uint16, convert_ushort16)
#endif
#elif DST_TYPE == TYPE_F8E4M3 || DST_TYPE == TYPE_F8E5M2
#define DST_T uchar
#define VAL_T float
#define KILN_DST_FRACTION (DST_TYPE == TYPE_F8E4M3 ? 3u : 2u)
#define DST_LOAD(p, i) kiln_from_f8_((p)[i], KILN_DST_FRACTION)
#define DST_STORE(p, i, v) ((p)[i] = kiln_to_f8_(v, KILN_DST_FRACTION))
#define KILN_BITS_T uchar
#define DST_OF_BITS(n, bits) KILN_CAT(kiln_from_f8_, n)(bits, KILN_DST_FRACTION)
#define KILN_BITS(n, v) KILN_CAT(kiln_to_f8_, n)(v, KILN_DST_FRACTION)
#else
#define DST_T float
#define VAL_T float
#define DST_LOAD(p, i) ((p)[i])
#define DST_STORE(p, i, v) ((p)[i] = (v))
#define KILN_BITS_T float
#define DST_OF_BITS(n, bits) (bits)
#define KILN_BITS(n, v) (v)
#endif

#define DST_LOADN(n, p, i)                                                                         \
    DST_OF_BITS(n, KILN_CAT(vload, n)(0, (const global KILN_BITS_T *)(p) + (i)))
#define DST_STOREN(n, p, i, v)                                                                     \
    KILN_CAT(vstore, n)(KILN_BITS(n, v), 0, (global KILN_BITS_T *)(p) + (i))

/* ---- whole vectors in one access ---- */

/* A compiler may split vloadn and vstoren, whose addresses are aligned as elements are. On a CPU no
 * address need be aligned better: memory may be the caller's. */
#ifdef D_ALIGNED
#define WHOLE_AT(T, n, p) (*(const global KILN_CAT(T, n) *)(p))
#define KILN_PUT_WHOLE(T, n, p, v) (*(global KILN_CAT(T, n) *)(p) = (v))
#else
#define WHOLE_AT(T, n, p) KILN_CAT(vload, n)(0, p)
#define KILN_PUT_WHOLE(T, n, p, v) KILN_CAT(vstore, n)(v, 0, p)
#endif
#define QUAD_AT(T, p) WHOLE_AT(T, 4, p)

#define SRC_LOAD_WHOLE(n, p, i)                                                                    \
    SRC_OF_BITS(n, WHOLE_AT(SRC_BITS_T, n, (const global SRC_BITS_T *)(p) + (i)))
#define DST_LOAD_WHOLE(n, p, i)                                                                    \
    DST_OF_BITS(n, WHOLE_AT(KILN_BITS_T, n, (const global KILN_BITS_T *)(p) + (i)))
#define DST_STORE_WHOLE(n, p, i, v)                                                                \
    KILN_PUT_WHOLE(KILN_BITS_T, n, (global KILN_BITS_T *)(p) + (i), KILN_BITS(n, v))
#define SRC_LOAD_QUAD(p, i) SRC_LOAD_WHOLE(4, p, i)
#define DST_STORE_QUAD(p, i, v) DST_STORE_WHOLE(4, p, i, v)
