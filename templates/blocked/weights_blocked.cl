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
 *
 * An item takes D_ITEM_X units of x and D_ITEM_Y units of dy:
 *
 *                    cut 0       cut 1       of T_CUTS_Y
 *     cut 0        [ tile tile | tile tile ]
 *     of T_CUTS_X  [ tile tile | tile tile ]
 *
 * Pixels of dy come in chunks, and a tile's blocks of a chunk stay in the first-level cache while
 * tiles along the other axis use them. The next chunk is prefetched meanwhile, and sums wait in
 * `out` from chunk to chunk. A chunk is a strip of a row or some short rows, so that no sum becomes
 * a long chain of roundings. Strips are divided into T_PARTS parts, each with an `out` of its own,
 * which sum_parts.cl adds in order: the result is the same in every run. The last tile of units
 * starts earlier instead of being smaller, and stores only sums that no other tile has.
 *
 * Sums lie in `out` as blocked weights: [K / D_B][C / D_B][taps][D_B k][D_B c] for lanes 0, and
 * [K / D_B][C][taps][D_B k] for lanes 1. Padding is not in memory: rows outside x are left out, and
 * so are taps outside a row.
 *
 * Grid: (groups * T_CUTS_X * T_CUTS_Y, T_PARTS), groups of one item (see items.cl).
 *
 * Defines, besides those of the files included; _a stands for each of _D, _H, _W:
 *   D_B, D_LANES        above
 *   P_SRC_a, P_DST_a    sizes of x and dy; P_FILTER_a, P_STRIDE_a, P_DILATION_a
 *   D_LEAD_a            coordinate in x of destination element 0, tap 0, is -D_LEAD_a
 *   D_GROUPS, D_SRC_C, D_DST_C  groups and the channels of one
 *   D_SRC_IMAGE, _BLOCK, _PLANE, _ROW, _PIXEL, _CHANNEL    elements of x from one to the next
 *   D_DST_IMAGE, _BLOCK, _PLANE, _ROW, _PIXEL, _CHANNEL    the same of dy
 *   D_UNITS_X, D_UNITS_Y   units of a group, in whole tiles where tiles may not start earlier
 *   D_ITEM_X, D_ITEM_Y  units that one item takes, in whole tiles
 *   D_STRIPS, D_STRIP   strips that a row of dy is cut into, and pixels of one
 *   D_ROWS, D_CHUNK, D_PART   strips of dy in all images, of a chunk, of a part
 *   D_TOGETHER, D_BF16  2: pixels are multiplied in pairs (see products.cl)
 *   D_CELLS             elements of one `out`
 *   T_X T_Y T_S         tile; T_S divides P_FILTER_W, and T_Y divides D_B for lanes 0
 *   T_CUTS_X, T_CUTS_Y, T_PARTS   above
 */
#include "items.cl"
#include "taps.cl"
#include "vectors.cl"
#include "weights_blocked_row.cl"

#define D_TAPS (P_FILTER_D * P_FILTER_H * P_FILTER_W)
#define D_BLOCKS_C ((D_SRC_C + D_B - 1) / D_B)

/* Elements of `out` between sums of taps, of units of x, of units of dy. */
#if D_LANES == 0
#define OUT_TAP (D_B * D_B)
#define OUT_X (D_TAPS * OUT_TAP)
#define OUT_Y D_B
#else
#define OUT_TAP D_B
#define OUT_X (D_TAPS * OUT_TAP)
#define OUT_Y (D_SRC_C * OUT_X)
#endif

/* The place of a tile. */
typedef struct place {
    global const SRC_T *x, *dy; /* its first units */
    int d, h, s;                /* its first tap */
} place;

/* Coordinates in x that the tile's tap reads for row `row` of dy. */
#define ROW_Y(row) ((row) % P_DST_H * P_STRIDE_H + p.h * P_DILATION_H - D_LEAD_H)
#define ROW_Z(row) ((row) / P_DST_H % P_DST_D * P_STRIDE_D + p.d * P_DILATION_D - D_LEAD_D)

/* The first strip from `strip` on whose row is inside x, or `end`. */
INLINE int next_strip(const place p, int strip, const int end)
{
#if LEAVES(H) || LEAVES(D)
#pragma nounroll
    for (; strip < end; strip++) {
        const int y = ROW_Y(strip / D_STRIPS), z = ROW_Z(strip / D_STRIPS);
        if (y >= 0 && y < P_SRC_H && z >= 0 && z < P_SRC_D)
            break;
    }
#endif
    return strip;
}

