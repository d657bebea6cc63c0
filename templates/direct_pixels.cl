/* direct_pixels.cl: direct convolution with pixels as the vector, from plain layouts to plain layouts;
 * forward and backward data.
 *
 * An item computes a tile of pixels of an image, for T_BLOCKS blocks of T_K channels. It goes through
 * the source channels T_C at a time: of each it copies the piece that the tile's taps read to where it
 * is near, border and all (piece.cl), and then adds up what that gives to all of its channels:
 *
 *     a piece's rows, 3x3:  0 x x x x x 0 x x x x x 0 ...   one after the other, in vectors of T_VEC
 *
 *                       T_PIX vectors          a tap and source channel:
 *     a block of     [ acc ][ acc ][ acc ]     T_PIX vectors of the piece, at the tap's offset
 *     T_K channels   [ acc ][ acc ][ acc ]     T_K weights, each for all lanes
 *
 * Vectors go over the ends of rows; the positions between two rows are computed and dropped. So a
 * tile of T_ROWS rows is D_VECTORS vectors, rounded up to T_PIX. Sums wait in memory from T_C
 * channels to the next, and for their rows to be stored.
 *
 * Backward data is the same sum over dy with offsets that run backwards; with a stride, each phase of
 * dx (position modulo stride) has its own taps and sums.
 *
 * The source is copied as BLIS copies a panel of a matrix, and oneDNN none of it: each element once an
 * item, where T_BLOCKS * T_K channels times the filter's taps are summed from it.
 *
 * Grid: (D_TILES_H * D_TILES_W, images * P_DST_D, P_GROUPS * D_PARTS); groups of one item may be fewer
 * (see items.cl).
 *
 * Defines, besides those of the files included (D_ROW=T_VEC among them); _a stands for each of _D, _H,
 * _W:
 *   P_DST_a               sizes of the destination, of which the grid has D_GRID_a in a phase
 *   P_GROUPS              groups; D_DST_C, D_SRC_C: channels of one; D_TAPS: of the filter
 *   D_TILES_H, D_TILES_W  tiles of an image plane; D_COLS: columns of one
 *   D_VECTORS             above
 *   D_BLOCKS, D_PARTS     blocks of a group, and items for them
 *   D_KEPT                blocks whose sums wait: T_BLOCKS, or 1 where T_C are all source channels
 *   T_VEC T_K T_PIX T_ROWS T_BLOCKS T_C   above; T_K <= D_DST_C, T_C <= D_SRC_C
 */
#define PIECE_SPACE local
#define D_ROWS (T_ROWS + D_REACH_H)

#include "epilogue.cl"
#include "items.cl"
#include "piece.cl"
#include "rows.cl"

#define D_PLANE_TAPS (P_FILTER_H * P_FILTER_W)
#define D_PHASES (D_PHASES_H * D_PHASES_W)
#define D_DST_PLANE ((INDEX_T)P_DST_H * P_DST_W)
/* Of a piece, T_VEC-aligned; behind the last one is what its taps read, and fill() writes, beyond it. */
#define D_PIECE ((D_SECTION + T_VEC - 1) / T_VEC)
#define D_BEHIND ((D_REACH_W + T_VEC - 1) / T_VEC + T_PIX + 1)
#define D_PIECES (T_C * P_FILTER_D)
#define D_SUMS (T_K * D_VECTORS)

#define ACC_V PIECE_V
#define BORDER_ROW (P_SRC_H + D_LEAD_H) /* it and those behind it are border */

/* Unrolled taps have their offsets in the instructions; of many the code would only be long. */
#if D_PLANE_TAPS * T_K * T_PIX <= 800 && D_PHASES == 1
#define EACH_TAP UNROLL
#else
#define EACH_TAP _Pragma("nounroll")
#endif

