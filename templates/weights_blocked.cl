/* weights_blocked.cl: register-tiled backward weights over channel blocks, shaped for a CPU.
 *
 * Both tensors that are read keep D_B neighbouring channels together (NC/16HW16: D_B = 16), so for
 * every pixel of dy one of the two gives vectors and the other elements to broadcast:
 *
 *                      T_Y units of dy at this pixel
 *     T_X units of x  [ sum ][ sum ] ...          sum += x unit * dy unit, for each pixel in turn
 *     at T_S taps     [ sum ][ sum ] ...
 *
 *     D_LANES   a unit of x          a unit of dy          lanes of a sum
 *     0  (C)    a block of channels  one channel           input channels
 *     1  (K)    one channel          a block of channels   output channels
 *     2  (both) a filter row         (one block)           channels: depthwise
 *
 * Rows of dy come in chunks, small enough to stay in the cache while every tile of an item's
 * channel blocks passes over them; sums wait in `out` from chunk to chunk. A long row counts as
 * D_STRIPS rows, so that no sum becomes a long chain of roundings. Rows are cut into T_PARTS parts, each with an `out` of its own, which sum_parts.cl adds in order: the result is the
 * same in every run. The last tile of units starts earlier instead of being smaller, and stores
 * only what no other tile has.
 *
 * Sums lie in `out` as blocked weights: [K / D_B][C / D_B][taps][D_B k][D_B c] for lanes 0, and
 * [K / D_B][C][taps][D_B k] else. Padding is not in memory: rows outside x are left out, and so are
 * taps outside a row.
 *
 * Grid: (groups * D_ITEMS, T_PARTS), groups of one item.
 *
 * Defines, besides those of common.cl; _a stands for each of _D, _H, _W:
 *   D_B, D_LANES        above
 *   P_SRC_a, P_DST_a    sizes of x and dy; P_FILTER_a, P_STRIDE_a, P_DILATION_a
 *   D_LEAD_a            coordinate in x of destination element 0, tap 0, is -D_LEAD_a
 *   D_SRC_C, D_DST_C            channels of one group
 *   D_SRC_IMAGE, _BLOCK, _PLANE, _ROW, _PIXEL, _CHANNEL    elements of x from one to the next
 *   D_DST_IMAGE, _BLOCK, _PLANE, _ROW, _PIXEL, _CHANNEL    the same of dy
 *   D_UNITS_X, D_UNITS_Y   units of a group, in whole tiles where tiles may not start earlier
 *   D_ITEM_Y, D_ITEMS   units of dy that one item takes, a multiple of T_Y; items of a group
 *   D_STRIPS, D_STRIP   strips that a row of dy is cut into, and pixels of one
 *   D_ROWS, D_CHUNK, D_PART   strips of dy in all images, of a chunk, of a part
 *   D_CELLS             elements of one `out`
 *   T_X T_Y T_S         tile of one item; T_S divides P_FILTER_W (and T_X P_FILTER_H, lanes 2)
 *   T_PARTS             parts
 */
#define INLINE static inline __attribute__((always_inline))
#define D_TAPS (P_FILTER_D * P_FILTER_H * P_FILTER_W)
#define D_BLOCKS_C ((D_SRC_C + D_B - 1) / D_B)
#define SUMS (T_X * T_S * T_Y)
#define SUM(i, s, j) (((i) * T_S + (s)) * T_Y + (j))

#if SRC_TYPE == TYPE_F32
#define VECTOR(p) LOAD_V(p)
#else
#define VECTOR(p) SRC_LOADN(D_B, p, 0)
#endif
#define ELEMENT(p) ((ACC_V)(SRC_LOAD(p, 0)))

/* Filter rows of one tile, and what lies between units of x and of dy. */
#if D_LANES == 2
#define TILE_H T_X
#define UNIT_X (P_DILATION_H * D_SRC_ROW)
#define UNIT_Y 0
#elif D_LANES == 1
#define TILE_H 1
#define UNIT_X D_SRC_CHANNEL
#define UNIT_Y D_DST_BLOCK
#else
#define TILE_H 1
#define UNIT_X D_SRC_BLOCK
#define UNIT_Y D_DST_CHANNEL
#endif

