/* The direct solver with pixels as the vector that copies no activations: items keep pieces of a plain
 * source near while they sum all of their channels from them. Forward and backward data. */
#include "integers.h"
#include "solver_direct.h"
#include "team_grid.h"

#include <math.h>

enum { VEC, K, PIX, TILE, BLOCKS, C, PARAMS };
enum { USUAL_TILE = 28, MOST_CHUNK = 64 };

static const kiln_param params[PARAMS] = {
    [VEC] = {"T_VEC", 3, {4, 8, 16}, 0, 0},
    [K] = {"T_K", 6, {1, 2, 4, 6, 8, 12}, 1, 16},
    [PIX] = {"T_PIX", 6, {1, 2, 3, 4, 5, 7}, 1, 8},
    [TILE] = {"T_TILE", 6, {4, 8, 14, 28, 56, 112}, 1, 1024},
    [BLOCKS] = {"T_BLOCKS", 6, {1, 2, 4, 8, 16, 64}, 1, 4096},
    [C] = {"T_C", 5, {4, 8, 16, 32, 64}, 1, 4096},
};

/* Legal if any is. */
static const kiln_config smallest = {{[VEC] = 4, [K] = 1, [PIX] = 1, [TILE] = 1, [BLOCKS] = 1, [C] = 1}};

/* Whether sums, the vectors of a tap and a weight have registers: 32 with 512 bits, 16 with fewer. */
static bool fits_registers(const kiln_device_facts *d, int k, int pix)
{
    return k * pix + pix + 1 <= (d->simd_floats >= 16 ? 32 : 16);
}

/* ---- geometry ---- */

/* A tile of the destination's pixels, and the piece of the source that its taps read. */
typedef struct geometry {
    kiln_lines lines;
    int64_t dst[3], filter[3];
    int64_t rows, cols, pitch; /* of a tile; positions from row to row */
    int64_t tiles_h, tiles_w;
    int64_t vectors;         /* of a tile, a multiple of T_PIX */
    int64_t piece;           /* elements of the source that a channel and a filter plane have */
    int64_t blocks, parts;   /* of a group's channels */
    int64_t chunk, kept;     /* source channels at a time; blocks whose sums wait */
    int64_t phases;          /* of rows and columns */
    int64_t scratch;         /* elements that an item keeps */
    int64_t dst_c, src_c;
} geometry;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Where a pixel sees one pixel, all of an image are one row. */
static kiln_shape flattened(const kiln_shape *s)
{
    kiln_shape flat = *s;
    if (!kiln_lines_in_place(s))
        return flat;
    for (int a = 0; a < 3; a++)
        flat.in[a] = flat.out[a] = a == KILN_AXIS_W ? s->in[0] * s->in[1] * s->in[2] : 1;
    return flat;
}

/* As many rows as T_TILE vectors go over, of a number that leaves no tile much smaller; or a part of
 * one row. */
static void set_tile(geometry *g, const int *v)
{
    const kiln_lines *l = &g->lines;
    const int64_t w = l->grid[KILN_AXIS_W], h = l->grid[KILN_AXIS_H];
    const int64_t most = (int64_t)v[TILE] * v[VEC], line = l->line[KILN_AXIS_W];
    if (w > most) {
        const int64_t even = round_up(divide_up(w, divide_up(w, most)), v[VEC]);
        g->rows = 1;
        g->cols = least(even, most);
        g->pitch = g->cols + l->reach[KILN_AXIS_W];
    } else {
        const int64_t rows = (most - w) / line + 1;
        g->rows = divide_up(h, divide_up(h, rows));
        g->cols = w;
        g->pitch = line;
    }
    g->tiles_h = divide_up(h, g->rows);
    g->tiles_w = divide_up(w, g->cols);
    g->vectors = round_up(divide_up((g->rows - 1) * g->pitch + g->cols, v[VEC]), v[PIX]);
}