/* The compiler leaves sums in their registers if the loop always adds something. */
INLINE void add_rows(ACC_V *acc, const place p, const int begin, const int end)
{
    const int at_x = p.s * P_DILATION_W - D_LEAD_W;
    int strip = next_strip(p, begin, end);
    if (strip == end)
        return;
#pragma nounroll
    do {
        const int row = strip / D_STRIPS, left = strip % D_STRIPS * D_STRIP;
        const int right = P_DST_W % D_STRIP ? min(left + D_STRIP, P_DST_W) : left + D_STRIP;
        const int y = row % P_DST_H, z = row / P_DST_H % P_DST_D;
        const INDEX_T n = row / (P_DST_H * P_DST_D);
        add_row(acc,
                p.x + n * D_SRC_IMAGE + (INDEX_T)ROW_Z(row) * D_SRC_PLANE +
                    (INDEX_T)ROW_Y(row) * D_SRC_ROW + (INDEX_T)at_x * D_SRC_PIXEL,
                p.dy + n * D_DST_IMAGE + (INDEX_T)z * D_DST_PLANE + (INDEX_T)y * D_DST_ROW, left,
                right, at_x);
        strip = next_strip(p, strip + 1, end);
    } while (strip < end);
}

/* Zero in lanes past the last channel, of unit i of x and unit j of dy of the group. */
INLINE ACC_V masked(const ACC_V v, const int i, const int j)
{
#if D_LANES == 0
    if (D_DST_C % T_Y && j >= D_DST_C)
        return (ACC_V)((ACC_T)0);
    return D_SRC_C % D_B == 0 || LANES(D_B) < D_SRC_C - i * D_B ? v : (ACC_V)((ACC_T)0);
#else
    return D_DST_C % D_B == 0 || LANES(D_B) < D_DST_C - j * D_B ? v : (ACC_V)((ACC_T)0);
#endif
}

/* Stores the sums of units from own_x and own_y on, of a tile that begins at x0 and y0, or adds
 * them to the sums in memory unless `fresh`. */
INLINE void put(global ACC_T *to, const ACC_V *acc, const int x0, const int y0, const int own_x,
                const int own_y, const bool fresh)
{
#pragma unroll
    for (int i = 0; i < T_X; i++) {
        if (D_UNITS_X % T_X && x0 + i < own_x)
            continue;
#if D_LANES == 1 && D_UNITS_X > D_SRC_C
        if (x0 + i >= D_SRC_C)
            continue;
#endif
#pragma unroll
        for (int t = 0; t < T_S; t++)
#pragma unroll
            for (int j = 0; j < T_Y; j++) {
                if (D_UNITS_Y % T_Y && y0 + j < own_y)
                    continue;
                global kiln_loose_acc *at =
                    (global kiln_loose_acc *)(to + i * OUT_X + t * OUT_TAP + (INDEX_T)j * OUT_Y);
                const ACC_V sum = masked(acc[SUM(i, t, j)], x0 + i, y0 + j);
                *at = fresh ? sum : *at + sum;
            }
    }
}

/* Sums the tile whose own units begin at own_x and own_y over rows from `begin` on, and adds the
 * sums in `out` unless `fresh`. */
INLINE void tile(global const SRC_T *x, global const SRC_T *dy, global ACC_T *out, const int group,
                 const int own_x, const int own_y, const int d, const int h, const int s,
                 const int begin, const int end, const bool fresh)
{
    const int x0 = min(own_x, D_UNITS_X - T_X), y0 = min(own_y, D_UNITS_Y - T_Y);
    const int tap = (d * P_FILTER_H + h) * P_FILTER_W + s;
    place p = {x, dy, d, h, s};
#if D_LANES == 0
    const uint k = group * D_DST_C + y0;
    p.x += (INDEX_T)(group * (D_SRC_C / D_B) + x0) * D_SRC_BLOCK;
    p.dy += (INDEX_T)(k / D_B) * D_DST_BLOCK + k % D_B * D_DST_CHANNEL;
    out += (INDEX_T)(k / D_B) * (D_BLOCKS_C * OUT_X) + k % D_B * OUT_Y;
#else
    const uint c = group * D_SRC_C + x0;
    p.x += (INDEX_T)(c / D_B) * D_SRC_BLOCK + (INDEX_T)(c % D_B) * D_SRC_CHANNEL;
    p.dy += (INDEX_T)(group * (D_DST_C / D_B) + y0) * D_DST_BLOCK;
    out += (INDEX_T)(group * (D_DST_C / D_B) + y0) * OUT_Y;
#endif
    out += (INDEX_T)x0 * OUT_X + tap * OUT_TAP;
    ACC_V acc[SUMS];
#pragma unroll
    for (int i = 0; i < SUMS; i++)
        acc[i] = (ACC_V)((ACC_T)0);
    add_rows(acc, p, begin, end);
    if (fresh)
        put(out, acc, x0, y0, own_x, own_y, true);
    else
        put(out, acc, x0, y0, own_x, own_y, false);
}

