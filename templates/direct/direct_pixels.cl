/* direct_pixels.cl: direct convolution with pixels as the vector, from and to plain layouts, NCHW
 * or NHWC; forward and backward data.
 *
 * An item computes a tile of pixels of an image, for T_BLOCKS blocks of T_K channels. It goes
 * through the source channels D_CHUNK at a time: of each it copies the piece that the tile's taps
 * read to local memory, with its border (piece.cl), and then adds the products of that chunk to all
 * of its sums:
 *
 *     a piece's rows, 3x3:  0 x x x x x 0 x x x x x 0 ...   one after the other, in vectors of
 *                                                           T_VEC
 *
 *                       T_PIX vectors          a tap and source channel:
 *     a block of     [ acc ][ acc ][ acc ]     T_PIX vectors of the piece, at the tap's offset
 *     T_K channels   [ acc ][ acc ][ acc ]     T_K weights, each for all lanes
 *
 * Vectors go over the ends of rows; the positions between two rows are computed and dropped. So a
 * tile of T_ROWS rows is D_VECTORS vectors, rounded up to T_PIX. Sums wait in memory from one
 * chunk to the next, and for their rows to be stored.
 *
 * Backward data is the same sum over dy with offsets that run backwards; with a stride, each phase
 * of dx (position modulo stride) has its own taps and sums.
 *
 * So each element is copied once an item and then multiplied T_BLOCKS * T_K times for each tap: the
 * packed panels of BLIS (Van Zee and van de Geijn, 2015), with a convolution's overlap left in.
 *
 * Grid: (tiles of an image plane, images * P_DST_D, P_GROUPS * D_PARTS); groups of one item may be
 * fewer (see items.cl).
 *
 * Defines, besides those of the files included (D_ROW=T_VEC among them); _a stands for each of _D,
 * _H, _W:
 *   D_DST_LAST            1: channels are last, as in NHWC; D_SRC_LAST the same of the source
 *   P_DST_a               sizes of the destination, of which the grid has D_GRID_a in a phase
 *   P_GROUPS              groups; D_DST_C, D_SRC_C: channels of one; D_TAPS: of the filter
 *   D_TILES_W, D_COLS     tiles of a row; columns of one
 *   D_VECTORS             above
 *   D_BLOCKS, D_PARTS     blocks of a group, and items for them
 *   D_TOGETHER, D_BF16    2: pairs of channels are multiplied at once (see products.cl), for which
 *                         D_CHUNK is even or all channels
 *   D_CHUNK               above; D_KEPT: blocks whose sums wait, or 1 where a chunk is all channels
 *   T_VEC T_K T_PIX T_ROWS T_BLOCKS   above; T_K <= D_DST_C
 */
#define PIECE_SPACE local
#define D_ROWS (T_ROWS + D_REACH_H)

#define D_B T_VEC
#define D_SRC_PIXEL (P_GROUPS * D_SRC_C)

#include "epilogue.cl"
#include "items.cl"
#include "piece_last.cl"
#include "pixel_tile.cl"
#include "rows.cl"

#define D_PLANE_TAPS (P_FILTER_H * P_FILTER_W)
#define D_PHASES (D_PHASES_H * D_PHASES_W)
#define D_SRC_PLANE ((INDEX_T)P_SRC_H * P_SRC_W)
#define D_DST_PLANE ((INDEX_T)P_DST_H * P_DST_W)
/* Vectors of a piece, with one or two zero vectors at its end; behind the last piece are further
 * zeros that taps read. */
#define D_PIECE ((D_SECTION + 2 * T_VEC - 1) / T_VEC)
#define D_BEHIND ((D_REACH_W + T_VEC - 1) / T_VEC + T_PIX + 1)
#define D_PIECES (D_CHUNK * P_FILTER_D)
#define D_SUMS (T_K * D_VECTORS)

/* Channels, and channels of a chunk, in steps of D_TOGETHER. */
#define STEPS(channels) (((channels) + D_TOGETHER - 1) / D_TOGETHER)

/* Unrolled taps have their offsets in the instructions; with many taps the code is only longer. */
#if D_PLANE_TAPS * T_K * T_PIX <= 800 && D_PHASES == 1
#define EACH_TAP UNROLL
#else
#define EACH_TAP _Pragma("nounroll")
#endif

/* Fills the pieces of `channels` source channels of image n from channel `first` on, for
 * destination depth z. */
INLINE void fill_pieces(global const SRC_T *src, local ACC_V *pieces, const INDEX_T n,
                        const int first, const int channels, const int z, const int tile_row,
                        const int col0)
{
    for (int q = 0; q < P_FILTER_D; q++) {
        const int depth = source_depth(z, q), d = max(depth, 0);
        const int row0 = depth < 0 ? BORDER_ROW : tile_row;
        local ACC_T *const to = (local ACC_T *)(pieces + q * D_PIECE);
        const int apart = P_FILTER_D * D_PIECE * T_VEC;
#if D_SRC_LAST
        fill_channels(src, (n * P_SRC_D + d) * D_SRC_PLANE * D_SRC_PIXEL + first, to, apart,
                      channels, row0, col0);
#else
        const INDEX_T all = n * (P_GROUPS * D_SRC_C) + first;
        for (int c = 0; c < channels; c++)
            fill(src, ((all + c) * P_SRC_D + d) * D_SRC_PLANE, to + c * apart, row0, col0);
#endif
        for (int c = 0; c < channels; c++) {
            *(local kiln_loose_piece *)(to + c * apart + D_SECTION) = (ACC_V)(0);
            *(local ACC_V *)(to + c * apart + (D_PIECE - 1) * T_VEC) = (ACC_V)(0);
        }
    }
#if D_TOGETHER > 1
    merge_pieces(pieces, channels, P_FILTER_D, D_PIECE);
#endif
}

