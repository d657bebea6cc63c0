/* Backward weights as a product of matrices on tensor cores: its geometry, legality and time. */
#include "gemm_weights_mma.h"

#include "generator/base/integers.h"
#include "generator/base/names.h"
#include "generator/geometry/filter_places.h"

#include "tiles.h"

#include <math.h>
#include <string.h>

/* ---- what a config makes of a shape ---- */

static bool is_pointwise(const kiln_shape *s)
{
    for (int a = 0; a < 3; a++)
        if (s->filter[a] != 1 || s->stride[a] != 1 || s->pad[a] != 0 || s->pad_end[a] != 0)
            return false;
    return true;
}

/* Whether neighbours of dw are taps of one filter, which tiles do not hold side by side. */
static bool taps_are_neighbours(const kiln_shape *s)
{
    kiln_filter_places w = {0, 0, 0, 0};
    return s->filter[0] * s->filter[1] * s->filter[2] > 1 && kiln_filter_places_of(s, &w) &&
           w.tap == 1;
}

static kiln_gemm_weights_mma of_shape(const kiln_shape *s)
{
    return (kiln_gemm_weights_mma){
        .x = kiln_mma_source_of(s, 'x', false),
        .dy = kiln_mma_source_of(s, 'y', false),
        .pointwise = is_pointwise(s),
        .pixels = s->n * s->out[0] * s->out[1] * s->out[2],
        .taps = s->filter[0] * s->filter[1] * s->filter[2],
        .sorts = taps_are_neighbours(s),
    };
}

/* Returns as many groups as fill the rows of a tile: more cost nothing, but the sums where
 * channels of one group meet another's are no results. */
static int64_t groups_together(const kiln_gemm_weights_mma *g, int64_t rows)
{
    int64_t n = 1;
    if (g->x.channels != g->x.group_channels || g->dy.channels != g->dy.group_channels)
        return 1;
    while (g->x.groups % (2 * n) == 0 && 2 * n * g->dy.channels <= rows)
        n *= 2;
    return n;
}

static void set_config(kiln_gemm_weights_mma *g, kiln_mma_kind kind, const kiln_config *c)
{
    const int *v = c->v;
    const int64_t terms = v[MMA_BYTES] / (int64_t)kiln_type_size(g->x.type);
    g->together = groups_together(g, v[MMA_ROWS]);
    g->groups = g->x.groups / g->together;
    g->rows = g->together * g->dy.group_channels;
    g->x_c = g->together * g->x.channels;
    g->columns = g->taps * g->x_c;
    g->tiles_m = divide_up(g->rows, v[MMA_ROWS]);
    g->tiles_n = divide_up(g->columns, v[MMA_COLUMNS]);
    g->tiles = kiln_mma_tiles_of(kind, g->x.type, 4, false, INT32_MAX, c);
    g->parts = v[MMA_SPLIT] > 1 || g->sorts;
    if (!g->pointwise)
        g->tiles.local_bytes += 2 * terms * 24; /* for the places of pixels */
    g->tiles.count = (double)(g->tiles_m * g->tiles_n * g->groups) * v[MMA_SPLIT];
    g->tiles.steps = (double)divide_up(divide_up(g->pixels, terms), v[MMA_SPLIT]);
}

kiln_gemm_weights_mma kiln_gemm_weights_mma_of(const kiln_solver *self, const kiln_shape *s,
                                               const kiln_config *c)
{
    const kiln_mma_variant *variant = self->own;
    kiln_gemm_weights_mma g = of_shape(s);
    set_config(&g, variant->kind, c);
    return g;
}

int64_t kiln_gemm_weights_mma_part(const kiln_gemm_weights_mma *g)
{
    return product_of(g->dy.groups * g->dy.group_channels, g->taps * g->x.channels);
}

static bool exceeds(const kiln_gemm_weights_mma *g, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    const int64_t steps =
        divide_up(g->pixels, c->v[MMA_BYTES] / (int64_t)kiln_type_size(g->x.type));
    if (kiln_mma_refused(&g->tiles, d, c, why))
        return true;
    if (c->v[MMA_SPLIT] > steps)
        return kiln_no(why, "T_SPLIT is %d, but there are only %lld steps of pixels",
                       c->v[MMA_SPLIT], (long long)steps);
    return false;
}

bool kiln_gemm_weights_mma_illegal(const kiln_solver *self, const kiln_shape *s,
                                   const kiln_device_facts *d, const kiln_config *c, kiln_why *why)
{
    const kiln_gemm_weights_mma g = kiln_gemm_weights_mma_of(self, s, c);
    return exceeds(&g, d, c, why);
}

