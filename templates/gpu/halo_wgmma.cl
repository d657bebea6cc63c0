/* halo_wgmma.cl: a convolution without a stride and of few channels on tensor cores, forward and
 * backward data: groups keep all weights in local memory and go through tiles, and all taps of a
 * tile read one patch of the source, which is copied once.
 *
 *      a tile: 8 pixels by      its patch, with the pixels that     64 rows of a product for one
 *      8 * T_BLOCKS             taps meet around it: PATCH_W        tap: eight times eight pixels,
 *                               pixels a row                        from the tap's place on,
 *      +--------+               +----------+                        PATCH_W pixels apart
 *      |        |               | +--------|+
 *      |        |               | |        ||
 *      +--------+               +-|--------+|
 *                                 +---------+
 *
 * A pixel of a patch is a row of 128 bytes in local memory; the channels that such a row has no
 * room for lie behind all pixels of the first ones. 16 bytes stand where 16 * (place ^ pixel % 8)
 * says.
 *
 * Each team of four warps has tiles of its own and T_SLOTS patches in local memory: while it
 * multiplies one, the next ones are copied. Results pass through the patch that was multiplied, 128
 * bytes of a pixel at a time, so that neighbouring items write long runs.
 *
 * Backward data is a forward pass over dy with the filter turned by 180 degrees.
 *
 * Grid      halo_wgmma: (groups * items, tiles of channels) in groups of (items, 1, 1), items =
 *           128 * T_TEAMS; group g has tiles g * T_TEAMS and following, D_GROUPS * T_TEAMS further
 *           on the next ones, and so on. halo_wgmma_pack: (terms of a row, D_COLUMNS, taps * rows).
 * Defines   those of epilogue.cl and mma_bits.cl, and
 *   P_IMAGES, P_SRC_a, P_DST_a, P_FILTER_a, P_DILATION_a    sizes along a = H, W
 *   D_LEAD_a                   pixels before the source that the first tap of the first pixel meets
 *   D_TURNED                   1: the filter is turned
 *   D_SRC_C, D_CHANNELS        channels of the source, and with their padding
 *   D_DST_C, D_COLUMNS         channels of the destination, and filled up to whole T_COLUMNS
 *   D_W_SRC, D_W_DST           strides of the weights over channels
 *   D_SRC_IMAGE, _ROW, _PIXEL, D_DST_...    elements from one to the next
 *   D_SRC_NEIGHBOURS, _BLOCK, _BLOCKS    where D_SRC_BLOCKS is more than 1, so many channels are
 *                              neighbours, and so many elements from one block of them to the next
 *   D_UNIT                     16 or 8: divides the bytes of D_CHANNELS and all distances in the
 *                              source
 *   D_OUT_UNIT                 the same of D_DST_C and the destination, a power of two up to 16; or
 *                              of P_DST_W and eight pixels, where channels are no neighbours
 *   D_GROUPS                   groups for each tile of channels
 *   T_TEAMS, T_BLOCKS, T_SLOTS, T_COLUMNS    above; channels of a product
 * Assumes   channels of a pixel of the source are neighbours, or blocks of them.
 */
#define T_ROWS (64 * T_BLOCKS)
#define T_WARPS_R 4
#define T_WARPS_C 1
#define T_WGMMA 1
#define PATCH_W (8 + (P_FILTER_W - 1) * P_DILATION_W)
#define WGMMA_EIGHTH (PATCH_W * 128)
#include "epilogue.cl"
#include "mma_bits.cl"
#include "mma_tile.cl"
#include "wgmma.cl"

#define TAPS (P_FILTER_H * P_FILTER_W)
#define TEAM_ITEMS 128
#define ALL_ITEMS (T_TEAMS * TEAM_ITEMS)

/* ---- local memory ---- */

#define ROW_TERMS (128 / MMA_BYTES)
#define STEP_TERMS (32 / MMA_BYTES)
#define ROWS ((D_CHANNELS + ROW_TERMS - 1) / ROW_TERMS) /* of a pixel */
/* Steps of a pixel's row r: whole products, channels filled up with zeros. */
#define STEPS(r)                                                                                   \
    ((min(D_CHANNELS - (r) * ROW_TERMS, ROW_TERMS) + STEP_TERMS - 1) / STEP_TERMS)

