/* gemm_tma.cl: a convolution as a product of matrices on tensor cores, forward, and backward data
 * without a stride: one warp of a group has the copy engine bring what the other warps multiply.
 *
 *      warp of copies     ring of T_STAGES in local memory      teams of four warps
 *      +------------+     +-------+-------+-------+ ...         +----------------+
 *      | waits for  |     | rows  | rows  |       |             | wait for a     |
 *      | a free     | --> | of    | of    |       | ----------> | whole stage,   | --> results
 *      | stage      |     | 128 B | 128 B |       |             | multiply it    |
 *      +------------+     +-------+-------+-------+             +----------------+
 *            ^                                                          | free
 *            +----------------------------------------------------------+
 *
 * A tile is ROWS pixels by T_COLUMNS channels. Its pixels are boxes of 64: D_BOX_W by D_BOX_H
 * pixels of D_BOX_N images, so that a box for one tap is a box of the source, shifted; past the
 * border are zeros. A step has 128 bytes of channels of one tap, rows in turned places as wgmma.cl
 * reads them: from one copy a box, as a tensor map says, and one copy of the weights, which are
 * packed as they are to lie. Steps take the taps of 128 bytes of channels one after the other, then
 * the next channels.
 *
 * With D_FIRST channels of the source are planes of pixels, and a filter has one tap: a box has 64
 * pixels of a plane, and a step 64 channels, each of them a row of 128 bytes.
 *
 * A source in blocks of channels is read as it lies: a box has pieces of D_PIECE bytes of its
 * pixels, and 128 bytes of channels are several such boxes, one behind the other.
 *
 * Each group makes the tensor map of the source for itself, in `maps`. Groups go through tiles;
 * while results of a tile are stored the first stages of the next one are copied. They pass through
 * the rows of the team in the last stage, which is free after that.
 *
 * Backward data is a forward pass over dy with the filter turned by 180 degrees.
 *
 * Grid      gemm_tma: (groups * items) in groups of items = 128 * (T_TEAMS + 1); group g has tile
 *           g, the next one D_GROUPS further on, and so on. gemm_tma_pack: (terms of a row,
 *           D_COLUMNS, steps).
 * Defines   those of epilogue.cl and mma_bits.cl, and
 *   P_IMAGES, P_SRC_a, P_DST_a, P_FILTER_a, P_STRIDE_a, P_DILATION_a    sizes along a = H, W
 *   D_LEAD_a                   pixels before the source that the first tap of the first pixel meets
 *   D_TURNED                   1: the filter is turned
 *   D_SRC_C, D_CHANNELS        channels of the source, and with their padding
 *   D_DST_C, D_COLUMNS         channels of the destination, and filled up to whole T_COLUMNS
 *   D_W_SRC, D_W_DST           strides of the weights over channels
 *   D_SRC_IMAGE, _ROW, _PIXEL, D_DST_...    elements from one to the next; of the source multiples
 *                              of 16 bytes
 *   D_OUT_UNIT                 a power of two up to 16: divides the bytes of D_DST_C, or of D_BOX_W
 *                              and P_DST_W where channels are no neighbours, and all distances in
 *                              the destination
 *   D_SRC_NEIGHBOURS, _BLOCK, _BLOCKS    where D_SRC_BLOCKS is more than 1, so many channels are
 *                              neighbours, and so many elements from one block of them to the next
 *   D_PIECE                    bytes of neighbouring channels of a pixel, 16, 32, 64 or 128
 *   D_FIRST                    0: channels of a pixel of the source are neighbours; 1: above, of
 *                              elements of two bytes
 *   D_BOX_W, D_BOX_H, D_BOX_N  above; their product is 64
 *   D_GROUPS                   above
 *   T_TEAMS, T_BLOCKS          ROWS are 64 * both; a team has T_BLOCKS boxes
 *   T_COLUMNS, T_STAGES        above
 *   D_COPY_REGISTERS, D_TEAM_REGISTERS    where defined, registers of an item that copies and of
 *                              one that multiplies, once it is known which of them it does
 */
#define T_ROWS (64 * T_BLOCKS) /* of a team */
#define T_WARPS_R 4
#define T_WARPS_C 1
#define T_WGMMA 1
#include "epilogue.cl"
#include "mma_bits.cl"
#include "mma_tile.cl"
#if D_FIRST
#define WGMMA_LEFT_TURNED
#endif
#define WGMMA_LEFT_PIECE D_PIECE
#include "wgmma.cl"
#include "tma.cl"

