/* direct_amx.cl: direct convolution by the tile registers of x86's AMX, where neighbouring channels
 * of a pixel are neighbours in memory: all of them (NHWC), or blocks of them (NC/16HW16).
 *
 * An item computes T_ROWS rows by T_COLS columns of an image, for some channels. First it copies
 * what their taps read to local memory: a piece, in blocks of channels that fill a row of a tile
 * register, with zeros for padding and for missing channels. Rows of a piece that are a stride
 * apart follow one another, so that a destination position is one step further in the piece for
 * every tap, over the ends of rows too:
 *
 *     a block of a piece, 3x3:  0 x x x x x 0 0 x x x x x 0 ...  each x is AMX_ELEMENTS channels
 *
 *                            weights of 16 channels
 *     D_TILE positions   [ sums 0 ][ sums 1 ]     a tap and block of source channels:
 *     D_TILE positions   [ sums 2 ][ sums 3 ]     two tiles of the piece, at the tap's offset,
 *                                                 times two tiles of weights
 *
 * The positions between two rows are computed and dropped. A source of few channels has no blocks:
 * what a row of the filter meets lies together in the piece, and is summed D_STEP_BYTES at a time,
 * which may begin and end within a pixel. With a stride down the image, D_FOLD rows of the source,
 * one stride, are one row of such a piece, of pixels with D_FOLD times the channels:
 *
 *     stride 2, 7x7:   source rows 0 and 1 -> row 0 of the piece, 2 and 3 -> row 1, ...
 *                      the filter has four rows of 14 pixels instead of seven of 7
 *
 * Where a pixel reads one pixel and all channels of a pixel lie together (D_DIRECT=1), nothing is
 * copied: tiles are read where they lie. There is no memory behind the last pixel that a tile could
 * read: the last item and the last tile of an item begin earlier, and do not store what others do.
 *
 * The sums of a tile are stored while those of the next one are computed: they wait in one of two
 * buffers. Where they are the results as they are (int8 into i32) and positions lie in a row of the
 * image, tile registers are stored there instead.
 *
 * Backward data is the same sum over dy, with the filter rotated by 180 degrees (by `pack`); its
 * strides are 1.
 *
 * Grid of `direct_amx`: (tiles of an image plane, images * P_DST_D, D_GROUPS * D_PARTS); groups of
 * one item may be fewer (see items.cl). Of `pack`: (D_STEPS, D_GROUPS * D_PAIRS).
 *
 * Defines, besides those of the files included (D_B=16 and D_ROW=16 among them); _a stands for each
 * of _D, _H, _W:
 *   P_SRC_a, P_DST_a    sizes; P_FILTER_a, P_STRIDE_a, P_DILATION_a
 *   D_LEAD_a            source coordinate of destination element 0, tap 0, is -D_LEAD_a
 *   D_GROUPS, D_SRC_C, D_DST_C    groups and the channels of one
 *   D_SRC_IMAGE, _BLOCK, _PLANE, _ROW, _PIXEL, _NEIGHBOURS, _BLOCKS    see kiln_pitch; D_DST_ the
 *                       same
 *   D_DST_PADDED        destination channels with the padding of the layout
 *   D_FOLD              above; else 1
 *   D_FILTER_ROWS       rows of the filter in a piece: those of the filter / D_FOLD, rounded up
 *   D_BACKWARD          1: the filter is rotated
 *   D_TILE              rows of a tile of the source and of sums
 *   D_STEP_BYTES        bytes of such a row of the source: a step
 *   D_PIXEL             elements of a pixel in a block of a piece
 *   D_STEPS_W           steps of a row of the filter
 *   D_DEPTH_BLOCKS      blocks of a piece
 *   D_DIRECT            above
 *   D_PHASES_a          positions apart read pixels so many apart in the piece: P_STRIDE_a, or 1
 *                       where the filter's one tap leaves out the pixels between
 *   D_POSITION          elements from one position to the next
 *   D_PITCH             pixels of a row of a piece, a multiple of D_PHASES_W
 *   D_PHASE_ROWS        rows of a piece of each remainder by D_PHASES_H
 *   D_PLANE             pixels of a block of a piece of one filter plane
 *   D_PIECE             elements of a piece, with what tiles read behind its end
 *   D_PAIRS             pairs of 16 destination channels of a group; the last may be one alone
 *   D_VECTORS           16 destination channels of a group, with padding of the layout in the last
 *                       ones
 *   D_PARTS, D_PART     parts of the pairs, and pairs of one
 *   D_STEPS             steps of all rows, planes and blocks
 *   D_TILES_W           tiles of a row
 *   T_ROWS, T_COLS      above
 *   T_ORDER             0: an item takes all positions of a pair, then of the next one; 1: all
 *                       pairs of two tiles of positions, then of the next two
 */
