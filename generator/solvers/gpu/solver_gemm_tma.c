/* The product of gemm_wgmma with copies by the device's copy engine: forward, and backward data
 * without a stride, without groups.
 *
 *     a warp of copies  -->  T_STAGES stages in   -->  T_TEAMS teams of four warps multiply
 *     starts copies of       local memory, each        64 * T_BLOCKS pixels by T_COLUMNS
 *     boxes of pixels        with two barriers         channels each, and store them
 *
 * A tensor map describes the source to the engine, which brings a box of 64 pixels, and zeros past
 * the border, by one instruction. All items of gemm_wgmma compute addresses for their copies.
 * templates/gpu/gemm_tma.cl has the kernel.
 */
#include "generator/base/integers.h"
#include "generator/plan/config_best.h"

#include "gemm_tma_fit.h"
#include "mma_source.h"
#include "mma_tiles.h"

#include <math.h>

enum { TEAMS, BLOCKS, COLUMNS, STAGES, PARAMS };

static const kiln_param params[PARAMS] = {
    [TEAMS] = {"T_TEAMS", 4, {1, 2, 3, 4}, 0, 0},
    [BLOCKS] = {"T_BLOCKS", 2, {1, 2}, 0, 0},
    [COLUMNS] = {"T_COLUMNS", 6, {32, 64, 96, 128, 192, 256}, 0, 0},
    [STAGES] = {"T_STAGES", 6, {2, 3, 4, 5, 6, 8}, 0, 0},
};

static const kiln_config smallest = {{[TEAMS] = 1, [BLOCKS] = 1, [COLUMNS] = 32, [STAGES] = 2}};

/* Limits of a copy: pixels of a box, elements of a box along an axis and from one to the next,
 * bytes of a pixel in a step, and of which distances are multiples. */
enum { BOX = 64, BOX_LIMIT = 256, STRIDE_LIMIT = 8, ROW_BYTES = 128, PIECE = 16 };

enum { HELD_BYTES = 32 << 20 }; /* of tensors, that the second cache holds */

/* Items of a team, and of the warps that copy, of which one item does. Bytes of a tensor map,
 * which lies in local memory beside two barriers for each stage. */
enum { TEAM_ITEMS = 128, MAP_BYTES = 128, BARRIER_BYTES = 8 };

/* Registers that an item needs beside sums: with ease, and at least. */
enum { EASY_REGISTERS = 64, LEAST_REGISTERS = 40 };

/* Registers of an item, by the number of teams: at the start; and where sums need more than
 * that, of an item that copies, and of an item of a team, to which the former leaves some. */
static const struct {
    int start, copy, team;
} registers[] = {{0, 0, 0}, {248, 248, 248}, {168, 40, 232}, {128, 32, 160}, {96, 32, 112}};

typedef struct box {
    int64_t w, h, n, count; /* pixels along both axes; images; boxes in all */
} box;

typedef struct product {
    /* ---- from the shape ---- */
    kiln_blocked walk;
    kiln_mma_source src;
    int64_t size, out_size, out_unit; /* bytes of elements; bytes of a store */
    int64_t steps;
    int64_t piece; /* bytes of neighbouring channels in a box */
    bool first;    /* channels of the source are planes, and read as they lie */
    kiln_mma_result dst;
    box box;

    /* ---- from a config ---- */
    int64_t rows, columns, tiles, stage_bytes, local_bytes, items;
    bool gives;             /* warps that copy leave registers to the teams */
    int64_t beside, groups; /* groups of a unit; groups in all */
} product;

/* ---- geometry ---- */

static int64_t boxes_of(const kiln_blocked *w, const box *b)
{
    return divide_up(w->dst[2], b->w) * divide_up(w->dst[1], b->h) * divide_up(w->n, b->n);
}

static bool is_copied(const kiln_blocked *w, const box *b)
{
    return (b->w - 1) * w->stride[2] < BOX_LIMIT && (b->h - 1) * w->stride[1] < BOX_LIMIT;
}

/* Returns the box of which fewest cover all pixels; among these a box of few images, nearly
 * square, as neighbouring taps read the same pixels. Where rows are all that there is, and pixels
 * of a plane are neighbours, a box is of one row. */
