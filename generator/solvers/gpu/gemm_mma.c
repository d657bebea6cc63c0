/* A convolution as a product of matrices on tensor cores: its geometry, legality and time. */
#include "gemm_mma.h"

#include "generator/base/integers.h"
#include "generator/base/names.h"

#include <math.h>
#include <string.h>

/* Phases with so few channels each share a tile; apart they would leave most of it empty. */
enum { FEW_CHANNELS = 8 };

/* A source in blocks of channels takes 1.1 to 1.5 times as long as one in NHWC (3x3 filters over
 * 256 channels in f16, H200). */
static const double blocks_cost = 1.2;

/* ---- what a config makes of a shape ---- */

static kiln_gemm_mma of_shape(const kiln_shape *s)
{
    kiln_gemm_mma g = {.gemm = kiln_gemm_of(s)};
    const kiln_gemm *m = &g.gemm;
    if (m->all_phases > 1 && m->walk.dst_c <= FEW_CHANNELS && s->math != KILN_MATH_EXACT)
        kiln_gemm_merge(&g.gemm, s, s->stride);
    g.src = kiln_mma_source_of(s, s->direction == KILN_BACKWARD_DATA ? 'y' : 'x', true);
    g.type_size = (int64_t)kiln_type_size(g.src.type);
    g.out_size = (int64_t)kiln_type_size(kiln_shape_out_type(s));
    g.phases = m->merged ? 1 : m->all_phases;
    /* Pixels of a tile follow one another, but those of a phase, every other one or fewer. */
    g.dst = kiln_mma_result_of(s, &m->dst_pitch, m->walk.dst, g.phases > 1 ? 1 : INT32_MAX);
    g.out_unit =
        g.dst.pitch.channel == 1 ? kiln_mma_unit(&g.dst.pitch, m->walk.dst_c, g.out_size) : 0;
    return g;
}

/* Returns the taps of the phase that has most of them. */
static int64_t most_taps(const kiln_gemm *g)
{
    int64_t taps = 1;
    for (int a = 0; a < 3; a++)
        taps *= divide_up(g->walk.filter[a], g->jump[a]);
    return taps;
}

/* Returns how many neighbouring groups share a tile: a step has a tap's channels of all of them,
 * and the tile all of their channels. A warp leaves out products of one group's channels with
 * another's, if each product is of one group's results and of whole 16 bytes of terms, and the
 * warp has all columns. Bytes may have 8: the other group's in the same 16 meet zeros, with
 * which an infinity would make a NaN. */
static int64_t groups_together(const kiln_gemm_mma *g, kiln_mma_kind kind, const int *v)
{
    const kiln_gemm *m = &g->gemm;
    const int64_t bytes = g->src.channels * g->type_size,
                  row = v[MMA_BYTES] < 128 ? v[MMA_BYTES] : 128;
    int64_t most = 1;
    if (kind != KILN_MMA || m->merged || v[MMA_WARPS_C] > 1 ||
        bytes % (g->src.type == KILN_I8 ? 8 : 16) || m->walk.dst_c % 8 ||
        g->src.channels != g->src.group_channels)
        return 1;
    for (int64_t n = 2; m->groups % n == 0 && n * bytes <= row; n *= 2)
        if (row % (n * bytes) == 0 && n * bytes % 32 == 0 && n * m->walk.dst_c <= v[MMA_COLUMNS])
            most = n;
    return most;
}

static void set_config(kiln_gemm_mma *g, kiln_mma_kind kind, const kiln_config *c)
{
    const int *v = c->v;
    const kiln_gemm *m = &g->gemm;
    const int64_t terms = v[MMA_BYTES] / g->type_size, split = v[MMA_SPLIT];
    g->together = groups_together(g, kind, v);
    g->groups = m->groups / g->together;
    g->channels = g->src.channels * g->together;
    g->dst_c = m->walk.dst_c * g->together;
    g->taps_inner = m->taps > 1 && g->channels % terms == 0;
    g->columns = round_up(g->dst_c, v[MMA_COLUMNS]);
    g->row = round_up(product_of(most_taps(m), g->channels), terms);
    g->tiles_n = g->columns / v[MMA_COLUMNS];
    g->tiles_m = divide_up(m->pixels, v[MMA_ROWS]);
    g->tiles = kiln_mma_tiles_of(kind, g->src.type, split == 1 ? g->out_size : 4,
                                 split == 1 && !m->merged, g->row / terms, c);
    g->tiles.count = (double)(g->tiles_m * g->tiles_n * g->groups * g->phases) * (double)split;
    g->tiles.steps = ceil((double)product_of(m->taps, g->channels) / (double)g->phases /
                          (double)terms / (double)split);
    const double met = fmax(1, 16 / (double)(g->src.channels * g->type_size));
    g->tiles.share = g->together > 1 ? met / (double)g->together : 1;
}

kiln_gemm_mma kiln_gemm_mma_of(const kiln_solver *self, const kiln_shape *s, const kiln_config *c)
{
    const kiln_mma_variant *variant = self->own;
    kiln_gemm_mma g = of_shape(s);
    set_config(&g, variant->kind, c);
    return g;
}

