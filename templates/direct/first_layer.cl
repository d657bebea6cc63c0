/* first_layer.cl: direct convolution from few source channels, as of a network's first layer;
 * forward.
 *
 * An item computes T_ROWS rows of an image, or D_COLS columns of them, for all channels of the
 * result. First it copies the rows of all source channels that their taps read to local memory,
 * with their border (piece.cl). Each tap of each channel is then one fixed offset, so that no sum
 * checks for borders, and elements are copied once for all taps and channels that read them. All
 * products of a sum are added up in registers, from which the result is written once.
 *
 * A vector is elements that are neighbours in the result, which needs no transposition then:
 * channels (NHWC, NC/16HW16), or, with D_PLAIN, pixels (NCHW):
 *
 *     channels:        T_PIX pixels               pixels:   T_PIX vectors of a row
 *     T_K vectors   [ acc ]  [ acc ]  [ acc ]     T_K     [ acc ][ acc ]   a tap and a channel:
 *     of channels   [ acc ]  [ acc ]  [ acc ]     chan-   [ acc ][ acc ]   T_PIX vectors of a piece
 *                   a tap and source channel:     nels    [ acc ][ acc ]   by T_K weights, each for
 *                   T_PIX elements of the piece,                           all lanes
 *                   each for all lanes, by T_K
 *                   vectors of weights
 *
 * With channels as the vector a piece is rows as they are in the source, whatever the stride. A
 * source whose channels are last counts as one channel of longer rows, with pixels and taps as many
 * elements apart as a pixel has channels: the P_SRC_W, D_LEAD_W and P_DILATION_W of piece.cl and
 * lines.cl count elements. With pixels as the vector a row's elements are sorted by remainder of
 * the stride (D_SLOTS_a).
 *
 * With D_TOGETHER = 2 an element of a piece is made a pair: of two channels that have rows of their
 * own, or of an element and the one behind it, unless that is another pixel's. Each step of the
 * sums is then two channels.
 *
 * In channels, the last tile of a row starts earlier where it would be narrower: its first pixels
 * are computed twice and stored once. In pixels, positions beyond the row are computed and dropped.
 *
 * Grid: (tiles of an image plane, images * P_DST_D, 1); groups of one item may be fewer (see
 * items.cl).
 *
 * Defines, besides those of the files included (D_B=D_ROW=T_VEC among them); _a stands for each of
 * _D, _H, _W:
 *   D_PLAIN               above
 *   P_DST_a               sizes of the destination
 *   D_SRC_C, D_SRC_PLANES source channels, and the pieces of them for each plane of the filter
 *   D_TAPS                of the filter
 *   D_STEPS               steps of the sums over channels: D_SRC_C / D_TOGETHER, rounded up
 *   D_CHANNEL, D_APART_a  elements of a piece, or rows of it, from a step, column or row to the
 *                         next
 *   D_TOGETHER, D_BF16    above, and see products.cl
 *   D_DST_IMAGE, _BLOCK, _PLANE, _ROW, _PIXEL, _CHANNEL    elements from one to the next
 *   D_DST_NEIGHBOURS      channels of a block; D_DST_PADDED: of all blocks; D_CHANNELS: without
 *                         padding
 *   D_BLOCKS              of T_K vectors of channels, or T_K channels: all of them
 *   D_TILES_W, D_COLS     tiles of a row; columns of one
 *   D_PIECE               elements of a piece, a multiple of T_VEC
 *   T_VEC T_K T_PIX T_ROWS   above
 *   T_STREAM              1: stores go past the caches (see caches.cl)
 */
#define PIECE_SPACE local

#include "channels.cl"
#include "items.cl"
#include "pixel_tile.cl"
#include "rows.cl"

/* Columns of a row, and channels, of a tile of registers. */
#if D_PLAIN
#define TILE_COLS (T_PIX * T_VEC)
#define TILE_K T_K
#else
#define TILE_COLS T_PIX
#define TILE_K (T_K * T_VEC)
#endif