static geometry geometry_of(const kiln_shape *s, const kiln_config *c)
{
    const int *v = c->v;
    const bool backward = s->direction == KILN_BACKWARD_DATA;
    const kiln_shape flat = flattened(s);
    geometry g = {.lines = kiln_lines_of(&flat)};
    const kiln_lines *l = &g.lines;
    for (int a = 0; a < 3; a++) {
        g.dst[a] = backward ? flat.in[a] : flat.out[a];
        g.filter[a] = s->filter[a];
    }
    set_tile(&g, v);
    g.dst_c = kiln_direct_dst_channels(s);
    g.src_c = kiln_direct_src_channels(s);
    g.phases = backward ? s->stride[KILN_AXIS_H] * s->stride[KILN_AXIS_W] : 1;
    g.blocks = divide_up(g.dst_c, v[K]);
    g.parts = divide_up(g.blocks, v[BLOCKS]);
    g.chunk = v[C];
    g.kept = v[C] < g.src_c ? v[BLOCKS] : 1;
    g.piece = round_up(l->slots[KILN_AXIS_H] * l->slots[KILN_AXIS_W] *
                           (g.rows + l->reach[KILN_AXIS_H]) * g.pitch,
                       v[VEC]);
    const int64_t behind = divide_up(l->reach[KILN_AXIS_W], v[VEC]) + v[PIX] + 1;
    g.scratch = g.kept * g.phases * v[K] * g.vectors * v[VEC] + g.chunk * s->filter[0] * g.piece +
                behind * v[VEC];
    return g;
}

/* ---- what it takes ---- */

static bool illegal(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                    kiln_why *why)
{
    const int *v = c->v;
    if (v[K] * v[PIX] > 64)
        return kiln_no(why, "a tile of %d channels and %d vectors is too large for registers", v[K],
                       v[PIX]);
    const geometry g = geometry_of(s, c);
    if (v[K] > g.dst_c || v[BLOCKS] > g.blocks || v[C] > g.src_c)
        return kiln_no(why,
                       "T_K is %d, T_BLOCKS %d and T_C %d, but a group has %lld channels, %lld "
                       "blocks of them and %lld source channels",
                       v[K], v[BLOCKS], v[C], (long long)g.dst_c, (long long)g.blocks,
                       (long long)g.src_c);
    if (v[PIX] > v[TILE])
        return kiln_no(why, "T_PIX is %d, but a tile has at most T_TILE=%d vectors", v[PIX],
                       v[TILE]);
    if (g.scratch > d->local_memory / 4)
        return kiln_no(why,
                       "an item would keep %lld elements of the source and of sums; the device's "
                       "local memory has %lld bytes",
                       (long long)g.scratch, (long long)d->local_memory);
    return false;
}

static bool reject(const kiln_shape *s, const kiln_device_facts *d, kiln_why *why)
{
    if (s->direction == KILN_BACKWARD_WEIGHTS)
        return kiln_no(why, "it does forward and backward data");
    if (!kiln_shape_is_plain_layout(s))
        return kiln_no(why, "it works on the layouts NCHW and OIHW and their 1-D and 3-D kin");
    if (kiln_reject_but_cpu(d, why) || kiln_lines_too_large(s, why))
        return true;
    return illegal(s, d, &smallest, why);
}

static bool skip(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    const int *v = c->v;
    const int sums = v[K] * v[PIX];
    const geometry g = geometry_of(s, c);
    kiln_config larger = *c;
    larger.v[TILE] *= 2;
    const geometry l = geometry_of(s, &larger);
    const bool same = l.rows == g.rows && l.cols == g.cols;
    const bool few = sums < 6 && g.dst_c >= 8;
    return v[VEC] > d->simd_floats || !fits_registers(d, v[K], v[PIX]) || few || same ||
           (v[C] < 16 && g.scratch < 1 << 11);
}

/* ---- how long it takes, in cycles of a vector multiply-add ---- */

