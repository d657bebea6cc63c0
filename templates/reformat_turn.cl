/* reformat_turn.cl: moves a tensor of rows and columns to a layout whose runs lie across those of
 * the source, or in blocks of another length. For GPUs: a group takes a tile through local memory,
 * so that neighbouring items read neighbours, and write neighbours.
 *
 *      source             local memory: lines across the         destination
 *      runs of a          runs of the destination,
 *      tile --------+     positions along them
 *      ============ |     +----------------+                     runs of the tile
 *      ============ +---> | | | | | | | |  | ------------------> ========
 *      ============       +----------------+                     ========
 *
 * Where runs cross, an item reads a vector of each of so many runs that their elements fill a word,
 * and stores words. 16 bytes of a line stand in a place that is turned by TURN(line), so that
 * neighbouring items use different banks.
 *
 * Element (o, r, c) of a side lies at
 *     o0 * OUTER_0 + o1 * OUTER_1 + r / NEIGHBOURS * BLOCK + r % NEIGHBOURS * ROW + c * COLUMN
 *
 * Grid      (256 * tiles): tiles of rows fastest, then tiles of columns, then P_OUTER_1, P_OUTER_0
 * Defines   those of cells.cl, and
 *   P_OUTER_0, P_OUTER_1, P_ROWS, P_COLUMNS    sizes; of each side, D_SRC_ and D_DST_:
 *   D_SRC_OUTER_0, _OUTER_1, _NEIGHBOURS, _BLOCK, _ROW, _COLUMN    as above
 *   D_SRC_ROWS       rows with padding; that of the destination receives P_PAD
 *   D_SRC_DOWN       1: a run lies along rows, and _ROW is 1; 0: along columns, and _COLUMN is 1
 *   D_SRC_VECTOR     elements that are moved at once, of 16 bytes at most: divides the run and all
 *                    other distances; 1 between types that differ
 *   D_SRC_RUN        elements of a tile that follow one another; _VECTOR divides it. It divides the
 *                    tile, unless it is all that the tensor has
 *   T_ROWS, T_COLUMNS    of a tile: powers of two, whose lines are multiples of 16 bytes
 * Assumes   buffers are aligned for 16 bytes.
 */
#include "cells.cl"

#define ITEMS 256
#ifdef P_RAW
#define CELL_BYTES DST_BYTES
#else
#define CELL_BYTES 4
#endif
#define WORD (4 / CELL_BYTES) /* elements of a word */

#define UNIT_1 uchar
#define UNIT_2 ushort
#define UNIT_4 uint
#define UNIT_8 uint2
#define UNIT_16 uint4
#if CELL_BYTES == 1
#define UNIT_OF_1 UNIT_1
#define UNIT_OF_2 UNIT_2
#define UNIT_OF_4 UNIT_4
#define UNIT_OF_8 UNIT_8
#define UNIT_OF_16 UNIT_16
#elif CELL_BYTES == 2
#define UNIT_OF_1 UNIT_2
#define UNIT_OF_2 UNIT_4
#define UNIT_OF_4 UNIT_8
#define UNIT_OF_8 UNIT_16
#else
#define UNIT_OF_1 UNIT_4
#define UNIT_OF_2 UNIT_8
#define UNIT_OF_4 UNIT_16
#endif
#define SRC_UNIT_T KILN_CAT(UNIT_OF_, D_SRC_VECTOR)
#define DST_UNIT_T KILN_CAT(UNIT_OF_, D_DST_VECTOR)

typedef union {
    SRC_UNIT_T all;
    CELL_T one[D_SRC_VECTOR];
} src_vector;
typedef union {
    DST_UNIT_T all;
    CELL_T one[D_DST_VECTOR];
} dst_vector;

#ifdef P_RAW
#define READ(v, p, i) ((v).all = *(global const SRC_UNIT_T *)((p) + (i)))
#define WRITE(p, i, v) (*(global DST_UNIT_T *)((p) + (i)) = (v).all)
#else
#define READ(v, p, i) ((v).one[0] = LOAD(p, i))
#define WRITE(p, i, v) STORE(p, i, (v).one[0])
#endif

