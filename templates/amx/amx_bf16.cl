/* amx_bf16.cl: rounds vectors of 16 floats to bf16 by AVX512_BF16's instruction, which every CPU with
 * AMX has: KILN_BITS of types.cl for templates that include this file before they use it. It takes
 * numbers below 2^-126 for zero, as AMX does. A compiler may not know the instruction: it is written
 * as bytes, and its operands are in register 0.
 */
#include "types.cl"

#if DST_TYPE == TYPE_BF16
INLINE ushort16 amx_bf16_16(const float16 v)
{
    ushort16 bits;
    __asm__(".byte 0x62, 0xf2, 0x7e, 0x48, 0x72, 0xc0" : "=Yz"(bits) : "Yz"(v));
    return bits;
}
#undef KILN_BITS
#define KILN_BITS(n, v) KILN_CAT(amx_bf16_, n)(v)
#endif
