/* gemm_mma_source.cl: the source as gemm_mma.cl copies it, where its channels are not neighbours or
 * their number is odd: pixels one after the other, and of a pixel each group's channels filled up
 * with zeros to D_CHANNELS.
 *
 *     x[n][c][pixel], x[n][pixel][c]  ->  to[n][pixel][group][c, D_CHANNELS of them]
 *     or in blocks of channels
 *
 * With D_ALONE a pixel's channels, padding included, are what one item writes at once, D_CHANNELS
 * of them. Else a group of items turns a tile of D_TILE_P pixels and D_TILE_C channels in local
 * memory: neighbouring items read neighbours of the source, and write neighbours of the result.
 *
 * Grid      with D_ALONE the pixels of all images; else (256 * tiles), tiles of channels fastest,
 *           then of pixels, then images
 * Defines   those of mma.cl, and
 *   P_IMAGES, P_GROUPS, P_PIXELS    P_PIXELS: of an image
 *   D_SRC_C, D_CHANNELS             of one group, without and with padding
 *   D_SRC_IMAGE, _BLOCK, _CHANNEL, _PIXEL    elements from one to the next
 *   D_SRC_NEIGHBOURS                channels of a block
 *   D_UNIT                          bytes that are written at once, 16 or 8: divides the bytes
 *                                   of D_CHANNELS
 *   D_READ                          pixels that are read at once where they are neighbours: divides
 *                                   P_PIXELS, 16 bytes of them or fewer
 *   D_TILE_P, D_TILE_C              above; powers of two from four elements and from D_UNIT on
 */
#include "mma.cl"

#define ITEMS 256
#define UNIT_CHANNELS (D_UNIT / MMA_BYTES)

#if D_UNIT == 16
#define UNIT_T uint4
#else
#define UNIT_T uint2
#endif

/* A channel of the source, of all groups, from channel 0 on. */
#define SRC_CHANNEL(c)                                                                             \
    ((INDEX_T)((c) / D_SRC_NEIGHBOURS) * D_SRC_BLOCK +                                             \
     (INDEX_T)((c) % D_SRC_NEIGHBOURS) * D_SRC_CHANNEL)

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
        v[c] = c < D_SRC_C ? src[SRC_CHANNEL(c)] : (MMA_T)0;
    ((global UNIT_T *)to)[i] = *(private const UNIT_T *)v;
}
#else
#define ALL_CHANNELS (P_GROUPS * D_CHANNELS)
#define TILES_C ((ALL_CHANNELS + D_TILE_C - 1) / D_TILE_C)
#define TILES_P ((P_PIXELS + D_TILE_P - 1) / D_TILE_P)
#define PITCH (D_TILE_P + 4 / MMA_BYTES) /* an odd number of words: rows begin in different banks */

#if D_SRC_PIXEL == 1 && D_SRC_CHANNEL != 1
#define READ D_READ
#else
#define READ 1
#endif
#define READ_BYTES (READ * MMA_BYTES)
#if READ_BYTES == 16
#define READ_T uint4
#elif READ_BYTES == 8
#define READ_T uint2
#elif READ_BYTES == 4
#define READ_T uint
#elif READ_BYTES == 2
#define READ_T ushort
#else
#define READ_T uchar
#endif

/* Neighbouring items read neighbouring pixels, or channels where those are neighbours. */
INLINE void read_tile(local MMA_T *tile, global const MMA_T *src, const int c_first,
                      const int p_first, const int item)
{
    const int across = D_TILE_P / READ;
    for (int i = item; i < across * D_TILE_C; i += ITEMS) {
        const int p = D_SRC_CHANNEL == 1 ? i / D_TILE_C : i % across * READ,
                  c = D_SRC_CHANNEL == 1 ? i % D_TILE_C : i / across;
        const int all = c_first + c, channel = all % D_CHANNELS;
        union {
            READ_T all;
            MMA_T one[READ];
            uint word[READ_BYTES > 4 ? READ_BYTES / 4 : 1];
        } v;
        v.all = (READ_T)0;
        if (all < ALL_CHANNELS && channel < D_SRC_C && p_first + p < P_PIXELS)
            v.all = *(global const READ_T *)(src + (INDEX_T)(p_first + p) * D_SRC_PIXEL +
                                             SRC_CHANNEL(all / D_CHANNELS * D_SRC_C + channel));
#if READ_BYTES >= 4
        UNROLL
        for (int k = 0; k < READ_BYTES / 4; k++)
            ((local uint *)(tile + c * PITCH + p))[k] = v.word[k];
#else
        UNROLL
        for (int k = 0; k < READ; k++)
            tile[c * PITCH + p + k] = v.one[k];
#endif
    }
}

INLINE void write_tile(global MMA_T *to, local const MMA_T *tile, const int c_first,
                       const int p_first, const int item)
{
    const int across = D_TILE_C / UNIT_CHANNELS;
    for (int i = item; i < across * D_TILE_P; i += ITEMS) {
        const int p = i / across, c = i % across * UNIT_CHANNELS;
        union {
            UNIT_T all;
            MMA_T one[UNIT_CHANNELS];
        } v;
        UNROLL
        for (int k = 0; k < UNIT_CHANNELS; k++)
            v.one[k] = tile[(c + k) * PITCH + p];
        if (c_first + c < ALL_CHANNELS && p_first + p < P_PIXELS)
            *(global UNIT_T *)(to + (INDEX_T)(p_first + p) * ALL_CHANNELS + c_first + c) = v.all;
    }
}

kernel GROUP_SIZE(ITEMS, 1, 1) void gemm_mma_source(global const MMA_T *restrict src,
                                                    global MMA_T *restrict to)
{
    local MMA_T tile[D_TILE_C * PITCH] __attribute__((aligned(16)));
    const int item = get_local_id(0), at = get_group_id(0);
    const int c_first = at % TILES_C * D_TILE_C, p_first = at / TILES_C % TILES_P * D_TILE_P;
    const INDEX_T image = at / (TILES_C * TILES_P);
    read_tile(tile, src + image * D_SRC_IMAGE, c_first, p_first, item);
    barrier(CLK_LOCAL_MEM_FENCE);
    write_tile(to + image * P_PIXELS * ALL_CHANNELS, tile, c_first, p_first, item);
}
#endif
