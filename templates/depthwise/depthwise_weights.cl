/* depthwise_weights.cl: backward weights of depthwise convolutions where neighbouring channels lie
 * together; shaped for a CPU.
 *
 * A vector is D_B neighbouring channels of one pixel, of x and dy alike, and every channel stays in
 * its lane. One item sums T_R x T_S taps of one vector of channels over its part of the rows of dy,
 * in tiles of T_W pixels:
 *
 *      dy   [ tile ][ tile ] ... [ last ]       a tile's vectors of dy stay in registers, and so do
 *      x  [ . . . . . ]                         the sums; a vector of x is loaded once for all taps
 *         [ . . . . . ]   T_R rows              of its row:  sum[r][s] += x * dy
 *
 * then the next T_R x T_S taps, over the same part. Rows and columns outside of x are left out.
 * With D_KNOWN=1 the compiler knows the columns, which are of the first and the last tile;
 * otherwise the item checks.
 *
 * With T_PARTS > 1 the sums of each part stay apart, as [part][vector][tap][D_B], and
 * `depthwise_weights_sum` adds them up in order: the result is the same in every run.
 *
 * Grid of `depthwise_weights`: (D_VECTORS, T_PARTS), of `depthwise_weights_sum`: (D_VECTORS);
 * groups of one item (see items.cl).
 *
 * Defines, besides those of the files included; _a stands for each of _D, _H, _W:
 *   D_B, D_CHANNELS     lanes of a vector, channels in total
 *   D_VECTORS           of channels; D_EARLIER=1: the last one starts earlier
 *   P_SRC_a, P_DST_a    sizes of x and dy; P_FILTER_a, P_STRIDE_a, P_DILATION_a
 *   D_LEAD_a            coordinate in x of destination element 0, tap 0, is -D_LEAD_a
 *   D_SRC_IMAGE, _PLANE, _ROW, _PIXEL    elements of x from one to the next; D_DST_ the same of dy
 *   D_SRC_VECTOR, D_DST_VECTOR           elements from one vector of channels to the next
 *   D_ROWS, D_PART      rows of dy in all images, and of a part
 *   D_KNOWN             above
 *   T_W                 pixels of a tile
 *   T_R, T_S            taps that are summed at a time; divide P_FILTER_H and P_FILTER_W
 *   T_PARTS             parts
 *   D_LAUNCH            1 or 2: which of the two kernels is wanted
 *   D_W_K, D_W_TAP      elements of dw from one channel, and tap, to the next
 */
#include "items.cl"
#include "taps.cl"
#include "vectors.cl"

#define D_TAPS (P_FILTER_D * P_FILTER_H * P_FILTER_W)
#define D_TILES_W ((P_DST_W + T_W - 1) / T_W)
#define D_REACH ((T_W - 1) * P_STRIDE_W + (T_S - 1) * P_DILATION_W)

/* First channel of a vector. */
INLINE INDEX_T channel_of(const int vector)
{
    return D_EARLIER ? min((INDEX_T)vector * D_B, (INDEX_T)D_CHANNELS - D_B)
                     : (INDEX_T)vector * D_B;
}

/* Writes the sums of `taps` taps from `tap` on to dw. */
INLINE void put_taps(global DST_T *dw, const ACC_V *sum, const int vector, const int tap,
                     const int taps)
{
    const INDEX_T channel = channel_of(vector);
    const int own = D_EARLIER && vector == D_VECTORS - 1 ? D_B - D_CHANNELS % D_B : 0;
    ACC_T lane[D_B] __attribute__((aligned(64)));
    dw += channel * D_W_K + (INDEX_T)tap * D_W_TAP;
#pragma unroll
    for (int t = 0; t < taps; t++) {
        *(private ACC_V *)lane = sum[t];
        if (own == 0 && channel + D_B <= D_CHANNELS) {
#pragma unroll
            for (int i = 0; i < D_B; i++)
                DST_STORE(dw, (INDEX_T)i * D_W_K + (INDEX_T)t * D_W_TAP, lane[i]);
        } else {
#pragma nounroll
            for (int i = own; i < D_B && channel + i < D_CHANNELS; i++)
                DST_STORE(dw, (INDEX_T)i * D_W_K + (INDEX_T)t * D_W_TAP, lane[i]);
        }
    }
}

/* A tile of dy from pixel x on, whose taps begin in column `at` of `row`; `low` and `high` say
 * which rows of the filter meet x. With `check`, pixels and columns may be missing. */
INLINE void add_tile(ACC_V *acc, global const SRC_T *row, global const SRC_T *dy, const int x,
                     const int at, const int low, const int high, const bool check)
{
    ACC_V g[T_W];
#pragma unroll
    for (int p = 0; p < T_W; p++)
        g[p] = check && x + p >= P_DST_W ? (ACC_V)((ACC_T)0)
                                         : SRC_LOAD_V(dy, (INDEX_T)(x + p) * D_DST_PIXEL);
#pragma unroll
    for (int r = 0; r < T_R; r++) {
        if (r < low || r >= high)
            continue;
#pragma unroll
        for (int i = 0; i <= D_REACH; i++) {
            const int column = at + i;
            if (check && (column < 0 || column >= P_SRC_W))
                continue;
            const ACC_V v = SRC_LOAD_V(row, (INDEX_T)(r * P_DILATION_H) * D_SRC_ROW +
                                                (INDEX_T)column * D_SRC_PIXEL);
#pragma unroll
            for (int s = 0; s < T_S; s++) {
                const int to = i - s * P_DILATION_W;
                if (to >= 0 && to % P_STRIDE_W == 0 && to / P_STRIDE_W < T_W &&
                    (!check || x + to / P_STRIDE_W < P_DST_W))
                    acc[r * T_S + s] += v * g[to / P_STRIDE_W];
            }
        }
    }
}