#include "amx_tiles.cl"
#include "channels.cl"
#include "direct_amx_piece.cl"
#include "items.cl"
#include "rows.cl"

#define STEP_ELEMENTS (D_STEP_BYTES / (int)sizeof(SRC_T))
#define TILE_ELEMENTS (16 * STEP_ELEMENTS) /* of a tile of weights */
/* Positions of a row. */
#define POSITIONS_W (D_PITCH / D_PHASES_W)

#if D_DST_BLOCKS == 1
#define DST_AT(c) (c)
#else
#define DST_AT(c) ((INDEX_T)((c) / D_DST_NEIGHBOURS) * D_DST_BLOCK + (c) % D_DST_NEIGHBOURS)
#endif

/* ---- weights, zero where there is no channel, as [group and pair][block, plane, row, step]
 * [half of the pair][elements / together][16][together] ---- */

static inline SRC_T weight(global const SRC_T *w, const INDEX_T group, const int k, const int c,
                           const int plane, const int row, const int column)
{
    const int taps = P_FILTER_D * P_FILTER_H * P_FILTER_W;
    const int tap = (plane * P_FILTER_H + row) * P_FILTER_W + column;
    if (k >= D_DST_C || c >= D_SRC_C || row >= P_FILTER_H)
        return 0;
#if D_BACKWARD
    return w[((group * D_SRC_C + c) * D_DST_C + k) * taps + taps - 1 - tap];
#else
    return w[((group * D_DST_C + k) * D_SRC_C + c) * taps + tap];
#endif
}

kernel GROUP_SIZE(1, 1, 1) void pack(global const SRC_T *restrict w, global SRC_T *restrict packed)
{
    const int step = get_global_id(0), pair = get_global_id(1);
    const INDEX_T group = pair / D_PAIRS;
    const int rows = P_FILTER_D * D_FILTER_ROWS, s = step % D_STEPS_W;
    const int row = step / D_STEPS_W % rows, c0 = step / D_STEPS_W / rows * D_PIXEL;
    packed += ((INDEX_T)pair * D_STEPS + step) * (2 * TILE_ELEMENTS);
    for (int i = 0; i < 2 * TILE_ELEMENTS; i++) {
        const int k = i / TILE_ELEMENTS * 16 + i / AMX_TOGETHER % 16;
        const int e = s * STEP_ELEMENTS + i % TILE_ELEMENTS / (16 * AMX_TOGETHER) * AMX_TOGETHER +
                      i % AMX_TOGETHER;
        const int down = row % D_FILTER_ROWS * D_FOLD + e % D_PIXEL / PIXEL_C;
        packed[i] = weight(w, group, pair % D_PAIRS * 32 + k, c0 + e % PIXEL_C,
                           row / D_FILTER_ROWS, down, e / D_PIXEL);
    }
}

/* ---- sums ---- */

#define POSITION_BYTES (D_POSITION * (int)sizeof(SRC_T))
#define ROW_OFFSET(r)                                                                              \
    ((((r)*P_DILATION_H) % D_PHASES_H * D_PHASE_ROWS + (r)*P_DILATION_H / D_PHASES_H) * D_PITCH)

