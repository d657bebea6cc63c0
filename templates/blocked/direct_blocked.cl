/* direct_blocked.cl: register-tiled direct convolution where neighbouring channels of a pixel are
 * neighbours in memory: all of them (NHWC), or blocks of them (NC/16HW16); or from and to plain
 * layouts, where neighbouring pixels are (D_PLAIN): sums are transposed before the stores.
 *
 * A vector is D_B neighbouring destination channels of one pixel, whatever the layout keeps
 * together; a weight vector is loaded once for T_W pixels, and a source element is a broadcast. One
 * item computes
 *
 *                     T_W pixels of one row              weights of one source channel
 *     T_KV vectors  [ acc ][ acc ][ acc ] ...              [ vector ]
 *     of channels   [ acc ][ acc ][ acc ] ...              [ vector ]
 *
 * as a sum over steps of D_STEP source channels, filter taps and the channels of a step. The last
 * tile of a row and the last tile of the channels start earlier instead of being smaller: they
 * compute some results of their neighbours again, and do not store these.
 *
 * Channel blocking: where the weights of all source channels are more than a core's own cache
 * holds, an item computes D_CHANNEL_BLOCKING tiles of pixels. It takes D_CHUNK source channels at a
 * time, and adds them to the sums of all these tiles, which wait in memory meanwhile.
 *
 * Padding is not in memory. Filter rows and planes outside the source are left out, and taps that
 * reach no pixel of a tile. At the ends of a row the pixels that a tap does not reach are left out
 * as well (D_END), or the item first copies the source row to a strip, with zeros in the place of
 * padding. Where the source has to be converted, the strip holds the converted values for all
 * pixels and channels.
 *
 * Backward data is the same sum over dy, with the filter rotated by 180 degrees (packed weights),
 * with the rest of the padding, and with a stride, D_UP, as if dy had D_UP - 1 zeros between its
 * elements. The pixels of a tile are then D_UP_W apart, so that each tap reads dy for all of them
 * or none.
 *
 * Grid of `direct_blocked`: (D_TILES / D_CHANNEL_BLOCKING, rounded up, groups * D_TILES_K, images),
 * the first two exchanged with T_ORDER=1, the last two with T_ORDER=2, and with T_ORDER=3 (D_PART
 * tiles of channels times the first, images, parts); groups of (T_GROUP, 1, 1). The first axis has
 * D_ITEMS items, with T_ORDER=3 D_ITEMS * D_PART, rounded up to groups; with T_GROUP=1 one group
 * may run all items (see items.cl).
 *
 * Defines, besides those of the files included; _a stands for each of _D, _H, _W:
 *   D_B, D_CHANNELS     lanes of a vector, destination channels
 *   P_SRC_a, P_DST_a    sizes; P_FILTER_a, P_STRIDE_a, P_DILATION_a
 *   D_UP_a              above; 1 forward
 *   D_NEXT_a            taps from one that reads dy at a whole coordinate to the next; 1 forward
 *   D_LEAD_a            source coordinate (times D_UP_a) of destination element 0, tap 0, is
 *                       -D_LEAD_a
 *   D_GROUPS, D_SRC_C, D_DST_C    groups and the channels of one
 *   D_SRC_IMAGE, _BLOCK, _PLANE, _ROW, _PIXEL, _CHANNEL    elements from one to the next
 *   D_DST_IMAGE, _BLOCK, _PLANE, _ROW, _PIXEL              the same; channels are neighbours
 *                       (but see D_PLAIN)
 *   D_SRC_NEIGHBOURS, _BLOCKS    channels of a block; blocks; D_DST_ the same
 *   D_DST_PADDED        destination channels with the padding of the layout
 *   D_STEP              source channels of a step: a part of a block, or whole blocks
 *   D_TOGETHER          2 or 4: the source is bytes (2: or bf16), and D_STRIP 2: as many channels
 *                       are multiplied at once (see products.cl); 4 only where all D_UP_a are 1.
 *                       Else 1
 *   D_ACCUMULATORS      accumulators of each sum of a whole step
 *   D_STRIP             0 never, 1 at the ends of a row, 2 everywhere
 *   D_STRIP_ROWS        1: rows of a strip are pixels, as in a plain source; 0: elements of a pixel
 *   D_STRIP_LOAD        1, 4, 8 or 16: neighbours that a strip takes at once; with D_STRIP_OVER=1
 *                       also where the last of them are padding
 *   D_END               at the ends of a row: 1 the compiler knows which pixels taps leave out, and
 *                       unrolls them; 2 the item checks; 0 neither
 *   D_FIRST, D_LAST     1: the first, last tile is at an end
 *   D_AHEAD             1: pixels of a tile ahead are fetched, all D_UP_a are 1 then or the filter
 *                       has one tap
 *   D_WEIGHTS_AHEAD     elements ahead whose weights are fetched; 0: none are
 *   D_CHANNEL_BLOCKING  above; 1: an item has one tile of pixels
 *   D_CHUNK             above; of a group, all of its channels where D_CHANNEL_BLOCKING is 1
 *   D_TILES             tiles of an image's pixels
 *   D_PART              with T_ORDER=3: tiles of channels of a part; the last may have fewer
 *   D_TILES_W, D_TILES_K   tiles of a row (of each D_UP_W-th pixel), of the channels of a group
 *   D_DST_VECTORS       vectors of a group's destination channels, with the padding that is in them
 *   D_DST_EMPTY         further vectors of nothing but padding: the last tile stores them as zeros
 *   D_PIECE             1, 4, 8 or 16: lanes of a vector that lie together wherever the vector
 *                       starts
 *   D_WHOLE             1: all lanes of every vector are stored
 *   D_PLAIN             1: the destination's pixels are neighbours, its channels D_DST_CHANNEL
 *                       apart
 *   T_W, T_KV           tile of one item; T_W <= P_DST_W / D_UP_W, T_KV <= D_DST_VECTORS
 *   T_ORDER, T_GROUP    above
 *   T_STREAM            1: stores go past the caches (see caches.cl)
 */
