/* Computes the steps and tiles of the direct solver by AMX. */
#include "generator/base/integers.h"

#include "direct_amx.h"

/* With more steps in a row of the filter one fewer is no gain. */
enum { FEW_STEPS = 32 };

/* Returns the fewest steps into which `elements` are divided evenly; `limit` if they are as many.
 */
static int64_t steps_of(int64_t elements, int64_t most, int64_t together, int64_t limit)
{
    int64_t steps = divide_up(elements, most);
    while (steps < limit && elements % (steps * together) != 0)
        steps++;
    return least_of(steps, limit);
}

/* Whether a position reads one pixel, and positions of a row neighbouring ones, whose channels lie
 * together. */
static bool is_direct(const kiln_blocked *b)
{
    const kiln_pitch *p = &b->src_pitch;
    for (int a = 0; a < 3; a++)
        if (b->filter[a] > 1 || b->stride[a] > 1 || b->lead[a] != 0 || b->src[a] < b->dst[a])
            return false;
    return p->blocks == 1 && b->dst[0] == 1 && b->dst[KILN_AXIS_H] == 1;
}

/* What a row of the filter meets lies together in a piece that has no blocks of channels, unless
 * the row is dilated: it takes fewer steps where channels would leave a block half empty. Pixels
 * are filled up only as far as the row needs. */
static void set_steps(kiln_direct_amx *g)
{
    const kiln_blocked *b = &g->b;
    const int64_t most = AMX_ROW_BYTES / g->size, together = 4 / g->size;
    const int64_t width = b->filter[KILN_AXIS_W];
    const int64_t filled = round_up(b->src_c, together);
    const int64_t pixel = b->src_c * width % together == 0 ? b->src_c : filled;
    const int64_t by_blocks = divide_up(b->src_c, most) * width;
    const bool dilated = b->dilation[KILN_AXIS_W] > 1 && width > 1;
    const int64_t by_row = dilated || by_blocks > FEW_STEPS
                               ? by_blocks
                               : steps_of(pixel * width, most, together, by_blocks);
    const int64_t few_more = divide_up(b->src_c, most) * 5 / 4 + 1;
    const int64_t by_pixel = steps_of(b->src_c, most, together, few_more);
    g->direct = is_direct(b) && by_pixel < few_more;
    if (g->direct) {
        g->pixel = b->src_c;
        g->steps_w = by_pixel;
        g->step = b->src_c / by_pixel;
    } else if (by_row < by_blocks) {
        g->pixel = pixel;
        g->steps_w = by_row;
        g->step = pixel * width / by_row;
    } else {
        g->pixel = g->step = least_of(filled, most);
        g->steps_w = width;
    }
    g->blocks = divide_up(b->src_c, g->pixel);
    g->steps = g->blocks * b->filter[0] * b->filter[1] * g->steps_w;
    g->fold = 1;
    g->filter_rows = b->filter[KILN_AXIS_H];
}

/* Rows of the source that are a stride apart are one, where that takes fewer steps. The last row of
 * the filter in a piece may be one that the filter has not: a factor of zero, which a NaN shows. */
static void fold_rows(kiln_direct_amx *g)
{
    const kiln_blocked *b = &g->b;
    const int64_t most = AMX_ROW_BYTES / g->size, together = 4 / g->size;
    const int64_t fold = b->stride[KILN_AXIS_H], width = b->filter[KILN_AXIS_W];
    const int64_t rows = divide_up(b->filter[KILN_AXIS_H], fold);
    const bool part = b->filter[KILN_AXIS_H] % fold != 0;
    const bool dilated =
        b->dilation[KILN_AXIS_H] > 1 || (b->dilation[KILN_AXIS_W] > 1 && width > 1);
    if (fold == 1 || g->direct || g->blocks > 1 || dilated || (part && g->size > 1))
        return;
    const int64_t least = fold * b->src_c, filled = fold * round_up(b->src_c, together);
    const int64_t pixel = least * width % together == 0 ? least : filled;
    const int64_t steps_w = steps_of(pixel * width, most, together, FEW_STEPS);
    const int64_t steps = b->filter[0] * rows * steps_w;
    if (steps_w == FEW_STEPS || steps >= g->steps)
        return;
    g->fold = fold;
    g->filter_rows = rows;
    g->phases[KILN_AXIS_H] = 1;
    g->pixel = pixel;
    g->steps_w = steps_w;
    g->step = pixel * width / steps_w;
    g->steps = steps;
}

