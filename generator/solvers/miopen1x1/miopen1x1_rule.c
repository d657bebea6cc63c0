/* MIOpen's arithmetic for ConvOclDirectFwd1x1: its default config, and the numbers that it derives
 * from any config. */
#include "miopen1x1.h"

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t blocks(int64_t count, int64_t size)
{
    return (count + size - 1) / size;
}

/* `size`, halved (rounding down) until it divides `count`; 1 at the least. */
static int64_t halve_to_divide(int64_t count, int64_t size)
{
    size = max64(size, 1);
    while (count % size != 0)
        size /= 2;
    return size;
}

miopen1x1_view kiln_miopen1x1_view(const kiln_shape *s)
{
    bool forward = s->direction == KILN_FORWARD;
    const int64_t *in = forward ? s->in : s->out, *out = forward ? s->out : s->in;
    return (miopen1x1_view){
        .forward = forward,
        .j1 = forward && s->x_type == KILN_F32 && s->c % 16 == 0 && s->k % 16 == 0,
        .strided = s->stride[KILN_AXIS_H] > 1 || s->stride[KILN_AXIS_W] > 1,
        .n = s->n,
        .inputs = forward ? s->c : s->k,
        .in_h = in[KILN_AXIS_H],
        .in_w = in[KILN_AXIS_W],
        .outputs = forward ? s->k : s->c,
        .out_h = out[KILN_AXIS_H],
        .out_w = out[KILN_AXIS_W],
        .stride_h = s->stride[KILN_AXIS_H],
        .stride_w = s->stride[KILN_AXIS_W],
    };
}

static miopen1x1_numbers j1_numbers(const miopen1x1_view *v, const kiln_config *c)
{
    miopen1x1_numbers m = {.once = v->strided ? 4 : 8, .local = MIOPEN1X1_J1_GROUP};
    m.in_maps = min64(c->v[MIOPEN1X1_N_IN_DATA_TILES], v->inputs);
    if (m.in_maps < 1 || m.in_maps % 8 != 0)
        m.in_maps = v->inputs;
    m.out_maps = max64(1, min64(c->v[MIOPEN1X1_N_OUT_PIX_TILES], v->outputs));
    while (v->outputs % m.out_maps != 0 && m.out_maps > 16)
        m.out_maps /= 2;
    m.cheat = c->v[MIOPEN1X1_OUT_PIX_TILE0];
    m.in_groups = blocks(v->inputs, m.in_maps);
    m.out_groups = v->outputs / m.out_maps;
    m.cloop0 = m.in_maps / m.once;
    m.cloop2 = (v->inputs - m.in_maps * (m.in_groups - 1)) / m.once;
    int64_t pixels = v->n * v->out_h * v->out_w;
    m.global[0] = blocks(pixels, m.local) * m.local * m.in_groups * m.out_groups;
    m.global[1] = 1;
    return m;
}

/* The output pixels that a work-item writes are a row of read_unit. In strided backward data the
 * pixels spread over a block of stride_h rows, stride_w * read_unit wide. */
static miopen1x1_numbers s_numbers(const miopen1x1_view *v, const kiln_config *c)
{
    miopen1x1_numbers m = {.vert_aligned = 1, .horiz_aligned = 1};
    int64_t tile = max64(1, min64(c->v[MIOPEN1X1_OUT_PIX_TILE0], v->out_w));
    if (!v->forward)
        tile = halve_to_divide(v->out_w, tile);
    m.read_unit = halve_to_divide(v->in_w, tile);
    m.out_width4 = v->out_w;
    m.map_sz4 = blocks(v->out_w * v->out_h, m.read_unit);
    if (v->strided) {
        int64_t rows = v->forward ? v->out_h : blocks(v->out_h, v->stride_h);
        m.out_width4 = blocks(v->out_w, v->forward ? m.read_unit : m.read_unit * v->stride_w);
        m.map_sz4 = m.out_width4 * rows;
    }
    if (!v->forward) {
        m.vert_aligned = v->out_h / v->stride_h == v->in_h;
        m.horiz_aligned = v->out_w / v->stride_w == v->in_w;
    }
    m.in_maps = halve_to_divide(v->inputs, min64(c->v[MIOPEN1X1_N_IN_DATA_TILES], v->inputs));
    m.out_maps = halve_to_divide(v->outputs, min64(c->v[MIOPEN1X1_N_OUT_PIX_TILES], v->outputs));
    m.in_groups = 1;
    m.out_groups = v->outputs / m.out_maps;
    m.cloop0 = v->inputs / m.in_maps;
    m.stacks = c->v[MIOPEN1X1_N_STACKS];
    m.local = c->v[MIOPEN1X1_GRP_TILE0];
    m.global[0] = v->n * m.map_sz4;
    m.global[1] = m.out_groups;
    return m;
}

miopen1x1_numbers kiln_miopen1x1_numbers(const miopen1x1_view *v, const kiln_config *c)
{
    return v->j1 ? j1_numbers(v, c) : s_numbers(v, c);
}

/* MIOpen's tile heuristic for any direct kernel along one axis. The 1x1 paths ignore most of its
 * result, but the text of the config contains it. */
static void generic_tile(int64_t in, int64_t stride, int *group, int *tile, int *pixels)
{
    int64_t side = in <= 8 ? 8 : in <= 16 ? 16 : 32;
    int64_t p = max64(stride, side == 8 ? 1 : 2);
    int64_t g = max64(8, side / p);
    *group = (int)g;
    *tile = (int)min64(g * p, INT32_MAX);
    *pixels = (int)min64(p, INT32_MAX);
}

static int s_default_pixels(const miopen1x1_view *v)
{
    bool odd = v->out_h % 2 != 0 && v->out_w % 2 != 0;
    if (v->stride_w > 1)
        odd = v->out_w % 2 != 0 || (!v->forward && v->in_w % 2 != 0);
    return odd ? 1 : 2;
}

kiln_config kiln_miopen1x1_default(const kiln_shape *s)
{
    miopen1x1_view v = kiln_miopen1x1_view(s);
    kiln_config c = {{0}};
    generic_tile(v.in_h, v.stride_h, &c.v[MIOPEN1X1_GRP_TILE1], &c.v[MIOPEN1X1_IN_TILE1],
                 &c.v[MIOPEN1X1_OUT_PIX_TILE1]);
    generic_tile(v.in_w, v.stride_w, &c.v[MIOPEN1X1_GRP_TILE0], &c.v[MIOPEN1X1_IN_TILE0],
                 &c.v[MIOPEN1X1_OUT_PIX_TILE0]);
    c.v[MIOPEN1X1_N_STACKS] = 1;
    if (v.j1) {
        c.v[MIOPEN1X1_OUT_PIX_TILE1] = 1;
        c.v[MIOPEN1X1_OUT_PIX_TILE0] = 0;
        c.v[MIOPEN1X1_N_OUT_PIX_TILES] = 32;
        c.v[MIOPEN1X1_N_IN_DATA_TILES] = 128;
    } else {
        c.v[MIOPEN1X1_GRP_TILE0] = 64;
        c.v[MIOPEN1X1_OUT_PIX_TILE1] = 0;
        c.v[MIOPEN1X1_OUT_PIX_TILE0] = s_default_pixels(&v);
        c.v[MIOPEN1X1_N_OUT_PIX_TILES] = 16;
        c.v[MIOPEN1X1_N_IN_DATA_TILES] = 4;
    }
    return c;
}
