/* gemm_results.cl: how gemm.cl writes a tile.
 *
 *   STORE_ONE        each item its own elements, one by one
 *   STORE_PIXELS     four neighbouring pixels of a channel at a time
 *   STORE_CHANNELS   four neighbouring channels of a pixel at a time
 *   STORE_ROWS       through local memory, so that neighbouring items write neighbouring pixels, of
 *                    which four do not always begin at a multiple of four:
 *
 *         registers               local memory               destination
 *         item 0: p0 p1 p2 p3     p0 p1 p2 ... p31           items 0, 1, 2, ... 31 write
 *         item 1: p4 p5 p6 p7     (four rows of each item)   p0, p1, p2, ... p31
 *
 *                    With D_SPREAD the pixels of phases without taps, which are zero, lie between
 *                    them, with D_MERGED pixels of the rows below: items write whole rows of the
 *                    destination.
 *
 * Each of several parts (T_SPLIT) writes its sums in the order part, group, phase, channel, pixel.
 *
 * Defines   see gemm.cl
 * Assumes   epilogue.cl, gemm_tile.cl, gemm_places.cl and gemm_pieces.cl.
 */
#define STORE_ONE 0
#define STORE_PIXELS 1
#define STORE_CHANNELS 2
#define STORE_ROWS 3

/* Phases that have groups of their own, and that are rows of a channel. */
#define GROUP_PHASES (D_SPREAD || D_MERGED ? 1 : PHASES)
#define ROW_PHASES (D_MERGED ? PHASES : 1)

#if T_SPLIT > 1
#define OUT_T ACC_T
#define OUT_PARAMS
#define OUT_PASS
#else
#define OUT_T DST_T
#define OUT_PARAMS EPILOGUE_PARAMS
#define OUT_PASS EPILOGUE_PASS
#endif

/* Elements of local memory: two pairs of pieces, later sums of slices, then four rows of each
 * item's part of a tile. */
#define PIECES (2 * T_BK * (T_BM + B_PITCH))
#define STAGE_ROWS (T_BM / T_TM * 4)
#if D_STORE == STORE_ROWS && T_SPLIT == 1
#define STAGE (STAGE_ROWS * T_BN)
#else
#define STAGE 0
#endif
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define ROOM LARGER(PIECES, LARGER(SLICES_ROOM, STAGE))

typedef struct {
    int m_first, n_first; /* its first channel and pixel */
    int group, phase, part;
} tile_place;

#if T_SPLIT > 1
INLINE void store_tile(global OUT_T *dst, private ACC_T (*sum)[T_TN], const int item,
                       const tile_place at, local ACC_T *room)
{
    if (SLICE > 0)
        return;
    const INDEX_T first = ((INDEX_T)at.part * P_GROUPS + at.group) * GROUP_PHASES + at.phase;
    UNROLL
    for (int j = 0; j < T_TN; j++) {
        const int pixel = at.n_first + TILE_COLUMN(j);
        UNROLL
        for (int i = 0; i < T_TM; i++) {
            const int channel = at.m_first + TILE_ROW(i);
            if (channel < D_DST_C && pixel < PIXELS)
                dst[(first * D_DST_C + channel) * PIXELS + pixel] = sum[i][j];
        }
    }
}

#elif D_STORE == STORE_ROWS
/* Items go along the pixels of a line, of PHASES_W phases, then down the lines, each of which has
 * LINE_ROWS rows of the tile and PHASES_HD rows of the destination. */
#define PHASES_W (D_SPREAD || D_MERGED ? D_PHASES_W : 1)
#define PHASES_HD (D_SPREAD ? D_PHASES_D * D_PHASES_H : 1)
#define LINE_ROWS (D_MERGED ? D_PHASES_W : 1)
#define LINE_PIXELS (T_BN * PHASES_W)
#define LINE_ITEMS (GROUP_ITEMS < LINE_PIXELS ? GROUP_ITEMS : LINE_PIXELS)
#define LINE_TIMES ((LINE_PIXELS + LINE_ITEMS - 1) / LINE_ITEMS)
#define LINES_AT_ONCE (GROUP_ITEMS / LINE_ITEMS)