static kiln_direct_amx of_shape(const kiln_shape *s)
{
    kiln_direct_amx g = {.b = kiln_blocked_of(s), .size = (int64_t)kiln_type_size(s->w_type)};
    const int64_t stored = g.b.dst_pitch.neighbours * g.b.dst_pitch.blocks;
    const int64_t padding = stored - g.b.dst_c * g.b.groups;
    for (int a = 0; a < 3; a++)
        g.phases[a] = g.b.filter[a] > 1 ? g.b.stride[a] : 1;
    set_steps(&g);
    fold_rows(&g);
    g.vectors = divide_up(g.b.dst_c + padding, AMX_CHANNELS);
    g.pairs = divide_up(g.vectors, 2);
    return g;
}

/* Returns the pixels of a piece that `n` positions of an axis read. */
static int64_t span_of(const kiln_direct_amx *g, int a, int64_t n)
{
    const int64_t taps = a == KILN_AXIS_H ? g->filter_rows : g->b.filter[a];
    return (n - 1) * g->phases[a] + (taps - 1) * g->b.dilation[a] + 1;
}

/* As many rows as have the wanted positions, in equal numbers over the image, or a part of one
 * row. */
static void set_tile(kiln_direct_amx *g, int64_t wanted)
{
    const kiln_blocked *b = &g->b;
    const int64_t w = b->dst[KILN_AXIS_W], h = b->dst[KILN_AXIS_H];
    const int64_t line = divide_up(span_of(g, KILN_AXIS_W, w), g->phases[KILN_AXIS_W]);
    g->rows = 1;
    g->cols = w;
    if (w > wanted) {
        g->cols = divide_up(w, divide_up(w, wanted));
    } else {
        g->rows = divide_up(h, divide_up(h, (wanted - w) / line + 1));
    }
    g->tiles_h = divide_up(h, g->rows);
    g->tiles_w = divide_up(w, g->cols);
}

void kiln_direct_amx_set(kiln_direct_amx *g, const kiln_config *c)
{
    const kiln_blocked *b = &g->b;
    const int64_t sw = g->phases[KILN_AXIS_W], sh = g->phases[KILN_AXIS_H];
    set_tile(g, c->v[AMX_TILE]);
    g->pitch = round_up(span_of(g, KILN_AXIS_W, g->cols), sw);
    g->phase_rows = divide_up(span_of(g, KILN_AXIS_H, g->rows), sh);
    g->plane = product_of(sh * g->phase_rows, g->pitch);
    g->positions = (g->rows - 1) * (g->pitch / sw) + g->cols;
    g->tiles = divide_up(g->positions, AMX_ROWS);
    g->tile_rows = divide_up(g->positions, g->tiles);
    /* The last tile begins before the last position. */
    const int64_t behind = 2 * AMX_ROWS * sw * g->pixel + AMX_ROW_BYTES / g->size;
    g->position = g->direct ? b->src_pitch.pixel : sw * g->pixel;
    g->piece = g->direct
                   ? AMX_ROW_BYTES / g->size
                   : product_of(product_of(g->plane, g->blocks * g->pixel), b->filter[0]) + behind;
    g->part = divide_up(g->pairs, c->v[AMX_PARTS]);
    g->parts = divide_up(g->pairs, g->part);
}

kiln_direct_amx kiln_direct_amx_of(const kiln_shape *s, const kiln_config *c)
{
    kiln_direct_amx g = of_shape(s);
    kiln_direct_amx_set(&g, c);
    return g;
}