/* Addresses where the sums of a tile of positions go, and bytes to the next position, to the next
 * 16 channels, and to the next tile of positions. */
typedef struct target {
    size_t first, position, vector, tile;
} target;

/* Sums of a tile of positions from address `piece` on, and, if `both`, of one that begins `next`
 * bytes behind it, by one or two tiles of channels. */
INLINE void multiply(const target *to, const size_t piece, const int next, global const SRC_T *w,
                     const bool both, const int across)
{
    AMX_ZERO(0);
    AMX_ZERO(1);
    AMX_ZERO(2);
    AMX_ZERO(3);
#pragma nounroll
    for (int b = 0; b < D_DEPTH_BLOCKS; b++)
#pragma nounroll
        for (int q = 0; q < P_FILTER_D; q++)
#pragma nounroll
            for (int r = 0; r < D_FILTER_ROWS; r++) {
                size_t from = piece + ((q * D_DEPTH_BLOCKS + b) * D_PLANE + ROW_OFFSET(r)) *
                                          (D_PIXEL * sizeof(SRC_T));
#pragma nounroll
                for (int s = 0; s < D_STEPS_W; s++) {
                    AMX_LOAD(4, from, POSITION_BYTES);
                    AMX_LOAD(6, w, 64);
                    AMX_MULTIPLY(0, 4, 6);
                    if (across > 1) {
                        AMX_LOAD(7, w + TILE_ELEMENTS, 64);
                        AMX_MULTIPLY(1, 4, 7);
                    }
                    if (both) {
                        AMX_LOAD(5, from + next, POSITION_BYTES);
                        AMX_MULTIPLY(2, 5, 6);
                        if (across > 1)
                            AMX_MULTIPLY(3, 5, 7);
                    }
                    from += D_STEP_BYTES * P_DILATION_W;
                    w += 2 * TILE_ELEMENTS;
                }
            }
    AMX_STORE(0, to->first, to->position);
    if (across > 1)
        AMX_STORE(1, to->first + to->vector, to->position);
    if (both) {
        AMX_STORE(2, to->first + to->tile, to->position);
        if (across > 1)
            AMX_STORE(3, to->first + to->tile + to->vector, to->position);
    }
}

/* Where the results of an item go. */
typedef struct tile {
    int rows, cols; /* that the image has */
    int skip;       /* positions that another item stores */
    int group;
    INDEX_T at; /* element of the first position's channel 0 */
} tile;

/* Sums that wait to be stored: of a pair, of one or two tiles of positions. */
typedef struct waiting {
    const ACC_T *sums;
    int pair, tile, end;
} waiting;

/* Positions of an item, and the first one of a tile. */
INLINE int positions_of(const tile *t)
{
    return (t->rows - 1) * POSITIONS_W + t->cols;
}

INLINE int first_of(const int i, const int positions)
{
    return D_DIRECT ? min(i * D_TILE, positions - D_TILE) : i * D_TILE;
}

INLINE int vectors_of(const int pair)
{
    return D_VECTORS % 2 && pair == D_PAIRS - 1 ? 1 : 2;
}

INLINE void put_position(global DST_T *dst, const ACC_T *sums, const tile *t, const int pair,
                         const INDEX_T at EPILOGUE_PARAMS)
{
    const int end = D_DST_C + (t->group == D_GROUPS - 1 ? D_DST_PADDED - D_CHANNELS : 0);
    EACH_RESULT
    for (int k = 0; k < 2; k++) {
        const int own = pair * 32 + k * 16, channel = t->group * D_DST_C + own;
        if (k >= vectors_of(pair))
            continue;
        const int lanes = end - own;
        const INDEX_T to = at + DST_AT(channel);
        const ACC_V sum = *(private const ACC_V *)(sums + k * 16);
        if (lanes >= 16)
            kiln_put(dst, sum, channel, to EPILOGUE_PASS);
        else
            STORE_SOME(dst, FINISH_V(sum, OLD_SOME(lanes, to), channel), lanes, to);
    }
}

