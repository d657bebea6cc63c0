/* mma_probe.cl: one product of small matrices by the means of mma.cl, wgmma.cl or tma.cl, for the
 * runtime to see whether kernels reach tensor cores, and whether they may declare D_LOCAL_BYTES of
 * local memory.
 *
 *     product[r][c] = sum over t of left[r][t] * right[c][t], T_ROWS x T_COLUMNS of 64 halves each
 *
 * Grid      (GROUP_ITEMS), one group
 * Defines   those of mma_tile.cl and wgmma.cl, with SRC_TYPE=TYPE_F16, and D_LOCAL_BYTES, at least
 *           128 * (T_ROWS + T_COLUMNS); T_TMA, copies are those of tma.cl; `map` has 128 bytes for
 *           it
 */
#include "mma_tile.cl"
#include "wgmma.cl"
#include "tma.cl"

#define ROW_BYTES 128
#define PLACE(row, byte) ((row) * ROW_BYTES + ((((byte) >> 4) ^ ((row) & 7)) << 4) + ((byte) & 15))

#if T_TMA
/* By one copy of a box, by way of a map; the first warp makes it where the rows will lie. */
INLINE void copy_box(const uint to, local uchar *room, global const MMA_T *from, global uchar *map,
                     const uint arrival, const int item)
{
    map_clear(room, item);
    if (item == 0) {
        ARRIVAL_INIT(arrival, 1);
        ARRIVAL_FENCE_INIT;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
        MAP_TENSOR(to, from, MAP_AXES_4, MAP_OF_2, MAP_ROW_128);
        MAP_AXIS(to, 0, 64, 64, 1);
        MAP_AXIS(to, 1, 8, 8, 1);
        MAP_AXIS(to, 2, 8, 8, 1);
        MAP_AXIS(to, 3, 1, 1, 1);
        MAP_STRIDE(to, 0, ROW_BYTES);
        MAP_STRIDE(to, 1, 8 * ROW_BYTES);
        MAP_STRIDE(to, 2, 64 * ROW_BYTES);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < 32)
        MAP_PUBLISH(map, to);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
        MAP_ACQUIRE(map);
        COPY_FENCE_REUSE;
        ARRIVAL_EXPECT(arrival, 64 * ROW_BYTES);
        COPY_BOX(to, map, 0, 0, 0, 0, arrival);
    }
    arrival_wait(arrival, 0);
}
#endif

/* By copies of 16 bytes and of 8. */
INLINE void copy_rows(const uint to, global const MMA_T *from, const int rows, const int item)
{
    for (int i = item; i < rows * 8; i += GROUP_ITEMS) {
        const uint at = to + PLACE(i / 8, i % 8 * 16);
        if (i % 3)
            COPY_ASYNC(16, at, from + i * 8, 16);
        else {
            COPY_ASYNC(8, at, from + i * 8, 8);
            COPY_ASYNC(8, at + 8, from + i * 8 + 4, 8);
        }
    }
}

kernel GROUP_SIZE(GROUP_ITEMS, 1, 1) void mma_probe(global const MMA_T *left,
                                                    global const MMA_T *right,
                                                    global float *product, global uchar *map)
{
    local uint4 memory[D_LOCAL_BYTES / 16] __attribute__((aligned(1024)));
    const int item = get_local_id(0), lane = item % 32, warp = item / 32;
    /* At both ends of the memory. */
    const uint l = LOCAL_ADDRESS(memory),
               r = l + (D_LOCAL_BYTES - T_COLUMNS * ROW_BYTES) / 1024 * 1024;
#if T_TMA
    local ulong arrival;
    copy_box(l, (local uchar *)memory, left, map, LOCAL_ADDRESS(&arrival), item);
#else
    copy_rows(l, left, T_ROWS, item);
#endif
    copy_rows(r, right, T_COLUMNS, item);
    COPY_COMMIT;
    COPY_WAIT(0);
    float sum[SUMS_R][SUMS_C][4];
    CLEAR_SUMS(sum)
#if T_WGMMA
    WGMMA_FENCE_COPIES;
    barrier(CLK_LOCAL_MEM_FENCE);
    WGMMA_BEGIN;
    wgmma(sum[0], l, r);
    WGMMA_END;
    WGMMA_WAIT(0);
    wgmma_settle(sum[0]);
#else
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < ROW_BYTES / 32; k++) {
        slice s;
        for (int i = 0; i < SUMS_R; i++)
            read_left(s.left[i], l + PLACE(WARP_ROW(warp) + i * 16 + ROW_OF_LEFT(lane),
                                           k * 32 + BYTE_OF_LEFT(lane)));
        for (int j = 0; j < SUMS_C / 2; j++)
            read_right(s.right[j], r + PLACE(WARP_COLUMN(warp) + j * 16 + ROW_OF_RIGHT(lane),
                                             k * 32 + BYTE_OF_RIGHT(lane)));
        add_slice(sum, &s);
    }
#endif
    for (int i = 0; i < SUM_ROWS; i++)
        for (int j = 0; j < SUMS_C; j++)
            for (int e = 0; e < 2; e++)
                product[(WARP_ROW(warp) + SUM_ROW(i)) * T_COLUMNS + WARP_COLUMN(warp) +
                        SUM_COLUMN(j) + e] = SUM_AT(sum, i, j, e);
}