/* The element `along` every line from `line` on. */
INLINE void store_lines(global DST_T *dst, const tile_place at, const int along, const int strip,
                        int line, local const ACC_T *room EPILOGUE_PARAMS)
{
    if (along >= LINE_PIXELS || line >= LINES_AT_ONCE)
        return;
    const int pixel = at.n_first + along / PHASES_W, phase_w = along % PHASES_W;
    INDEX_T to[PHASES_HD];
    UNROLL
    for (int p = 0; p < PHASES_HD; p++)
        to[p] = result_of(pixel, at.phase + p * PHASES_W + phase_w);
    for (; line < STAGE_ROWS / LINE_ROWS; line += LINES_AT_ONCE) {
        const int row = line * LINE_ROWS;
        const int tile_row = at.m_first + row / 16 * (4 * T_TM) + strip * 4 + row % 16;
        const int own = (at.group * D_DST_C + tile_row) / ROW_PHASES;
        if (tile_row >= D_DST_C)
            continue;
#if D_MERGED
        const int row_of_line = row + phase_w;
        to[0] = result_of(pixel, tile_row % PHASES + phase_w);
#else
        const int row_of_line = row;
#endif
        const ACC_T v = room[row_of_line * T_BN + along / PHASES_W];
        UNROLL
        for (int p = 0; p < PHASES_HD; p++) {
            const INDEX_T e = to[p] + (INDEX_T)own * D_DST_CHANNEL;
            const bool zero = D_SPREAD && (p || phase_w);
            if (to[p] >= 0)
                DST_STORE(dst, e, FINISH(zero ? 0 : v, own, e));
        }
    }
}

INLINE void store_tile(global DST_T *dst, private ACC_T (*sum)[T_TN], const int item,
                       const tile_place at, local ACC_T *room EPILOGUE_PARAMS)
{
    const int own_row = TILE_ROW(0) / (4 * T_TM) * 16 + TILE_ROW(0) % (4 * T_TM);
    const int along = item % LINE_ITEMS;
    UNROLL
    for (int strip = 0; strip < T_TM; strip += 4) {
        if (SLICE == 0)
            UNROLL
            for (int i = 0; i < 4; i++)
                UNROLL
                for (int j = 0; j < T_TN; j += 4)
                    *(local ACC_4 *)(room + (own_row + i) * T_BN + TILE_COLUMN(j)) =
                        (ACC_4)(sum[strip + i][j], sum[strip + i][j + 1], sum[strip + i][j + 2],
                                sum[strip + i][j + 3]);
        barrier(CLK_LOCAL_MEM_FENCE);
        UNROLL
        for (int t = 0; t < LINE_TIMES; t++)
            store_lines(dst, at, along + t * LINE_ITEMS, strip, item / LINE_ITEMS,
                        room EPILOGUE_PASS);
        if (strip + 4 < T_TM)
            barrier(CLK_LOCAL_MEM_FENCE);
    }
}

#else
/* A strip of four neighbours of an item's part of the tile. */
INLINE void store_tile(global DST_T *dst, private ACC_T (*sum)[T_TN], const int item,
                       const tile_place at, local ACC_T *room EPILOGUE_PARAMS)
{
    if (SLICE > 0)
        return;
    UNROLL
    for (int j = 0; j < T_TN; j += D_STORE == STORE_PIXELS ? 4 : 1) {
        const INDEX_T to = result_of(at.n_first + TILE_COLUMN(j), at.phase);
        UNROLL
        for (int i = 0; i < T_TM; i += D_STORE == STORE_CHANNELS ? 4 : 1) {
            const int channel = at.m_first + TILE_ROW(i), own = at.group * D_DST_C + channel;
            const INDEX_T e = to + (INDEX_T)own * D_DST_CHANNEL;
            if (channel >= D_DST_C || to < 0)
                continue;
#if D_STORE == STORE_PIXELS
            const KILN_CAT(VAL_T, 4) v = {
                FINISH(sum[i][j], own, e), FINISH(sum[i][j + 1], own, e + 1),
                FINISH(sum[i][j + 2], own, e + 2), FINISH(sum[i][j + 3], own, e + 3)};
            DST_STORE_QUAD(dst, e, v);
#elif D_STORE == STORE_CHANNELS
            const KILN_CAT(VAL_T, 4) v = {
                FINISH(sum[i][j], own, e), FINISH(sum[i + 1][j], own + 1, e + 1),
                FINISH(sum[i + 2][j], own + 2, e + 2), FINISH(sum[i + 3][j], own + 3, e + 3)};
            DST_STORE_QUAD(dst, e, v);
#else
            DST_STORE(dst, e, FINISH(sum[i][j], own, e));
#endif
        }
    }
}
#endif
