/* depthwise_blocked.cl: convolution where neighbouring channels lie together, or are brought
 * together, and a group is no wider than a vector of them.
 *
 * A vector is D_B neighbouring channels of one pixel, source and destination alike. In a depthwise
 * convolution (D_GROUP = 1) every channel stays in its lane, and a tap is one multiply-add:
 *
 *     destination   [ 0 1 2 3 ... ]  +=  [ 0 1 2 3 ... ]  *  weights of the tap
 *
 * With groups of 2, 4 or 8 channels a tap is as many multiply-adds, each with one source channel of
 * every group copied over the group's lanes (D_GROUP = 2: 0 0 2 2 ..., then 1 1 3 3 ...). With
 * D_TOGETHER = 4, bytes, a lane has four source channels of its group, which one instruction
 * multiplies and adds.
 *
 * One item goes down T_TILES rows of tiles of one vector of channels. The sums of a tile stay in
 * registers, and a source vector is loaded once for all taps of a tile that meet it:
 *
 *      |[ first  ][  tile  ][  tile  ] ... [  last  ]|  tiles of TILE_H x TILE_W pixels; the ones
 *      |[        ][        ][        ] ... [        ]|  at the far ends start earlier where rows
 *      |[ first  ][  tile  ][  tile  ] ... [  last  ]|  and columns are no multiple of them
 *
 * Rows, planes and columns outside of the source are left out. With D_UNROLL=1 the compiler knows
 * which taps meet which pixels, and which columns are outside: some of the first and of the last
 * tile of a row. Otherwise the item checks, except at taps that all pixels of a tile meet.
 *
 * Backward data is the same sum over dy, with the filter rotated by 180 degrees (packed weights),
 * with the rest of the padding, and with a stride, D_UP, as if dy had D_UP - 1 zeros between its
 * elements. A tile then begins at a multiple of D_UP, so that a tap meets the same pixels of every
 * tile; with the others it would only multiply zeros.
 *
 * Where the channels of a pixel all lie together and do not fill the last vector, this vector
 * starts earlier, and only its own channels are stored.
 *
 * With D_PLAIN=1 both tensors are plain, NCHW: an item first transposes its source rows, in
 * squares of D_B channels by D_B pixels, to vectors of channels, and at the end its results back:
 *
 *      channel 0   a b c d e f ...                       a 0 k   b 1 l   c 2 m ...
 *      channel 1   0 1 2 3 4 5 ...    ----  gather  ---->       sums of tiles
 *      channel 2   k l m n o p ...    <---  scatter  ----
 *
 * Grid of `depthwise_blocked`: (D_STRIPS * planes, D_VECTORS, images), groups of one item, or of
 * several (see items.cl).
 *
 * Defines, besides those of the files included; _a stands for each of _D, _H, _W:
 *   D_B, D_CHANNELS     lanes of a vector, channels in total
 *   D_VECTORS           of channels; D_EARLIER=1: the last one starts earlier
 *   D_GROUP             channels of a group; D_TOGETHER=4: four of them are multiplied at once,
 *                       which needs D_B = 16, D_UNROLL=1, and images of one plane and D_UP 1
 *   P_SRC_a, P_DST_a    sizes; P_FILTER_a, P_STRIDE_a, P_DILATION_a
 *   D_UP_a              above; 1 forward
 *   D_LEAD_a            source coordinate (times D_UP_a) of destination element 0, tap 0, is
 *                       -D_LEAD_a
 *   D_SRC_IMAGE, _PLANE, _ROW, _PIXEL    elements from one to the next; D_DST_ the same
 *   D_SRC_VECTOR, D_DST_VECTOR           elements from one vector of channels to the next
 *   D_UNROLL            above; D_FLOAT=1: bytes are summed as floats
 *   D_AHEAD             1: source rows of the row of tiles after the next are fetched
 *   T_W, T_H            a tile is T_W * D_UP_W pixels wide, T_H * D_UP_H high
 *   T_TILES             tiles that an item goes down; D_STRIPS items do a plane
 *   T_STREAM            1: stores go past the caches (see caches.cl)
 * and with D_PLAIN=1 (images have one plane; at least D_B channels):
 *   D_SRC_CHANNEL, D_DST_CHANNEL         elements from one channel to the next
 *   D_ROWS              source rows that an item transposes, at least D_B pixels
 *   D_NEXT_ITEM         elements from an item's source to the next one's, which D_AHEAD=1 fetches
 */