#define TEAM_ITEMS 128
#define TEAMS_ITEMS (T_TEAMS * TEAM_ITEMS)
#define ALL_ITEMS (TEAMS_ITEMS + TEAM_ITEMS) /* registers are given away by four warps */

/* ---- local memory ---- */

#define ROW_TERMS (128 / MMA_BYTES)
#define BOXES (T_TEAMS * T_BLOCKS)
#define BOX_BYTES (64 * 128)
#define WEIGHTS_BYTES (T_COLUMNS * 128)
#define STAGE_BYTES (BOXES * BOX_BYTES + WEIGHTS_BYTES)
/* Behind the stages are a map and, for each stage, the barriers `full` and `empty`. */
#define MAP_AT (T_STAGES * STAGE_BYTES)
#define FULL_AT (MAP_AT + MAP_BYTES)
#define EMPTY_AT (FULL_AT + T_STAGES * 8)
#define LOCAL_BYTES (EMPTY_AT + T_STAGES * 8)
#define PLACE(row, byte) ((row)*128 + ((((byte) >> 4) ^ ((row)&7)) << 4) + ((byte)&15))

/* A stage, and the parity of the phase of its barriers that is waited for. */
typedef struct {
    uint stage, parity;
} ring_place;

INLINE void next_stage(ring_place *r)
{
    if (++r->stage == T_STAGES) {
        r->stage = 0;
        r->parity ^= 1;
    }
}

/* ---- steps ---- */

#define TAPS (P_FILTER_H * P_FILTER_W)
#define STEPS ((D_CHANNELS + ROW_TERMS - 1) / ROW_TERMS * TAPS)

/* [tile of channels][step][channel][128 bytes] */
kernel void gemm_tma_pack(global const MMA_T *restrict w, global MMA_T *restrict packed)
{
    const int term = get_global_id(0), k = get_global_id(1), step = get_global_id(2);
    if (term >= ROW_TERMS || k >= D_COLUMNS || step >= STEPS)
        return;
    const int tap = step % TAPS, c = step / TAPS * ROW_TERMS + term;
    MMA_T v = 0;
    if (k < D_DST_C && c < D_SRC_C)
        v = w[(INDEX_T)k * D_W_DST + (INDEX_T)c * D_W_SRC + (D_TURNED ? TAPS - 1 - tap : tap)];
    const INDEX_T row = (INDEX_T)(k / T_COLUMNS * STEPS + step) * T_COLUMNS + k % T_COLUMNS;
    packed[row * ROW_TERMS + PLACE(k % 8, term * MMA_BYTES) % 128 / MMA_BYTES] = mma_factor(v);
}

/* ---- tiles ---- */

#define BOXES_W ((P_DST_W + D_BOX_W - 1) / D_BOX_W)
#define BOXES_H ((P_DST_H + D_BOX_H - 1) / D_BOX_H)
#define BOXES_N ((P_IMAGES + D_BOX_N - 1) / D_BOX_N)
#define TILES_M ((BOXES_W * BOXES_H * BOXES_N + BOXES - 1) / BOXES)
#define TILES_N (D_COLUMNS / T_COLUMNS)
#define TILES (TILES_M * TILES_N)

/* The first pixel of a box, and the first row of it that is meant. */
typedef struct {
    int image, h, w, row;
} tile_place;

INLINE tile_place place_of(const int box)
{
    const tile_place p = {box / (BOXES_W * BOXES_H) * D_BOX_N, box / BOXES_W % BOXES_H * D_BOX_H,
                          box % BOXES_W * D_BOX_W, 0};
    return p;
}

/* ---- copies ---- */

#define BOX_OF(pixels, stride) (((pixels)-1) * (stride) + 1)