static box box_of(const kiln_blocked *w, bool planes)
{
    box best = {0};
    for (int64_t n = 1; n <= BOX; n *= 2)
        for (int64_t h = 1; h <= BOX / n; h *= 2) {
            box b = {.w = BOX / n / h, .h = h, .n = n};
            b.count = boxes_of(w, &b);
            const bool squarer = b.n == best.n && b.h <= b.w;
            if (is_copied(w, &b) &&
                (best.count == 0 || b.count < best.count || (b.count == best.count && squarer)))
                best = b;
            if (planes && best.count > 0 && w->src[1] == 1 && w->dst[1] == 1 && w->dst[2] >= BOX)
                return best;
        }
    return best;
}

/* Returns whether a source of NCHW is read as it lies: one pixel is multiplied for one pixel, of
 * elements that wgmma takes in rows of terms, in planes whose distance a map takes. */
static bool is_first(const kiln_shape *s, const product *p)
{
    const kiln_blocked *w = &p->walk;
    const kiln_pitch *x = &p->src.given;
    return p->src.turned && kiln_shape_is_pointwise(s) && s->g == 1 && p->size == 2 &&
           x->blocks == 1 && x->pixel == 1 && x->channel * p->size % PIECE == 0 && w->src[0] == 1 &&
           w->src[1] == 1 && w->src[2] == x->channel && w->src[2] >= BOX &&
           x->image == w->src_c * x->channel;
}

/* Finds how results are stored. Few pixels of a box that follow one another would be short runs. */
static void set_results(product *p, const kiln_shape *s)
{
    p->dst = kiln_mma_result_of(s, &p->walk.dst_pitch, p->walk.dst, p->box.w);
    p->out_unit =
        kiln_mma_out_unit(&p->dst.pitch, p->walk.dst, p->walk.dst_c, p->box.w, p->out_size);
}

/* Returns how the source is read, and the bytes of neighbouring channels in a box. Blocks that are
 * pieces of local memory's rows are read as they lie; pieces of 16 bytes only once, as the engine
 * copies one of them in two cycles. */
static kiln_mma_source source_of(const kiln_shape *s, char tensor, int64_t *piece)
{
    const kiln_mma_source m = kiln_mma_source_of(s, tensor, true);
    const int64_t block = m.given.neighbours * (int64_t)kiln_type_size(m.type);
    *piece = ROW_BYTES;
    if (m.turned || m.given.blocks <= 1)
        return m;
    const bool once = s->filter[1] * s->filter[2] == 1;
    if (m.unit == PIECE && block <= ROW_BYTES && ROW_BYTES % block == 0 &&
        (block > PIECE || once)) {
        *piece = block;
        return m;
    }
    return kiln_mma_source_of(s, tensor, false);
}

static product of_shape(const kiln_shape *s)
{
    const bool backward = s->direction == KILN_BACKWARD_DATA;
    product p = {.walk = kiln_blocked_of(s)};
    p.src = source_of(s, backward ? 'y' : 'x', &p.piece);
    p.size = (int64_t)kiln_type_size(p.src.type);
    p.out_size = (int64_t)kiln_type_size(kiln_shape_out_type(s));
    p.first = is_first(s, &p);
    if (p.first) {
        p.src.turned = false;
        p.src.pitch = p.src.given;
        p.src.channels = p.src.group_channels;
        p.src.unit = PIECE;
    }
    p.steps =
        product_of(s->filter[1] * s->filter[2], divide_up(p.src.channels * p.size, ROW_BYTES));
    p.box = box_of(&p.walk, p.first || p.walk.dst_pitch.channel != 1);
    set_results(&p, s);
    return p;
}

static int sums_of(const kiln_config *c)
{
    return c->v[BLOCKS] * c->v[COLUMNS] / 2;
}