#include "direct_blocked_elements.cl"
#include "direct_blocked_results.cl"
#include "direct_blocked_sums.cl"
#include "items.cl"

/* Elements of a tile of channels in what pack_channels.cl made. */
#define D_TILE_WEIGHTS ((D_ELEMENTS * D_TAPS + D_OFFSETS) * D_KT)

/* A tile of pixels of an image. */
typedef struct pixels {
    int index;
    int one; /* 1: see FOR_PIXELS() */
    int phase, own, first; /* the class of its pixels; the first of its own; the first of all */
    int x, y, z;           /* of the first of all */
} pixels;

INLINE int pixels_of_class(const int phase)
{
    return (P_DST_W - phase + D_UP_W - 1) / D_UP_W;
}

/* (Oclgrind finds no kernels beside functions that return large structures.) */
INLINE void find_pixels(pixels *p, const int tile)
{
    const int row = P_DST_H * P_DST_D > 1 ? tile / D_UP_W / D_TILES_W : 0;
    p->index = tile;
    p->one = 1;
    p->phase = tile % D_UP_W;
    p->own = (tile / D_UP_W - row * D_TILES_W) * T_W;
    p->first = min(p->own, pixels_of_class(p->phase) - T_W);
    p->x = p->phase + p->first * D_UP_W;
    p->y = row % P_DST_H;
    p->z = row / P_DST_H;
}

