/* reformat.cl: moves a tensor from one layout and type to another, padding included.
 *
 * Three kernels; the plan names one of them.
 *
 * reformat   any layout to any other: each work-item makes one cell of the destination (one
 *            pixel of four of an image): it finds the element of the cell and its place in the
 *            source.
 *   grid     {cells} of a buffer, {width, height} of an image
 *   D_COORDS   the element of a cell: "n=cell/105,c=cell/35%3,...", of an image over px, py, lane
 *   D_INSIDE   whether the cell has an element: "c<3", or 1 where the destination has no padding
 *   D_FROM     the element's offset in the source; D_FROM_X, D_FROM_Y, D_FROM_LANE of an image
 *   P_CELLS, or P_WIDTH and P_HEIGHT: the destination's size
 *
 * split      rows that lie one after the other become blocks of D_BLOCK rows side by side: NCHW to
 *            NC/xHWx, or to NHWC where one block holds all rows. Work-item (i, j): columns from
 *            i * D_SPAN on, block j, in tiles of T_TILE x T_TILE that are transposed in registers.
 * join       the way back.
 *   grid     {D_SPANS, batch * D_BLOCKS}
 *   P_ROWS, P_COLUMNS   of one matrix: C and H * W
 *
 *              plain: row by row                 blocks: column by column
 *             column 0 1 2 3 ...
 *      row 0       a b c d         split         a e i .   b f j .   c g k .   d h l .
 *      row 1       e f g h        ------>          (D_BLOCK = 4; the dots are padding,
 *      row 2       i j k l        <------           written as P_PAD)
 *                                  join
 *
 * The last tile of a row or block is moved back to end where the matrix ends: the work-item
 * moves some cells twice. So P_COLUMNS, D_SPAN and D_BLOCK are at least T_TILE.
 *
 * Values: between equal types bits are moved as they are (P_RAW=1), those of P_FLIP inverted; else
 * they go through float, or int into i32, rounded to nearest even and saturated. Images hold
 * CL_RGBA pixels: f32 and f16 as CL_FLOAT and CL_HALF_FLOAT, i8 and i32 as CL_SIGNED_INT8 and
 * CL_SIGNED_INT32. P_FROM_IMAGE=1 and P_TO_IMAGE=1 say which sides are images; P_PAD is a VAL_T. No
 * assumption on alignment.
 */
#include "cells.cl"

#ifndef T_TILE

/* ---- any layout to any other ---- */

/* FETCH reads the source for each cell, and the result is dropped where the cell is padding: Mesa
 * 22.3 loses a constant that a branch chooses instead of reading a char. */
#define IF_INSIDE(a) (D_INSIDE ? (a) : 0)

#ifdef P_FROM_IMAGE
#define FROM read_only image2d_t from
#define FETCH                                                                                      \
    kiln_fetch(from, (int2)((int)IF_INSIDE(D_FROM_X), (int)IF_INSIDE(D_FROM_Y)), (int)(D_FROM_LANE))

constant sampler_t kiln_nearest =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;

static inline VAL_T kiln_fetch(read_only image2d_t from, int2 at, int lane)
{
#if SRC_TYPE == TYPE_I8 || SRC_TYPE == TYPE_I32
    const int4 v = read_imagei(from, kiln_nearest, at);
#else
    const float4 v = read_imagef(from, kiln_nearest, at);
#endif
    return kiln_value(lane < 2 ? (lane == 0 ? v.x : v.y) : (lane == 2 ? v.z : v.w));
}
#else
#define FROM global const SRC_T *restrict from
#define FETCH LOAD(from, IF_INSIDE(D_FROM))
#endif

#ifdef P_TO_IMAGE

/* Devices round and saturate differently when they write images, so the values need neither. */
static inline VAL_T kiln_exact(VAL_T v)
{
#if DST_TYPE == TYPE_F16
    ushort bits;
    vstore_half_rte(v, 0, (private half *)&bits);
    return vload_half(0, (private half *)&bits);
#else
    return v;
#endif
}

