/* common.cl: what every template includes. Storage types, index type, epilogue.
 *
 * Defines it understands (made by kiln_define_types() and kiln_define_epilogue()):
 *   SRC_TYPE       storage of the two tensors that are read      TYPE_F32 TYPE_F16 TYPE_BF16 TYPE_I8
 *                  (TYPE_I32 too, where values only move)
 *   DST_TYPE       storage of the tensor that is written         the same, or TYPE_I32
 *   P_WIDE=1       a tensor has 2^31 elements or more, or a padded axis is that long
 *   P_BIAS=1, P_ALPHA, P_BETA, P_ACTIVATION, P_ACTIVATION_A, P_ACTIVATION_B      the epilogue
 *   D_BIAS_IMAGE=1 the bias is an image (k / 4, 0), lane k % 4; with D_IMAGE only
 *
 * What templates use:
 *   SRC_T, SRC_LOAD(p, i), SRC_LOAD4/8/16(p, i)     element i of p as ACC_T (ACC_T4, ...)
 *   DST_T, DST_STORE(p, i, v), DST_STORE4/8/16      v of type VAL_T (VAL_T4, ...), rounded to nearest even
 *   ACC_T                                           float, or int for integer sources
 *   VAL_T                                           what is stored: float, or int for an i32 destination
 *   INDEX_T                                         int, or long with P_WIDE
 *   EPILOGUE_PARAMS                                 last in a kernel's parameter list (no comma before)
 *   FINISH(acc, channel, i)                         VAL_T for destination element i of that channel
 *
 * With D_B and D_CHANNELS defined, for vectors of D_B neighbouring channels of a pixel:
 *   ACC_V, LOAD_V(p)                                D_B times ACC_T; one of them from global memory
 *   VAL_V, FINISH_V(acc, residual, channel)         what is stored for the sums acc of D_B channels from
 *                                                   `channel` on; zero past the last of the D_CHANNELS
 *                                                   (D_DST_PADDED with the padding of a layout)
 *   PUT(p, acc, block, i)                           stores that for block * D_B, at element i;
 *                                                   past the caches with T_STREAM=1, or with D_STREAM=1,
 *                                                   where that is no tunable
 *
 *   KILN_DEFINE_TRANSPOSE(name, V)                  defines void name(V *t), which makes lanes of the
 *                                                   rows of t, D_B vectors of D_B lanes
 *
 * With D_ROW, for vectors of D_ROW neighbouring pixels of a channel:
 *   FINISH_ROW(acc, residual, channel)   what is stored for their sums
 *   PUT_ROW(p, acc, channel, i)     stores that at element i; past the caches with T_STREAM=1
 *   STORE_SOME(p, v, count, i)      stores the first `count` elements of such a vector, at element i
 *
 * With D_IMAGE=1, for a destination that is a channel-major image of D_CHANNELS channels:
 *   READ(image, x, y)               a pixel as float4; zero outside, so x = -1 reads padding
 *   PUT_PIXEL(image, acc, block, at)    writes what the epilogue makes of the sums of four channels,
 *                                   zero in channels past the last
 *
 * With D_TOGETHER = 2 or 4, for vectors of D_B ints that are so many shorts or bytes each:
 *   ADD_PRODUCTS(acc, a, b)         acc + the products of all parts, modulo 2^32; of bytes, those of a
 *                                   are unsigned and those of b signed
 *   PRODUCTS_FUNCTION, PRODUCTS_TARGET   how a static function that uses it is declared, and one that
 *                                   is inlined there (always); with D_VNNI=1 the CPU has AVX512_VNNI,
 *                                   be it unknown to the compiler
 *
 * With T_T = 4, 6, 8 or 10 and D_B, for Winograd's tiles of so many products along an axis:
 *   times_b, times_a, times_g  B^T d and A^T p and G w, along one axis
 *
 * Half is a storage type only, so cl_khr_fp16 is not needed. Write acc += a * b: it contracts to
 * an fma where there is one, while mad() does not on PoCL.
 */
#define TYPE_F32 1
#define TYPE_F16 2
#define TYPE_BF16 3
#define TYPE_I8 4
#define TYPE_I32 5

#ifdef P_WIDE
#define INDEX_T long
#else
#define INDEX_T int
#endif