#define TILE_H (8 * T_BLOCKS)
#define PATCH_H (TILE_H + (P_FILTER_H - 1) * P_DILATION_H)
#define PATCH_PIXELS (PATCH_H * PATCH_W)
#define PATCH_ROW_BYTES ((PATCH_PIXELS * 128 + 1023) / 1024 * 1024)
#define PATCH_BYTES (ROWS * PATCH_ROW_BYTES)
#define WEIGHT_BYTES (T_COLUMNS * 128) /* of a tap and one of the pixels' rows */
#define WEIGHTS_BYTES (TAPS * ROWS * WEIGHT_BYTES)
#define LOCAL_BYTES (WEIGHTS_BYTES + T_TEAMS * T_SLOTS * PATCH_BYTES)
#define PLACE(row, byte) ((row)*128 + ((((byte) >> 4) ^ ((row)&7)) << 4) + ((byte)&15))

/* ---- weights: [tile of channels][tap][row of a pixel][channel][128 bytes] ---- */

kernel void halo_wgmma_pack(global const MMA_T *restrict w, global MMA_T *restrict packed)
{
    const int term = get_global_id(0), k = get_global_id(1), tap_row = get_global_id(2);
    if (term >= ROW_TERMS || k >= D_COLUMNS || tap_row >= TAPS * ROWS)
        return;
    const int tap = tap_row / ROWS, c = tap_row % ROWS * ROW_TERMS + term;
    MMA_T v = 0;
    if (k < D_DST_C && c < D_SRC_C)
        v = w[(INDEX_T)k * D_W_DST + (INDEX_T)c * D_W_SRC + (D_TURNED ? TAPS - 1 - tap : tap)];
    const int row = (k / T_COLUMNS * TAPS * ROWS + tap_row) * T_COLUMNS + k % T_COLUMNS;
    packed[row * ROW_TERMS + PLACE(k % 8, term * MMA_BYTES) % 128 / MMA_BYTES] = mma_factor(v);
}

INLINE void copy_weights(const ADDRESS_T to, global const MMA_T *packed, const int item)
{
    for (int i = item; i < WEIGHTS_BYTES / 16; i += ALL_ITEMS)
        COPY_ASYNC(16, to + i * 16, packed + i * (16 / MMA_BYTES), 16);
}

/* ---- tiles and their patches ---- */

#define TILES_W ((P_DST_W + 7) / 8)
#define TILES_H ((P_DST_H + TILE_H - 1) / TILE_H)
#define TILES (P_IMAGES * TILES_H * TILES_W)

/* The first pixel of a tile. */
typedef struct {
    int image, h, w;
} tile_place;

INLINE tile_place place_of(const int tile)
{
    const tile_place p = {tile / (TILES_W * TILES_H), tile / TILES_W % TILES_H * TILE_H,
                          tile % TILES_W * 8};
    return p;
}

#define PIXEL_UNITS ((D_CHANNELS + STEP_TERMS - 1) / STEP_TERMS * 32 / D_UNIT)
#define PATCH_UNITS (PATCH_PIXELS * PIXEL_UNITS)

#if D_SRC_BLOCKS > 1
#define SRC_CHANNEL(c)                                                                             \
    ((INDEX_T)((c) / D_SRC_NEIGHBOURS) * D_SRC_BLOCK + (c) % D_SRC_NEIGHBOURS)
#else
#define SRC_CHANNEL(c) (c)
#endif

INLINE void copy_patch(const ADDRESS_T to, global const MMA_T *src, const int tile, const int item)
{
    if (tile >= TILES)
        return;
    const tile_place p = place_of(tile);
    src += (INDEX_T)p.image * D_SRC_IMAGE;
    UNROLL
    for (int first = 0; first < PATCH_UNITS; first += TEAM_ITEMS) {
        const int i = first + item, pixel = i / PIXEL_UNITS, byte = i % PIXEL_UNITS * D_UNIT;
        const int h = p.h - D_LEAD_H + pixel / PATCH_W, w = p.w - D_LEAD_W + pixel % PATCH_W;
        const bool inside = (uint)h < P_SRC_H && (uint)w < P_SRC_W && byte < D_CHANNELS * MMA_BYTES;
        const INDEX_T at = inside ? (INDEX_T)h * D_SRC_ROW + (INDEX_T)w * D_SRC_PIXEL +
                                        SRC_CHANNEL(byte / MMA_BYTES)
                                  : 0;
        if (first + TEAM_ITEMS <= PATCH_UNITS || i < PATCH_UNITS)
            COPY_ASYNC(D_UNIT, to + byte / 128 * PATCH_ROW_BYTES + PLACE(pixel, byte % 128),
                       src + at, inside ? D_UNIT : 0);
    }
}

/* ---- products ---- */