static bool exceeds(const kiln_gemm_mma *g, const kiln_device_facts *d, const kiln_config *c,
                    kiln_why *why)
{
    const int64_t steps = g->row * g->type_size / c->v[MMA_BYTES];
    if (kiln_mma_refused(&g->tiles, d, c, why))
        return true;
    if (c->v[MMA_SPLIT] > 1 && c->v[MMA_SPLIT] > steps)
        return kiln_no(why, "T_SPLIT is %d, but a tile has only %lld steps", c->v[MMA_SPLIT],
                       (long long)steps);
    return false;
}

bool kiln_gemm_mma_illegal(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                           const kiln_config *c, kiln_why *why)
{
    const kiln_gemm_mma g = kiln_gemm_mma_of(self, s, c);
    return exceeds(&g, d, c, why);
}

bool kiln_gemm_mma_reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                          kiln_why *why)
{
    const kiln_mma_variant *variant = self->own;
    const int64_t most = INT32_MAX / 4;
    if (s->direction == KILN_BACKWARD_WEIGHTS)
        return kiln_no(why, "it does forward and backward data");
    if (kiln_mma_lacks(s, d, variant->kind, why))
        return true;
    if (strcmp(s->w_layout, kiln_plain_filter_layout(s->rank)) != 0)
        return kiln_no(why, "it packs weights from the layout %s; these are %s",
                       kiln_plain_filter_layout(s->rank), s->w_layout);
    if (kiln_mma_refuses_layouts(s, why))
        return true;
    const kiln_gemm_mma g = kiln_gemm_mma_of(self, s, &variant->smallest);
    if (g.gemm.pixels > most || g.row > most || g.gemm.groups * g.phases > 65535)
        return kiln_no(why, "its pixels, terms, or groups and phases leave the range of its grid");
    for (int a = 0; a < 3; a++)
        if (s->in[a] + s->pad[a] + s->pad_end[a] + s->stride[a] + s->dilation[a] > most)
            return kiln_no(why, "an axis with its padding has 2^29 elements or more");
    return exceeds(&g, d, &variant->smallest, why);
}

/* ---- time ---- */

/* Returns the share of the source's pixels that some tap meets. */
static double share_met(const kiln_gemm *m)
{
    double share = 1;
    for (int a = 0; a < 3; a++)
        share *= fmin(1, (double)m->walk.filter[a] / (double)m->step[a]);
    return share;
}

static double time_of(const kiln_solver *self, const kiln_gemm_mma *g, const kiln_shape *s,
                      const kiln_device_facts *d, const kiln_config *c)
{
    const kiln_gemm *m = &g->gemm;
    const double src = (double)kiln_mma_source_bytes(&g->src) * share_met(m),
                 out = (double)(kiln_shape_out_count(s) * g->out_size);
    const double weights = (double)(g->groups * g->phases * g->columns * g->row * g->type_size);
    /* Parts are moved at the speed of the second cache, which holds them. */
    const double parts =
        3.6 * c->v[MMA_SPLIT] * (double)(m->groups * g->phases * m->walk.dst_c * m->pixels);
    const double blocks = g->src.pitch.blocks > 1 ? blocks_cost : 1;
    const double multiply = blocks * kiln_mma_ms(self->fits[0], &g->tiles, d, c),
                 move = kiln_device_move_ms(d, src + out + weights);
    double ms = kiln_mma_both_ms(self->fits[0], multiply, move) + kiln_mma_source_ms(&g->src, d) +
                kiln_mma_result_ms(&g->dst, d);
    const int launches = 1 + g->src.turned + g->dst.staged + (c->v[MMA_SPLIT] > 1);
    if (c->v[MMA_SPLIT] > 1)
        ms += kiln_device_behind_ms(d) + kiln_device_move_ms(d, parts);
    return kiln_mma_row_ms(d, ms, launches) + kiln_device_launch_ms(d);
}

/* Returns whether tiles are mostly empty, or split although there are enough of them. */
static bool wasteful(const kiln_gemm_mma *g, const kiln_device_facts *d, const kiln_config *c)
{
    const bool empty = c->v[MMA_COLUMNS] > 32 && c->v[MMA_COLUMNS] >= 2 * g->dst_c;
    return empty || kiln_mma_unfit(&g->tiles, c) ||
           (c->v[MMA_SPLIT] > 1 && g->tiles.count > 8.0 * d->compute_units);
}

bool kiln_gemm_mma_skip(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                        const kiln_config *c)
{
    const kiln_gemm_mma g = kiln_gemm_mma_of(self, s, c);
    return wasteful(&g, d, c);
}

double kiln_gemm_mma_predict(const kiln_solver *self, const kiln_shape *s,
                             const kiln_device_facts *d, const kiln_config *c)
{
    const kiln_gemm_mma g = kiln_gemm_mma_of(self, s, c);
    return time_of(self, &g, s, d, c);
}

static double ms_of(const kiln_guess *guess, kiln_config *c)
{
    kiln_gemm_mma *g = guess->own;
    const kiln_mma_variant *variant = guess->self->own;
    set_config(g, variant->kind, c);
    return kiln_mma_unfit(&g->tiles, c) || exceeds(g, guess->d, c, NULL)
               ? INFINITY
               : time_of(guess->self, g, guess->s, guess->d, c);
}

void kiln_gemm_mma_guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                         kiln_config *c)
{
    static const int splits[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32};
    kiln_gemm_mma own = of_shape(s);
    const kiln_guess guess = {.self = self, .s = s, .d = d, .own = &own, .ms = ms_of};
    *c = kiln_mma_best(&guess, splits, sizeof splits / sizeof *splits);
}