#define KILN_CAT_(a, b) a##b
#define KILN_CAT(a, b) KILN_CAT_(a, b)

#define GROUP_SIZE(x, y, z) __attribute__((reqd_work_group_size(x, y, z)))

/* Vectors of half pass through a register: PoCL 3.1's vload_half16 and vstore_half16 assume an
 * alignment that OpenCL does not ask for, and fault without it. */
#ifdef __F16C__
/* Whole vectors in one instruction, which PoCL makes several of. */
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
KILN_HALF_DEFINE(4)
KILN_HALF_DEFINE(8)
KILN_HALF_DEFINE(16)
#endif

/* A NaN as 0, which saturated conversions to integers only should do themselves. T is v's type. */
#define KILN_NUMBER(T, v) select((T)(0), (T)(v), isequal((T)(v), (T)(v)))

/* ---- sources ---- */

#if SRC_TYPE == TYPE_I8
#define SRC_T char
#define ACC_T int
#define SRC_LOAD(p, i) ((int)(p)[i])
#define SRC_LOADN(n, p, i) KILN_CAT(convert_int, n)(KILN_CAT(vload, n)(0, (p) + (i)))
#elif SRC_TYPE == TYPE_I32
#define SRC_T int
#define ACC_T int
#define SRC_LOAD(p, i) ((p)[i])
#define SRC_LOADN(n, p, i) KILN_CAT(vload, n)(0, (p) + (i))
#elif SRC_TYPE == TYPE_F16
#define SRC_T half
#define ACC_T float
#define SRC_LOAD(p, i) vload_half(i, p)
#define SRC_LOADN(n, p, i)                                                                         \
    KILN_CAT(kiln_from_half, n)(KILN_CAT(vload, n)(0, (const global ushort *)(p) + (i)))
#elif SRC_TYPE == TYPE_BF16
#define SRC_T ushort
#define ACC_T float
#define SRC_LOAD(p, i) as_float((uint)(p)[i] << 16)
#define SRC_LOADN(n, p, i)                                                                         \
    KILN_CAT(as_float, n)(KILN_CAT(convert_uint, n)(KILN_CAT(vload, n)(0, (p) + (i))) << 16)
#else
#define SRC_T float
#define ACC_T float
#define SRC_LOAD(p, i) ((p)[i])
#define SRC_LOADN(n, p, i) KILN_CAT(vload, n)(0, (p) + (i))
#endif

#define SRC_LOAD4(p, i) SRC_LOADN(4, p, i)
#define SRC_LOAD8(p, i) SRC_LOADN(8, p, i)
#define SRC_LOAD16(p, i) SRC_LOADN(16, p, i)
#define ACC_T4 KILN_CAT(ACC_T, 4)
#define ACC_T8 KILN_CAT(ACC_T, 8)
#define ACC_T16 KILN_CAT(ACC_T, 16)

/* ---- destination ---- */

#if DST_TYPE == TYPE_I32
#define DST_T int
#define VAL_T int
#define DST_LOAD(p, i) ((p)[i])
#define DST_LOADN(n, p, i) KILN_CAT(vload, n)(0, (p) + (i))
#define DST_STORE(p, i, v) ((p)[i] = (v))
#define KILN_BITS_T int
#define KILN_BITS(n, v) (v)
#elif DST_TYPE == TYPE_I8
#define DST_T char
#define VAL_T float
#define DST_LOAD(p, i) ((float)(p)[i])
#define DST_LOADN(n, p, i) KILN_CAT(convert_float, n)(KILN_CAT(vload, n)(0, (p) + (i)))
#define DST_STORE(p, i, v) ((p)[i] = kiln_to_char(v))
#define KILN_BITS_T char
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
#elif DST_TYPE == TYPE_F16
#define DST_T half
#define VAL_T float
#define DST_LOAD(p, i) vload_half(i, p)
#define DST_LOADN(n, p, i)                                                                         \
    KILN_CAT(kiln_from_half, n)(KILN_CAT(vload, n)(0, (const global ushort *)(p) + (i)))
#define DST_STORE(p, i, v) vstore_half_rte(v, i, p)
#define KILN_BITS_T ushort
#define KILN_BITS(n, v) KILN_CAT(kiln_to_half, n)(v)
#elif DST_TYPE == TYPE_BF16
#define DST_T ushort
#define VAL_T float
#define DST_LOAD(p, i) as_float((uint)(p)[i] << 16)
#define DST_LOADN(n, p, i)                                                                         \
    KILN_CAT(as_float, n)(KILN_CAT(convert_uint, n)(KILN_CAT(vload, n)(0, (p) + (i))) << 16)