/* Copying the pieces of an item. */
static double fill_cycles(const kiln_shape *s, const geometry *g, const kiln_config *c)
{
    const kiln_lines *l = &g->lines;
    const int64_t step = l->step[KILN_AXIS_W];
    const double each = step == 1 ? 5 : step == 2 ? 8 : 3.0 * c->v[VEC];
    const double rows = (double)(l->slots[KILN_AXIS_H] * l->slots[KILN_AXIS_W] *
                                 (g->rows + l->reach[KILN_AXIS_H]) * s->filter[0]);
    return (double)g->src_c * rows * (each * (double)divide_up(g->pitch, c->v[VEC]) + 4);
}

/* Adding up the sums of T_PIX vectors, and moving them. */
static double sums_cycles(const kiln_shape *s, const geometry *g, const kiln_config *c)
{
    const double k = c->v[K], pix = c->v[PIX], taps = (double)kiln_direct_taps(s);
    const double sums = k * pix, loads = 2 * pix + k;
    const double step = fmax(fmax(sums, loads), 4) + 0.2 * (pix + k);
    const double chunks = (double)divide_up(g->src_c, c->v[C]);
    return (double)g->src_c * taps * step + chunks * (double)g->phases * (2 * sums + 20);
}

/* Storing a block's sums. */
static double store_cycles(const geometry *g, const kiln_config *c, int64_t stride)
{
    const int64_t vectors = divide_up(g->cols, c->v[VEC]);
    const double row = stride > 1 ? 4.0 * (double)g->cols : 5.0 * (double)vectors + 6;
    return (double)(g->rows * g->phases * c->v[K]) * row;
}

static double predict(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    const int *v = c->v;
    const geometry g = geometry_of(s, c);
    const int64_t stride = s->direction == KILN_BACKWARD_DATA ? s->stride[KILN_AXIS_W] : 1;
    const double blocks = (double)g.blocks / (double)g.parts;
    const double passes = (double)(g.vectors / v[PIX]);
    const double item = fill_cycles(s, &g, c) + blocks * passes * sums_cycles(s, &g, c) +
                        blocks * store_cycles(&g, c, stride) + 60;
    const double items =
        (double)(g.tiles_h * g.tiles_w * g.dst[0] * s->n) * (double)(s->g * g.parts);
    const double whole = (double)divide_up((int64_t)items, d->compute_units) * d->compute_units;
    const double lanes = v[VEC] < d->simd_floats ? d->simd_floats : v[VEC];
    const double bytes = (double)kiln_type_size(s->x_type) * (double)(s->x_count + s->y_count) +
                         4.0 * (double)s->w_count;
    return (items + whole) / 2 * item * 2 * lanes / (0.71 * d->peak_gflops * 1e6) +
           0.5 * kiln_device_move_ms(d, bytes) + kiln_device_launch_ms(d);
}

/* ---- a guess ---- */

/* Takes `next` where it is legal and better. */
static void consider(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *next,
                     kiln_config *best, double *ms)
{
    kiln_why why;
    if (illegal(s, d, next, &why))
        return;
    const double next_ms = predict(s, d, next);
    if (next_ms < *ms) {
        *ms = next_ms;
        *best = *next;
    }
}