/* By all items of a warp. */
INLINE void make_map(local uchar *room, global const MMA_T *src, global uchar *map, const int lane)
{
    const uint at = LOCAL_ADDRESS(room);
    map_clear(room, lane);
    WARP_BARRIER;
    if (lane == 0) {
#if D_SRC_BLOCKS > 1
        MAP_TENSOR(at, src, MAP_AXES_5, KILN_CAT(MAP_OF_, MMA_BYTES), KILN_CAT(MAP_ROW_, D_PIECE));
        MAP_AXIS(at, 4, D_SRC_BLOCKS, 128 / D_PIECE, 1);
        MAP_STRIDE(at, 3, (ulong)D_SRC_BLOCK * MMA_BYTES);
#else
        MAP_TENSOR(at, src, MAP_AXES_4, KILN_CAT(MAP_OF_, MMA_BYTES), MAP_ROW_128);
#endif
#if D_FIRST
        MAP_AXIS(at, 0, P_SRC_W, D_BOX_W, 1);
        MAP_AXIS(at, 1, D_CHANNELS, ROW_TERMS, 1);
        MAP_AXIS(at, 2, 1, 1, 1);
        MAP_AXIS(at, 3, P_IMAGES, 1, 1);
        MAP_STRIDE(at, 0, (ulong)D_SRC_CHANNEL * MMA_BYTES);
        MAP_STRIDE(at, 1, (ulong)D_SRC_IMAGE * MMA_BYTES);
#else
        MAP_AXIS(at, 0, D_SRC_BLOCKS > 1 ? D_SRC_NEIGHBOURS : D_CHANNELS, D_PIECE / MMA_BYTES, 1);
        MAP_AXIS(at, 1, P_SRC_W, BOX_OF(D_BOX_W, P_STRIDE_W), P_STRIDE_W);
        MAP_AXIS(at, 2, P_SRC_H, BOX_OF(D_BOX_H, P_STRIDE_H), P_STRIDE_H);
        MAP_AXIS(at, 3, P_IMAGES, D_BOX_N, 1);
        MAP_STRIDE(at, 0, (ulong)D_SRC_PIXEL * MMA_BYTES);
        MAP_STRIDE(at, 1, (ulong)D_SRC_ROW * MMA_BYTES);
#endif
        MAP_STRIDE(at, 2, (ulong)D_SRC_IMAGE * MMA_BYTES);
    }
    WARP_BARRIER;
    MAP_PUBLISH(map, at);
}

/* Starts the copies of a box for 128 bytes of channels from `c` on and a tap. */
INLINE void copy_box(const uint to, global const uchar *map, const tile_place *p, const int c,
                     const int h, const int w, const uint full)
{
#if D_FIRST
    COPY_BOX(to, map, p->w, c, 0, p->image, full);
#else
    const int from_w = p->w * P_STRIDE_W + w * P_DILATION_W - D_LEAD_W,
              from_h = p->h * P_STRIDE_H + h * P_DILATION_H - D_LEAD_H;
#if D_SRC_BLOCKS > 1
    COPY_BOX_OF_BLOCKS(to, map, from_w, from_h, p->image, c / D_SRC_NEIGHBOURS, full);
#else
    COPY_BOX(to, map, c, from_w, from_h, p->image, full);
#endif
#endif
}

/* All stages of a tile, by one item. */
INLINE void copy_tile(const uint base, global const uchar *map, global const MMA_T *packed,
                      const int tile, ring_place *ring)
{
    const int box = tile / TILES_N * BOXES;
    tile_place p[BOXES];
    UNROLL
    for (int i = 0; i < BOXES; i++)
        p[i] = place_of(box + i);
    packed += (INDEX_T)(tile % TILES_N) * STEPS * (WEIGHTS_BYTES / MMA_BYTES);
    for (int c = 0; c < D_CHANNELS; c += ROW_TERMS)
        for (int h = 0; h < P_FILTER_H; h++)
            for (int w = 0; w < P_FILTER_W; w++) {
                const uint to = base + ring->stage * STAGE_BYTES,
                           full = base + FULL_AT + ring->stage * 8;
                arrival_wait(base + EMPTY_AT + ring->stage * 8, ring->parity);
                ARRIVAL_EXPECT(full, STAGE_BYTES);
                UNROLL
                for (int i = 0; i < BOXES; i++)
                    copy_box(to + i * BOX_BYTES, map, &p[i], c, h, w, full);
                COPY_BYTES(to + BOXES * BOX_BYTES, packed, WEIGHTS_BYTES, full);
                packed += WEIGHTS_BYTES / MMA_BYTES;
                next_stage(ring);
            }
}

/* ---- products ---- */

/* Adds a tile's steps; returns the last one's stage, which is not freed. `left` are the rows of the
 * team in the first stage. */