/* Adds channels `from` to `end` of the group that begins with channel c0 of the image at src. */
PRODUCTS_INLINE void add_pixels(ACC_V *acc, global const SRC_T *src, const int c0,
                                global const ACC_T *w, const pixels p, const int tile_k,
                                const int from, const int end)
{
    const int phase = p.phase;
    const int tap_y = p.y * P_STRIDE_H - D_LEAD_H, tap_z = p.z * P_STRIDE_D - D_LEAD_D;
    const place at = {.column = p.first * P_STRIDE_W,
                      .phase = phase,
                      .one = p.one,
                      .d = FIRST_TAP(D, tap_z),
                      .d_end = END_TAP(D, tap_z),
                      .h = FIRST_TAP(H, tap_y),
                      .h_end = END_TAP(H, tap_y),
#if D_AHEAD
                      .ahead = place_ahead(p.index),
                      .tile_k = tile_k
#endif
    };
#if D_OFFSETS
    if (from == 0)
        add_offsets(acc, w, at);
    w += D_OFFSETS * D_KT;
#endif
    if (at.d >= at.d_end || at.h >= at.h_end)
        return;
#if D_STRIP == 2
    add_channels(acc, src, c0, w, at, tap_y, tap_z, STRIPS, from, end);
#elif D_STRIP == 1 || D_END == 2 || D_UP_W > MOST_PHASES
    const int tap_x = p.x * P_STRIDE_W - D_LEAD_W;
    const int reach = (T_W - 1) * P_STRIDE_W * D_UP_W + (P_FILTER_W - 1) * P_DILATION_W;
    if (D_STRIP + D_END == 0 || (tap_x >= 0 && tap_x + reach <= (P_SRC_W - 1) * D_UP_W))
        add_channels(acc, src, c0, w, at, tap_y, tap_z, INSIDE, from, end);
    else
        add_channels(acc, src, c0, w, at, tap_y, tap_z, D_STRIP ? STRIPS : CHECKED, from, end);
#else
#define PHASE(p)                                                                                   \
    if (D_UP_W > p && phase == p)                                                                  \
        add_phase(acc, src, c0, w, at, tap_y, tap_z, p, pixels_of_class(p), from, end);
    PHASE(0)
    PHASE(1)
    PHASE(2)
    PHASE(3)
#endif
}

/* Stores the sums of a tile of image n: T_KV vectors of channels of the group from k0 on. Vectors
 * from own_k on are its own. */
INLINE void put_pixels(global DST_T *dst, const ACC_V *acc, const pixels p, const int group,
                       const int own_k, const int k0, const INDEX_T n EPILOGUE_PARAMS)
{
    const INDEX_T to = n * D_DST_IMAGE + (INDEX_T)p.z * D_DST_PLANE + (INDEX_T)p.y * D_DST_ROW +
                       (INDEX_T)p.x * D_DST_PIXEL;
    /* The padding of the layout belongs to the last group. */
    const int end = D_DST_C + (group == D_GROUPS - 1 ? D_DST_PADDED - D_CHANNELS : 0);
#if D_PLAIN
#pragma unroll
    for (int k = 0; k < T_KV; k++) {
        if (D_DST_VECTORS % T_KV && k0 + k < own_k)
            continue;
        const int channel = group * D_DST_C + (k0 + k) * D_B, lanes = end - (k0 + k) * D_B;
#if D_UP_W > 1
        put_rows(dst, acc + k, channel, lanes, 0, p.own - p.first, to EPILOGUE_PASS);
#else
        if (D_SHIFT > 0 && p.first < p.own)
            put_rows(dst, acc + k, channel, lanes, D_SHIFT, 0, to EPILOGUE_PASS);
        else
            put_rows(dst, acc + k, channel, lanes, 0, 0, to EPILOGUE_PASS);
#endif
    }
#else
    const int skip = P_DST_W % (T_W * D_UP_W) ? max(p.own - p.first, 0) : 0;
#define FROM_CHANNEL(k) (group * D_DST_C + (k0 + (k)) * D_B)
#define LEFT(k) (end - (k0 + (k)) * D_B)
#define IS_OWN(k) (D_DST_VECTORS % T_KV == 0 || k0 + (k) >= own_k)
#if D_PIECE == D_B
    EACH_RESULT
    FOR_PIXELS(i, p.one) {
        if (i < skip)
            continue;
#pragma unroll
        for (int k = 0; k < T_KV; k++)
            if ((D_WHOLE || LEFT(k) >= D_B) && IS_OWN(k))
                put(dst, acc[i * T_KV + k], FROM_CHANNEL(k), to,
                    i * D_UP_W * D_DST_PIXEL EPILOGUE_PASS);
    }
#endif
#if D_DST_EMPTY
    if (group == D_GROUPS - 1 && k0 + T_KV == D_DST_VECTORS)
        for (int i = skip; i < T_W; i++)
            for (int k = T_KV; k < T_KV + D_DST_EMPTY; k++)
                put(dst, (ACC_V)((ACC_T)0), FROM_CHANNEL(k), to,
                    i * D_UP_W * D_DST_PIXEL EPILOGUE_PASS);
#endif
#if D_PIECE < D_B || !D_WHOLE
#pragma unroll
    for (int k = 0; k < T_KV; k++)
        if ((D_PIECE < D_B || LEFT(k) < D_B) && IS_OWN(k))
            put_parts(dst, acc + k, FROM_CHANNEL(k), LEFT(k), skip, to EPILOGUE_PASS);
#endif
#endif
}