/* ---- one pixel ---- */

INLINE void add_inside(ACC_V *acc, global const SRC_T *x, global const SRC_T *dy)
{
#if D_LANES == 0
    ACC_V v[T_X * T_S];
#pragma unroll
    for (int i = 0; i < T_X; i++)
#pragma unroll
        for (int s = 0; s < T_S; s++)
            v[i * T_S + s] = VECTOR(x + i * UNIT_X + s * (P_DILATION_W * D_SRC_PIXEL));
#pragma unroll
    for (int j = 0; j < T_Y; j++) {
        const ACC_V a = ELEMENT(dy + j * UNIT_Y);
#pragma unroll
        for (int i = 0; i < T_X * T_S; i++)
            acc[i * T_Y + j] += v[i] * a;
    }
#else
    ACC_V v[T_Y];
#pragma unroll
    for (int j = 0; j < T_Y; j++)
        v[j] = VECTOR(dy + j * UNIT_Y);
#pragma unroll
    for (int i = 0; i < T_X; i++)
#pragma unroll
        for (int s = 0; s < T_S; s++) {
            global const SRC_T *at = x + i * UNIT_X + s * (P_DILATION_W * D_SRC_PIXEL);
#if D_LANES == 1
            const ACC_V a = ELEMENT(at);
#else
            const ACC_V a = VECTOR(at);
#endif
#pragma unroll
            for (int j = 0; j < T_Y; j++)
                acc[SUM(i, s, j)] += a * v[j];
        }
#endif
}

/* A pixel whose tap 0 is at `column`, which may have taps outside the row, and of a row whose units
 * of x are there from `first` on, before `end`. */
INLINE void add_checked(ACC_V *acc, global const SRC_T *x, global const SRC_T *dy, const int column,
                        const int first, const int end)
{
#pragma unroll
    for (int s = 0; s < T_S; s++) {
        const int at = column + s * P_DILATION_W;
        if (at < 0 || at >= P_SRC_W)
            continue;
#pragma unroll
        for (int i = 0; i < T_X; i++) {
            if (D_LANES == 2 && (i < first || i >= end))
                continue;
            global const SRC_T *from = x + i * UNIT_X + s * (P_DILATION_W * D_SRC_PIXEL);
#pragma unroll
            for (int j = 0; j < T_Y; j++)
#if D_LANES == 0
                acc[SUM(i, s, j)] += VECTOR(from) * ELEMENT(dy + j * UNIT_Y);
#elif D_LANES == 1
                acc[SUM(i, s, j)] += ELEMENT(from) * VECTOR(dy + j * UNIT_Y);
#else
                acc[SUM(i, s, j)] += VECTOR(from) * VECTOR(dy + j * UNIT_Y);
#endif
        }
    }
}

/* ---- one row of dy, or a strip of it ---- */

INLINE int divide_up(const int a, const int b) /* b > 0 */
{
    return a > 0 ? (a + b - 1) / b : 0;
}

/* Whether there may be pixels with some of their taps outside x. Where there are none, two loops
 * less compete for the registers that hold the sums. */
#define D_LEAVES_W                                                                                 \
    (D_LEAD_W > 0 || (P_DST_W - 1) * P_STRIDE_W - D_LEAD_W + (P_FILTER_W - 1) * P_DILATION_W >=    \
                         P_SRC_W)
#define D_SOME ((T_S > 1 && D_LEAVES_W) || (D_LANES == 2 && T_X > 1))

