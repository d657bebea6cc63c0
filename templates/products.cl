/* products.cl: adds products of vectors. With D_TOGETHER = 2 or 4, vectors of D_B ints hold as many
 * shorts or bytes in each int; with 2 and a source of bf16, the bits of D_B floats hold pairs of
 * bf16. Else each lane is one factor.
 *
 *   ADD_PRODUCT(acc, a, b)    adds the products of all parts to acc, of integers modulo 2^32;
 *                             bytes of a are unsigned and bytes of b signed. Else acc += a * b
 *   PAIR(low, high)           with pairs of bf16: makes them of two vectors of bf16 as floats
 *   PRODUCTS_FUNCTION         declares a static function that uses ADD_PRODUCT
 *   PRODUCTS_INLINE           declares one that such a function inlines
 *
 * D_VNNI=1 says that the CPU has AVX512_VNNI, D_BF16=1 that it has AVX512_BF16, even if the
 * compiler does not know.
 */
#include "types.cl"
#include "vectors.cl"

/* x86 multiplies pairs of shorts and adds the two products in one instruction. VNNI adds them to a
 * sum too, or does so with four bytes. AVX512_BF16 adds the products of pairs of bf16 to a float,
 * one after the other; to it, numbers below 2^-126 are zero. Compilers find these instructions in
 * simple code only, or never. A compiler that takes the CPU for an older one uses VNNI in functions
 * that ask for it, and does not inline these functions. The instruction for bf16 is given by its
 * name, which assemblers take for any CPU: LLVM 16 crashes where a vector that all lanes share is
 * taken for pairs of bf16, as its estimate of what that costs calls itself forever. */
#define PRODUCTS_FUNCTION INLINE
#define PRODUCTS_INLINE INLINE
#if D_TOGETHER == 2 && SRC_TYPE == TYPE_BF16
#if D_B == 16 && defined __AVX512BW__ && (D_BF16 || defined __AVX512BF16__)
#define KILN_ADD_BF16 "vdpbf16ps %2, %1, %0"
#endif
#elif D_TOGETHER > 1 && D_B == 16 && defined __AVX512BW__ && (D_VNNI || defined __AVX512VNNI__)
#if D_TOGETHER == 4
#define KILN_ADD_PRODUCTS __builtin_ia32_vpdpbusd512
#else
#define KILN_ADD_PRODUCTS __builtin_ia32_vpdpwssd512
#endif
#ifndef __AVX512VNNI__
#undef PRODUCTS_FUNCTION
#undef PRODUCTS_INLINE
#define PRODUCTS_FUNCTION static __attribute__((noinline, target("avx512vnni")))
#define PRODUCTS_INLINE INLINE __attribute__((target("avx512vnni")))
#endif
#elif D_TOGETHER == 2 && D_B == 16 && defined __AVX512BW__
#define KILN_MULTIPLY_PAIRS __builtin_ia32_pmaddwd512
#elif D_TOGETHER == 2 && D_B == 8 && defined __AVX2__
#define KILN_MULTIPLY_PAIRS __builtin_ia32_pmaddwd256
#elif D_TOGETHER == 2 && D_B == 4 && defined __SSE2__
#define KILN_MULTIPLY_PAIRS __builtin_ia32_pmaddwd128
#endif

#if D_TOGETHER == 2 && SRC_TYPE == TYPE_BF16
#define BITS_OF(v) __builtin_astype(v, KILN_CAT(uint, D_B))
#define PAIR(low, high) __builtin_astype(BITS_OF(low) >> 16 | BITS_OF(high), ACC_V)

PRODUCTS_INLINE ACC_V kiln_add_products(ACC_V acc, ACC_V a, ACC_V b)
{
#ifdef KILN_ADD_BF16
    __asm__(KILN_ADD_BF16 : "+v"(acc) : "v"(a), "v"(b));
    return acc;
#else
#define HIGH(v) __builtin_astype(BITS_OF(v) & 0xffff0000, ACC_V)
#define LOW(v) __builtin_astype(BITS_OF(v) << 16, ACC_V)
    acc += LOW(a) * LOW(b);
    acc += HIGH(a) * HIGH(b);
    return acc;
#undef HIGH
#undef LOW
#endif
}
#define ADD_PRODUCT(acc, a, b) acc = kiln_add_products(acc, a, b)
#elif D_TOGETHER > 1
PRODUCTS_INLINE ACC_V kiln_add_products(ACC_V acc, ACC_V a, ACC_V b)
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
#define ADD_PRODUCT(acc, a, b) acc = kiln_add_products(acc, a, b)
#else
#define ADD_PRODUCT(acc, a, b) acc += (a) * (b)
#endif