#if D_TOGETHER > 1
#if D_SRC_PLANES > 1
#define MERGE(pieces) merge_pieces(pieces, D_SRC_PLANES, P_FILTER_D, D_PIECE / T_VEC)
#else
/* Pairs of neighbours. A row is whole pixels. A pixel's last channel stays alone. */
INLINE void merge_neighbours(local ACC_V *pieces)
{
    KILN_CAT(int, D_B) channel = LANES(D_B) % D_SRC_C;
    for (int i = 0; i < P_FILTER_D * (D_PIECE / T_VEC); i++) {
        if (i % (D_PIECE / T_VEC) == 0)
            channel = LANES(D_B) % D_SRC_C;
        const ACC_V next = *(local const kiln_loose_acc *)((local ACC_T *)(pieces + i) + 1);
        const ACC_V high = channel == D_SRC_C - 1 ? (ACC_V)(0) : next;
        pieces[i] = PAIR(pieces[i], high);
        channel += D_B % D_SRC_C;
        channel = channel >= D_SRC_C ? channel - D_SRC_C : channel;
    }
}
#define MERGE(pieces) merge_neighbours(pieces)
#endif
#endif

/* Copies the rows of image n that the tile from row0 and col0 on reads, at depth z. */
INLINE void fill_pieces(global const SRC_T *src, local ACC_T *pieces, const INDEX_T n, const int z,
                        const int row0, const int col0)
{
    for (int q = 0; q < P_FILTER_D; q++) {
        const int depth = source_depth(z, q), d = max(depth, 0);
        const int row = depth < 0 ? BORDER_ROW : row0 * D_APART_H;
        for (int c = 0; c < D_SRC_PLANES; c++)
            fill(src, ((n * D_SRC_PLANES + c) * P_SRC_D + d) * ((INDEX_T)P_SRC_H * P_SRC_W),
                 pieces + (c * P_FILTER_D + q) * D_PIECE, row, col0 * D_APART_W);
    }
#if D_TOGETHER > 1
    MERGE((local ACC_V *)pieces);
#endif
}

/* Adds one tap of one channel. The tile's first element reads `at`. */
INLINE void add_tap(ACC_V *acc, local const ACC_T *at, global const ACC_T *w)
{
#if D_PLAIN
    add_pixels(acc, at, w);
#else
    ACC_V a[T_K];
#pragma unroll
    for (int k = 0; k < T_K; k++)
        a[k] = LOAD_V(w + k * T_VEC);
#pragma unroll
    for (int i = 0; i < T_PIX; i++) {
        const ACC_V v = (ACC_V)(at[i * D_APART_W]);
#pragma unroll
        for (int k = 0; k < T_K; k++)
            ADD_PRODUCT(acc[k * T_PIX + i], v, a[k]);
    }
#endif
}

/* Unrolled taps have their offsets in the instructions. With channels as the vector the compiler
 * would keep elements that taps share in registers, and spill the sums. */
#if D_PLAIN && P_FILTER_H * P_FILTER_W * T_K * T_PIX <= 800
#define EACH_TAP UNROLL
#else
#define EACH_TAP _Pragma("nounroll")
#endif

INLINE void add_all(ACC_V *acc, local const ACC_T *pieces, global const ACC_T *w)
{
#pragma nounroll
    for (int c = 0; c < D_STEPS; c++)
#pragma nounroll
        for (int q = 0; q < P_FILTER_D; q++, w += P_FILTER_H * P_FILTER_W * TILE_K)
            EACH_TAP
            for (int r = 0; r < P_FILTER_H; r++)
                EACH_TAP
                for (int s = 0; s < P_FILTER_W; s++)
                    add_tap(acc,
                            pieces + c * D_CHANNEL + q * D_PIECE + PIECE_OFFSET(r, s),
                            w + (r * P_FILTER_W + s) * TILE_K);
}

/* Stores columns `first` to `end` - 1 of a tile's sums, of channels from k0 on, to elements from
 * `at` on. */