/* Pixels from `left` on, before `right`. `x` is where pixel 0 finds its tap s0, column `at`. */
INLINE void add_row(ACC_V *acc, global const SRC_T *x, global const SRC_T *dy, const int left,
                    const int right, const int at, const int first, const int end)
{
    const int step = P_STRIDE_W * D_SRC_PIXEL, reach = (T_S - 1) * P_DILATION_W;
    int low = clamp(divide_up(-at, P_STRIDE_W), left, right);
    int high = clamp(divide_up(P_SRC_W - reach - at, P_STRIDE_W), low, right);
    if (D_LANES == 2 && end - first < T_X)
        low = high = right;
#if D_SOME
#pragma nounroll
    for (int i = left; i < low; i++)
        add_checked(acc, x + i * step, dy + i * D_DST_PIXEL, at + i * P_STRIDE_W, first, end);
#endif
#pragma nounroll
    for (int i = low; i < high; i++)
        add_inside(acc, x + i * step, dy + i * D_DST_PIXEL);
#if D_SOME
#pragma nounroll
    for (int i = high; i < right; i++)
        add_checked(acc, x + i * step, dy + i * D_DST_PIXEL, at + i * P_STRIDE_W, first, end);
#endif
}

/* ---- one tile ---- */

/* Where the tile reads and what it is of. */
typedef struct place {
    global const SRC_T *x, *dy; /* its first units */
    int d, h, s;                /* its first tap */
} place;

INLINE void add_rows(ACC_V *acc, const place p, const int begin, const int end)
{
#pragma nounroll
    for (int strip = begin; strip < end; strip++) {
        const int row = strip / D_STRIPS, left = strip % D_STRIPS * D_STRIP;
        const int y = row % P_DST_H, z = row / P_DST_H % P_DST_D;
        const INDEX_T n = row / (P_DST_H * P_DST_D);
        const int at_y = y * P_STRIDE_H + p.h * P_DILATION_H - D_LEAD_H;
        const int at_z = z * P_STRIDE_D + p.d * P_DILATION_D - D_LEAD_D;
        const int at_x = p.s * P_DILATION_W - D_LEAD_W;
        const int first = D_LANES == 2 ? divide_up(-at_y, P_DILATION_H) : 0;
        const int last = D_LANES == 2 ? min(divide_up(P_SRC_H - at_y, P_DILATION_H), T_X) : T_X;
        const bool inside = D_LANES == 2 ? first < last : at_y >= 0 && at_y < P_SRC_H;
        if (inside && at_z >= 0 && at_z < P_SRC_D)
            add_row(acc,
                    p.x + n * D_SRC_IMAGE + (INDEX_T)at_z * D_SRC_PLANE + (INDEX_T)at_y * D_SRC_ROW +
                        (INDEX_T)at_x * D_SRC_PIXEL,
                    p.dy + n * D_DST_IMAGE + (INDEX_T)z * D_DST_PLANE + (INDEX_T)y * D_DST_ROW,
                    left, min(left + D_STRIP, P_DST_W), at_x, first, last);
    }
}

/* Where in `out` the sum of tap `tap` lies: unit i of x, unit j of dy of the group. */
INLINE INDEX_T cell(const int group, const int i, const int j, const int tap)
{
#if D_LANES == 0
    const int k = group * D_DST_C + j;
    return ((((INDEX_T)(k / D_B) * D_BLOCKS_C + i) * D_TAPS + tap) * D_B + k % D_B) * D_B;
#elif D_LANES == 1
    return (((INDEX_T)(group * (D_DST_C / D_B) + j) * D_SRC_C + i) * D_TAPS + tap) * D_B;
#else
    return ((INDEX_T)j * D_TAPS + tap) * D_B;
#endif
}

/* Zero in lanes past the last channel. */
INLINE ACC_V masked(const ACC_V v, const int i, const int j)
{
#if D_LANES == 0 && D_SRC_C % D_B
    return KILN_LANES < D_SRC_C - i * D_B ? v : (ACC_V)((ACC_T)0);
#elif D_LANES == 1 && D_DST_C % D_B
    return KILN_LANES < D_DST_C - j * D_B ? v : (ACC_V)((ACC_T)0);
#elif D_LANES == 2 && D_CHANNELS % D_B
    return KILN_LANES < D_CHANNELS - j * D_B ? v : (ACC_V)((ACC_T)0);
#else
    return v;
#endif
}