INLINE uint add_tile(ACC_T sum[SUMS_R][SUMS_C][4], const uint base, const uint left, const int lane,
                     ring_place *ring)
{
    const uint right = base + BOXES * BOX_BYTES;
    uint before = 0;
    for (int step = 0; step < STEPS; step++) {
        const uint slot = ring->stage * STAGE_BYTES;
        arrival_wait(base + FULL_AT + ring->stage * 8, ring->parity);
        WGMMA_BEGIN;
        UNROLL
        for (int i = 0; i < SUMS_R; i++)
            wgmma(sum[i], left + slot + i * BOX_BYTES, right + slot);
        WGMMA_END;
        WGMMA_WAIT(1);
        if (step > 0 && lane == 0)
            ARRIVAL_ARRIVE(base + EMPTY_AT + before * 8);
        before = ring->stage;
        next_stage(ring);
    }
    WGMMA_WAIT(0);
    UNROLL
    for (int i = 0; i < SUMS_R; i++)
        wgmma_settle(sum[i]);
    return before;
}

/* ---- results ---- */

/* The element of channel 0 of the pixel of a row, from the place's first one on; -1: there is
 * none. */
INLINE INDEX_T result_of(const tile_place *p, const int row)
{
    const int r = p->row + row, image = p->image + r / (D_BOX_W * D_BOX_H),
              h = p->h + r / D_BOX_W % D_BOX_H, w = p->w + r % D_BOX_W;
    return image < P_IMAGES && h < P_DST_H && w < P_DST_W
               ? (INDEX_T)image * D_DST_IMAGE + (INDEX_T)h * D_DST_ROW + (INDEX_T)w * D_DST_PIXEL
               : -1;
}

#include "wgmma_results.cl"

kernel GROUP_SIZE(ALL_ITEMS, 1, 1) void gemm_tma(global const MMA_T *restrict src,
                                                 global const MMA_T *restrict packed,
                                                 global uchar *maps,
                                                 global DST_T *dst EPILOGUE_PARAMS)
{
    local uint4 memory[LOCAL_BYTES / 16] __attribute__((aligned(1024)));
    const int item = get_local_id(0), lane = item % 32, group = get_group_id(0);
    const uint base = LOCAL_ADDRESS(memory);
    global uchar *map = maps + group * MAP_BYTES;
    if (item == 0) {
        UNROLL
        for (int i = 0; i < T_STAGES; i++) {
            ARRIVAL_INIT(base + FULL_AT + i * 8, 1);
            ARRIVAL_INIT(base + EMPTY_AT + i * 8, TEAMS_ITEMS / 32);
        }
        ARRIVAL_FENCE_INIT;
    }
    if (item / 32 == TEAMS_ITEMS / 32)
        make_map((local uchar *)memory + MAP_AT, src, map, lane);
    barrier(CLK_LOCAL_MEM_FENCE);

    if (item >= TEAMS_ITEMS) {
        ring_place ring = {0, 1};
#ifdef D_COPY_REGISTERS
        REGISTERS_LESS(D_COPY_REGISTERS);
#endif
        if (item == TEAMS_ITEMS) {
            MAP_ACQUIRE(map);
            for (int tile = group; tile < TILES; tile += D_GROUPS)
                copy_tile(base, map, packed, tile, &ring);
        }
        return;
    }
#ifdef D_TEAM_REGISTERS
    REGISTERS_MORE(D_TEAM_REGISTERS);
#endif
    const int warp = item / 32, team = item / TEAM_ITEMS, row = warp % 4 * 16;
    const uint rows = team * T_BLOCKS * BOX_BYTES;
    ring_place ring = {0, 0};
    for (int tile = group; tile < TILES; tile += D_GROUPS) {
        ACC_T sum[SUMS_R][SUMS_C][4];
        CLEAR_SUMS(sum)
        const uint last = add_tile(sum, base, base + rows, lane, &ring);
        const uint room = last * STAGE_BYTES + rows + row * 128;
        WGMMA_BARRIER(team); /* the rows have been multiplied */
        UNROLL
        for (int i = 0; i < SUMS_R; i++) {
            tile_place p = place_of(tile / TILES_N * BOXES + team * T_BLOCKS + i);
            p.row = row;
            put_rows(dst, (local BITS_T *)memory + room / DST_BYTES, sum[i], &p,
                     tile % TILES_N * T_COLUMNS, lane EPILOGUE_PASS);
        }
        COPY_FENCE_REUSE;
        WARP_BARRIER;
        if (lane == 0)
            ARRIVAL_ARRIVE(base + EMPTY_AT + last * 8);
    }
}