/* The pieces of source channels c0 .. of image n for destination depth z. */
INLINE void fill_pieces(global const SRC_T *src, local ACC_V *pieces, const INDEX_T c0,
                        const int channels, const int z, const int row0, const int col0)
{
    for (int c = 0; c < channels; c++)
        for (int q = 0; q < P_FILTER_D; q++) {
            local ACC_T *const to = (local ACC_T *)(pieces + (c * P_FILTER_D + q) * D_PIECE);
            const int d = source_depth(z, q);
            const INDEX_T plane = ((c0 + c) * P_SRC_D + d) * ((INDEX_T)P_SRC_H * P_SRC_W);
            fill(src, d < 0 ? 0 : plane, to, d < 0 ? BORDER_ROW : row0, col0);
            *(local kiln_loose_piece *)(to + D_SECTION) = (ACC_V)(0);
        }
}

/* Adds what `count` pieces give to a block's sums of T_PIX vectors, in phase (ph, pw). */
INLINE void add_pieces(local ACC_V *sums, local const ACC_V *pieces, global const ACC_T *w,
                       const int count, const int ph, const int pw, const bool begin)
{
    ACC_V acc[T_K * T_PIX];
#pragma unroll
    for (int i = 0; i < T_K * T_PIX; i++)
        acc[i] = begin ? (ACC_V)(0) : sums[i / T_PIX * D_VECTORS + i % T_PIX];
    for (int p = 0; p < count; p++, pieces += D_PIECE, w += D_PLANE_TAPS * T_K)
        EACH_TAP
        for (int r = FIRST(ph, H); r < P_FILTER_H; r += NEXT(H))
            EACH_TAP
            for (int s = FIRST(pw, W); s < P_FILTER_W; s += NEXT(W)) {
                local const ACC_T *const at =
                    (local const ACC_T *)pieces +
                    ((SLOT(r, H) * D_SLOTS_W + SLOT(s, W)) * D_ROWS + OFFSET(r, H)) * D_PITCH +
                    OFFSET(s, W);
                global const ACC_T *const tap = w + (r * P_FILTER_W + s) * T_K;
                ACC_V v[T_PIX];
#pragma unroll
                for (int i = 0; i < T_PIX; i++)
                    v[i] = *(local const kiln_loose_piece *)(at + i * T_VEC);
#pragma unroll
                for (int k = 0; k < T_K; k++) {
                    const ACC_V a = (ACC_V)(tap[k]);
#pragma unroll
                    for (int i = 0; i < T_PIX; i++)
                        acc[k * T_PIX + i] += a * v[i];
                }
            }
#pragma unroll
    for (int i = 0; i < T_K * T_PIX; i++)
        sums[i / T_PIX * D_VECTORS + i % T_PIX] = acc[i];
}

/* Stores the row that begins at position t of the grid, of a channel in phase pw. */
INLINE void put_sums(global DST_T *dst, local const ACC_T *sums, const int channel,
                     const INDEX_T row, const int t, const int pw EPILOGUE_PARAMS)
{
    const int left = min(D_COLS, D_GRID_W - t), x = PLACE(t, pw, W);
#if D_DENSE
    const int count = min(left, P_DST_W - x);
#pragma nounroll
    for (int i = 0; i < count; i += T_VEC) {
        const int some = min(count - i, T_VEC);
        const ACC_V v = *(local const kiln_loose_piece *)(sums + i);
        STORE_SOME(dst, FINISH_ROW(v, OLD_SOME(some, row + x + i), channel), some, row + x + i);
    }
#else
    for (int i = 0; i < left; i++) {
        const int column = x + i * P_STRIDE_W;
        if (column >= 0 && column < P_DST_W)
            DST_STORE(dst, row + column, FINISH(sums[i], channel, row + column));
    }
#endif
}