static void set_config(product *p, const kiln_device_facts *d, const kiln_config *c)
{
    const int *v = c->v;
    const int64_t boxes = v[TEAMS] * v[BLOCKS];
    p->rows = BOX * boxes;
    p->columns = round_up(p->walk.dst_c, v[COLUMNS]);
    p->tiles = product_of(divide_up(p->box.count, boxes), p->columns / v[COLUMNS]);
    p->stage_bytes = (p->rows + v[COLUMNS]) * ROW_BYTES;
    p->local_bytes = v[STAGES] * (p->stage_bytes + 2 * BARRIER_BYTES) + MAP_BYTES;
    p->items = TEAM_ITEMS * (v[TEAMS] + 1);
    p->gives = sums_of(c) + EASY_REGISTERS > registers[v[TEAMS]].start;
    p->beside =
        least_of(kiln_device_unit_local(d) / (p->local_bytes + d->unit->group_local),
                 kiln_device_unit_registers(d) / (p->items * (sums_of(c) + EASY_REGISTERS)));
    p->beside = p->beside < 1 || p->gives ? 1 : p->beside;
    p->groups = least_of(p->tiles, d->compute_units * p->beside);
}

static product product_for(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    product p = of_shape(s);
    set_config(&p, d, c);
    return p;
}

/* ---- limits ---- */

static bool exceeds(const product *p, const kiln_device_facts *d, const kiln_config *c,
                    kiln_why *why)
{
    const int64_t local = kiln_device_static_local(d);
    const int needed = sums_of(c) + LEAST_REGISTERS, most = registers[c->v[TEAMS]].team;
    if (p->items > d->max_group || p->items > d->max_local[0])
        return kiln_no(why, "a group of %lld items exceeds the device's limit",
                       (long long)p->items);
    if (needed > most)
        return kiln_no(why, "%d x %d results need %d registers of an item, which has %d",
                       BOX * c->v[BLOCKS], c->v[COLUMNS], needed, most);
    if (p->local_bytes > local)
        return kiln_no(why, "%lld bytes of local memory exceed the device's %lld",
                       (long long)p->local_bytes, (long long)local);
    return false;
}

static bool illegal(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    const product p = product_for(s, d, c);
    return exceeds(&p, d, c, why);
}

static bool refuses_geometry(const kiln_shape *s, const kiln_blocked *w, kiln_why *why)
{
    if (s->direction == KILN_BACKWARD_WEIGHTS || s->g != 1)
        return kiln_no(why, "it does forward and backward data without groups");
    if (w->src[0] != 1 || w->filter[0] != 1 || w->dst[0] != 1 || w->lead[0] != 0)
        return kiln_no(why, "it does one and two axes");
    const int most = s->direction == KILN_FORWARD ? STRIDE_LIMIT : 1;
    if (s->stride[1] > most || s->stride[2] > most)
        return kiln_no(why, "a stride of %lld x %lld is more than the %d of a box",
                       (long long)s->stride[1], (long long)s->stride[2], most);
    return false;
}

/* Refuses sizes beyond numbers of 32 bits or a tensor map. */
static bool refuses_sizes(const kiln_shape *s, const product *p, kiln_why *why)
{
    const int64_t most = INT32_MAX / 4, furthest = (int64_t)1 << 40;
    for (int a = 1; a < 3; a++)
        if (s->in[a] + s->pad[a] + s->pad_end[a] + s->filter[a] * s->dilation[a] > most)
            return kiln_no(why, "an axis with its padding has 2^29 elements or more");
    if (p->tiles > most || p->columns > most / ROW_BYTES || p->steps > most / ROW_BYTES)
        return kiln_no(why, "its tiles, channels or taps leave the range of its grid");
    if (product_of(p->src.pitch.image, p->size) >= furthest)
        return kiln_no(why, "an image has 2^40 bytes or more");
    return false;
}

static bool reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why)
{
    const kiln_blocked w = kiln_blocked_of(s);
    if (refuses_geometry(s, &w, why) || kiln_mma_lacks(s, d, KILN_WGMMA, why))
        return true;
    if (!d->gpu.has_tma)
        return kiln_no(why, "it needs copies that follow a tensor map which a kernel makes; a "
                            "probe found none on the device");
    if (kiln_mma_refuses_tensors(s, why))
        return true;
    const product p = product_for(s, d, &smallest);
    if (p.src.unit != PIECE)
        return kiln_no(why,
                       "pixels and rows of the source begin at multiples of %lld bytes, not "
                       "of 16",
                       (long long)p.src.unit);
    return refuses_sizes(s, &p, why) || exceeds(&p, d, &smallest, why);
}

