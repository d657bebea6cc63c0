/* Computes geometry and layouts of the solvers over neighbouring channels, and adds their defines.
 */
#include "blocked.h"

#include "generator/base/integers.h"
#include "generator/base/names.h"
#include "generator/problem/problem_layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int kiln_layout_block(const char *layout, int rank)
{
    const char *plain = kiln_plain_data_layout(rank);
    size_t length = strlen(plain);
    if (strncmp(layout, plain, length) != 0)
        return 0;
    static const struct {
        const char *rest;
        int block;
    } known[] = {{"", 1}, {"4c", 4}, {"8c", 8}, {"16c", 16}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(layout + length, known[i].rest) == 0)
            return known[i].block;
    return 0;
}

/* Returns false where an axis of a layout does not fit a pitch: it has padding that is not of
 * channels, or cells between neighbouring channels. */
static bool add_axis(kiln_pitch *p, const kiln_storage *t, int a, int rank)
{
    int64_t *const spatial[3] = {&p->plane, &p->row, &p->pixel};
    const kiln_axis *axis = &t->layout.axis[a];
    bool whole = axis->mod == 0 && axis->div == 1;
    if (axis->dim == 0)
        p->image = t->stride[a];
    else if (axis->dim > 1)
        *spatial[3 - rank + axis->dim - 2] = t->stride[a];
    if (axis->dim != 1)
        return whole && t->extent[a] == t->dim[axis->dim];
    if (axis->div == 1) { /* within a block, or the layout has no blocks */
        p->channel = t->stride[a];
        p->neighbours = t->extent[a];
        p->blocks = p->blocks ? p->blocks : 1;
        return whole || t->stride[a] == 1;
    }
    p->block = t->stride[a];
    p->blocks = t->extent[a];
    return axis->mod == 0;
}

kiln_pitch kiln_pitch_of(const kiln_shape *s, char tensor)
{
    kiln_pitch p = {0};
    kiln_storage t;
    char why[KILN_ERROR_TEXT];
    if (!kiln_shape_storage(s, tensor, tensor == 'x' ? s->x_layout : s->y_layout, &t, why) ||
        t.layout.image)
        return p;
    for (int a = 0; a < t.layout.naxes; a++)
        if (!add_axis(&p, &t, a, s->rank))
            return (kiln_pitch){0};
    /* The problem may lack axes. */
    const int64_t *size = tensor == 'x' ? s->in : s->out;
    p.row = p.row ? p.row : p.pixel * size[2];
    p.plane = p.plane ? p.plane : p.row * size[1];
    p.block = p.block ? p.block : p.neighbours * p.channel;
    p.cells = t.cells;
    return p;
}

static bool is_dense(const kiln_pitch *p, const int64_t size[3], int64_t pixel)
{
    return p->pixel == pixel && (size[1] == 1 || p->row == size[2] * pixel) &&
           (size[0] == 1 || p->plane == size[1] * p->row);
}

kiln_order kiln_order_of(const kiln_pitch *p, const int64_t size[3], int64_t channels)
{
    const int64_t pixels = size[0] * size[1] * size[2];
    if (p->blocks != 1 || p->neighbours != channels || p->image != channels * pixels)
        return KILN_CHANNELS_ELSEWHERE;
    if (p->channel == 1 && is_dense(p, size, channels))
        return KILN_CHANNELS_LAST;
    return p->channel == pixels && is_dense(p, size, 1) ? KILN_CHANNELS_FIRST
                                                        : KILN_CHANNELS_ELSEWHERE;
}

static bool is_one_row(const kiln_pitch *p, const int64_t size[3])
{
    return p->row == size[2] * p->pixel && p->plane == size[1] * p->row;
}

enum { MOST_PIXELS = INT32_MAX / 64 };

static void flatten(kiln_blocked *b)
{
    int64_t pixels = b->src[0] * b->src[1] * b->src[2];
    if (!is_one_row(&b->src_pitch, b->src) || !is_one_row(&b->dst_pitch, b->dst))
        return;
    for (int a = 0; a < 3; a++)
        b->src[a] = b->dst[a] = a == KILN_AXIS_W ? pixels : 1;
    if (pixels == 1) {
        b->src_pitch.pixel = b->src_pitch.image;
        b->dst_pitch.pixel = b->dst_pitch.image;
    }
    bool images_follow = b->src_pitch.image == pixels * b->src_pitch.pixel &&
                         b->dst_pitch.image == pixels * b->dst_pitch.pixel;
    if (!images_follow || pixels > MOST_PIXELS / b->n)
        return;
    b->src[KILN_AXIS_W] = b->dst[KILN_AXIS_W] = pixels * b->n;
    b->n = 1;
}

kiln_blocked kiln_blocked_of(const kiln_shape *s)
{
    bool backward = s->direction == KILN_BACKWARD_DATA;
    kiln_blocked b = {.wide = s->wide,
                      .n = s->n,
                      .groups = s->g,
                      .src_c = (backward ? s->k : s->c) / s->g,
                      .dst_c = (backward ? s->c : s->k) / s->g,
                      .block = kiln_layout_block(backward ? s->x_layout : s->y_layout, s->rank),
                      .src_pitch = kiln_pitch_of(s, backward ? 'y' : 'x'),
                      .dst_pitch = kiln_pitch_of(s, backward ? 'x' : 'y')};
    for (int a = 0; a < 3; a++) {
        b.src[a] = backward ? s->out[a] : s->in[a];
        b.dst[a] = backward ? s->in[a] : s->out[a];
        b.filter[a] = s->filter[a];
        b.stride[a] = backward ? 1 : s->stride[a];
        b.up[a] = backward ? s->stride[a] : 1;
        b.dilation[a] = s->dilation[a];
        b.lead[a] = backward ? (s->filter[a] - 1) * s->dilation[a] - s->pad[a] : s->pad[a];
    }
    if (kiln_shape_is_pointwise(s) && b.src_pitch.blocks && b.dst_pitch.blocks)
        flatten(&b);
    return b;
}