#if D_LANES == 0
#define D_END_Y ((D_GROUPS - 1) * D_DST_C + D_UNITS_Y) /* rows of dw that tiles store */
#if D_END_Y % D_B
/* Writes zeros to the other rows of the last block, for units `begin` to `end` - 1 of x. */
INLINE void put_padding(global ACC_T *out, const int begin, const int end)
{
    out += (INDEX_T)(D_END_Y / D_B) * (D_BLOCKS_C * OUT_X);
#pragma nounroll
    for (INDEX_T i = (INDEX_T)begin * D_TAPS; i < (INDEX_T)end * D_TAPS; i++)
#pragma nounroll
        for (int k = D_END_Y % D_B; k < D_B; k++)
            *(global kiln_loose_acc *)(out + i * OUT_TAP + k * OUT_Y) = (ACC_V)((ACC_T)0);
}
#endif
#endif

/* The axis whose units are vectors is the outer loop. */
#if D_LANES == 0
#define OUTER(name) name##_x
#define INNER(name) name##_y
#define OUTER_STEP T_X
#define INNER_STEP T_Y
#else
#define OUTER(name) name##_y
#define INNER(name) name##_x
#define OUTER_STEP T_Y
#define INNER_STEP T_X
#endif

/* One item, of a part. */
INLINE void item(global const SRC_T *x, global const SRC_T *dy, global ACC_T *out, const int item,
                 const int part)
{
    const int group = item / (T_CUTS_X * T_CUTS_Y);
    const int begin_x = item / T_CUTS_Y % T_CUTS_X * D_ITEM_X, begin_y = item % T_CUTS_Y * D_ITEM_Y;
    const int end_x = min(begin_x + D_ITEM_X, D_UNITS_X);
    const int end_y = min(begin_y + D_ITEM_Y, D_UNITS_Y);
    const int begin = part * D_PART, end = min(begin + D_PART, D_ROWS);
    out += (INDEX_T)part * D_CELLS;
#if D_LANES == 0 && D_END_Y % D_B
    if (group == D_GROUPS - 1 && end_y == D_UNITS_Y)
        put_padding(out, begin_x, end_x);
#endif
#pragma nounroll
    for (int from = begin; from < end; from += D_CHUNK)
#pragma nounroll
        for (int OUTER(own) = OUTER(begin); OUTER(own) < OUTER(end); OUTER(own) += OUTER_STEP)
#pragma nounroll
            for (int INNER(own) = INNER(begin); INNER(own) < INNER(end); INNER(own) += INNER_STEP)
#pragma nounroll
                for (int d = 0; d < P_FILTER_D; d++)
#pragma nounroll
                    for (int h = 0; h < P_FILTER_H; h++)
#pragma nounroll
                        for (int s = 0; s < P_FILTER_W; s += T_S)
                            tile(x, dy, out, group, own_x, own_y, d, h, s, from,
                                 min(from + D_CHUNK, end), D_CHUNK >= D_PART || from == begin);
}

#define ITEM_HERE item(x, dy, out, ITEM(0), ITEM(1))
DEFINE_ITEM(ITEM_HERE, (global const SRC_T *x, global const SRC_T *dy, global ACC_T *out))

kernel GROUP_SIZE(1, 1, 1) void weights_blocked(global const SRC_T *restrict x,
                                                global const SRC_T *restrict dy,
                                                global ACC_T *restrict out ITEMS_PARAM)
{
    EACH_ITEM(ITEM_HERE, (x, dy, out))
}
