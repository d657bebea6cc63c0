/* Computes what an item's tile of depthwise_gather meets. */
#include "depthwise_tile.h"

#include "generator/base/integers.h"

static void set_rows(const kiln_shape *s, const kiln_config *c, kiln_depthwise_tile *g)
{
    const int64_t stride = s->stride[1], reach = (s->filter[1] - 1) * s->dilation[1];
    g->rows = c->v[GATHER_ROWS] * (g->backward ? stride : 1);
    if (g->backward) {
        g->first = divide_down(s->pad[1] - reach, stride);
        g->window = divide_down(g->rows - 1 + s->pad[1], stride) - g->first + 1;
    } else {
        g->first = -s->pad[1];
        g->window = (g->rows - 1) * stride + reach + 1;
    }
}

static void set_columns(const kiln_shape *s, const kiln_config *c, kiln_depthwise_tile *g)
{
    const int64_t stride = s->stride[2], dilation = s->dilation[2];
    g->jump = g->backward ? stride / gcd(stride, dilation) : 1;
    g->move = g->backward ? -(g->jump * dilation / stride) : dilation;
    g->across = g->backward ? 1 : stride;
    const int64_t taps = divide_up(s->filter[2], g->jump), last = (taps - 1) * g->move;
    if (c->v[GATHER_COLUMNS] == 1) {
        g->step = g->move;
        g->steps = taps;
        return;
    }
    g->left = last < 0 ? last : 0;
    g->step = gcd(g->across, dilation);
    g->steps = ((c->v[GATHER_COLUMNS] - 1) * g->across + (last < 0 ? -last : last)) / g->step + 1;
}

static bool is_order(const kiln_shape *s, char tensor, const int64_t size[3], kiln_order order)
{
    const kiln_pitch p = kiln_pitch_of(s, tensor);
    return kiln_order_of(&p, size, s->c) == order;
}

bool kiln_depthwise_order(const kiln_shape *s, kiln_order order)
{
    return is_order(s, 'x', s->in, order) && is_order(s, 'y', s->out, order);
}

/* Sets the run: an item reads columns of NCHW as one vector where rows are whole numbers of
 * vectors. */
static void set_run(const kiln_shape *s, const kiln_config *c, kiln_depthwise_tile *g)
{
    const int64_t columns = c->v[GATHER_COLUMNS], run = columns * g->across;
    const bool whole = run <= 16 && (run & (run - 1)) == 0 && columns >= 4 &&
                       g->src[2] % run == 0 && g->dst[2] % columns == 0 &&
                       g->dst[2] * g->across <= g->src[2];
    if (!whole || c->v[GATHER_VECTOR] > 1 || g->step != 1 ||
        !kiln_depthwise_order(s, KILN_CHANNELS_FIRST))
        return;
    g->run_at = (g->backward ? -s->pad[2] : s->pad[2]) - g->left;
    g->run = g->run_at >= 0 && g->run_at + run <= g->steps ? run : 0;
}

kiln_depthwise_tile kiln_depthwise_tile_of(const kiln_shape *s, const kiln_config *c)
{
    kiln_depthwise_tile g = {.backward = s->direction == KILN_BACKWARD_DATA};
    g.src = g.backward ? s->out : s->in;
    g.dst = g.backward ? s->in : s->out;
    set_rows(s, c, &g);
    set_columns(s, c, &g);
    set_run(s, c, &g);
    const int64_t tiles = divide_up(g.dst[1], g.rows) * divide_up(g.dst[2], c->v[GATHER_COLUMNS]);
    g.items = product_of(s->n * (s->c / c->v[GATHER_VECTOR]), g.dst[0] * tiles);
    const bool ends =
        c->v[GATHER_ROW_WISE] && s->filter[0] == 1; /* a row, before the last ones begin */
    const int64_t reach = (s->filter[1] - 1) * s->dilation[1];
    g.sums =
        (ends ? least_of(g.rows, reach + 1) : g.rows) * c->v[GATHER_COLUMNS] * c->v[GATHER_VECTOR];
    g.weights = s->filter[1] * (c->v[GATHER_ROW_WISE] ? s->filter[2] : 1) * c->v[GATHER_VECTOR];
    return g;
}
