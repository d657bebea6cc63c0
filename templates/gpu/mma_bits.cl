/* mma_bits.cl: finished results as memory holds them, two at a time into local memory, and from
 * there D_OUT_UNIT bytes at a time.
 *
 *   BITS_T, BITS_PAIR_T      a result and two of them
 *   BITS_PAIR(a, b)          of two VAL_T
 *   UNIT_T                   D_OUT_UNIT bytes
 *
 * Defines   those of types.cl, and D_OUT_UNIT: 1, 2, 4, 8 or 16; 0: there is no UNIT_T
 */
#include "mma.cl"

#if DST_TYPE == TYPE_I8
#define BITS_T uchar
#define BITS_PAIR_T uchar2
#define BITS_PAIR(a, b) as_uchar2((char2)(kiln_to_char(a), kiln_to_char(b)))
#elif DST_TYPE == TYPE_F16 || DST_TYPE == TYPE_BF16
#define BITS_T ushort
#define BITS_PAIR_T uint
#define BITS_PAIR(a, b) narrow_pair(a, b)
#else
#define BITS_T uint
#define BITS_PAIR_T uint2
#define BITS_PAIR(a, b) ((uint2)(as_uint(a), as_uint(b)))
#endif

#define UNIT_T_16 uint4
#define UNIT_T_8 uint2
#define UNIT_T_4 uint
#define UNIT_T_2 ushort
#define UNIT_T_1 uchar
#define UNIT_T KILN_CAT(UNIT_T_, D_OUT_UNIT)