/* Sums taps from (d, h, s) on over rows [begin, end). */
INLINE void add_rows(ACC_V *acc, global const SRC_T *x, global const SRC_T *dy, const int d,
                     const int h, const int s, const int begin, const int end)
{
    const int at_x = s * P_DILATION_W - D_LEAD_W;
#pragma nounroll
    for (int row = begin; row < end; row++) {
        const int y = row % P_DST_H, z = row / P_DST_H % P_DST_D;
        const INDEX_T n = row / (P_DST_H * P_DST_D);
        const int at_y = y * P_STRIDE_H + h * P_DILATION_H - D_LEAD_H;
        const int at_z = z * P_STRIDE_D + d * P_DILATION_D - D_LEAD_D;
        const int low = divide_up(-at_y, P_DILATION_H);
        const int high = divide_up(P_SRC_H - at_y, P_DILATION_H);
        if (at_z < 0 || at_z >= P_SRC_D)
            continue;
        global const SRC_T *from = x + n * D_SRC_IMAGE + (INDEX_T)at_z * D_SRC_PLANE +
                                   (INDEX_T)at_y * D_SRC_ROW;
        global const SRC_T *g =
            dy + n * D_DST_IMAGE + (INDEX_T)z * D_DST_PLANE + (INDEX_T)y * D_DST_ROW;
#if D_KNOWN
        add_tile(acc, from, g, 0, at_x, low, high, true);
#pragma nounroll
        for (int t = 1; t < D_TILES_W - 1; t++)
            add_tile(acc, from, g, t * T_W, t * T_W * P_STRIDE_W + at_x, low, high, false);
#if D_TILES_W > 1
        add_tile(acc, from, g, (D_TILES_W - 1) * T_W, (D_TILES_W - 1) * T_W * P_STRIDE_W + at_x,
                 low, high, true);
#endif
#else
#pragma nounroll
        for (int t = 0; t < D_TILES_W; t++)
            add_tile(acc, from, g, t * T_W, t * T_W * P_STRIDE_W + at_x, low, high, true);
#endif
    }
}

#if T_PARTS > 1
#define SUMS_T ACC_T
#else
#define SUMS_T DST_T
#endif

#if D_LAUNCH == 1
/* One vector of channels over one part. */
INLINE void item(global const SRC_T *x, global const SRC_T *dy, global SUMS_T *to, const int vector,
                 const int part)
{
    const int begin = part * D_PART, end = min(begin + D_PART, D_ROWS);
    const INDEX_T earlier = (INDEX_T)vector * D_B - channel_of(vector);
    x += (INDEX_T)vector * D_SRC_VECTOR - earlier;
    dy += (INDEX_T)vector * D_DST_VECTOR - earlier;
#pragma nounroll
    for (int d = 0; d < P_FILTER_D; d++)
#if T_R == P_FILTER_H
        for (int h = 0; h < 1; h++)
#else
#pragma nounroll
        for (int h = 0; h < P_FILTER_H; h += T_R)
#endif
#if T_S == P_FILTER_W
            for (int s = 0; s < 1; s++)
#else
#pragma nounroll
            for (int s = 0; s < P_FILTER_W; s += T_S)
#endif
            {
                ACC_V acc[T_R * T_S];
#pragma unroll
                for (int i = 0; i < T_R * T_S; i++)
                    acc[i] = (ACC_V)((ACC_T)0);
                add_rows(acc, x, dy, d, h, s, begin, end);
#pragma unroll
                for (int r = 0; r < T_R; r++) {
                    const int tap = (d * P_FILTER_H + h + r) * P_FILTER_W + s;
#if T_PARTS > 1
                    global ACC_T *sums =
                        to + (((INDEX_T)part * D_VECTORS + vector) * D_TAPS + tap) * D_B;
#pragma unroll
                    for (int t = 0; t < T_S; t++)
                        *(global kiln_loose_acc *)(sums + t * D_B) = acc[r * T_S + t];
#else
                    put_taps(to, acc + r * T_S, vector, tap, T_S);
#endif
                }
            }
}

#define ITEM_HERE item(x, dy, to, ITEM(0), ITEM(1))
DEFINE_ITEM(ITEM_HERE, (global const SRC_T *x, global const SRC_T *dy, global SUMS_T *to))

kernel GROUP_SIZE(1, 1, 1) void depthwise_weights(global const SRC_T *restrict x,
                                                  global const SRC_T *restrict dy,
                                                  global SUMS_T *restrict to ITEMS_PARAM)
{
    EACH_ITEM(ITEM_HERE, (x, dy, to))
}
#else
INLINE void item(global const ACC_T *sums, global DST_T *dw, const int vector)
{
#pragma nounroll
    for (int tap = 0; tap < D_TAPS; tap++) {
        ACC_V sum = (ACC_V)((ACC_T)0);
        for (int part = 0; part < T_PARTS; part++)
            sum += LOAD_V(sums + (((INDEX_T)part * D_VECTORS + vector) * D_TAPS + tap) * D_B);
        put_taps(dw, &sum, vector, tap, 1);
    }
}

#define ITEM_HERE item(sums, dw, ITEM(0))
DEFINE_ITEM(ITEM_HERE, (global const ACC_T *sums, global DST_T *dw))

kernel GROUP_SIZE(1, 1, 1) void depthwise_weights_sum(global const ACC_T *restrict sums,
                                                      global DST_T *restrict dw ITEMS_PARAM)
{
    EACH_ITEM(ITEM_HERE, (sums, dw))
}
#endif
