/* direct_lines.cl: lays a tensor out in lines, in which a filter tap is one fixed offset.
 *
 * Every image gets the zero border that the taps need, and its rows follow one another in one line
 * per channel, images too. Neighbours share a border:
 *
 *      x x x x        one row and the next, padding 1:
 *      y y y y          0 x x x x 0 y y y y 0 ...      D_LINE_W = 5 positions a row
 *
 * With a stride, rows and columns are sorted into slots, so that a step of the destination is one
 * position in every slot: slot 0 holds elements 0, 2, 4, ... of the padded row, slot 1 elements 1,
 * 3, 5, ... . Lines lie as [slot][channel][image][D_LINE_D][D_LINE_H][D_LINE_W], then zeros up to
 * D_ALL_ROWS rows for readers of whole vectors.
 *
 * Grid: (ceil(D_LINE_W / D_SPAN), ceil(D_ALL_ROWS / D_HIGH)), one item D_SPAN positions of D_HIGH
 * rows.
 *
 * Defines, besides SRC_TYPE, P_WIDE and those of items.cl; _a stands for each of _D, _H, _W:
 *   P_N, D_CHANNELS     images, channels
 *   P_SRC_a             sizes of the tensor
 *   D_LINE_a            positions in the line
 *   D_STEP_a            elements from one position to the next
 *   D_SLOTS_a           slots; slot i starts at element i * P_DILATION_a % P_STRIDE_a - D_LEAD_a
 *   D_ROWS, D_ALL_ROWS  rows of one channel, and of all
 *   D_SPAN, D_HIGH      positions and rows of one item
 */
#include "items.cl"
#include "types.cl"

/* Elements are moved as bits, whatever their type. */
#if SRC_BYTES == 4
#define BITS uint
#elif SRC_BYTES == 1
#define BITS uchar
#else
#define BITS ushort
#endif

#define ELEMENT(v, slot, a)                                                                        \
    ((int)(v)*D_STEP_##a + (int)(slot)*P_DILATION_##a % P_STRIDE_##a - D_LEAD_##a)

/* Lays out D_SPAN positions of one row, from `begin` on. */
static inline void lay_row(global const BITS *src, global BITS *line, const INDEX_T row,
                           const int begin)
{
    const int end = min(begin + D_SPAN, D_LINE_W);
    INDEX_T channel = row / D_ROWS % D_CHANNELS, r = row % D_ROWS;
    int slot = row / D_ROWS / D_CHANNELS;
    INDEX_T n = r / (D_LINE_D * D_LINE_H);
    int d = ELEMENT(r / D_LINE_H % D_LINE_D, slot / (D_SLOTS_W * D_SLOTS_H), D);
    int h = ELEMENT(r % D_LINE_H, slot / D_SLOTS_W % D_SLOTS_H, H);
    int w0 = ELEMENT(0, slot % D_SLOTS_W, W);
    bool inside = n < P_N && slot < D_SLOTS_D * D_SLOTS_H * D_SLOTS_W && d >= 0 && d < P_SRC_D &&
                  h >= 0 && h < P_SRC_H;
    line += row * D_LINE_W;
    src += (((n * D_CHANNELS + channel) * P_SRC_D + d) * P_SRC_H + h) * P_SRC_W + w0;
#if D_SPAN == 1
    const int w = w0 + begin * D_STEP_W;
    if (begin < D_LINE_W)
        line[begin] = inside && w >= 0 && w < P_SRC_W ? src[begin * D_STEP_W] : (BITS)0;
#else
    /* Positions before `low` and from `high` on are border. */
    int low = clamp((D_STEP_W - 1 - w0) / D_STEP_W, begin, end), v = begin;
    int high = w0 >= P_SRC_W ? low : clamp((P_SRC_W - 1 - w0) / D_STEP_W + 1, low, end);
    if (!inside)
        low = high = end;
    for (; v < low; v++)
        line[v] = 0;
#if D_STEP_W == 1
    for (; v + 16 <= high; v += 16)
        vstore16(vload16(0, src + v), 0, line + v);
#elif D_STEP_W == 2
    for (; v + 8 <= high && w0 + 2 * v + 16 <= P_SRC_W; v += 8)
        vstore8(vload16(0, src + 2 * v).even, 0, line + v);
#endif
    for (; v < high; v++)
        line[v] = src[v * D_STEP_W];
    for (; v < end; v++)
        line[v] = 0;
#endif
}

INLINE void item(global const BITS *src, global BITS *line, const int begin, const INDEX_T first)
{
    const INDEX_T end = min(first + D_HIGH, (INDEX_T)D_ALL_ROWS);
    for (INDEX_T row = first; row < end; row++)
        lay_row(src, line, row, begin);
}

#define ITEM_HERE item(src, line, ITEM(0) * D_SPAN, (INDEX_T)ITEM(1) * D_HIGH)
DEFINE_ITEM(ITEM_HERE, (global const BITS *src, global BITS *line))

kernel void lay_out(global const BITS *restrict src, global BITS *restrict line ITEMS_PARAM)
{
    EACH_ITEM(ITEM_HERE, (src, line))
}