/* One item: D_CHANNEL_BLOCKING tiles of pixels of image n, or as many as there are from `tile` on,
 * and one tile of channels; D_CHUNK source channels at a time for all of them. (Oclgrind does not
 * know what becomes of `restrict` in an inlined function.) */
PRODUCTS_FUNCTION void item(global const SRC_T *src, global const ACC_T *w, global DST_T *dst,
                            const int tile, const int tile_k, const INDEX_T n EPILOGUE_PARAMS)
{
    const int group = D_GROUPS > 1 ? tile_k / D_TILES_K : 0;
    const int own_k = (tile_k - group * D_TILES_K) * T_KV;
    const int k0 = min(own_k, D_DST_VECTORS - T_KV);
    src += n * D_SRC_IMAGE;
    w += (INDEX_T)tile_k * D_TILE_WEIGHTS;
    ACC_V kept[D_CHANNEL_BLOCKING * T_W * T_KV];
    for (int c = 0; c < D_SRC_C; c += D_CHUNK)
        for (int i_tile = 0; i_tile < min(D_CHANNEL_BLOCKING, D_TILES - tile); i_tile++) {
            pixels p;
            find_pixels(&p, tile + i_tile);
            if (D_UP_W > 1 && p.own >= pixels_of_class(p.phase))
                continue; /* another class has a pixel more */
            ACC_V acc[T_W * T_KV];
#pragma unroll
            for (int i = 0; i < T_W * T_KV; i++)
                acc[i] = c == 0 ? (ACC_V)((ACC_T)0) : kept[i_tile * T_W * T_KV + i];
            add_pixels(acc, src, group * D_SRC_C, w, p, tile_k, c, min(c + D_CHUNK, D_SRC_C));
            if (c + D_CHUNK >= D_SRC_C)
                put_pixels(dst, acc, p, group, own_k, k0, n EPILOGUE_PASS);
            else
#pragma unroll
                for (int i = 0; i < T_W * T_KV; i++)
                    kept[i_tile * T_W * T_KV + i] = acc[i];
        }
}

#if T_ORDER == 3
#define ITEM_TILE (ITEM(0) % D_ITEMS)
#define ITEM_TILE_K (ITEM(2) * D_PART + ITEM(0) / D_ITEMS)
#else
#define ITEM_TILE ITEM(T_ORDER == 1)
#define ITEM_TILE_K ITEM(T_ORDER == 0 ? 1 : T_ORDER == 1 ? 0 : 2)
#endif
/* The last part may have fewer tiles of channels than others. */
#define ITEM_HERE                                                                                  \
    if (T_ORDER != 3 || ITEM_TILE_K < D_GROUPS * D_TILES_K)                                        \
    item(src, w, dst, ITEM_TILE * D_CHANNEL_BLOCKING, ITEM_TILE_K,                                 \
         ITEM(T_ORDER >= 2 ? 1 : 2) EPILOGUE_PASS)
DEFINE_ITEM(ITEM_HERE, (global const SRC_T *src, global const ACC_T *w,
                        global DST_T *dst EPILOGUE_PARAMS))

kernel GROUP_SIZE(T_GROUP, 1, 1) void direct_blocked(global const SRC_T *restrict src,
                                                     global const ACC_T *restrict w,
                                                     global DST_T *dst EPILOGUE_PARAMS ITEMS_PARAM)
{
    if (T_GROUP > 1 && get_global_id(0) >= (T_ORDER == 3 ? D_ITEMS * D_PART : D_ITEMS))
        return;
    EACH_ITEM(ITEM_HERE, (src, w, dst EPILOGUE_PASS))
}