INLINE void put_tile(global DST_T *dst, const ACC_V *acc, const int k0, const int first,
                     const int end, const INDEX_T at EPILOGUE_PARAMS)
{
#if D_PLAIN
    EACH_RESULT
    for (int k = 0; k < T_K; k++) {
        if (D_CHANNELS % T_K && k0 + k >= D_CHANNELS)
            continue;
        const INDEX_T row = at + (INDEX_T)(k0 + k) * D_DST_CHANNEL;
        EACH_RESULT
        for (int i = 0; i < T_PIX; i++) {
            const int left = end - i * T_VEC;
            if (left >= T_VEC)
                PUT_ROW(dst, acc[k * T_PIX + i], k0 + k, row + i * T_VEC);
            else if (left > 0)
                STORE_SOME(dst,
                           FINISH_ROW(acc[k * T_PIX + i], OLD_SOME(left, row + i * T_VEC), k0 + k),
                           left, row + i * T_VEC);
        }
    }
#else
#pragma unroll
    for (int k = 0; k < T_K; k++) {
        const int channel = k0 + k * T_VEC, left = D_DST_PADDED - channel;
        const INDEX_T to = at + (INDEX_T)(channel / D_DST_NEIGHBOURS) * D_DST_BLOCK +
                           channel % D_DST_NEIGHBOURS;
        if (left >= T_VEC) {
            EACH_RESULT
            for (int i = 0; i < T_PIX; i++)
                if (i >= first)
                    kiln_put(dst, acc[k * T_PIX + i], channel, to + i * D_DST_PIXEL EPILOGUE_PASS);
        } else if (left > 0) {
            EACH_RESULT
            for (int i = 0; i < T_PIX; i++)
                if (i >= first)
                    STORE_SOME(dst,
                               FINISH_V(acc[k * T_PIX + i], OLD_SOME(left, to + i * D_DST_PIXEL),
                                        channel),
                               left, to + i * D_DST_PIXEL);
        }
    }
#endif
}

/* One item. (Oclgrind does not know what becomes of `restrict` in an inlined function.) */
INLINE void item(global const SRC_T *src, global const ACC_T *w, global DST_T *dst,
                 local ACC_T *pieces, const int tile, const int image EPILOGUE_PARAMS)
{
    const int row0 = tile / D_TILES_W * T_ROWS, own = tile % D_TILES_W * D_COLS;
    const int col0 = D_PLAIN ? own : min(own, P_DST_W - D_COLS), z = image % P_DST_D;
    const int rows = min(T_ROWS, P_DST_H - row0), cols = min(D_COLS, P_DST_W - col0);
    const INDEX_T n = image / P_DST_D;
    const INDEX_T to = n * D_DST_IMAGE + (INDEX_T)z * D_DST_PLANE + (INDEX_T)row0 * D_DST_ROW;
    fill_pieces(src, pieces, n, z, row0, col0);
    for (int block = 0; block < D_BLOCKS; block++)
        for (int row = 0; row < rows; row++)
            for (int own_x = 0; own_x < cols; own_x += TILE_COLS) {
                const int x = D_PLAIN ? own_x : min(own_x, D_COLS - TILE_COLS);
                const int first = max(own_x, own - col0) - x;
                if (first >= TILE_COLS)
                    continue;
                ACC_V acc[T_K * T_PIX];
#pragma unroll
                for (int i = 0; i < T_K * T_PIX; i++)
                    acc[i] = (ACC_V)((ACC_T)0);
                if (block * TILE_K < D_CHANNELS) /* else all channels are padding of the layout */
                    add_all(acc, pieces + row * D_APART_H * D_PITCH + x * D_APART_W,
                            w + block * (D_STEPS * D_TAPS * TILE_K));
                put_tile(dst, acc, block * TILE_K, first, cols - x,
                         to + (INDEX_T)row * D_DST_ROW +
                             (INDEX_T)(col0 + x) * D_DST_PIXEL EPILOGUE_PASS);
            }
}

#define ITEM_HERE                                                                                  \
    item(src, w, dst, (local ACC_T *)scratch, ITEM(0), ITEM(1) EPILOGUE_PASS)
DEFINE_ITEM(ITEM_HERE, (global const SRC_T *src, global const ACC_T *w,
                        global DST_T *dst EPILOGUE_PARAMS))

kernel GROUP_SIZE(1, 1, 1) void first_layer(global const SRC_T *restrict src,
                                            global const ACC_T *restrict w,
                                            global DST_T *dst EPILOGUE_PARAMS ITEMS_PARAM)
{
    /* Pairs of neighbours read one element more. */
    local ACC_V scratch[D_SRC_PLANES * P_FILTER_D * D_PIECE / T_VEC + (D_TOGETHER > 1)];
    EACH_ITEM_WITH(scratch, ITEM_HERE, (src, w, dst EPILOGUE_PASS))
}
