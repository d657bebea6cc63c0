/* depthwise_blocked_elements.cl: the tiles of depthwise_blocked.cl, and the vectors of channels
 * that they read and sum.
 *
 *   TILE_H, TILE_W         pixels of a tile
 *   D_TILES_W              tiles of a row
 *   D_LAST_H, D_LAST_W     where the last tile of an axis starts
 *   SUM_T, SUM_V           the type of a sum, and a vector of them
 *   LOAD(p, i), LOAD_W(p)  a SOURCE_V of source elements from p[i] on, a SUM_V of weights from p on
 *   D_ELEMENTS             elements of a group: source channels, or with D_TOGETHER=4 four of them
 *   D_OFFSETS              vectors of corrections before a vector's weights
 *   SUMMED(v)              sums as the epilogue takes them
 *   source, target         pointers that taps read and tiles write; LOAD_SRC(p, i) reads a source
 *   LOAD_IF(there, p, i)   LOAD_SRC(p, i); what stands for padding where corrections expect all
 *                          taps
 *   SPREAD(v, c)           element c of each group in all the group's lanes
 */
#include "products.cl"
#include "vectors.cl"

#define D_TAPS (P_FILTER_D * P_FILTER_H * P_FILTER_W)
#define TILE_H (T_H * D_UP_H)
#define TILE_W (T_W * D_UP_W)
#define D_TILES_W ((P_DST_W + TILE_W - 1) / TILE_W)

/* Where the last tile of an axis starts: early enough to be whole, at a multiple of D_UP. */
#define LAST_START(size, tile, up) ((size) > (tile) ? ((size) - (tile) + (up)-1) / (up) * (up) : 0)
#define D_LAST_H LAST_START(P_DST_H, TILE_H, D_UP_H)
#define D_LAST_W LAST_START(P_DST_W, TILE_W, D_UP_W)

#define D_ELEMENTS (D_GROUP / D_TOGETHER)
/* Bytes that are multiplied four at a time are unsigned: 128 is added to them. The corrections are
 * for all taps, so that padding counts, too. */
#if D_TOGETHER == 4
#define D_OFFSETS P_FILTER_H
#define SUM_T ACC_T
#define SUM_V ACC_V
#define SOURCE_V int4
#define LOAD(p, i) as_int4(vload16(0, (p) + (i)) ^ (char16)((char)-128))
#define LOAD_W(p) LOAD_V(p)
#define LOAD_IF(there, p, i) ((there) ? LOAD_SRC(p, i) : (int4)((int)0x80808080))
#define SUMMED(v) (v)
#else
#define D_OFFSETS 0
#define SOURCE_V SUM_V
#define LOAD_IF(there, p, i) LOAD_SRC(p, i)
#endif
#if D_FLOAT
#define SUM_T float
#define SUM_V KILN_CAT(float, D_B)
typedef SUM_V __attribute__((aligned(4))) loose_sum;
#define LOAD(p, i) KILN_CAT(convert_float, D_B)(SRC_LOADN(D_B, p, i))
#define LOAD_W(p) (*(global const loose_sum *)(p))
#define SUMMED(v) KILN_CAT(convert_int, D_B)(v)
#elif D_TOGETHER == 1
#define SUM_T ACC_T
#define SUM_V ACC_V
#define LOAD(p, i) SRC_LOAD_V(p, i)
#define LOAD_W(p) LOAD_V(p)
#define SUMMED(v) (v)
#endif

/* Taps read and tiles write the tensors, or an item's own vectors of channels. */
#if D_PLAIN
typedef private const SUM_V *source;
typedef private SUM_V *target;
#define LOAD_SRC(p, i) ((p)[i])
#else
typedef global const SRC_T *source;
typedef global DST_T *target;
#define LOAD_SRC(p, i) LOAD(p, i)
#endif

#if D_GROUP == 1
#define SPREAD(v, c) (v)
#else
#if D_TOGETHER == 4
#define ALL_LANES(v) ((int16)(v, v, v, v))
#else
#define ALL_LANES(v) (v)
#endif
#define SPREAD(v, c)                                                                               \
    shuffle(ALL_LANES(v), KILN_CAT(convert_uint, D_B)(LANES(D_B) / D_GROUP * D_ELEMENTS + (c)))
#endif
