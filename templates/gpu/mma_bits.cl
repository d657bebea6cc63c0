/* mma_bits.cl: finished results as memory holds them, two at a time into local memory, and from
 * there D_OUT_UNIT bytes at a time.
 *
 *   BITS_T, BITS_PAIR_T      a result and two of them
 *   BITS_PAIR(a, b)          of two VAL_T; LOW_OF_PAIR(pair), HIGH_OF_PAIR(pair)
 *   UNIT_T                   D_OUT_UNIT bytes
 *   DST_CHANNEL(c)           elements from channel 0 to channel c of a pixel
 *
 * Defines   those of types.cl, and
 *   D_OUT_UNIT               1, 2, 4, 8 or 16; 0: there is no UNIT_T
 *   D_DST_CHANNEL, _NEIGHBOURS, _BLOCK, _BLOCKS    elements from one channel to the next; where
 *                            _BLOCKS is more than 1, so many channels are neighbours, and so many
 *                            elements from one block of them to the next
 */
#include "mma.cl"

#if DST_TYPE == TYPE_I8
#define BITS_T uchar
#define BITS_PAIR_T uchar2
#define BITS_PAIR(a, b) as_uchar2((char2)(kiln_to_char(a), kiln_to_char(b)))
#define LOW_OF_PAIR(pair) (pair).x
#define HIGH_OF_PAIR(pair) (pair).y
#elif DST_TYPE == TYPE_F16 || DST_TYPE == TYPE_BF16
#define BITS_T ushort
#define BITS_PAIR_T uint
#define BITS_PAIR(a, b) narrow_pair(a, b)
#define LOW_OF_PAIR(pair) (ushort)(pair)
#define HIGH_OF_PAIR(pair) (ushort)((pair) >> 16)
#else
#define BITS_T uint
#define BITS_PAIR_T uint2
#define BITS_PAIR(a, b) ((uint2)(as_uint(a), as_uint(b)))
#define LOW_OF_PAIR(pair) (pair).x
#define HIGH_OF_PAIR(pair) (pair).y
#endif

#define UNIT_T_16 uint4
#define UNIT_T_8 uint2
#define UNIT_T_4 uint
#define UNIT_T_2 ushort
#define UNIT_T_1 uchar
#define UNIT_T KILN_CAT(UNIT_T_, D_OUT_UNIT)

#if D_DST_BLOCKS > 1
#define DST_CHANNEL(c)                                                                             \
    ((INDEX_T)((c) / D_DST_NEIGHBOURS) * D_DST_BLOCK + (c) % D_DST_NEIGHBOURS)
#else
#define DST_CHANNEL(c) ((INDEX_T)(c)*D_DST_CHANNEL)
#endif
