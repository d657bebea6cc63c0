/* How kernels for tensor cores read a tensor: as it lies, or from a stage that turns it. */
#include "mma_source.h"

#include "generator/base/integers.h"
#include "generator/base/names.h"
#include "generator/plan/reformat_turn.h"
#include "generator/plan/staging.h"

#include "tiles.h"

#include <stdio.h>
#include <string.h>

const char *kiln_mma_last_layout(int rank)
{
    static const char *const last[] = {"NWC", "NHWC", "NDHWC"};
    return last[rank - 1];
}

void kiln_mma_prefer(const kiln_solver *self, kiln_shape *s, const kiln_device_facts *d)
{
    kiln_prefer_layout(s->x_layout, kiln_mma_last_layout(s->rank));
    kiln_prefer_layout(s->y_layout, kiln_mma_last_layout(s->rank));
}

static bool takes(const kiln_pitch *p, const int64_t size[3], int64_t images, int64_t channels)
{
    if (kiln_order_of(p, size, channels) != KILN_CHANNELS_ELSEWHERE)
        return true;
    const bool rows = (size[1] == 1 || p->row == size[2] * p->pixel) &&
                      (size[0] == 1 || p->plane == size[1] * p->row);
    return p->blocks > 1 && p->channel == 1 && rows && p->blocks * p->neighbours == channels &&
           p->cells == images * channels * size[0] * size[1] * size[2];
}

bool kiln_mma_refuses_layouts(const kiln_shape *s, kiln_why *why)
{
    const kiln_pitch x = kiln_pitch_of(s, 'x'), y = kiln_pitch_of(s, 'y');
    if (takes(&x, s->in, s->n, s->c) && takes(&y, s->out, s->n, s->k))
        return false;
    return kiln_no(why,
                   "it works on the layouts NCHW, NHWC and their kin, and on whole blocks of "
                   "channels; x and y are %s and %s",
                   s->x_layout, s->y_layout);
}

bool kiln_mma_refuses_tensors(const kiln_shape *s, kiln_why *why)
{
    if (strcmp(s->w_layout, kiln_plain_filter_layout(s->rank)) != 0)
        return kiln_no(why, "it packs weights from the layout %s; these are %s",
                       kiln_plain_filter_layout(s->rank), s->w_layout);
    return kiln_mma_refuses_layouts(s, why);
}

int64_t kiln_mma_unit(const kiln_pitch *p, int64_t channels, int64_t type_size)
{
    int64_t all = gcd(gcd(gcd(p->image, p->plane), gcd(p->row, p->pixel)), channels);
    if (p->blocks > 1)
        all = gcd(all, gcd(p->block, p->neighbours));
    return gcd(all * type_size, 16);
}

int64_t kiln_mma_out_unit(const kiln_pitch *p, const int64_t size[3], int64_t channels,
                          int64_t pixels, int64_t type_size)
{
    if (p->channel == 1)
        return kiln_mma_unit(p, channels, type_size);
    const int64_t rows = size[1] > 1 ? p->row : 0;
    const int64_t all = gcd(gcd(gcd(p->image, p->channel), rows), gcd(size[2], pixels));
    return gcd(all * type_size, 16);
}

/* Returns the pitch of a turned tensor: pixels follow one another, and a pixel has each group's
 * channels with padding. */
static kiln_pitch turned_pitch(const kiln_mma_source *m)
{
    const int64_t pixel = m->channels * m->groups, row = product_of(m->size[2], pixel),
                  plane = product_of(m->size[1], row);
    return (kiln_pitch){.image = product_of(m->size[0], plane),
                        .plane = plane,
                        .row = row,
                        .pixel = pixel,
                        .channel = 1,
                        .neighbours = pixel,
                        .blocks = 1};
}

kiln_mma_source kiln_mma_source_of(const kiln_shape *s, char tensor, bool blocks)
{
    const bool x = tensor == 'x';
    const int64_t *size = x ? s->in : s->out;
    kiln_mma_source m = {.tensor = tensor,
                         .type = x ? s->x_type : s->y_type,
                         .images = s->n,
                         .groups = s->g,
                         .size = {size[0], size[1], size[2]},
                         .group_channels = (x ? s->c : s->k) / s->g,
                         .given = kiln_pitch_of(s, tensor)};
    const int64_t bytes = (int64_t)kiln_type_size(m.type);
    m.pitch = m.given;
    m.channels = m.group_channels;
    m.unit = kiln_mma_unit(&m.given, m.channels, bytes);
    m.turned = m.given.channel != 1 || m.unit < 8 || (m.given.blocks > 1 && !blocks);
    if (m.turned) {
        m.unit = m.channels * bytes <= 8 ? 8 : 16;
        m.channels = round_up(m.channels, m.unit / bytes);
        m.pitch = turned_pitch(&m);
    }
    return m;
}