/* Leaves out more columns than the destination has, and long rings of stages where a unit runs
 * several groups. */
static bool skip(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c)
{
    const product p = product_for(s, d, c);
    const int v = c->v[COLUMNS];
    return (v > 32 && v - (v > 128 ? 64 : 32) >= p.walk.dst_c) ||
           (c->v[STAGES] > 4 && p.beside > 1);
}

/* ---- time ---- */

/* The units work on as many tiles at a time as there are groups; a tile's steps last as long as
 * their products, their copies, or a copy's way, of which several are ahead. */
static double ms_of_tiles(const kiln_solver *self, const product *p, const kiln_shape *s,
                          const kiln_device_facts *d, const kiln_config *c)
{
    const kiln_fit *fit = self->fits[0];
    const kiln_gemm_tma_numbers *k = fit->numbers;
    const double rows = (double)p->rows, columns = c->v[COLUMNS], steps = (double)p->steps;
    const double multiply = rows * columns / k->multiply + k->step;
    const double units = fmin((double)p->groups, d->compute_units);
    const double pieces = p->piece < ROW_BYTES ? 2 * rows * ROW_BYTES / (double)p->piece : 0;
    const double copy =
        fmax(pieces, (double)p->stage_bytes / fmin(k->unit_copy, k->all_copy / units));
    const double ahead = fmin(c->v[STAGES] - 1, 4) * (double)p->beside;
    const double step = fmax(fmax(multiply, copy), k->delay / ahead);
    const double tile =
        steps * step + k->end / (double)p->beside + rows * columns * (double)p->out_size / k->store;
    const double rounds = ceil((double)p->tiles / units);
    const double bytes =
        (double)kiln_mma_source_bytes(&p->src) + (double)(kiln_shape_out_count(s) * p->out_size);
    const double multiplied = rounds * tile / (kiln_device_fit_ghz(d, fit) * 1e6),
                 moved = k->moves * kiln_device_move_ms(d, bytes);
    /* From the second cache tiles are moved sooner than that, and multiplying them counts. */
    const double beside = bytes < HELD_BYTES ? 0.02 : 0;
    const double ms = fmax(multiplied, moved) + beside * fmin(multiplied, moved) +
                      k->begin / (kiln_device_fit_ghz(d, fit) * 1e6) +
                      kiln_mma_source_ms(&p->src, d) + kiln_mma_result_ms(&p->dst, d);
    return kiln_mma_row_ms(d, ms, 1 + p->src.turned + p->dst.staged) + kiln_device_launch_ms(d);
}

static double predict(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c)
{
    const product p = product_for(s, d, c);
    return ms_of_tiles(self, &p, s, d, c);
}

static double guess_ms(const kiln_guess *g, kiln_config *c)
{
    product *p = g->own;
    set_config(p, g->d, c);
    /* Rows of planes lie far apart: with two stages 1x1 filters took half as long again. */
    return exceeds(p, g->d, c, NULL) || (p->first && c->v[STAGES] < 3)
               ? INFINITY
               : ms_of_tiles(g->self, p, g->s, g->d, c);
}

static void guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                  kiln_config *c)
{
    const kiln_range all[] = {kiln_searched(params, TEAMS), kiln_searched(params, BLOCKS),
                              kiln_searched(params, COLUMNS), kiln_searched(params, STAGES)};
    product own = of_shape(s);
    kiln_guess g = {.self = self,
                    .s = s,
                    .d = d,
                    .own = &own,
                    .ms = guess_ms,
                    .best = smallest,
                    .best_ms = INFINITY};
    kiln_config_best(&g, &smallest, all, sizeof all / sizeof *all);
    *c = g.best;
}

/* ---- the plan ---- */