#define DST_STORE(p, i, v) ((p)[i] = kiln_bf16(v))
#define KILN_BITS_T ushort
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
KILN_BF16_DEFINE(kiln_bf16_16, float16, uint16, ushort16, as_uint16, convert_ushort16)
#else
#define DST_T float
#define VAL_T float
#define DST_LOAD(p, i) ((p)[i])
#define DST_LOADN(n, p, i) KILN_CAT(vload, n)(0, (p) + (i))
#define DST_STORE(p, i, v) ((p)[i] = (v))
#define KILN_BITS_T float
#define KILN_BITS(n, v) (v)
#endif

/* KILN_BITS(n, v) is what memory holds of the vector v of n VAL_T, elements of KILN_BITS_T. */
#define DST_STOREN(n, p, i, v)                                                                     \
    KILN_CAT(vstore, n)(KILN_BITS(n, v), 0, (global KILN_BITS_T *)(p) + (i))
#define DST_STORE4(p, i, v) DST_STOREN(4, p, i, v)
#define DST_STORE8(p, i, v) DST_STOREN(8, p, i, v)
#define DST_STORE16(p, i, v) DST_STOREN(16, p, i, v)
#define VAL_T4 KILN_CAT(VAL_T, 4)
#define VAL_T8 KILN_CAT(VAL_T, 8)
#define VAL_T16 KILN_CAT(VAL_T, 16)

/* ---- epilogue: activation(alpha * acc + beta * residual + bias) ---- */

#ifdef P_BIAS
#ifdef D_BIAS_IMAGE
#define KILN_BIAS_PARAM , read_only image2d_t bias
#else
#define KILN_BIAS_PARAM , global const float *bias
#endif
#define KILN_BIAS_PASS , bias
#else
#define KILN_BIAS_PARAM
#define KILN_BIAS_PASS
#endif

/* The residual may be the destination itself: no restrict, and read before the store. */
#ifdef P_BETA
#ifdef D_IMAGE
#define KILN_RESIDUAL_PARAM , read_only image2d_t residual
#else
#define KILN_RESIDUAL_PARAM , global const DST_T *residual
#endif
#define KILN_RESIDUAL_PASS , residual
#else
#define KILN_RESIDUAL_PARAM
#define KILN_RESIDUAL_PASS
#endif

#define EPILOGUE_PARAMS KILN_BIAS_PARAM KILN_RESIDUAL_PARAM
#define EPILOGUE_PASS KILN_BIAS_PASS KILN_RESIDUAL_PASS

#ifndef P_ACTIVATION
#define P_ACTIVATION 0
#endif

/* The numbers are kiln_activation's. */
#if P_ACTIVATION == 1
#define KILN_ACTIVATION(v) fmax(v, 0.0f)
#elif P_ACTIVATION == 2
#define KILN_ACTIVATION(v) fmin(fmax(v, 0.0f), P_ACTIVATION_A)
#elif P_ACTIVATION == 3
#define KILN_ACTIVATION(v) (v >= 0 ? v : P_ACTIVATION_A * v)
#elif P_ACTIVATION == 4
#define KILN_ACTIVATION(v) (v >= 0 ? v : P_ACTIVATION_A * expm1(v))
#elif P_ACTIVATION == 5
#define KILN_ACTIVATION(v) (P_ACTIVATION_B * tanh(P_ACTIVATION_A * v))
#elif P_ACTIVATION == 6
#define KILN_ACTIVATION(v) (1.0f / (1.0f + exp(-v)))
#elif P_ACTIVATION == 7
#define KILN_ACTIVATION(v) (v / (1.0f + exp(-v)))
#elif P_ACTIVATION == 8
/* erfc: no cancellation where v is far below 0. */
#define KILN_ACTIVATION(v) (0.5f * v * erfc(v * -0.70710678f))
#else
#define KILN_ACTIVATION(v) (v)
#endif

/* v = alpha * v + beta * old + bias, of floats or vectors of them. What the epilogue lacks is not
 * looked at. */