#include "channels.cl"
#include "depthwise_blocked_elements.cl"
#include "depthwise_blocked_plain.cl"
#include "depthwise_blocked_sums.cl"
#include "items.cl"
#include "products.cl"
#include "taps.cl"

#if !D_PLAIN
/* Stores one vector of channels. If the last vector starts earlier, stores only its own channels.
 */
INLINE void put(global DST_T *dst, const ACC_V acc, const int vector,
                const INDEX_T at EPILOGUE_PARAMS)
{
#if D_EARLIER
    if (vector == D_VECTORS - 1) {
        VAL_T lane[D_B] __attribute__((aligned(64)));
        private VAL_V *all = (private VAL_V *)lane;
        *all = (VAL_V)((VAL_T)0);
#ifdef P_BETA
#pragma nounroll
        for (int i = D_B - D_CHANNELS % D_B; i < D_B; i++)
            lane[i] = DST_LOAD(residual, at + i);
#endif
        *all = FINISH_V(acc, *all, D_CHANNELS - D_B);
#pragma nounroll
        for (int i = D_B - D_CHANNELS % D_B; i < D_B; i++)
            DST_STORE(dst, at + i, lane[i]);
        return;
    }
#endif
    PUT(dst, acc, vector, at);
}
#endif

/* What the sums of a tile begin with. */
INLINE SUM_V corrections(global const SUM_T *w)
{
    SUM_V sum = (SUM_V)((SUM_T)0);
#pragma unroll
    for (int i = 1; i <= D_OFFSETS; i++)
        sum += LOAD_W(w - i * D_B);
    return sum;
}

/* Computes the tile from row y and column x on, and stores its own rows, from `own_y` on, and
 * columns, from `own_x` on. `src`, which begins with row `row0`, `w` and `dst` are of its channels,
 * `z` is its plane. */
PRODUCTS_INLINE void tile(source src, const int row0, global const SUM_T *w, target dst,
                          const int vector, const INDEX_T to, const int z, const int y,
                          const int own_y, const int x, const int own_x,
                          const bool check EPILOGUE_PARAMS)
{
    const SUM_V first = corrections(w);
    SUM_V acc[TILE_H * TILE_W];
#pragma unroll
    for (int i = 0; i < TILE_H * TILE_W; i++)
        acc[i] = first;
#if P_SRC_D == 1 && P_FILTER_D == 1 && P_DST_D == 1 && D_LEAD_D == 0
    add_plane(acc, src, row0, w, y, x, check);
#else
    const int at = z * P_STRIDE_D - D_LEAD_D;
    const int end = end_tap(at, (P_SRC_D - 1) * D_UP_D + 1, P_FILTER_D, P_DILATION_D);
#pragma nounroll
    for (int d = first_tap(at, P_DILATION_D); d < end; d++) {
        const int up = at + d * P_DILATION_D;
        if (up % D_UP_D == 0)
            add_plane(acc, src + (INDEX_T)(up / D_UP_D) * D_SRC_PLANE, row0,
                      w + d * P_FILTER_H * P_FILTER_W * D_ELEMENTS * D_B, y, x, check);
    }
#endif
    EACH_RESULT
    for (int h = 0; h < TILE_H; h++) {
        if (y + h < own_y || y + h >= P_DST_H)
            continue;
        const INDEX_T row = to + (INDEX_T)(y + h) * D_DST_ROW + (INDEX_T)x * D_DST_PIXEL;
        EACH_RESULT
        for (int i = 0; i < TILE_W; i++)
            if (x + i >= own_x && x + i < P_DST_W)
#if D_PLAIN
                dst[row + i] = acc[h * TILE_W + i];
#else
                put(dst, SUMMED(acc[h * TILE_W + i]), vector, row + i * D_DST_PIXEL EPILOGUE_PASS);
#endif
    }
}