/* ---- places in memory ---- */

#if D_SRC_NEIGHBOURS >= D_SRC_ROWS
#define SRC_AT(r, c) ((INDEX_T)(r)*D_SRC_ROW + (INDEX_T)(c)*D_SRC_COLUMN)
#else
#define SRC_AT(r, c)                                                                               \
    ((INDEX_T)((r) / D_SRC_NEIGHBOURS) * D_SRC_BLOCK +                                             \
     (INDEX_T)((r) % D_SRC_NEIGHBOURS) * D_SRC_ROW + (INDEX_T)(c)*D_SRC_COLUMN)
#endif
#if D_DST_NEIGHBOURS >= D_DST_ROWS
#define DST_AT(r, c) ((INDEX_T)(r)*D_DST_ROW + (INDEX_T)(c)*D_DST_COLUMN)
#else
#define DST_AT(r, c)                                                                               \
    ((INDEX_T)((r) / D_DST_NEIGHBOURS) * D_DST_BLOCK +                                             \
     (INDEX_T)((r) % D_DST_NEIGHBOURS) * D_DST_ROW + (INDEX_T)(c)*D_DST_COLUMN)
#endif

/* ---- places in local memory ---- */

#define CROSSED (D_SRC_DOWN != D_DST_DOWN)
#if D_DST_DOWN
#define POSITIONS T_ROWS
#define LINES T_COLUMNS
#define ROW_OF(line, position) (position)
#define COLUMN_OF(line, position) (line)
#else
#define POSITIONS T_COLUMNS
#define LINES T_ROWS
#define ROW_OF(line, position) (line)
#define COLUMN_OF(line, position) (position)
#endif

#define LINE_BYTES (POSITIONS * CELL_BYTES)
#define TURNS (LINE_BYTES < 128 ? LINE_BYTES / 16 : 8)
#if CROSSED && D_SRC_VECTOR > 1
#define TURN(line) (((line) + (line) / D_SRC_VECTOR) % TURNS)
#else
#define TURN(line) ((line) % TURNS)
#endif
#define PLACE(line, position)                                                                      \
    ((line)*LINE_BYTES + ((((position)*CELL_BYTES >> 4) ^ TURN(line)) << 4) +                      \
     ((position)*CELL_BYTES & 15))

/* ---- reading ---- */

/* Work i is to read a vector, or one of each of WORD runs. */
#define SRC_IN (D_SRC_RUN / D_SRC_VECTOR)
#if CROSSED
#define SRC_TIMES WORD
#define SRC_ACROSS (POSITIONS / WORD)
#define SRC_OUT (LINES / D_SRC_RUN)
#else
#define SRC_TIMES 1
#define SRC_ACROSS LINES
#define SRC_OUT (POSITIONS / D_SRC_RUN)
#endif
#define SRC_WORK (SRC_IN * SRC_ACROSS * SRC_OUT)
#define SRC_ROUNDS ((SRC_WORK + ITEMS - 1) / ITEMS)
#define SRC_MOST (64 / (D_SRC_VECTOR * CELL_BYTES * SRC_TIMES)) /* that an item has at a time */
#define SRC_HELD (SRC_ROUNDS < 1 ? 1 : SRC_ROUNDS < SRC_MOST ? SRC_ROUNDS : SRC_MOST)

/* The line and position of the first element of work i. */
INLINE int2 src_place(const int i)
{
    const int along = i / (SRC_IN * SRC_ACROSS) * D_SRC_RUN + i % SRC_IN * D_SRC_VECTOR,
              across = i / SRC_IN % SRC_ACROSS;
    return CROSSED ? (int2)(along, across * WORD) : (int2)(across, along);
}

INLINE void read_vector(src_vector *v, global const SRC_T *src, const int line, const int position,
                        const int row_first, const int column_first)
{
    const int row = row_first + ROW_OF(line, position),
              column = column_first + COLUMN_OF(line, position);
    if (row < D_SRC_ROWS && column < P_COLUMNS)
        READ(*v, src, SRC_AT(row, column));
}