/* Stores a block's sums in phase (ph, pw); `planes` is where the group's channels are. */
INLINE void put_block(global DST_T *dst, local const ACC_V *sums, const int group, const int block,
                      const INDEX_T planes, const int row0, const int col0, const int ph,
                      const int pw EPILOGUE_PARAMS)
{
    const int k_own = block * T_K, k0 = min(k_own, D_DST_C - T_K);
    const int rows = min(T_ROWS, D_GRID_H - row0);
    for (int k = k_own - k0; k < T_K; k++)
        for (int row = 0; row < rows; row++) {
            const int y = PLACE(row0 + row, ph, H);
            if (y < 0 || y >= P_DST_H)
                continue;
            const INDEX_T plane = planes + (INDEX_T)(k0 + k) * (P_DST_D * D_DST_PLANE);
            put_sums(dst, (local const ACC_T *)(sums + k * D_VECTORS) + row * D_PITCH,
                     group * D_DST_C + k0 + k, plane + (INDEX_T)y * P_DST_W, col0,
                     pw EPILOGUE_PASS);
        }
}

/* One item. (Oclgrind does not know what becomes of `restrict` in an inlined function.) */
INLINE void item(global const SRC_T *src, global const ACC_T *w, global DST_T *dst,
                 local ACC_V *scratch, const int tile, const int image,
                 const int part EPILOGUE_PARAMS)
{
    const int row0 = tile / D_TILES_W * T_ROWS, col0 = tile % D_TILES_W * D_COLS;
    const int z = image % P_DST_D, group = part / D_PARTS, first = part % D_PARTS * T_BLOCKS;
    const int end = min(first + T_BLOCKS, D_BLOCKS);
    const INDEX_T n = image / P_DST_D, groups = n * P_GROUPS + group;
    local ACC_V *const pieces = scratch + D_KEPT * D_PHASES * D_SUMS;
    const INDEX_T planes = (groups * D_DST_C * P_DST_D + z) * D_DST_PLANE;
    w += (INDEX_T)group * D_BLOCKS * D_SRC_C * D_TAPS * T_K;
    for (int c0 = 0; c0 < D_SRC_C; c0 += T_C) {
        const int channels = min(T_C, D_SRC_C - c0);
        fill_pieces(src, pieces, groups * D_SRC_C + c0, channels, z, row0, col0);
        for (int i = 0; i < D_BEHIND; i++)
            pieces[channels * P_FILTER_D * D_PIECE + i] = (ACC_V)(0);
        for (int j = 0; j < (end - first) * D_PHASES; j++) {
            const int block = first + j / D_PHASES, pw = j % D_PHASES_W;
            const int ph = j % D_PHASES / D_PHASES_W;
            local ACC_V *const sums = scratch + (D_KEPT > 1 ? j : j % D_PHASES) * D_SUMS;
            global const ACC_T *const wb =
                w + ((INDEX_T)block * D_SRC_C + c0) * (D_TAPS * T_K);
            for (int v = 0; v < D_VECTORS; v += T_PIX)
                add_pieces(sums + v, pieces + v, wb, channels * P_FILTER_D, ph, pw, c0 == 0);
            if (c0 + T_C >= D_SRC_C)
                put_block(dst, sums, group, block, planes, row0, col0, ph, pw EPILOGUE_PASS);
        }
    }
}

#define ITEM_HERE                                                                                  \
    item(src, w, dst, (local ACC_V *)scratch, ITEM(0), ITEM(1), ITEM(2) EPILOGUE_PASS)
DEFINE_ITEM(ITEM_HERE, (global const SRC_T *src, global const ACC_T *w,
                        global DST_T *dst EPILOGUE_PARAMS))

kernel GROUP_SIZE(1, 1, 1) void direct_pixels(global const SRC_T *restrict src,
                                              global const ACC_T *restrict w,
                                              global DST_T *dst EPILOGUE_PARAMS ITEMS_PARAM)
{
    local ACC_V scratch[D_KEPT * D_PHASES * D_SUMS + D_PIECES * D_PIECE + D_BEHIND];
    EACH_ITEM_WITH(scratch, ITEM_HERE, (src, w, dst EPILOGUE_PASS))
}