/* Stores positions `first` to `end`, whose sums follow one another. */
INLINE void put_positions(global DST_T *dst, const ACC_T *sums, const tile *t, const int pair,
                          const int first, const int end EPILOGUE_PARAMS)
{
    int row = first / POSITIONS_W, col = first % POSITIONS_W;
    for (int left = end - first; left > 0 && row < t->rows; row++, col = 0) {
        const INDEX_T at = t->at + (INDEX_T)row * D_DST_ROW;
        const int whole = min(POSITIONS_W - col, left), some = min(t->cols - col, left);
        for (int i = 0; i < some; i++)
            put_position(dst, sums + i * 32, t, pair,
                         at + (INDEX_T)(col + i) * D_DST_PIXEL EPILOGUE_PASS);
        left -= whole;
        sums += whole * 32;
    }
}

INLINE void put(global DST_T *dst, const waiting *from, const tile *t EPILOGUE_PARAMS)
{
    const int positions = positions_of(t);
    for (int i = from->tile; i < from->end; i++) {
        const int first = max(i * D_TILE, t->skip), end = min((i + 1) * D_TILE, positions);
        const int row = (i - from->tile) * D_TILE + first - first_of(i, positions);
        put_positions(dst, from->sums + row * 32, t, from->pair, first, end EPILOGUE_PASS);
    }
}

/* Whether a tile of positions from `first` on is a run of pixels of the image whose results are the
 * sums. */
INLINE bool is_run(const tile *t, const int first)
{
    return DST_TYPE == TYPE_I32 && D_DST_C % 16 == 0 && D_DST_PADDED == D_CHANNELS &&
           first >= t->skip && first + D_TILE <= positions_of(t) &&
           first % POSITIONS_W + D_TILE <= t->cols;
}

/* The target of such a run, with one that begins at position `second`. */
INLINE target run_at(global DST_T *dst, const tile *t, const int pair, const int first,
                     const int second)
{
    const int channel = t->group * D_DST_C + pair * 32;
    const INDEX_T at = t->at + (INDEX_T)(first / POSITIONS_W) * D_DST_ROW +
                       (INDEX_T)(first % POSITIONS_W) * D_DST_PIXEL;
    const INDEX_T below = t->at + (INDEX_T)(second / POSITIONS_W) * D_DST_ROW +
                          (INDEX_T)(second % POSITIONS_W) * D_DST_PIXEL;
    const size_t size = sizeof(DST_T);
    return (target){(size_t)(dst + at + DST_AT(channel)), D_DST_PIXEL * size,
                    (DST_AT(channel + 16) - DST_AT(channel)) * size, (below - at) * size};
}

/* All positions, from address `piece` on, of the pairs from `begin` to `end`, whose weights begin
 * at w. */