int64_t kiln_mma_source_bytes(const kiln_mma_source *m)
{
    const int64_t pixels = product_of(m->images, m->size[0] * m->size[1] * m->size[2]);
    return product_of(pixels, m->channels * m->groups * (int64_t)kiln_type_size(m->type));
}

double kiln_mma_source_ms(const kiln_mma_source *m, const kiln_device_facts *d)
{
    const double made = (double)kiln_mma_source_bytes(m);
    const double read = made * (double)m->group_channels / (double)m->channels;
    return m->turned ? kiln_device_behind_ms(d) + kiln_device_move_ms(d, read + made) : 0;
}

/* Adds the reformat that turns the tensor, where it goes in tiles and no group has channels of
 * padding. Returns false where it does not. */
static bool reformatted(const kiln_mma_source *m, const kiln_shape *s, const kiln_device_facts *d,
                        int role, int to, kiln_plan *plan)
{
    char text[KILN_LAYOUT_TEXT];
    kiln_storage own, wanted;
    kiln_why why;
    kiln_turn turn;
    if (m->groups > 1 && m->channels != m->group_channels)
        return false;
    snprintf(text, sizeof text, "%s;C%%%d", kiln_mma_last_layout(s->rank),
             (int)(m->channels * m->groups));
    if (!kiln_shape_storage(s, m->tensor, m->tensor == 'x' ? s->x_layout : s->y_layout, &own,
                            why.text) ||
        !kiln_shape_storage(s, m->tensor, text, &wanted, why.text) ||
        !kiln_turn_find(&own, &wanted, (int64_t)kiln_type_size(m->type), true, d, &turn))
        return false;
    const kiln_operand from = {&own, m->type, role}, into = {&wanted, m->type, to};
    return kiln_stage_reformat(d, &from, &into, plan);
}

/* Adds the stage that turns every tensor, groups with channels of padding included. */
static void turned(const kiln_mma_source *m, const kiln_shape *s, int role, int to, bool alone,
                   kiln_plan *plan)
{
    enum { ITEMS = 256, TILE = 4096, WIDEST = 64 };
    const int64_t channels = m->groups * m->channels, pixels = m->size[0] * m->size[1] * m->size[2];
    const int64_t size = (int64_t)kiln_type_size(m->type);
    int64_t tile = WIDEST;
    while (tile > m->unit / size && tile / 2 >= channels)
        tile /= 2;
    kiln_plan_stage(plan, "gemm_mma_source.cl", "gemm_mma_source");
    kiln_define_types(plan, s);
    if (!s->wide && product_of(m->images, m->pitch.image) > INT32_MAX)
        kiln_define(plan, "P_WIDE", 1);
    kiln_define(plan, "P_IMAGES", m->images);
    kiln_define(plan, "P_GROUPS", m->groups);
    kiln_define(plan, "P_PIXELS", pixels);
    kiln_define(plan, "D_SRC_C", m->group_channels);
    kiln_define(plan, "D_CHANNELS", m->channels);
    kiln_pitch_define(&m->given, "D_SRC", plan);
    kiln_define(plan, "D_UNIT", m->unit);
    kiln_define(plan, "D_READ", gcd(pixels, 16 / size));
    kiln_define(plan, "D_TILE_P", TILE / tile);
    kiln_define(plan, "D_TILE_C", tile);
    kiln_define(plan, "D_ALONE", alone);
    const int64_t tiles = divide_up(channels, tile) * divide_up(pixels, TILE / tile) * m->images;
    kiln_arg_buffer(plan, role);
    kiln_arg_buffer(plan, to);
    kiln_grid(plan, ITEMS, 1, 1, alone ? m->images * pixels : ITEMS * tiles, 1, 1);
}

int kiln_mma_source_emit(const kiln_mma_source *m, const kiln_shape *s, const kiln_device_facts *d,
                         int role, kiln_plan *plan)
{
    if (!m->turned)
        return role;
    const int to = kiln_plan_temp(plan, kiln_mma_source_bytes(m));
    const bool alone = m->groups * m->channels * (int64_t)kiln_type_size(m->type) == m->unit;
    if (alone || !reformatted(m, s, d, role, to, plan))
        turned(m, s, role, to, alone, plan);
    return to;
}