/* Tiles of registers, then tiles of pixels and parts of the channels for those, and both once more. */
static void guess(const kiln_shape *s, const kiln_device_facts *d, kiln_config *c)
{
    const int dst_c = (int)least(kiln_direct_dst_channels(s), 1 << 16);
    const int src_c = (int)least(kiln_direct_src_channels(s), MOST_CHUNK);
    kiln_config best = smallest;
    double ms = predict(s, d, &best);
    for (int round = 0; round < 2; round++) {
        const int tile = round == 0 ? USUAL_TILE : best.v[TILE], chunk = best.v[C];
        const int64_t parts = divide_up(divide_up(dst_c, best.v[K]), best.v[BLOCKS]);
        for (int vec = 4; vec <= 16 && vec <= d->simd_floats; vec *= 2)
            for (int k = 1; k <= 16 && k <= dst_c; k++)
                for (int pix = 1; pix <= 8 && fits_registers(d, k, pix); pix++) {
                    const int blocks = (int)least(divide_up(divide_up(dst_c, k), parts), 4096);
                    const kiln_config next = {{vec, k, pix, tile < pix ? pix : tile, blocks, chunk}};
                    consider(s, d, &next, &best, &ms);
                }
        const kiln_config so_far = best;
        for (int t = so_far.v[PIX]; t <= 128; t += (int)divide_up(t, 3))
            for (int p = 1; p <= 16; p *= 2)
                for (int n = src_c; n >= 1; n /= 2) {
                    kiln_config next = so_far;
                    next.v[TILE] = t;
                    next.v[BLOCKS] =
                        (int)least(divide_up(divide_up(dst_c, next.v[K]), p), 4096);
                    next.v[C] = n;
                    consider(s, d, &next, &best, &ms);
                }
    }
    *c = best;
}

/* ---- the plan ---- */

static void define_all(const kiln_shape *s, const geometry *g, const kiln_config *c,
                       kiln_plan *plan)
{
    const kiln_lines *l = &g->lines;
    kiln_define_types(plan, s);
    kiln_define_epilogue(plan, s);
    kiln_define(plan, "D_ROW", c->v[VEC]);
    kiln_define(plan, "D_BACKWARD", s->direction == KILN_BACKWARD_DATA);
    kiln_direct_define_weights(s, plan);
    kiln_define(plan, "D_SRC_COUNT",
                l->n * l->channels * l->source[0] * l->source[1] * l->source[2]);
    kiln_define_axes(plan, "P_SRC", l->source);
    kiln_define_axes(plan, "P_DST", g->dst);
    kiln_define_axes(plan, "P_FILTER", s->filter);
    kiln_define_axes(plan, "P_STRIDE", s->stride);
    kiln_define_axes(plan, "P_DILATION", s->dilation);
    kiln_define_axes(plan, "P_PAD", s->pad);
    kiln_lines_define(l, plan);
    kiln_define(plan, "D_COLS", g->cols);
    kiln_define(plan, "D_PITCH", g->pitch);
    kiln_define(plan, "D_TILES_H", g->tiles_h);
    kiln_define(plan, "D_TILES_W", g->tiles_w);
    kiln_define(plan, "D_VECTORS", g->vectors);
    kiln_define(plan, "D_BLOCKS", g->blocks);
    kiln_define(plan, "D_PARTS", g->parts);
    kiln_define(plan, "D_KEPT", g->kept);
    kiln_define(plan, "T_ROWS", g->rows);
    for (int i = 0; i < PARAMS; i++)
        kiln_define(plan, params[i].name, c->v[i]);
}

static void emit(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                 kiln_plan *plan)
{
    const bool backward = s->direction == KILN_BACKWARD_DATA;
    const geometry g = geometry_of(s, c);
    kiln_direct_pack_emit(s, c->v[K], plan);
    kiln_plan_fact(plan, "LOCAL_BYTES", 4 * g.scratch);
    kiln_plan_stage(plan, "direct_pixels.cl", "direct_pixels");
    define_all(s, &g, c, plan);
    kiln_arg_buffer(plan, backward ? KILN_ROLE_Y : KILN_ROLE_X);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_arg_buffer(plan, backward ? KILN_ROLE_X : KILN_ROLE_Y);
    kiln_arg_epilogue(plan, s);
    kiln_grid_team(plan, d, predict(s, d, c), g.tiles_h * g.tiles_w, s->n * g.dst[0],
                   s->g * g.parts);
}

const kiln_solver kiln_solver_direct_pixels = {
    .name = "direct_pixels",
    .id = 1014,
    .algorithm = 1,
    .version = 1,
    .params = params,
    .nparams = PARAMS,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