/* All taps of a tile. */
INLINE void add_patch(ACC_T sum[SUMS_R][SUMS_C][4], const ADDRESS_T patch, const ADDRESS_T weights)
{
    WGMMA_BEGIN;
    UNROLL
    for (int tap = 0; tap < TAPS; tap++)
        UNROLL
        for (int r = 0; r < ROWS; r++) {
            const ADDRESS_T right = weights + (tap * ROWS + r) * WEIGHT_BYTES;
            const int pixel =
                tap / P_FILTER_W * P_DILATION_H * PATCH_W + tap % P_FILTER_W * P_DILATION_W;
            UNROLL
            for (int i = 0; i < SUMS_R; i++) {
                const ADDRESS_T left =
                    patch + r * PATCH_ROW_BYTES + (pixel + i * 8 * PATCH_W) * 128;
                if (STEPS(r) == 4)
                    wgmma(sum[i], left, right);
                else
                    UNROLL
                    for (int step = 0; step < STEPS(r); step++)
                        wgmma_step(sum[i], left + step * 32, right + step * 32);
            }
        }
    WGMMA_END;
}

/* ---- results ---- */

/* The element of channel 0 of pixel `row` of a warp's 16; -1: there is no such pixel. */
INLINE INDEX_T result_of(const tile_place *p, const int row)
{
    const int h = p->h + row / 8, w = p->w + row % 8;
    return h < P_DST_H && w < P_DST_W ? (INDEX_T)p->image * D_DST_IMAGE + (INDEX_T)h * D_DST_ROW +
                                            (INDEX_T)w * D_DST_PIXEL
                                      : -1;
}

/* A patch has room for four warps: it is 72 rows or more, as the filter is. */
#include "wgmma_results.cl"

INLINE void put_results(global DST_T *dst, local BITS_T *room, const ACC_T sum[SUMS_R][SUMS_C][4],
                        tile_place p, const int n_first, const int lane EPILOGUE_PARAMS)
{
    UNROLL
    for (int i = 0; i < SUMS_R; i++) {
        put_rows(dst, room, sum[i], &p, n_first, lane EPILOGUE_PASS);
        p.h += 8;
    }
}

kernel GROUP_SIZE(ALL_ITEMS, 1, 1) void halo_wgmma(global const MMA_T *restrict src,
                                                   global const MMA_T *restrict packed,
                                                   global DST_T *dst EPILOGUE_PARAMS)
{
    local uint4 memory[LOCAL_BYTES / 16] __attribute__((aligned(1024)));
    const int item = get_local_id(0) % TEAM_ITEMS, team = get_local_id(0) / TEAM_ITEMS,
              lane = item % 32, warp = item / 32, n_first = get_group_id(1) * T_COLUMNS;
    const int patches_at = WEIGHTS_BYTES + team * T_SLOTS * PATCH_BYTES;
    const ADDRESS_T weights = LOCAL_ADDRESS(memory), patches = weights + patches_at;
    const int step = D_GROUPS * T_TEAMS;
    int tile = get_group_id(0) * T_TEAMS + team;
    copy_weights(weights, packed + (INDEX_T)get_group_id(1) * (WEIGHTS_BYTES / MMA_BYTES),
                 get_local_id(0));
    UNROLL
    for (int i = 0; i < T_SLOTS - 1; i++) {
        copy_patch(patches + i * PATCH_BYTES, src, tile + i * step, item);
        COPY_COMMIT;
    }
    COPY_WAIT(T_SLOTS - 2);
    WGMMA_FENCE_COPIES;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int slot = 0; tile < TILES; tile += step) {
        COPY_WAIT(T_SLOTS - 2);
        WGMMA_FENCE_COPIES;
        WGMMA_BARRIER(team); /* and the patch before is free */
        ACC_T sum[SUMS_R][SUMS_C][4];
        CLEAR_SUMS(sum)
        add_patch(sum, patches + slot * PATCH_BYTES, weights);
        copy_patch(patches + (slot + T_SLOTS - 1) % T_SLOTS * PATCH_BYTES, src,
                   tile + (T_SLOTS - 1) * step, item);
        COPY_COMMIT;
        WGMMA_WAIT(0);
        UNROLL
        for (int i = 0; i < SUMS_R; i++)
            wgmma_settle(sum[i]);
        WGMMA_BARRIER(team); /* the patch has been multiplied */
        tile_place p = place_of(tile);
        p.h += warp * 2;
        const int room = patches_at + slot * PATCH_BYTES + warp * ROOM_BYTES;
        put_results(dst, (local BITS_T *)memory + room / DST_BYTES, sum, p, n_first,
                    lane EPILOGUE_PASS);
        slot = (slot + 1) % T_SLOTS;
    }
}
