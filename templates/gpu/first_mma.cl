/* first_mma.cl: the forward pass of a layer with few source channels on tensor cores.
 *
 *     source, in local memory: a pixel, filled      a warp's products: 16 pixels of the
 *     up with zeros, is D_WORDS words               destination by 32 channels
 *
 *       +----+----+----+----+----+---                      terms: taps, one after the other
 *       |    | t0 | t1 | t2 |    |                        +----+----+----+----+----+---
 *       |    | t3 | t4 | t5 |    |               pixels   | t0 | t1 | t2 | t3 | t4 |
 *       |    | t6 | t7 | t8 |    |                        |    |    |    |    |    |
 *       +----+----+----+----+----+---                     +----+----+----+----+----+---
 *
 * A group copies what its T_ROWS x T_WIDTH pixels of the destination meet. Then its warps take 16
 * pixels at a time: an item reads its words of a tap as they lie, so that the patches of the
 * product are nowhere in memory. It keeps its part of all weights in registers. Their order makes
 * the eight sums that an item has of a pixel neighbours.
 *
 * Grid      (tiles of columns * tiles of rows * images * items, channels / (32 * T_BLOCKS)) in
 *           groups of (items, 1, 1), items = 32 * T_WARPS; first_mma_pack: (packed words).
 * Defines   those of epilogue.cl and mma.cl, and
 *   P_SRC_a, P_DST_a, P_FILTER_a, P_STRIDE_a, P_DILATION_a, P_PAD_a    sizes along a = H, W
 *   D_SRC_C, D_DST_C           channels
 *   D_SRC_IMAGE, _CHANNEL, _ROW, _PIXEL, D_DST_...    elements from one to the next
 *   D_WORDS                    1 or 2
 *   T_ROWS, T_WIDTH, T_WARPS, T_BLOCKS    above; blocks of 32 channels of a group
 * Assumes   the channels of the destination are neighbours and a multiple of eight.
 */
#define WHOLE 8
#include "whole_channels.cl"
#include "mma.cl"

#define GROUP_ITEMS (32 * T_WARPS)
#define TILES_H ((P_DST_H + T_ROWS - 1) / T_ROWS)
#define TILES_W ((P_DST_W + T_WIDTH - 1) / T_WIDTH)
#define TAPS (P_FILTER_H * P_FILTER_W)

/* A step is 32 bytes of terms: a lane has one or two words of each tap. */
#define STEP_TAPS (8 / D_WORDS)
#define STEPS ((TAPS + STEP_TAPS - 1) / STEP_TAPS)
#define WORD_ELEMENTS (4 / MMA_BYTES)

/* The tap and the word of it that word `h` of lane `l` is in a step. */
#define TAP_OF(step, h, l) ((step) * STEP_TAPS + (D_WORDS == 2 ? 0 : (h) * 4) + (l) % 4)
#define WORD_OF(h) (D_WORDS == 2 ? (h) : 0)

/* ---- weights: [block of 32 channels][step][lane][word of 8] ---- */

#define LANE_WORDS 8
#define BLOCKS ((D_DST_C + 31) / 32)
#define PACKED_WORDS (BLOCKS * STEPS * 32 * LANE_WORDS)

kernel void first_mma_pack(global const MMA_T *restrict w, global uint *restrict packed)
{
    const int i = get_global_id(0);
    if (i >= PACKED_WORDS)
        return;
    const int word = i % LANE_WORDS, lane = i / LANE_WORDS % 32,
              step = i / (LANE_WORDS * 32) % STEPS;
    const int pair = word / 2, h = word % 2, column = lane / 4;
    const int channel = i / (LANE_WORDS * 32 * STEPS) * 32 + column / 2 * 8 + pair * 2 + column % 2;
    const int tap = TAP_OF(step, h, lane);
    uint v = 0;
    for (int e = 0; e < WORD_ELEMENTS; e++) {
        const int c = WORD_OF(h) * WORD_ELEMENTS + e;
        if (tap < TAPS && c < D_SRC_C && channel < D_DST_C)
            v |= ((uint)w[(channel * D_SRC_C + c) * TAPS + tap] & ((1u << 8 * MMA_BYTES) - 1))
                 << e * 8 * MMA_BYTES;
    }
    packed[i] = v;
}

/* ---- the source ---- */

#define PATCH_H ((T_ROWS - 1) * P_STRIDE_H + (P_FILTER_H - 1) * P_DILATION_H + 1)
#define PATCH_W ((T_WIDTH - 1) * P_STRIDE_W + (P_FILTER_W - 1) * P_DILATION_W + 1)
#define PITCH (PATCH_W * D_WORDS)

#if D_WORDS == 2
#define PIXEL_T uint2
#else
#define PIXEL_T uint
#endif

/* All channels of a pixel. */
INLINE PIXEL_T pixel_at(global const MMA_T *p)
{
    uint word[2] = {0, 0};
    UNROLL
    for (int c = 0; c < D_SRC_C; c++)
        word[c / WORD_ELEMENTS] |=
            ((uint)p[(INDEX_T)c * D_SRC_CHANNEL] & ((1u << 8 * MMA_BYTES) - 1))
            << c % WORD_ELEMENTS * 8 * MMA_BYTES;
#if D_WORDS == 2
    return (uint2)(word[0], word[1]);
#else
    return word[0];
#endif
}