/* Adds the products of `count` pieces to a block's sums of T_PIX vectors, in phase (ph, pw). */
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
            for (int s = FIRST(pw, W); s < P_FILTER_W; s += NEXT(W))
                add_pixels(acc, (local const ACC_T *)pieces + PIECE_OFFSET(r, s),
                           w + (r * P_FILTER_W + s) * T_K);
#pragma unroll
    for (int i = 0; i < T_K * T_PIX; i++)
        sums[i / T_PIX * D_VECTORS + i % T_PIX] = acc[i];
}

#if D_DST_LAST
/* Stores the sums of a block for a row that begins at position t of the grid. The block's own
 * channels begin with its channel k; `row` is the element of column 0 of the block's channel 0. */
INLINE void put_row(global DST_T *dst, local const ACC_T *sums, const int channel, const int k,
                    const INDEX_T row, const int t, const int pw EPILOGUE_PARAMS)
{
    const int left = min(D_COLS, D_GRID_W - t), x = PLACE(t, pw, W);
    const int step = D_DENSE ? 1 : P_STRIDE_W;
    for (int i = 0; i < left; i++) {
        const int column = x + i * step;
        const INDEX_T at = row + (INDEX_T)column * (P_GROUPS * D_DST_C);
        if (column >= 0 && column < P_DST_W)
            for (int j = k; j < T_K; j++)
                DST_STORE(dst, at + j,
                          FINISH(sums[j * (D_VECTORS * T_VEC) + i], channel + j, at + j));
    }
}
#else
/* Stores the sums of one channel for such a row. */
INLINE void put_channel(global DST_T *dst, local const ACC_T *sums, const int channel,
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

INLINE void put_row(global DST_T *dst, local const ACC_T *sums, const int channel, const int k,
                    const INDEX_T row, const int t, const int pw EPILOGUE_PARAMS)
{
    for (int j = k; j < T_K; j++)
        put_channel(dst, sums + j * (D_VECTORS * T_VEC), channel + j,
                    row + (INDEX_T)j * (P_DST_D * D_DST_PLANE), t, pw EPILOGUE_PASS);
}
#endif

/* Stores a block's sums in phase (ph, pw) of image n. */
INLINE void put_block(global DST_T *dst, local const ACC_V *sums, const INDEX_T n, const int group,
                      const int block, const int z, const int row0, const int col0, const int ph,
                      const int pw EPILOGUE_PARAMS)
{
    const int k_own = block * T_K, k0 = min(k_own, D_DST_C - T_K), channel = group * D_DST_C + k0;
    const int rows = min(T_ROWS, D_GRID_H - row0);
#if D_DST_LAST
    const INDEX_T plane = (n * P_DST_D + z) * D_DST_PLANE * (P_GROUPS * D_DST_C) + channel;
    const INDEX_T width = P_DST_W * (P_GROUPS * D_DST_C);
#else
    const INDEX_T plane = ((n * (P_GROUPS * D_DST_C) + channel) * P_DST_D + z) * D_DST_PLANE;
    const INDEX_T width = P_DST_W;
#endif
    for (int row = 0; row < rows; row++) {
        const int y = PLACE(row0 + row, ph, H);
        if (y >= 0 && y < P_DST_H)
            put_row(dst, (local const ACC_T *)sums + row * D_PITCH, channel, k_own - k0,
                    plane + y * width, col0, pw EPILOGUE_PASS);
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
    const INDEX_T n = image / P_DST_D;
    local ACC_V *const pieces = scratch + D_KEPT * D_PHASES * D_SUMS;
    w += (INDEX_T)group * D_BLOCKS * STEPS(D_SRC_C) * D_TAPS * T_K;
    for (int c0 = 0; c0 < D_SRC_C; c0 += D_CHUNK) {
        const int channels = min(D_CHUNK, D_SRC_C - c0);
        fill_pieces(src, pieces, n, group * D_SRC_C + c0, channels, z, row0, col0);
        for (int i = 0; i < D_BEHIND; i++)
            pieces[STEPS(channels) * P_FILTER_D * D_PIECE + i] = (ACC_V)(0);
        for (int j = 0; j < (end - first) * D_PHASES; j++) {
            const int block = first + j / D_PHASES, pw = j % D_PHASES_W;
            const int ph = j % D_PHASES / D_PHASES_W;
            local ACC_V *const sums = scratch + (D_KEPT > 1 ? j : j % D_PHASES) * D_SUMS;
            global const ACC_T *const wb =
                w + ((INDEX_T)block * STEPS(D_SRC_C) + c0 / D_TOGETHER) * (D_TAPS * T_K);
            for (int v = 0; v < D_VECTORS; v += T_PIX)
                add_pieces(sums + v, pieces + v, wb, STEPS(channels) * P_FILTER_D, ph, pw, c0 == 0);
            if (c0 + D_CHUNK >= D_SRC_C)
                put_block(dst, sums, n, group, block, z, row0, col0, ph, pw EPILOGUE_PASS);
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