#ifdef P_ALPHA
#define KILN_SCALE(v) v *= P_ALPHA
#else
#define KILN_SCALE(v)
#endif
#ifdef P_BETA
#define KILN_ADD_OLD(v, old) v += P_BETA * (old)
#else
#define KILN_ADD_OLD(v, old)
#endif
#ifdef P_BIAS
#define KILN_ADD_BIAS(v, bias) v += (bias)
#else
#define KILN_ADD_BIAS(v, bias)
#endif
#define KILN_SCALE_AND_ADD(v, old, bias)                                                           \
    KILN_SCALE(v);                                                                                 \
    KILN_ADD_OLD(v, old);                                                                          \
    KILN_ADD_BIAS(v, bias)

/* The activation as a function of T: float or a vector of them. */
#define KILN_DEFINE_ACTIVATE(name, T)                                                              \
    static inline T name(T v)                                                                      \
    {                                                                                              \
        return KILN_ACTIVATION(v);                                                                 \
    }
KILN_DEFINE_ACTIVATE(kiln_activate, float)

#ifndef D_IMAGE
static inline VAL_T kiln_finish(ACC_T acc, INDEX_T channel, INDEX_T i EPILOGUE_PARAMS)
{
#if DST_TYPE == TYPE_I32
    return acc;
#else
    float v = (float)acc;
    KILN_SCALE_AND_ADD(v, DST_LOAD(residual, i), bias[channel]);
    return kiln_activate(v);
#endif
}

#define FINISH(acc, channel, i) kiln_finish(acc, channel, i EPILOGUE_PASS)
#endif

/* With D_AHEAD=1, asks for the line of an element before it is needed, where the compiler can: for
 * CPUs, whose own prefetchers follow rows, not tiles. */
#define KILN_FETCH(p)
#if D_AHEAD && defined __has_builtin
#if __has_builtin(__builtin_prefetch)
#undef KILN_FETCH
#define KILN_FETCH(p) __builtin_prefetch((const void *)(size_t)(p), 0, 2)
#endif
#endif

/* ---- vectors ---- */

/* Vectors of which the elements alone are known to be aligned. PoCL splits vloadn and vstoren, but
 * not these. */
#define KILN_LOOSE(T, n) KILN_CAT(T, n) __attribute__((aligned(sizeof(T))))

/* Stores KILN_BITS of n elements; with T_STREAM=1 or D_STREAM=1 past the caches, where compiler and
 * address allow it. */
#define KILN_STORE(n, loose, p, v) (*(global loose *)(p) = KILN_BITS(n, v))
#if (T_STREAM || D_STREAM) && defined __has_builtin
#if __has_builtin(__builtin_nontemporal_store)
#undef KILN_STORE
#define KILN_STORE(n, loose, p, v)                                                                 \
    if ((size_t)(p) % (n * sizeof(KILN_BITS_T)) == 0)                                              \
        __builtin_nontemporal_store(KILN_BITS(n, v), (global KILN_CAT(KILN_BITS_T, n) *)(p));      \
    else                                                                                           \
        *(global loose *)(p) = KILN_BITS(n, v)
#endif
#endif

/* ---- neighbouring channels ---- */

#if defined(D_B) && defined(D_CHANNELS) && !defined(D_IMAGE)
#define ACC_V KILN_CAT(ACC_T, D_B)
#define VAL_V KILN_CAT(VAL_T, D_B)
typedef KILN_LOOSE(ACC_T, D_B) kiln_loose_acc;
typedef KILN_LOOSE(VAL_T, D_B) kiln_loose_val;
typedef KILN_LOOSE(KILN_BITS_T, D_B) kiln_loose_dst;
#define LOAD_V(p) (*(global const kiln_loose_acc *)(p))

#if D_B == 16
#define KILN_LANES (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#elif D_B == 8
#define KILN_LANES (int8)(0, 1, 2, 3, 4, 5, 6, 7)
#else
#define KILN_LANES (int4)(0, 1, 2, 3)
#endif

#ifdef P_BIAS
/* Biases from `channel` on; there may be fewer than D_B. */
static inline VAL_V kiln_bias(global const float *bias, int channel)
{
    if (channel + D_B <= D_CHANNELS)
        return *(global const kiln_loose_val *)(bias + channel);
    float b[D_B];
    for (int i = 0; i < D_B; i++)
        b[i] = channel + i < D_CHANNELS ? bias[channel + i] : 0.0f;
    return *(private const kiln_loose_val *)b;
}
#endif

