/* direct_blocked_elements.cl: the elements that direct_blocked.cl multiplies, and where channels
 * are in the tensors.
 *
 *   ELEMENTS(channels)     how many elements so many channels have
 *   STRIP_T, TO_STRIP(n, p, i), STRIP_ZERO, ELEMENT_ZERO   a channel in a strip, n of them, padding
 *   SRC_AT(c), DST_AT(c), STEP_AT(c)                       from channel 0 of a pixel, or of a step
 */
#include "types.cl"

#define D_KT (T_KV * D_B)
#define D_TAPS (P_FILTER_D * P_FILTER_H * P_FILTER_W)

/* Strips and packed weights consist of elements: channels, or D_TOGETHER neighbouring ones as parts
 * of an int, or of the bits of a float. If the last element has fewer channels, its other weights
 * are zero. */
#if D_TOGETHER > 1
#define ELEMENTS(channels) (((channels) + D_TOGETHER - 1) / D_TOGETHER)
#else
#define ELEMENTS(channels) (channels)
#endif

/* A strip has bytes as shorts, or, where four are multiplied at once, as bytes plus 128, which
 * makes them unsigned. What pack_channels.cl writes for the rows of the filter corrects the
 * sums. */
#if D_TOGETHER == 4
#define STRIP_T char
#define STRIP_ZERO (-128)
#define ELEMENT_ZERO ((int)0x80808080)
#define TO_STRIP(n, p, i) (KILN_CAT(vload, n)(0, (p) + (i)) ^ (KILN_CAT(char, n))((char)-128))
#define D_OFFSETS (P_FILTER_D * P_FILTER_H)
#elif D_TOGETHER == 2 && SRC_TYPE == TYPE_BF16
#define STRIP_T ushort
#define TO_STRIP(n, p, i) KILN_CAT(vload, n)(0, (p) + (i))
#elif D_TOGETHER == 2
#define STRIP_T short
#define TO_STRIP(n, p, i) KILN_CAT(convert_short, n)(SRC_LOADN(n, p, i))
#else
#define STRIP_T ACC_T
#define TO_STRIP(n, p, i) SRC_LOADN(n, p, i)
#endif
#ifndef D_OFFSETS
#define STRIP_ZERO 0
#define ELEMENT_ZERO 0
#define D_OFFSETS 0
#endif
/* Elements of a step, of a group, and from a pixel of a strip to the next. */
#define D_STEP_ELEMENTS ELEMENTS(D_STEP)
#define D_ELEMENTS (D_SRC_C / D_STEP * D_STEP_ELEMENTS + ELEMENTS(D_SRC_C % D_STEP))

/* Elements from channel 0 of a pixel to channel c. */
#if D_SRC_BLOCKS == 1
#define SRC_AT(c) ((INDEX_T)(c) * D_SRC_CHANNEL)
#else
#define SRC_AT(c) ((INDEX_T)((c) / D_SRC_NEIGHBOURS) * D_SRC_BLOCK + (c) % D_SRC_NEIGHBOURS)
#endif
#if D_DST_BLOCKS == 1
#define DST_AT(c) (c)
#else
#define DST_AT(c) ((INDEX_T)((c) / D_DST_NEIGHBOURS) * D_DST_BLOCK + (c) % D_DST_NEIGHBOURS)
#endif
/* Elements from the first channel of a step to channel c. */
#if D_SRC_BLOCKS == 1 || D_STEP <= D_SRC_NEIGHBOURS
#define STEP_AT(c) ((c) * D_SRC_CHANNEL)
#else
#define STEP_AT(c) ((c) / D_SRC_NEIGHBOURS * D_SRC_BLOCK + (c) % D_SRC_NEIGHBOURS)
#endif