INLINE void keep_vectors(local uchar *tile, const src_vector v[SRC_TIMES], const int line,
                         const int position)
{
#if CROSSED
    UNROLL
    for (int k = 0; k < D_SRC_VECTOR; k++) {
        union {
            uint all;
            CELL_T one[WORD];
        } word;
        UNROLL
        for (int j = 0; j < WORD; j++)
            word.one[j] = v[j].one[k];
        *(local uint *)(tile + PLACE(line + k, position)) = word.all;
    }
#else
    *(local SRC_UNIT_T *)(tile + PLACE(line, position)) = v[0].all;
#endif
}

INLINE void read_tile(local uchar *tile, global const SRC_T *src, const int row_first,
                      const int column_first, const int item)
{
    for (int first = item; first < SRC_WORK; first += SRC_HELD * ITEMS) {
        src_vector v[SRC_HELD][SRC_TIMES];
        UNROLL
        for (int h = 0; h < SRC_HELD; h++) {
            const int2 at = src_place(first + h * ITEMS);
            UNROLL
            for (int j = 0; j < SRC_TIMES; j++) {
                v[h][j].all = (SRC_UNIT_T)(0);
                if (first + h * ITEMS < SRC_WORK)
                    read_vector(&v[h][j], src, at.x, at.y + j, row_first, column_first);
            }
        }
        UNROLL
        for (int h = 0; h < SRC_HELD; h++) {
            const int2 at = src_place(first + h * ITEMS);
            if (first + h * ITEMS < SRC_WORK)
                keep_vectors(tile, v[h], at.x, at.y);
        }
    }
}

/* ---- writing ---- */

#define DST_IN (D_DST_RUN / D_DST_VECTOR)
#define DST_OUT (POSITIONS / D_DST_RUN)
#define DST_WORK (DST_IN * LINES * DST_OUT)

INLINE void write_tile(global DST_T *dst, local const uchar *tile, const int row_first,
                       const int column_first, const int item)
{
    for (int i = item; i < DST_WORK; i += ITEMS) {
        const int position = i / (DST_IN * LINES) * D_DST_RUN + i % DST_IN * D_DST_VECTOR,
                  line = i / DST_IN % LINES;
        const int row = row_first + ROW_OF(line, position),
                  column = column_first + COLUMN_OF(line, position);
        if (row >= D_DST_ROWS || column >= P_COLUMNS)
            continue;
        dst_vector v;
        v.all = *(local const DST_UNIT_T *)(tile + PLACE(line, position));
#if D_DST_ROWS > P_ROWS
        UNROLL
        for (int k = 0; k < D_DST_VECTOR; k++)
            if (row + (D_DST_DOWN ? k : 0) >= P_ROWS)
                v.one[k] = kiln_pad();
#endif
        WRITE(dst, DST_AT(row, column), v);
    }
}

#define TILES_R ((D_DST_ROWS + T_ROWS - 1) / T_ROWS)
#define TILES_C ((P_COLUMNS + T_COLUMNS - 1) / T_COLUMNS)

kernel GROUP_SIZE(ITEMS, 1, 1) void turn(global const SRC_T *restrict src,
                                         global DST_T *restrict dst)
{
    local uint4 memory[LINES * LINE_BYTES / 16] __attribute__((aligned(16)));
    local uchar *tile = (local uchar *)memory;
    const INDEX_T at = get_group_id(0), outer = at / (TILES_R * TILES_C);
    const int item = get_local_id(0), row_first = (int)(at % TILES_R) * T_ROWS,
              column_first = (int)(at / TILES_R % TILES_C) * T_COLUMNS;
    src += outer / P_OUTER_1 * D_SRC_OUTER_0 + outer % P_OUTER_1 * D_SRC_OUTER_1;
    dst += outer / P_OUTER_1 * D_DST_OUTER_0 + outer % P_OUTER_1 * D_DST_OUTER_1;
    read_tile(tile, src, row_first, column_first, item);
    barrier(CLK_LOCAL_MEM_FENCE);
    write_tile(dst, tile, row_first, column_first, item);
}