/* Rows [begin, end) of the destination, of which row 0 would be element `to` of `dst`. */
PRODUCTS_FUNCTION void strip(source src, const int row0, global const SUM_T *w, target dst,
                             const int vector, const INDEX_T to, const int z, const int begin,
                             const int end EPILOGUE_PARAMS)
{
#pragma nounroll
    for (int own_y = begin; own_y < end; own_y += TILE_H) {
        const int y = min(own_y, D_LAST_H);
#if D_UNROLL
        tile(src, row0, w, dst, vector, to, z, y, own_y, 0, 0, true EPILOGUE_PASS);
#pragma nounroll
        for (int x = TILE_W; x < (D_TILES_W - 1) * TILE_W; x += TILE_W)
            tile(src, row0, w, dst, vector, to, z, y, own_y, x, 0, false EPILOGUE_PASS);
#if D_TILES_W > 1
        tile(src, row0, w, dst, vector, to, z, y, own_y, D_LAST_W, (D_TILES_W - 1) * TILE_W,
             true EPILOGUE_PASS);
#endif
#else
#pragma nounroll
        for (int own_x = 0; own_x < P_DST_W; own_x += TILE_W)
            tile(src, row0, w, dst, vector, to, z, y, own_y, min(own_x, D_LAST_W), own_x,
                 true EPILOGUE_PASS);
#endif
    }
}

/* One item: T_TILES rows of tiles, as `place` in an image's planes says, of a vector of channels.
 */
INLINE void item(global const SRC_T *src, global const SUM_T *w, global DST_T *dst, const int place,
                 const int vector, const INDEX_T n EPILOGUE_PARAMS)
{
    const int part = place % D_STRIPS, z = place / D_STRIPS;
    const int begin = part * (T_TILES * TILE_H), end = min(begin + T_TILES * TILE_H, P_DST_H);
    /* Elements of the vector that starts earlier and of its own. */
    const int shift = D_EARLIER && vector == D_VECTORS - 1 ? D_VECTORS * D_B - D_CHANNELS : 0;
    w += ((INDEX_T)vector * (D_TAPS * D_ELEMENTS + D_OFFSETS) + D_OFFSETS) * D_B;
#if D_PLAIN
    SUM_V rows[D_ROWS * P_SRC_W], results[T_TILES * TILE_H * P_DST_W];
    const int channel = vector * D_B - shift;
    const int first = min(begin, D_LAST_H) * P_STRIDE_H / D_UP_H + FROM(H);
    const int row0 = clamp(first, 0, P_SRC_H - D_ROWS);
    src += n * D_SRC_IMAGE + (INDEX_T)channel * D_SRC_CHANNEL + (INDEX_T)row0 * P_SRC_W;
    gather(rows, src);
    strip(rows, row0, w, results, vector, -begin * P_DST_W, z, begin, end EPILOGUE_PASS);
    scatter(dst, results, channel, shift, (end - begin) * P_DST_W,
            n * D_DST_IMAGE + (INDEX_T)channel * D_DST_CHANNEL +
                (INDEX_T)begin * P_DST_W EPILOGUE_PASS);
#else
    src += n * D_SRC_IMAGE + (INDEX_T)vector * D_SRC_VECTOR - shift;
    const INDEX_T to = n * D_DST_IMAGE + (INDEX_T)vector * D_DST_VECTOR - shift +
                       (INDEX_T)z * D_DST_PLANE;
    strip(src, 0, w, dst, vector, to, z, begin, end EPILOGUE_PASS);
#endif
}

#define ITEM_HERE item(src, w, dst, ITEM(0), ITEM(1), ITEM(2) EPILOGUE_PASS)
DEFINE_ITEM(ITEM_HERE, (global const SRC_T *src, global const SUM_T *w,
                        global DST_T *dst EPILOGUE_PARAMS))

kernel GROUP_SIZE(1, 1, 1) void depthwise_blocked(global const SRC_T *restrict src,
                                                  global const SUM_T *restrict w,
                                                  global DST_T *dst EPILOGUE_PARAMS ITEMS_PARAM)
{
    EACH_ITEM(ITEM_HERE, (src, w, dst EPILOGUE_PASS))
}
