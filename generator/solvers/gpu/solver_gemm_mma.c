/* A convolution as a product of matrices on tensor cores: forward and backward data of any filter,
 * stride, dilation and groups, in f16, bf16 and int8, and in f32 where the caller lets products be
 * rounded; in NHWC as it lies, from NCHW by way of a stage that turns it. */
#include "generator/base/integers.h"
#include "generator/base/names.h"
#include "generator/plan/config_best.h"

#include "gemm.h"
#include "mma_source.h"
#include "mma_tiles.h"

#include <math.h>
#include <string.h>

static const kiln_param params[MMA_PARAMS] = {
    MMA_TABLE,
    [MMA_SPLIT] = {"T_SPLIT", 6, {1, 2, 4, 8, 16, 32}, 1, 128},
};

/* ---- what a config makes of a shape ---- */

typedef struct geometry {
    kiln_gemm gemm;
    kiln_mma_source src;
    int64_t type_size, out_size; /* bytes of an element of the source and of the destination */
    int64_t out_unit;            /* see templates/gpu/gemm_mma.cl */

    /* Of a config. */
    int64_t columns, row, tiles_m, tiles_n;
    kiln_mma_tiles tiles;
} geometry;

static geometry geometry_of_shape(const kiln_shape *s)
{
    geometry g = {.gemm = kiln_gemm_of(s)};
    const kiln_gemm *m = &g.gemm;
    g.src = kiln_mma_source_of(s, m->backward ? 'y' : 'x');
    g.type_size = (int64_t)kiln_type_size(g.src.type);
    g.out_size = (int64_t)kiln_type_size(kiln_shape_out_type(s));
    g.out_unit = m->dst_pitch.channel == 1 ? kiln_mma_unit(&m->dst_pitch, m->dst_c, g.out_size) : 0;
    return g;
}

/* Taps of the phase that has most. */
static int64_t most_taps(const kiln_shape *s, const kiln_gemm *g)
{
    int64_t taps = 1;
    for (int a = 0; a < 3; a++)
        taps *= divide_up(s->filter[a], g->jump[a]);
    return taps;
}

static void set_config(geometry *g, const kiln_shape *s, const kiln_config *c)
{
    const int *v = c->v;
    const kiln_gemm *m = &g->gemm;
    const int64_t terms = v[MMA_BYTES] / g->type_size, split = v[MMA_SPLIT];
    g->columns = round_up(m->dst_c, v[MMA_COLUMNS]);
    g->row = round_up(product_of(most_taps(s, m), g->src.channels), terms);
    g->tiles_n = g->columns / v[MMA_COLUMNS];
    g->tiles_m = divide_up(m->pixels, v[MMA_ROWS]);
    g->tiles = kiln_mma_tiles_of(g->src.type, split == 1 && g->out_size < 4 ? g->out_size : 0, c);
    g->tiles.count = (double)(g->tiles_m * g->tiles_n * m->groups * m->all_phases) * (double)split;
    g->tiles.steps = ceil((double)product_of(m->taps, g->src.channels) / (double)m->all_phases /
                          (double)terms / (double)split);
}

static geometry geometry_of(const kiln_shape *s, const kiln_config *c)
{
    geometry g = geometry_of_shape(s);
    set_config(&g, s, c);
    return g;
}