INLINE void add_and_put(global DST_T *dst, const size_t piece, global const SRC_T *w, const tile *t,
                        const int begin, const int end EPILOGUE_PARAMS)
{
    ACC_T sums[2][32 * 32] __attribute__((aligned(64)));
    const int positions = positions_of(t), tiles = (positions + D_TILE - 1) / D_TILE;
    const int twos = (tiles + 1) / 2, pairs = end - begin;
    waiting last = {sums[0], 0, 0, 0};
    for (int i = 0; i < twos * pairs; i++) {
        const int pair = T_ORDER ? i % pairs : i / twos, two = T_ORDER ? i / pairs : i % twos;
        const int first = first_of(2 * two, positions), second = first_of(2 * two + 1, positions);
        const int next = (second - first) * POSITION_BYTES;
        const bool both = 2 * two + 1 < tiles;
        const size_t from = piece + (size_t)first * POSITION_BYTES;
        global const SRC_T *const by = w + (INDEX_T)pair * (D_STEPS * 2 * TILE_ELEMENTS);
        const bool run = is_run(t, first) && (!both || is_run(t, second));
        const target to =
            run ? run_at(dst, t, begin + pair, first, second)
                : (target){(size_t)sums[i % 2], 32 * sizeof(ACC_T), 16 * sizeof(ACC_T),
                           D_TILE * 32 * sizeof(ACC_T)};
        if (vectors_of(begin + pair) == 1)
            multiply(&to, from, next, by, both, 1);
        else if (both)
            multiply(&to, from, next, by, true, 2);
        else
            multiply(&to, from, next, by, false, 2);
        put(dst, &last, t EPILOGUE_PASS);
        last = (waiting){sums[i % 2], begin + pair, 2 * two, run ? 0 : min(2 * two + 2, tiles)};
    }
    put(dst, &last, t EPILOGUE_PASS);
}

/* One item. */
INLINE void item(global const SRC_T *src, global const SRC_T *w, global DST_T *dst,
                 local SRC_T *piece, const int place, const int image,
                 const int part EPILOGUE_PARAMS)
{
    const int row0 = place / D_TILES_W * T_ROWS, own = place % D_TILES_W * T_COLS;
    const int col0 = D_DIRECT ? min(own, P_DST_W - T_COLS) : own;
    const int z = image % P_DST_D, group = part / D_PARTS, first = part % D_PARTS * D_PART;
    const INDEX_T n = image / P_DST_D;
    const tile t = {.rows = min(T_ROWS, P_DST_H - row0),
                    .cols = min(T_COLS, P_DST_W - col0),
                    .skip = own - col0,
                    .group = group,
                    .at = n * D_DST_IMAGE + (INDEX_T)z * D_DST_PLANE + (INDEX_T)row0 * D_DST_ROW +
                          (INDEX_T)col0 * D_DST_PIXEL};
    src += n * D_SRC_IMAGE + SRC_AT(group * D_SRC_C);
#if D_DIRECT
    const size_t from = (size_t)(src + (INDEX_T)col0 * D_SRC_PIXEL);
#else
    const size_t from = (size_t)piece;
    for (int q = 0; q < P_FILTER_D; q++) {
        const int depth = z * P_STRIDE_D + q * P_DILATION_D - D_LEAD_D;
        const bool inside = depth >= 0 && depth < P_SRC_D;
        fill_plane(piece + q * (D_DEPTH_BLOCKS * D_PLANE * D_PIXEL),
                   src + (INDEX_T)(inside ? depth : 0) * D_SRC_PLANE, inside, row0, col0, t.rows,
                   t.cols);
    }
#endif
    AMX_BEGIN(D_TILE, D_STEP_BYTES);
    add_and_put(dst, from,
                w + ((INDEX_T)group * D_PAIRS + first) * ((INDEX_T)D_STEPS * 2 * TILE_ELEMENTS), &t,
                first, min(first + D_PART, D_PAIRS) EPILOGUE_PASS);
    AMX_END;
}

#define ITEM_HERE                                                                                  \
    item(src, w, dst, (local SRC_T *)scratch, ITEM(0), ITEM(1), ITEM(2) EPILOGUE_PASS)
DEFINE_ITEM(ITEM_HERE, (global const SRC_T *src, global const SRC_T *w,
                        global DST_T *dst EPILOGUE_PARAMS))

kernel GROUP_SIZE(1, 1, 1) void direct_amx(global const SRC_T *restrict src,
                                           global const SRC_T *restrict w,
                                           global DST_T *dst EPILOGUE_PARAMS ITEMS_PARAM)
{
    local int16 scratch[(D_PIECE * sizeof(SRC_T) + 63) / 64];
    EACH_ITEM_WITH(scratch, ITEM_HERE, (src, w, dst EPILOGUE_PASS))
}