void kiln_blocked_prefer(kiln_shape *s, const kiln_device_facts *d, bool plain_x)
{
    int block = d->simd_floats >= 16 ? 16 : d->simd_floats >= 8 ? 8 : 4;
    int x = kiln_layout_block(s->x_layout, s->rank), y = kiln_layout_block(s->y_layout, s->rank);
    if (x > 1 || y > 1)
        block = x > 1 ? x : y;
    const char *plain = kiln_plain_data_layout(s->rank);
    char blocked[KILN_LAYOUT_TEXT];
    snprintf(blocked, sizeof blocked, "%s%dc", plain, block);
    if (plain_x && s->direction != KILN_BACKWARD_WEIGHTS && s->c <= block / 4)
        kiln_prefer_layout(s->x_layout, plain);
    kiln_prefer_layout(s->x_layout, blocked);
    kiln_prefer_layout(s->y_layout, blocked);
}

bool kiln_blocked_too_large(const kiln_shape *s, kiln_why *why)
{
    for (int a = 0; a < 3; a++)
        if (s->in[a] + s->pad[a] + s->pad_end[a] + s->stride[a] + s->dilation[a] > INT32_MAX / 2)
            return kiln_no(why, "an axis with its padding has 2^30 elements or more");
    kiln_blocked b = kiln_blocked_of(s);
    int64_t taps = s->filter[0] * s->filter[1] * s->filter[2];
    int64_t pixel = b.src_pitch.pixel > b.dst_pitch.pixel ? b.src_pitch.pixel : b.dst_pitch.pixel;
    if (b.src[0] * b.src[1] * b.src[2] > MOST_PIXELS ||
        b.dst[0] * b.dst[1] * b.dst[2] > MOST_PIXELS || taps > MOST_PIXELS ||
        pixel > MOST_PIXELS / s->stride[2])
        return kiln_no(why, "a block of channels has 2^30 elements or more");
    return false;
}

int kiln_blocked_vectors(int block, const kiln_device_facts *d)
{
    return block > d->simd_floats ? block / d->simd_floats : 1;
}

int kiln_blocked_registers(const kiln_device_facts *d)
{
    return d->simd_floats >= 16 ? 32 : 16;
}

int64_t kiln_blocked_meetings(const kiln_blocked *b, int a)
{
    int64_t all = 0, up = b->up[a], most = (b->src[a] - 1) * up;
    for (int64_t tap = 0; tap < b->filter[a]; tap++) {
        /* 0 <= destination * stride + at <= most, and a multiple of up (one of which is 1) */
        int64_t at = tap * b->dilation[a] - b->lead[a];
        int64_t begin = divide_up(-at, b->stride[a]);
        int64_t end = divide_up(most + 1 - at, b->stride[a]);
        begin = begin < 0 ? 0 : begin;
        end = end > b->dst[a] ? b->dst[a] : end;
        if (end > begin)
            all += divide_up(end + at, up) - divide_up(begin + at, up);
    }
    return all;
}

void kiln_pitch_define(const kiln_pitch *p, const char *name, kiln_plan *plan)
{
    const struct {
        const char *name;
        int64_t value;
    } all[] = {{"IMAGE", p->image},           {"BLOCK", p->block},
               {"PLANE", p->plane},           {"ROW", p->row},
               {"PIXEL", p->pixel},           {"CHANNEL", p->channel},
               {"NEIGHBOURS", p->neighbours}, {"BLOCKS", p->blocks}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char full[KILN_NAME_TEXT];
        snprintf(full, sizeof full, "%s_%s", name, all[i].name);
        kiln_define(plan, full, all[i].value);
    }
}

/* Whether indices need 64 bits for the padding of a layout alone. */
static bool is_long(const kiln_blocked *b)
{
    return b->src_pitch.cells > INT32_MAX || b->dst_pitch.cells > INT32_MAX;
}

void kiln_blocked_define(const kiln_blocked *b, kiln_plan *plan)
{
    if (!b->wide && is_long(b))
        kiln_define(plan, "P_WIDE", 1);
    kiln_define(plan, "D_B", b->block);
    kiln_define_axes(plan, "P_SRC", b->src);
    kiln_define_axes(plan, "P_DST", b->dst);
    kiln_define_axes(plan, "P_FILTER", b->filter);
    kiln_define_axes(plan, "P_STRIDE", b->stride);
    kiln_define_axes(plan, "P_DILATION", b->dilation);
    kiln_define_axes(plan, "D_LEAD", b->lead);
    kiln_define_axes(plan, "D_UP", b->up);
    int64_t next[3];
    for (int a = 0; a < 3; a++)
        next[a] = b->up[a] / gcd(b->up[a], b->dilation[a]);
    kiln_define_axes(plan, "D_NEXT", next);
    kiln_define(plan, "D_SRC_C", b->src_c);
    kiln_define(plan, "D_DST_C", b->dst_c);
    kiln_define(plan, "D_CHANNELS", b->dst_c * b->groups);
    kiln_pitch_define(&b->src_pitch, "D_SRC", plan);
    kiln_pitch_define(&b->dst_pitch, "D_DST", plan);
}