#if DST_TYPE != TYPE_I32
KILN_DEFINE_ACTIVATE(kiln_activate_block, VAL_V)
#endif

static inline VAL_V kiln_finish_vector(ACC_V acc, VAL_V residual, int channel KILN_BIAS_PARAM)
{
    VAL_V v = KILN_CAT(convert_, VAL_V)(acc);
#if DST_TYPE != TYPE_I32
    KILN_SCALE_AND_ADD(v, residual, kiln_bias(bias, channel));
    v = kiln_activate_block(v);
#endif
#if D_CHANNELS % D_B || D_DST_PADDED > D_CHANNELS
    if (channel + D_B > D_CHANNELS)
        v = KILN_LANES < D_CHANNELS - channel ? v : (VAL_V)((VAL_T)0);
#endif
    return v;
}

#define FINISH_V(acc, residual, channel) kiln_finish_vector(acc, residual, channel KILN_BIAS_PASS)

static inline void kiln_put(global DST_T *dst, ACC_V acc, int channel, INDEX_T i EPILOGUE_PARAMS)
{
#ifdef P_BETA
    const VAL_V v = FINISH_V(acc, DST_LOADN(D_B, residual, i), channel);
#else
    const VAL_V v = FINISH_V(acc, (VAL_V)((VAL_T)0), channel);
#endif
    KILN_STORE(D_B, kiln_loose_dst, dst + i, v);
}

#define PUT(p, acc, block, i) kiln_put(p, acc, (block) * D_B, i EPILOGUE_PASS)
#endif

/* ---- shorts and bytes, multiplied together ---- */

/* x86 multiplies two shorts and adds the products in one instruction, with VNNI also to a sum, or as
 * much with four bytes; compilers find them in simple code only. One that takes the CPU for an older
 * one has VNNI in functions that ask for it, and does not inline these. */
#define PRODUCTS_FUNCTION inline __attribute__((always_inline))
#define PRODUCTS_TARGET
#if D_TOGETHER > 1 && D_B == 16 && defined __AVX512BW__ && (D_VNNI || defined __AVX512VNNI__)
#if D_TOGETHER == 4
#define KILN_ADD_PRODUCTS __builtin_ia32_vpdpbusd512
#else
#define KILN_ADD_PRODUCTS __builtin_ia32_vpdpwssd512
#endif
#ifndef __AVX512VNNI__
#undef PRODUCTS_FUNCTION
#undef PRODUCTS_TARGET
#define PRODUCTS_FUNCTION __attribute__((noinline, target("avx512vnni")))
#define PRODUCTS_TARGET __attribute__((target("avx512vnni")))
#endif
#elif D_TOGETHER == 2 && D_B == 16 && defined __AVX512BW__
#define KILN_MULTIPLY_PAIRS __builtin_ia32_pmaddwd512
#elif D_TOGETHER == 2 && D_B == 8 && defined __AVX2__
#define KILN_MULTIPLY_PAIRS __builtin_ia32_pmaddwd256
#elif D_TOGETHER == 2 && D_B == 4 && defined __SSE2__
#define KILN_MULTIPLY_PAIRS __builtin_ia32_pmaddwd128
#endif

#if D_TOGETHER > 1
static inline __attribute__((always_inline)) PRODUCTS_TARGET ACC_V
kiln_add_products(ACC_V acc, ACC_V a, ACC_V b)
{
#ifdef KILN_ADD_PRODUCTS
    typedef int ints __attribute__((__vector_size__(D_B * 4)));
    return __builtin_astype(KILN_ADD_PRODUCTS(__builtin_astype(acc, ints),
                                              __builtin_astype(a, ints),
                                              __builtin_astype(b, ints)),
                            ACC_V);
#else
    typedef KILN_CAT(uint, D_B) uints;
#if D_TOGETHER == 4
    const ACC_V p = (a & 255) * (b << 24 >> 24) + (a >> 8 & 255) * (b << 16 >> 24) +
                    (a >> 16 & 255) * (b << 8 >> 24) + (a >> 24 & 255) * (b >> 24);
#elif defined KILN_MULTIPLY_PAIRS
    typedef short shorts __attribute__((__vector_size__(D_B * 4)));
    const ACC_V p = __builtin_astype(
        KILN_MULTIPLY_PAIRS(__builtin_astype(a, shorts), __builtin_astype(b, shorts)), ACC_V);
#else
    const ACC_V p = (a << 16 >> 16) * (b << 16 >> 16) + (a >> 16) * (b >> 16);
#endif
    return __builtin_astype(__builtin_astype(acc, uints) + __builtin_astype(p, uints), ACC_V);
#endif
}
#define ADD_PRODUCTS(acc, a, b) kiln_add_products(acc, a, b)
#endif