static bool exceeds(const geometry *g, const kiln_device_facts *d, const kiln_config *c,
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

static bool illegal(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                    kiln_why *why)
{
    const geometry g = geometry_of(s, c);
    return exceeds(&g, d, c, why);
}

static bool reject(const kiln_shape *s, const kiln_device_facts *d, kiln_why *why)
{
    const int64_t most = INT32_MAX / 4;
    if (s->direction == KILN_BACKWARD_WEIGHTS)
        return kiln_no(why, "it does forward and backward data");
    if (kiln_mma_lacks(s, d, why))
        return true;
    if (strcmp(s->w_layout, kiln_plain_filter_layout(s->rank)) != 0)
        return kiln_no(why, "it packs weights from the layout %s; these are %s",
                       kiln_plain_filter_layout(s->rank), s->w_layout);
    if (!kiln_tiles_take_layouts(s))
        return kiln_no(why,
                       "it works on the layouts NCHW and NHWC and their kin; x and y are %s "
                       "and %s",
                       s->x_layout, s->y_layout);
    const geometry g = geometry_of(s, &kiln_mma_smallest);
    if (g.gemm.pixels > most || g.row > most || g.gemm.groups * g.gemm.all_phases > 65535)
        return kiln_no(why, "its pixels, terms, or groups and phases leave the range of its grid");
    for (int a = 0; a < 3; a++)
        if (s->in[a] + s->pad[a] + s->pad_end[a] + s->stride[a] + s->dilation[a] > most)
            return kiln_no(why, "an axis with its padding has 2^29 elements or more");
    return exceeds(&g, d, &kiln_mma_smallest, why);
}

/* ---- time ---- */

static double time_of(const geometry *g, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c)
{
    const kiln_gemm *m = &g->gemm;
    const double src = (double)kiln_mma_source_bytes(&g->src),
                 out = (double)(kiln_shape_out_count(s) * g->out_size);
    const double weights = (double)(m->groups * m->all_phases * g->columns * g->row * g->type_size);
    const double parts =
        8.0 * c->v[MMA_SPLIT] * (double)(m->groups * m->all_phases * m->dst_c * m->pixels);
    double ms = fmax(kiln_mma_ms(&g->tiles, d, c), kiln_device_move_ms(d, src + out + weights));
    ms += kiln_mma_source_ms(&g->src, d);
    if (c->v[MMA_SPLIT] > 1)
        ms += kiln_tiles_next_launch_ms + kiln_device_move_ms(d, parts);
    return ms + kiln_device_launch_ms(d);
}

static double predict(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    const geometry g = geometry_of(s, c);
    return time_of(&g, s, d, c);
}

/* Whether a search leaves out tiles that are mostly empty, and splits of enough tiles. */
static bool skip(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    const geometry g = geometry_of(s, c);
    const bool empty = c->v[MMA_COLUMNS] > 32 && c->v[MMA_COLUMNS] >= 2 * g.gemm.dst_c;
    return empty || g.tiles.items > 256 ||
           (c->v[MMA_SPLIT] > 1 && g.tiles.count > 8.0 * d->compute_units);
}

static double ms_of(const kiln_guess *guess, kiln_config *c)
{
    geometry *g = guess->own;
    set_config(g, guess->s, c);
    return g->tiles.items > 256 || exceeds(g, guess->d, c, NULL)
               ? INFINITY
               : time_of(g, guess->s, guess->d, c);
}

static void guess(const kiln_shape *s, const kiln_device_facts *d, kiln_config *c)
{
    static const int splits[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32};
    geometry g = geometry_of_shape(s);
    kiln_guess best = {
        .s = s, .d = d, .own = &g, .ms = ms_of, .best = kiln_mma_smallest, .best_ms = INFINITY};
    const kiln_range all[] = {kiln_searched(params, MMA_ROWS),
                              kiln_searched(params, MMA_COLUMNS),
                              kiln_searched(params, MMA_WARPS_R),
                              kiln_searched(params, MMA_WARPS_C),
                              kiln_searched(params, MMA_BYTES),
                              kiln_searched(params, MMA_STAGES),
                              kiln_listed(MMA_SPLIT, splits, sizeof splits / sizeof *splits)};
    kiln_config_best(&best, &kiln_mma_smallest, all, sizeof all / sizeof *all);
    *c = best.best;
}

/* ---- the plan ---- */

/* The defines of templates/gpu/gemm_places.cl. */
static void define_places(const kiln_shape *s, const geometry *g, kiln_plan *plan)
{
    const kiln_gemm *m = &g->gemm;
    kiln_define(plan, "P_IMAGES", m->images);
    kiln_define_axes(plan, "P_SRC", m->src);
    kiln_define_axes(plan, "P_DST", m->dst);
    kiln_define_axes(plan, "P_FILTER", s->filter);
    kiln_define_axes(plan, "P_STRIDE", s->stride);
    kiln_define_axes(plan, "P_DILATION", s->dilation);
    kiln_define_axes(plan, "P_PAD", s->pad);
    kiln_define(plan, "D_BACKWARD", m->backward);
    kiln_define_axes(plan, "D_STEP", m->step);
    kiln_define_axes(plan, "D_MOVE", m->move);
    kiln_define_axes(plan, "D_JUMP", m->jump);
    kiln_define_axes(plan, "D_GRID", m->grid);
    kiln_define_axes(plan, "D_PHASES", m->phases);
    kiln_pitch_define(&g->src.pitch, "D_SRC", plan);
    kiln_pitch_define(&m->dst_pitch, "D_DST", plan);
}

static void define_product(const kiln_shape *s, const geometry *g, kiln_plan *plan)
{
    const kiln_gemm *m = &g->gemm;
    const int64_t packed = product_of(product_of(m->groups * m->all_phases, g->columns), g->row);
    define_places(s, g, plan);
    kiln_define(plan, "D_SRC_C", m->src_c);
    kiln_define(plan, "D_DST_C", m->dst_c);
    kiln_define(plan, "D_CHANNELS", g->src.channels);
    kiln_define(plan, "D_COLUMNS", g->columns);
    kiln_define(plan, "D_ROW", g->row);
    if (!s->wide && (packed > INT32_MAX || product_of(m->images, g->src.pitch.image) > INT32_MAX))
        kiln_define(plan, "P_WIDE", 1);
}

static void emit_pack(const kiln_shape *s, const geometry *g, const kiln_device_facts *d,
                      kiln_plan *plan)
{
    const kiln_gemm *m = &g->gemm;
    const int64_t across = s->c / s->g * m->taps;
    plan->packed_bytes = m->groups * m->all_phases * g->columns * g->row * g->type_size;
    kiln_plan_stage(plan, "gemm_mma_pack.cl", "gemm_mma_pack")->pack = true;
    kiln_define_types(plan, s);
    define_product(s, g, plan);
    kiln_define(plan, "D_TAPS", m->taps);
    kiln_define(plan, "D_W_DST", m->backward ? m->taps : across);
    kiln_define(plan, "D_W_SRC", m->backward ? across : m->taps);
    kiln_arg_buffer(plan, KILN_ROLE_W);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_grid(plan, kiln_device_group(d, 64), 1, 1, g->row, g->columns, m->groups * m->all_phases);
}

static void define_all(const kiln_shape *s, const geometry *g, const kiln_config *c,
                       kiln_plan *plan)
{
    kiln_define_types(plan, s);
    kiln_define_epilogue(plan, s);
    define_product(s, g, plan);
    kiln_define(plan, "P_GROUPS", g->gemm.groups);
    kiln_define(plan, "D_UNIT", g->src.unit);
    kiln_define(plan, "D_OUT_UNIT", g->out_unit);
    kiln_mma_define(c, plan);
}

/* Both factors of a product are rounded to 11 bits: it is off by 2^-10 of itself at most, 2^14
 * units. Where such errors are independent, a sum of n of them is off by about 2^14 / sqrt(n) units
 * of the sum of absolute values; driver/reference/bound.c counts with eight. */
static double rounded_amplification(const kiln_shape *s)
{
    return fmin(2048, 16384 / sqrt((double)kiln_shape_terms(s)));
}

static void emit(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                 kiln_plan *plan)
{
    const geometry g = geometry_of(s, c);
    const kiln_gemm *m = &g.gemm;
    const int split = c->v[MMA_SPLIT];
    const int given = m->backward ? KILN_ROLE_Y : KILN_ROLE_X,
              dst = m->backward ? KILN_ROLE_X : KILN_ROLE_Y;
    const int64_t results = m->groups * m->all_phases * m->dst_c * m->pixels;
    if (g.tiles.type == KILN_F32)
        plan->amplification = rounded_amplification(s);
    emit_pack(s, &g, d, plan);
    const int src = kiln_mma_source_emit(&g.src, s, given, plan);
    const int sums = split > 1 ? kiln_plan_temp(plan, 4 * split * results) : dst;
    kiln_plan_stage(plan, "gemm_mma.cl", "gemm_mma");
    define_all(s, &g, c, plan);
    kiln_arg_buffer(plan, src);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_arg_buffer(plan, sums);
    if (split == 1)
        kiln_arg_epilogue(plan, s);
    kiln_grid(plan, g.tiles.items, 1, 1, g.tiles_m * g.tiles_n * g.tiles.items,
              m->groups * m->all_phases, split);
    if (split == 1)
        return;
    kiln_plan_stage(plan, "gemm_mma.cl", "gemm_mma_sum");
    define_all(s, &g, c, plan);
    kiln_arg_buffer(plan, sums);
    kiln_arg_buffer(plan, dst);
    kiln_arg_epilogue(plan, s);
    kiln_grid(plan, kiln_device_group(d, 128), 1, 1, results, 1, 1);
}

const kiln_solver kiln_solver_gemm_mma = {
    .name = "gemm_mma",
    .id = 1060,
    .algorithm = 5,
    .version = 1,
    .params = params,
    .nparams = MMA_PARAMS,
    .prefer = kiln_mma_prefer,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