static inline VAL_T kiln_lane(FROM, INDEX_T px, INDEX_T py, INDEX_T lane)
{
    const INDEX_T D_COORDS;
    const VAL_T element = FETCH;
    return D_INSIDE ? element : (VAL_T)(P_PAD);
}

kernel void reformat(FROM, write_only image2d_t to)
{
    const INDEX_T px = get_global_id(0), py = get_global_id(1);
    if (px >= P_WIDTH || py >= P_HEIGHT)
        return;
    const VAL_T a = kiln_exact(kiln_lane(from, px, py, 0));
    const VAL_T b = kiln_exact(kiln_lane(from, px, py, 1));
    const VAL_T c = kiln_exact(kiln_lane(from, px, py, 2));
    const VAL_T d = kiln_exact(kiln_lane(from, px, py, 3));
    const int2 at = (int2)((int)px, (int)py);
#if DST_TYPE == TYPE_I8
    write_imagei(to, at, convert_int4(kiln_to_char4((float4)(a, b, c, d))));
#elif DST_TYPE == TYPE_I32
    write_imagei(to, at, (int4)(a, b, c, d));
#else
    write_imagef(to, at, (float4)(a, b, c, d));
#endif
}

#else

kernel void reformat(FROM, global DST_T *restrict to)
{
    const INDEX_T cell = get_global_id(0);
    if (cell >= P_CELLS)
        return;
    const INDEX_T D_COORDS;
    const CELL_T element = FETCH;
    STORE(to, cell, D_INSIDE ? element : kiln_pad());
}

#endif
#else

/* ---- rows to blocks of rows, and back ---- */

#define CELL_TN KILN_CAT(CELL_T, T_TILE)
#ifdef P_RAW
#define LOAD_TILE_ROW(p, i) LOADN(T_TILE, p, i)
#elif DST_TYPE == TYPE_I32 && (SRC_TYPE == TYPE_I8 || SRC_TYPE == TYPE_U8)
#define LOAD_TILE_ROW(p, i) SRC_LOADN(T_TILE, p, i)
#elif DST_TYPE == TYPE_I32
#define LOAD_TILE_ROW(p, i)                                                                        \
    KILN_CAT(KILN_CAT(convert_int, T_TILE), _sat_rte)(                                             \
        KILN_NUMBER(KILN_CAT(float, T_TILE), SRC_LOADN(T_TILE, p, i)))
#else
#define LOAD_TILE_ROW(p, i) KILN_CAT(convert_float, T_TILE)(SRC_LOADN(T_TILE, p, i))
#endif

/* a0 b0 a1 b1 ... of the lower and of the upper halves of two vectors. */
#if T_TILE == 4
#define ZIP_LOW(a, b) ((CELL_TN)(a.s0, b.s0, a.s1, b.s1))
#define ZIP_HIGH(a, b) ((CELL_TN)(a.s2, b.s2, a.s3, b.s3))
#elif T_TILE == 8
#define ZIP_LOW(a, b) ((CELL_TN)(a.s0, b.s0, a.s1, b.s1, a.s2, b.s2, a.s3, b.s3))
#define ZIP_HIGH(a, b) ((CELL_TN)(a.s4, b.s4, a.s5, b.s5, a.s6, b.s6, a.s7, b.s7))
#else
#define ZIP_LOW(a, b)                                                                              \
    ((CELL_TN)(a.s0, b.s0, a.s1, b.s1, a.s2, b.s2, a.s3, b.s3, a.s4, b.s4, a.s5, b.s5, a.s6, b.s6, \
               a.s7, b.s7))
#define ZIP_HIGH(a, b)                                                                             \
    ((CELL_TN)(a.s8, b.s8, a.s9, b.s9, a.sa, b.sa, a.sb, b.sb, a.sc, b.sc, a.sd, b.sd, a.se, b.se, \
               a.sf, b.sf))