/* ---- squares of D_B rows by D_B lanes ---- */

#if D_B == 16
#define KILN_LOW_LANES 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29
#define KILN_HIGH_LANES 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31
#define KILN_LOW_QUADS 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27
#define KILN_HIGH_QUADS 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31
#elif D_B == 8
#define KILN_LOW_LANES 0, 8, 1, 9, 4, 12, 5, 13
#define KILN_HIGH_LANES 2, 10, 3, 11, 6, 14, 7, 15
#define KILN_LOW_QUADS 0, 1, 2, 3, 8, 9, 10, 11
#define KILN_HIGH_QUADS 4, 5, 6, 7, 12, 13, 14, 15
#elif D_B == 4
#define KILN_LOW_LANES 0, 4, 1, 5
#define KILN_HIGH_LANES 2, 6, 3, 7
#define KILN_LOW_QUADS KILN_LOW_LANES /* of one quad there are no rounds */
#define KILN_HIGH_QUADS KILN_HIGH_LANES
#endif

/* The builtin keeps a CPU's compiler from taking the shuffles apart. */
#define KILN_SHUFFLE(a, b, lanes) shuffle2(a, b, (KILN_CAT(uint, D_B))(lanes))
#ifdef __has_builtin
#if __has_builtin(__builtin_shufflevector)
#undef KILN_SHUFFLE
#define KILN_SHUFFLE(a, b, lanes) __builtin_shufflevector(a, b, lanes)
#endif
#endif

