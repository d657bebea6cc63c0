/* gemm_mma_source.cl: the source as gemm_mma.cl copies it, where its channels are not neighbours or
 * their number is odd: pixels one after the other, and of a pixel each group's channels filled up with
 * zeros to D_CHANNELS.
 *
 *     x[n][c][pixel] or x[n][pixel][c]  ->  to[n][pixel][group][c, D_CHANNELS of them]
 *
 * With D_ALONE a pixel's channels, padding included, are what one item writes at once, D_CHANNELS of
 * them. Else a group of items turns a tile of D_TILE_P pixels and D_TILE_C channels in local memory: neighbouring
 * items read neighbours of the source, and write neighbours of the result.
 *
 * Grid      with D_ALONE the pixels of all images; else (256 * tiles), tiles of channels fastest, then of
 *           pixels, then images
 * Defines   those of mma.cl, and
 *   P_IMAGES, P_GROUPS, P_PIXELS    P_PIXELS: of an image
 *   D_SRC_C, D_CHANNELS             of one group, without and with padding
 *   D_SRC_IMAGE, _CHANNEL, _PIXEL   elements from one to the next
 *   D_TILE_P, D_TILE_C              above; their product is a multiple of 256
 */
#include "mma.cl"

#define ITEMS 256

#if D_ALONE
kernel GROUP_SIZE(ITEMS, 1, 1) void gemm_mma_source(global const MMA_T *restrict src,
                                                    global MMA_T *restrict to)
{
    const INDEX_T i = get_global_id(0), pixel = i % P_PIXELS;
    if (i >= (INDEX_T)P_IMAGES * P_PIXELS)
        return;
    src += i / P_PIXELS * D_SRC_IMAGE + pixel * D_SRC_PIXEL;
    MMA_T v[D_CHANNELS] __attribute__((aligned(16)));
    UNROLL
    for (int c = 0; c < D_CHANNELS; c++)
        v[c] = c < D_SRC_C ? src[(INDEX_T)c * D_SRC_CHANNEL] : (MMA_T)0;
#if D_CHANNELS * MMA_BYTES == 8
    ((global uint2 *)to)[i] = *(private const uint2 *)v;
#else
    ((global uint4 *)to)[i] = *(private const uint4 *)v;
#endif
}
#else
#define ALL_CHANNELS (P_GROUPS * D_CHANNELS)
#define TILES_C ((ALL_CHANNELS + D_TILE_C - 1) / D_TILE_C)
#define TILES_P ((P_PIXELS + D_TILE_P - 1) / D_TILE_P)
#define PITCH (D_TILE_P + 4 / MMA_BYTES)

kernel GROUP_SIZE(ITEMS, 1, 1) void gemm_mma_source(global const MMA_T *restrict src,
                                                    global MMA_T *restrict to)
{
    local MMA_T tile[D_TILE_C * PITCH];
    const int item = get_local_id(0), at = get_group_id(0);
    const int c_first = at % TILES_C * D_TILE_C, p_first = at / TILES_C % TILES_P * D_TILE_P;
    const INDEX_T image = at / (TILES_C * TILES_P);
    UNROLL
    for (int t = 0; t < D_TILE_P * D_TILE_C / ITEMS; t++) {
        const int i = item + t * ITEMS;
        const int p = D_SRC_CHANNEL == 1 ? i / D_TILE_C : i % D_TILE_P,
                  c = D_SRC_CHANNEL == 1 ? i % D_TILE_C : i / D_TILE_P;
        const int all = c_first + c, channel = all % D_CHANNELS;
        MMA_T v = 0;
        if (all < ALL_CHANNELS && channel < D_SRC_C && p_first + p < P_PIXELS)
            v = src[image * D_SRC_IMAGE + (INDEX_T)(p_first + p) * D_SRC_PIXEL +
                    (INDEX_T)(all / D_CHANNELS * D_SRC_C + channel) * D_SRC_CHANNEL];
        tile[c * PITCH + p] = v;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL
    for (int t = 0; t < D_TILE_P * D_TILE_C / ITEMS; t++) {
        const int i = item + t * ITEMS;
        const int p = i / D_TILE_C, c = i % D_TILE_C;
        if (c_first + c < ALL_CHANNELS && p_first + p < P_PIXELS)
            to[(image * P_PIXELS + p_first + p) * ALL_CHANNELS + c_first + c] = tile[c * PITCH + p];
    }
}
#endif