/* Tile whose units begin at own_x and own_y: its sums over rows from `begin` on, added to what `out`
 * holds unless `fresh`. */
INLINE void tile(global const SRC_T *x, global const SRC_T *dy, global ACC_T *out, const int group,
                 const int own_x, const int own_y, const int d, const int h, const int s,
                 const int begin, const int end, const bool fresh)
{
    const int x0 = D_LANES == 2 ? 0 : min(own_x, D_UNITS_X - T_X), y0 = min(own_y, D_UNITS_Y - T_Y);
    place p = {x, dy, d, h, s};
#if D_LANES == 0
    const int k = group * D_DST_C + y0;
    p.x += (INDEX_T)(group * (D_SRC_C / D_B) + x0) * D_SRC_BLOCK;
    p.dy += (INDEX_T)(k / D_B) * D_DST_BLOCK + k % D_B * D_DST_CHANNEL;
#elif D_LANES == 1
    const int c = group * D_SRC_C + x0;
    p.x += (INDEX_T)(c / D_B) * D_SRC_BLOCK + (INDEX_T)(c % D_B) * D_SRC_CHANNEL;
    p.dy += (INDEX_T)(group * (D_DST_C / D_B) + y0) * D_DST_BLOCK;
#else
    p.x += (INDEX_T)y0 * D_SRC_BLOCK;
    p.dy += (INDEX_T)y0 * D_DST_BLOCK;
#endif
    ACC_V acc[SUMS];
#pragma unroll
    for (int i = 0; i < SUMS; i++)
        acc[i] = (ACC_V)((ACC_T)0);
    add_rows(acc, p, begin, end);
    const int tap = (d * P_FILTER_H + h) * P_FILTER_W + s;
#pragma unroll
    for (int i = 0; i < T_X; i++) {
        if (D_LANES != 2 && (x0 + i < own_x || (D_LANES == 1 && x0 + i >= D_SRC_C)))
            continue;
        const int tap_i = D_LANES == 2 ? tap + i * P_FILTER_W : tap;
#pragma unroll
        for (int j = 0; j < T_Y; j++) {
            if (y0 + j < own_y)
                continue;
#pragma unroll
            for (int t = 0; t < T_S; t++) {
                global kiln_loose_acc *to =
                    (global kiln_loose_acc *)(out + cell(group, x0 + i, y0 + j, tap_i + t));
                const ACC_V sum = masked(acc[SUM(i, t, j)], x0 + i, y0 + j);
                *to = D_LANES == 0 && D_DST_C % T_Y != 0 && y0 + j >= D_DST_C ? (ACC_V)((ACC_T)0)
                      : fresh                                    ? sum
                                                                 : *to + sum;
            }
        }
    }
}

kernel GROUP_SIZE(1, 1, 1) void weights_blocked(global const SRC_T *restrict x,
                                                global const SRC_T *restrict dy,
                                                global ACC_T *restrict out)
{
    const int group = get_global_id(0) / D_ITEMS, part = get_global_id(1);
    const int y_begin = get_global_id(0) % D_ITEMS * D_ITEM_Y;
    const int y_end = min(y_begin + D_ITEM_Y, D_UNITS_Y);
    const int begin = part * D_PART, end = min(begin + D_PART, D_ROWS);
    const int units_x = D_LANES == 2 ? 1 : D_UNITS_X;
    out += (INDEX_T)part * D_CELLS;
#pragma nounroll
    for (int from = begin; from < end; from += D_CHUNK)
#pragma nounroll
        for (int own_y = y_begin; own_y < y_end; own_y += T_Y)
#pragma nounroll
            for (int own_x = 0; own_x < units_x; own_x += T_X)
#pragma nounroll
                for (int d = 0; d < P_FILTER_D; d++)
#pragma nounroll
                    for (int h = 0; h < P_FILTER_H; h += TILE_H)
#pragma nounroll
                        for (int s = 0; s < P_FILTER_W; s += T_S)
                            tile(x, dy, out, group, own_x, own_y, d, h, s, from,
                                 min(from + D_CHUNK, end), from == begin);
}