/* Each pair of rows that are `apart` exchanges half its lanes, or quads of them. */
#define KILN_EXCHANGE(V, t, apart, what)                                                           \
    _Pragma("unroll") for (int i = 0; i < D_B; i++) if (!(i & (apart)))                            \
    {                                                                                              \
        const V a = t[i], b = t[i + (apart)];                                                      \
        t[i] = KILN_SHUFFLE(a, b, KILN_LOW_##what);                                                \
        t[i + (apart)] = KILN_SHUFFLE(a, b, KILN_HIGH_##what);                                     \
    }

/* void name(V *t): rows become lanes. First within quads of lanes, then whole quads: each round is
 * one instruction a row. */
#define KILN_DEFINE_TRANSPOSE(name, V)                                                             \
    static inline __attribute__((always_inline)) void name(V *t)                                   \
    {                                                                                              \
        KILN_EXCHANGE(V, t, 2, LANES)                                                              \
        KILN_EXCHANGE(V, t, 1, LANES)                                                              \
        _Pragma("unroll") for (int apart = 4; apart < D_B; apart *= 2)                             \
            KILN_EXCHANGE(V, t, apart, QUADS)                                                      \
    }

/* ---- neighbouring pixels ---- */

#if D_ROW
#define ROW_T KILN_CAT(VAL_T, D_ROW)
typedef KILN_LOOSE(KILN_BITS_T, D_ROW) kiln_loose_row;

KILN_DEFINE_ACTIVATE(kiln_activate_row, KILN_CAT(float, D_ROW))

/* What is stored for the sums of neighbouring pixels of a channel. */
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
#endif

/* ---- channels in the lanes of pixels ---- */

#ifdef D_IMAGE
constant sampler_t kiln_sampler =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
#define READ(image, x, y) read_imagef(image, kiln_sampler, (int2)((int)(x), (int)(y)))

KILN_DEFINE_ACTIVATE(kiln_activate_pixel, float4)

#ifdef D_BIAS_IMAGE
#define kiln_bias_pixel(bias, block) READ(bias, block, 0)
#elif defined P_BIAS
static inline float4 kiln_bias_pixel(global const float *bias, int block)
{
    const int c = block * 4;
    if (D_CHANNELS % 4 == 0 || c + 4 <= D_CHANNELS)
        return vload4(block, bias);
    return (float4)(bias[c], c + 1 < D_CHANNELS ? bias[c + 1] : 0.0f,
                    c + 2 < D_CHANNELS ? bias[c + 2] : 0.0f, 0.0f);
}
#endif

static inline float4 kiln_finish_pixel(float4 v, int block, int2 at EPILOGUE_PARAMS)
{
    KILN_SCALE_AND_ADD(v, read_imagef(residual, kiln_sampler, at), kiln_bias_pixel(bias, block));
    v = kiln_activate_pixel(v);
#if D_CHANNELS % 4
    if (block == D_CHANNELS / 4)
        v = (int4)(0, 1, 2, 3) < D_CHANNELS % 4 ? v : 0.0f;
#endif
#if DST_TYPE == TYPE_F16
    /* How an image rounds is the device's affair, so it gets what needs no rounding. */
    v = kiln_from_half4(kiln_to_half4(v));
#endif
    return v;
}

#define PUT_PIXEL(image, acc, block, at)                                                           \
    write_imagef(image, at, kiln_finish_pixel(acc, block, at EPILOGUE_PASS))
#endif

/* ---- Winograd's transforms: Lavin and Gray, Fast Algorithms for Convolutional Neural Networks,
 * with the points 0, 1, -1 (2, -2 (1/2, -1/2 (3/4, -3/4))) and infinity ----
 *
 * F(m, taps) along one axis, m = T_T - taps + 1, over vectors ACC_V. B depends on the points alone,
 * rows of G and columns of A are the powers of a point. Points p and -p share the even and the odd
 * ones. Along an axis with one tap there is nothing to transform. */

#ifdef T_T
#define ACC_V KILN_CAT(ACC_T, D_B)
#define INLINE static inline __attribute__((always_inline))
/* What the rows of G are scaled by, so that those of B are small integers or quarters of them. */
#if T_T == 4
#define G_0 1.0f
#define G_1 0.5f
#elif T_T == 6
#define G_0 0.25f
#define G_1 (-1.0f / 6)
#define G_2 (1.0f / 24)
#elif T_T == 8
#define G_0 1.0f
#define G_1 (-2.0f / 9)
#define G_2 (1.0f / 90)
#define G_HALF (1.0f / 45) /* and A by 32 */
#else
#define G_0 (16.0f / 9)
#define G_1 (-32.0f / 63)
#define G_2 (8.0f / 2475)
#define G_HALF (-16.0f / 225) /* and A by 32 */
#define G_3_4 (32768.0f / 17325)
#endif

INLINE float power(const float base, const int n)
{
    float v = 1;
#pragma unroll
    for (int i = 0; i < n; i++)
        v *= base;
    return v;
}

/* B^T d */
INLINE void times_b(const int taps, const ACC_V *d, ACC_V *o)
{
    if (taps == 1) {
        o[0] = d[0];
        return;
    }
#if T_T == 4
    o[0] = d[0] - d[2];
    o[1] = d[1] + d[2];
    o[2] = d[2] - d[1];
    o[3] = d[1] - d[3];
#elif T_T == 6
    const ACC_V a = d[4] - 4.0f * d[2], b = d[3] - 4.0f * d[1];
    const ACC_V e = d[4] - d[2], f = 2.0f * (d[3] - d[1]);
    o[0] = 4.0f * d[0] - 5.0f * d[2] + d[4];
    o[1] = a + b;
    o[2] = a - b;
    o[3] = e + f;
    o[4] = e - f;
    o[5] = 4.0f * d[1] - 5.0f * d[3] + d[5];
#elif T_T == 8
    const ACC_V a = d[2] + d[6] - 4.25f * d[4], b = d[1] + d[5] - 4.25f * d[3];
    const ACC_V e = 0.25f * d[2] - 1.25f * d[4] + d[6], f = 0.5f * d[1] - 2.5f * d[3] + 2.0f * d[5];
    const ACC_V g = 4.0f * d[2] - 5.0f * d[4] + d[6], h = 2.0f * d[1] - 2.5f * d[3] + 0.5f * d[5];
    o[0] = d[0] - d[6] + 5.25f * (d[4] - d[2]);
    o[1] = a + b;
    o[2] = a - b;
    o[3] = e + f;
    o[4] = e - f;
    o[5] = g + h;
    o[6] = g - h;
    o[7] = d[7] - d[1] + 5.25f * (d[3] - d[5]);
#else
    /* Of the points +-p: x (x +- p) times the product of (x^2 - q^2) of the other ones. */
#define PAIR(at, p, r0, r1, r2)                                                                    \
    {                                                                                              \
        const ACC_V even = d[8] + r2 * d[6] + r1 * d[4] + r0 * d[2];                               \
        const ACC_V odd = p * (d[7] + r2 * d[5] + r1 * d[3] + r0 * d[1]);                          \
        o[at] = even + odd;                                                                        \
        o[at + 1] = even - odd;                                                                    \
    }
    o[0] = d[8] - 5.8125f * d[6] + 8.203125f * d[4] - 3.953125f * d[2] + 0.5625f * d[0];
    PAIR(1, 1.0f, -0.5625f, 3.390625f, -4.8125f)
    PAIR(3, 2.0f, -0.140625f, 0.953125f, -1.8125f)
    PAIR(5, 0.5f, -2.25f, 6.8125f, -5.5625f)
    PAIR(7, 0.75f, -1.0f, 5.25f, -5.25f)
    o[9] = d[9] - 5.8125f * d[7] + 8.203125f * d[5] - 3.953125f * d[3] + 0.5625f * d[1];
#endif
}

/* A^T p, m of them. */
INLINE void times_a(const int taps, const ACC_V *p, ACC_V *o)
{
    if (taps == 1) {
        o[0] = p[0];
        return;
    }
    const int m = T_T - taps + 1;
#pragma unroll
    for (int i = 0; i < m; i++) {
        o[i] = i % 2 ? p[1] - p[2] : p[1] + p[2];
#if T_T >= 6
        o[i] += (float)(1 << i) * (i % 2 ? p[3] - p[4] : p[3] + p[4]);
#endif
#if T_T >= 8
        o[i] += (32.0f / (1 << i)) * (i % 2 ? p[5] - p[6] : p[5] + p[6]);
#endif
#if T_T >= 10
        o[i] += power(0.75f, i) * (i % 2 ? p[7] - p[8] : p[7] + p[8]);
#endif
    }
    o[0] += p[0];
#if T_T == 4
    o[m - 1] -= p[T_T - 1]; /* this row of B has its signs turned round, as it is published */
#else
    o[m - 1] += p[T_T - 1];
#endif
}

/* G w */
INLINE void times_g(const int taps, const ACC_V *w, ACC_V *o)
{
    if (taps == 1) {
        o[0] = w[0];
        return;
    }
    ACC_V even = w[0], odd = w[1];
#pragma unroll
    for (int j = 2; j < taps; j += 2)
        even += w[j];
#pragma unroll
    for (int j = 3; j < taps; j += 2)
        odd += w[j];
    o[0] = G_0 * w[0];
    o[1] = G_1 * (even + odd);
    o[2] = G_1 * (even - odd);
#if T_T >= 6
    even = w[0], odd = 2.0f * w[1];
#pragma unroll
    for (int j = 2; j < taps; j += 2)
        even += (float)(1 << j) * w[j];
#pragma unroll
    for (int j = 3; j < taps; j += 2)
        odd += (float)(1 << j) * w[j];
    o[3] = G_2 * (even + odd);
    o[4] = G_2 * (even - odd);
#endif
#if T_T >= 8
    even = w[0], odd = 0.5f * w[1];
#pragma unroll
    for (int j = 2; j < taps; j += 2)
        even += 1.0f / (1 << j) * w[j];
#pragma unroll
    for (int j = 3; j < taps; j += 2)
        odd += 1.0f / (1 << j) * w[j];
    o[5] = G_HALF * (even + odd);
    o[6] = G_HALF * (even - odd);
#endif
#if T_T >= 10
    even = w[0], odd = 0.75f * w[1];
#pragma unroll
    for (int j = 2; j < taps; j += 2)
        even += power(0.75f, j) * w[j];
#pragma unroll
    for (int j = 3; j < taps; j += 2)
        odd += power(0.75f, j) * w[j];
    o[7] = G_3_4 * (even + odd);
    o[8] = G_3_4 * (even - odd);
#endif
    o[T_T - 1] = w[taps - 1];
}
#endif