/* The pixels from (row, column) on, which may lie outside. */
INLINE void copy_patch(local PIXEL_T *patch, global const MMA_T *src, const int row,
                       const int column, const int item)
{
    _Pragma("unroll 4")
    for (int i = item; i < PATCH_H * PATCH_W; i += GROUP_ITEMS) {
        const int h = row + i / PATCH_W, w = column + i % PATCH_W;
        PIXEL_T v = 0;
        if ((uint)h < P_SRC_H && (uint)w < P_SRC_W)
            v = pixel_at(src + (INDEX_T)h * D_SRC_ROW + (INDEX_T)w * D_SRC_PIXEL);
        patch[i] = v;
    }
}

/* ---- products ---- */

/* How far the tap `first` + lane % 4 lies behind a patch's first pixel. A step's taps may be of
 * several rows of the filter. */
INLINE int tap_at(const int first, const int lane)
{
    const int next_row = P_DILATION_H * PATCH_W - P_FILTER_W * P_DILATION_W,
              left = P_FILTER_W - first % P_FILTER_W;
    int at = first / P_FILTER_W * P_DILATION_H * PATCH_W + first % P_FILTER_W * P_DILATION_W +
             lane % 4 * P_DILATION_W;
    UNROLL
    for (int i = 0; i < 3; i++)
        if (left + i * P_FILTER_W < 4 && lane % 4 >= left + i * P_FILTER_W)
            at += next_row;
    return at;
}

/* The words of a step, of one pixel. */
INLINE void read_step(uint f[2], local const PIXEL_T *pixel, const int step, const int lane)
{
    UNROLL
    for (int h = 0; h < 3 - D_WORDS; h++) {
        const int first = TAP_OF(step, h, 0);
        PIXEL_T v = 0;
        if (first + 3 < TAPS || first + lane % 4 < TAPS)
            v = pixel[tap_at(first, lane)];
#if D_WORDS == 2
        f[0] = v.s0;
        f[1] = v.s1;
#else
        f[h] = v;
#endif
    }
}

kernel GROUP_SIZE(GROUP_ITEMS, 1, 1) void first_mma(global const MMA_T *restrict src,
                                                    global const uint *restrict packed,
                                                    global DST_T *dst EPILOGUE_PARAMS)
{
    local PIXEL_T patch[PATCH_H * PATCH_W];
    const int item = get_local_id(0), lane = item % 32, warp = item / 32;
    int tile = get_group_id(0);
    const int first_column = tile % TILES_W * T_WIDTH;
    tile /= TILES_W;
    const int first_row = tile % TILES_H * T_ROWS, image = tile / TILES_H;
    const int block = get_group_id(1) * T_BLOCKS + warp % T_BLOCKS;
    copy_patch(patch, src + (INDEX_T)image * D_SRC_IMAGE, first_row * P_STRIDE_H - P_PAD_H,
               first_column * P_STRIDE_W - P_PAD_W, item);
    uint weights[STEPS][LANE_WORDS];
    UNROLL
    for (int s = 0; s < STEPS; s++)
        UNROLL
        for (int i = 0; i < LANE_WORDS; i += 4) {
            const int at = ((min(block, BLOCKS - 1) * STEPS + s) * 32 + lane) * LANE_WORDS + i;
            const uint4 v = WHOLE_AT(uint, 4, packed + at);
            weights[s][i] = v.s0;
            weights[s][i + 1] = v.s1;
            weights[s][i + 2] = v.s2;
            weights[s][i + 3] = v.s3;
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    const int channel = block * 32 + lane % 4 * 8;
    for (int m = warp / T_BLOCKS * 16; m < T_ROWS * T_WIDTH; m += T_WARPS / T_BLOCKS * 16) {
        ACC_T sum[4][4];
        local const PIXEL_T *from[2];
        UNROLL
        for (int i = 0; i < 2; i++) {
            const int pixel = m + i * 8 + lane / 4;
            from[i] = patch + pixel / T_WIDTH * P_STRIDE_H * PATCH_W + pixel % T_WIDTH * P_STRIDE_W;
        }
        UNROLL
        for (int j = 0; j < 4; j++)
            UNROLL
            for (int e = 0; e < 4; e++)
                sum[j][e] = 0;
        UNROLL
        for (int s = 0; s < STEPS; s++) {
            uint low[2], high[2];
            read_step(low, from[0], s, lane);
            read_step(high, from[1], s, lane);
            const uint left[4] = {low[0], high[0], low[1], high[1]};
            UNROLL
            for (int j = 0; j < 4; j++)
                multiply(sum[j], left, &weights[s][2 * j]);
        }
        UNROLL
        for (int i = 0; i < 2; i++) {
            const int pixel = m + i * 8 + lane / 4;
            const int row = first_row + pixel / T_WIDTH, column = first_column + pixel % T_WIDTH;
            const KILN_CAT(ACC_T, 8) v = {sum[0][2 * i], sum[0][2 * i + 1], sum[1][2 * i],
                                          sum[1][2 * i + 1], sum[2][2 * i], sum[2][2 * i + 1],
                                          sum[3][2 * i], sum[3][2 * i + 1]};
            const INDEX_T to = (INDEX_T)image * D_DST_IMAGE + (INDEX_T)row * D_DST_ROW +
                               (INDEX_T)column * D_DST_PIXEL + channel;
            if (row < P_DST_H && column < P_DST_W && channel < D_DST_C)
                put_whole(dst, to, v, channel EPILOGUE_PASS);
        }
    }
}