static void define_all(const kiln_shape *s, const product *p, const kiln_device_facts *d,
                       const kiln_config *c, kiln_plan *plan)
{
    const kiln_blocked *w = &p->walk;
    const bool backward = s->direction == KILN_BACKWARD_DATA;
    const int64_t taps = w->filter[1] * w->filter[2], across = s->c * taps;
    kiln_define_types(plan, s);
    kiln_define_epilogue(plan, s);
    if (!s->wide && product_of(p->columns, p->steps * ROW_BYTES) > INT32_MAX)
        kiln_define(plan, "P_WIDE", 1);
    kiln_define(plan, "P_IMAGES", w->n);
    kiln_define_axes(plan, "P_SRC", w->src);
    kiln_define_axes(plan, "P_DST", w->dst);
    kiln_define_axes(plan, "P_FILTER", w->filter);
    kiln_define_axes(plan, "P_STRIDE", w->stride);
    kiln_define_axes(plan, "P_DILATION", w->dilation);
    kiln_define_axes(plan, "D_LEAD", w->lead);
    kiln_define(plan, "D_TURNED", backward);
    kiln_define(plan, "D_SRC_C", w->src_c);
    kiln_define(plan, "D_CHANNELS", p->src.channels);
    kiln_define(plan, "D_DST_C", w->dst_c);
    kiln_define(plan, "D_COLUMNS", p->columns);
    kiln_define(plan, "D_W_SRC", backward ? across : taps);
    kiln_define(plan, "D_W_DST", backward ? taps : across);
    kiln_pitch_define(&p->src.pitch, "D_SRC", plan);
    kiln_pitch_define(&p->dst.pitch, "D_DST", plan);
    kiln_define(plan, "D_OUT_UNIT", p->out_unit);
    kiln_define(plan, "D_BOX_W", p->box.w);
    kiln_define(plan, "D_BOX_H", p->box.h);
    kiln_define(plan, "D_BOX_N", p->box.n);
    kiln_define(plan, "D_PIECE", p->piece);
    kiln_define(plan, "D_FIRST", p->first);
    kiln_define(plan, "D_GROUPS", p->groups);
    kiln_define_params(plan, params, PARAMS, c);
    if (p->gives) {
        kiln_define(plan, "D_COPY_REGISTERS", registers[c->v[TEAMS]].copy);
        kiln_define(plan, "D_TEAM_REGISTERS", registers[c->v[TEAMS]].team);
    }
    if (d->unit->wgmma_target)
        kiln_define_text(plan, "D_PTX_TARGET", d->unit->wgmma_target);
}

static void emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c, kiln_plan *plan)
{
    const product p = product_for(s, d, c);
    const bool backward = s->direction == KILN_BACKWARD_DATA;
    const double terms = (double)kiln_shape_terms(s);
    plan->amplification = kiln_mma_amplification(p.src.type, terms, terms);
    plan->packed_bytes = product_of(p.columns, p.steps * ROW_BYTES);
    kiln_plan_stage(plan, "gemm_tma.cl", "gemm_tma_pack")->pack = true;
    define_all(s, &p, d, c, plan);
    kiln_arg_buffer(plan, KILN_ROLE_W);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_grid(plan, kiln_device_group(d, 64), 1, 1, ROW_BYTES / p.size, p.columns, p.steps);
    const int src = kiln_mma_source_emit(&p.src, s, d, backward ? KILN_ROLE_Y : KILN_ROLE_X, plan);
    const int maps = kiln_plan_temp(plan, p.groups * MAP_BYTES),
              dst = kiln_mma_result_role(&p.dst, s, plan);
    kiln_plan_stage(plan, "gemm_tma.cl", "gemm_tma");
    define_all(s, &p, d, c, plan);
    kiln_arg_buffer(plan, src);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_arg_buffer(plan, maps);
    kiln_arg_buffer(plan, dst);
    kiln_arg_epilogue(plan, s);
    kiln_grid(plan, p.items, 1, 1, p.groups * p.items, 1, 1);
    kiln_mma_result_emit(&p.dst, s, d, dst, plan);
}

const kiln_solver kiln_solver_gemm_tma = {
    .name = "gemm_tma",
    .id = 1066,
    .algorithm = 5,
    .version = 1,
    .params = params,
    .nparams = PARAMS,
    .fits = (const kiln_fit *const[]){&gemm_tma_fit},
    .nfits = 1,
    .prefer = kiln_mma_prefer,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