#endif

/* Zips row i with row i + T_TILE / 2. Done log2(T_TILE) times, this transposes: each time the bits
 * of (row, column), written one after the other, turn by one place. */
static inline void kiln_zip(const CELL_TN *in, CELL_TN *out)
{
    UNROLL for (int i = 0; i < T_TILE / 2; i++)
    {
        out[2 * i] = ZIP_LOW(in[i], in[i + T_TILE / 2]);
        out[2 * i + 1] = ZIP_HIGH(in[i], in[i + T_TILE / 2]);
    }
}

static inline void kiln_transpose(CELL_TN *tile)
{
    CELL_TN other[T_TILE];
    kiln_zip(tile, other);
    kiln_zip(other, tile);
#if T_TILE > 4
    kiln_zip(tile, other);
#if T_TILE == 8
    UNROLL for (int i = 0; i < T_TILE; i++) tile[i] = other[i];
#else
    kiln_zip(other, tile);
#endif
#endif
}

/* The columns [begin, end) of work-item i. The last one takes the remainder too. */
#define COLUMNS(begin, end)                                                                        \
    const INDEX_T span = get_global_id(0), begin = span * D_SPAN;                                  \
    const INDEX_T end = span == D_SPANS - 1 ? P_COLUMNS : begin + D_SPAN

kernel void split(global const SRC_T *restrict from, global DST_T *restrict to)
{
    COLUMNS(begin, end);
    const INDEX_T block = get_global_id(1), first = block % D_BLOCKS * D_BLOCK;
    const INDEX_T source = (block / D_BLOCKS * P_ROWS + first) * P_COLUMNS;
    const INDEX_T target = block * P_COLUMNS * D_BLOCK;
    for (INDEX_T r = 0; r < D_BLOCK; r += T_TILE) {
        const INDEX_T row = min(r, (INDEX_T)(D_BLOCK - T_TILE));
        for (INDEX_T c = begin; c < end; c += T_TILE) {
            const INDEX_T column = min(c, end - T_TILE);
            CELL_TN tile[T_TILE];
            UNROLL for (int i = 0; i < T_TILE; i++)
            {
                if (first + row + i < P_ROWS)
                    tile[i] = LOAD_TILE_ROW(from, source + (row + i) * P_COLUMNS + column);
                else
                    tile[i] = (CELL_TN)(kiln_pad());
            }
            kiln_transpose(tile);
            UNROLL for (int i = 0; i < T_TILE; i++)
                STOREN(T_TILE, to, target + (column + i) * D_BLOCK + row, tile[i]);
        }
    }
}

kernel void join(global const SRC_T *restrict from, global DST_T *restrict to)
{
    COLUMNS(begin, end);
    const INDEX_T block = get_global_id(1), first = block % D_BLOCKS * D_BLOCK;
    const INDEX_T source = block * P_COLUMNS * D_BLOCK;
    const INDEX_T target = (block / D_BLOCKS * P_ROWS + first) * P_COLUMNS;
    for (INDEX_T r = 0; r < D_BLOCK; r += T_TILE) {
        const INDEX_T row = min(r, (INDEX_T)(D_BLOCK - T_TILE));
        for (INDEX_T c = begin; c < end; c += T_TILE) {
            const INDEX_T column = min(c, end - T_TILE);
            CELL_TN tile[T_TILE];
            UNROLL for (int i = 0; i < T_TILE; i++)
                tile[i] = LOAD_TILE_ROW(from, source + (column + i) * D_BLOCK + row);
            kiln_transpose(tile);
            UNROLL for (int i = 0; i < T_TILE; i++)
            {
                if (first + row + i < P_ROWS)
                    STOREN(T_TILE, to, target + (row + i) * P_COLUMNS + column, tile[i]);
            }
        }
    }
}

#endif