bool kiln_gemm_weights_mma_reject(const kiln_solver *self, const kiln_shape *s,
                                  const kiln_device_facts *d, kiln_why *why)
{
    const kiln_mma_variant *variant = self->own;
    const int64_t most = INT32_MAX / 4;
    if (s->direction != KILN_BACKWARD_WEIGHTS)
        return kiln_no(why, "it does backward weights");
    if (kiln_mma_lacks(s, d, variant->kind, why))
        return true;
    if (s->x_type != KILN_F16 && s->x_type != KILN_BF16)
        return kiln_no(why, "it multiplies f16 and bf16; x and dy are %s",
                       kiln_type_name(s->x_type));
    if (kiln_filter_places_refused(s, why))
        return true;
    if (kiln_mma_refuses_layouts(s, why))
        return true;
    const kiln_gemm_weights_mma g = kiln_gemm_weights_mma_of(self, s, &variant->smallest);
    if (g.pixels > most || g.columns > most || s->g > 65535)
        return kiln_no(why, "its pixels, columns or groups leave the range of its grid");
    for (int a = 0; a < 3; a++)
        if (s->in[a] + s->pad[a] + s->pad_end[a] + s->stride[a] + s->dilation[a] > most)
            return kiln_no(why, "an axis with its padding has 2^29 elements or more");
    return exceeds(&g, d, &variant->smallest, why);
}

/* ---- time ---- */

static double time_of(const kiln_solver *self, const kiln_gemm_weights_mma *g,
                      const kiln_device_facts *d, const kiln_config *c)
{
    const double bytes = (double)(kiln_mma_source_bytes(&g->x) + kiln_mma_source_bytes(&g->dy));
    double ms = kiln_mma_both_ms(self->fits[0], kiln_mma_ms(self->fits[0], &g->tiles, d, c),
                                 kiln_device_move_ms(d, bytes));
    const int launches = 1 + g->x.turned + g->dy.turned + g->parts;
    ms += kiln_mma_source_ms(&g->x, d) + kiln_mma_source_ms(&g->dy, d);
    if (g->parts)
        ms += kiln_device_behind_ms(d) +
              kiln_device_move_ms(d, 4.0 * c->v[MMA_SPLIT] * (double)kiln_gemm_weights_mma_part(g));
    return kiln_mma_row_ms(d, ms, launches) + kiln_device_launch_ms(d);
}

/* Returns whether tiles are mostly empty, or split although there are enough of them. */
static bool wasteful(const kiln_gemm_weights_mma *g, const kiln_device_facts *d,
                     const kiln_config *c)
{
    const bool empty = (c->v[MMA_ROWS] > 64 && c->v[MMA_ROWS] >= 2 * g->rows) ||
                       (c->v[MMA_COLUMNS] > 64 && c->v[MMA_COLUMNS] >= 2 * g->columns);
    return empty || kiln_mma_unfit(&g->tiles, c) ||
           (c->v[MMA_SPLIT] > 1 && g->tiles.count > 8.0 * d->compute_units);
}

bool kiln_gemm_weights_mma_skip(const kiln_solver *self, const kiln_shape *s,
                                const kiln_device_facts *d, const kiln_config *c)
{
    const kiln_gemm_weights_mma g = kiln_gemm_weights_mma_of(self, s, c);
    return wasteful(&g, d, c);
}

double kiln_gemm_weights_mma_predict(const kiln_solver *self, const kiln_shape *s,
                                     const kiln_device_facts *d, const kiln_config *c)
{
    const kiln_gemm_weights_mma g = kiln_gemm_weights_mma_of(self, s, c);
    return time_of(self, &g, d, c);
}

static double ms_of(const kiln_guess *guess, kiln_config *c)
{
    kiln_gemm_weights_mma *g = guess->own;
    const kiln_mma_variant *variant = guess->self->own;
    set_config(g, variant->kind, c);
    return kiln_mma_unfit(&g->tiles, c) || exceeds(g, guess->d, c, NULL)
               ? INFINITY
               : time_of(guess->self, g, guess->d, c);
}

void kiln_gemm_weights_mma_guess(const kiln_solver *self, const kiln_shape *s,
                                 const kiln_device_facts *d, kiln_config *c)
{
    static const int splits[] = {1,  2,  3,  4,  6,   8,   12,  16,  24,
                                 32, 48, 64, 96, 128, 192, 256, 384, 512};
    kiln_gemm_weights_mma own = of_shape(s);
    const kiln_guess guess = {.self = self, .s = s, .d = d, .own = &own, .ms = ms_of};
    *c = kiln_mma_best(&guess, splits, sizeof splits / sizeof *splits);
}
