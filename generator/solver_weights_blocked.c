/* The blocked solver of backward weights: outer products of pixels over channel blocks; for CPUs.
 */
#include "blocked.h"
#include "integers.h"
#include "problem_layout.h"
#include "problem_text.h"
#include "reformat.h"
#include "solver_direct.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TILE_X, TILE_Y, TILE_S, BLOCKS, PIXELS, PARTS, PARAMS };

static const kiln_param params[PARAMS] = {
    [TILE_X] = {"T_X", 6, {1, 2, 3, 4, 5, 8}, 1, 16},
    [TILE_Y] = {"T_Y", 5, {1, 2, 4, 8, 16}, 1, 16},
    [TILE_S] = {"T_S", 5, {1, 3, 5, 7, 11}, 1, 32},
    [BLOCKS] = {"T_BLOCKS", 4, {1, 2, 4, 8}, 1, 1024},
    [PIXELS] = {"T_PIXELS", 4, {64, 128, 256, 1024}, 1, 1 << 20},
    [PARTS] = {"T_PARTS", 5, {1, 2, 4, 8, 16}, 1, 1024},
};

/* What a lane of a sum is: an input channel, an output channel, or both, where each channel has its
 * own filter. The numbers are the template's. */
typedef enum lanes { LANES_C, LANES_K, LANES_BOTH } lanes;

typedef struct geometry {
    kiln_blocked b; /* source x, destination dy */
    lanes lanes;
    bool plain_x;          /* x stays plain, and gives single elements */
    bool plain_w;          /* dw leaves as a plain tensor */
    int64_t strips, strip; /* what a row of dy is cut into, and pixels of one */
} geometry;

/* ---- layouts ---- */

/* Blocks no wider than the device's vectors, narrower where only those fit groups. */
static int block_of(const kiln_shape *s, const kiln_device_facts *d)
{
    int x = kiln_layout_block(s->x_layout, s->rank), y = kiln_layout_block(s->y_layout, s->rank);
    if (x > 1 || y > 1)
        return x > 1 ? x : y;
    int block = d->simd_floats >= 16 ? 16 : d->simd_floats >= 8 ? 8 : 4;
    bool depthwise = s->c == s->g && s->k == s->g;
    while (s->g > 1 && !depthwise && block > 4 && s->k / s->g % block)
        block /= 2;
    return block;
}

/* The layout of dw whose last axis is the lanes of a sum. */
static void w_layout_of(const kiln_shape *s, lanes lanes, int block, char text[KILN_LAYOUT_TEXT])
{
    const char *plain = kiln_plain_filter_layout(s->rank);
    int n = snprintf(text, KILN_LAYOUT_TEXT, "%s%do", plain, block);
    if (lanes == LANES_C)
        snprintf(text + n, KILN_LAYOUT_TEXT - (size_t)n, "%di", block);
}

static bool fits(const kiln_shape *s, lanes lanes, int block)
{
    int64_t c = s->c / s->g, k = s->k / s->g;
    if (lanes == LANES_BOTH)
        return s->g > 1 && c == 1 && k == 1;
    return s->g == 1 || (lanes == LANES_C ? c : k) % block == 0;
}

/* The lanes that waste least. */
static lanes best_lanes(const kiln_shape *s, int block)
{
    if (fits(s, LANES_BOTH, block))
        return LANES_BOTH;
    double c = (double)(s->c / s->g), k = (double)(s->k / s->g);
    double by_c = c / (double)round_up(s->c / s->g, block) * k / (double)round_up(s->k / s->g, 4);
    double by_k = k / (double)round_up(s->k / s->g, block);
    if (!fits(s, LANES_C, block))
        return LANES_K;
    return fits(s, LANES_K, block) && by_k > 1.1 * by_c ? LANES_K : LANES_C;
}

static lanes lanes_of(const kiln_shape *s, int block)
{
    for (int l = LANES_C; l <= LANES_K; l++) {
        char text[KILN_LAYOUT_TEXT];
        w_layout_of(s, (lanes)l, block, text);
        if (strcmp(s->w_layout, text) == 0)
            return l == LANES_K && fits(s, LANES_BOTH, block) ? LANES_BOTH : (lanes)l;
    }
    return best_lanes(s, block);
}

static void data_layout_of(const kiln_shape *s, int block, char text[KILN_LAYOUT_TEXT])
{
    snprintf(text, KILN_LAYOUT_TEXT, "%s%dc", kiln_plain_data_layout(s->rank), block);
}

static void prefer(kiln_shape *s, const kiln_device_facts *d)
{
    if (s->direction != KILN_BACKWARD_WEIGHTS)
        return;
    int block = block_of(s, d);
    char blocked[KILN_LAYOUT_TEXT], w[KILN_LAYOUT_TEXT];
    data_layout_of(s, block, blocked);
    w_layout_of(s, lanes_of(s, block), block, w);
    if (lanes_of(s, block) == LANES_K && s->c <= block / 4)
        kiln_prefer_layout(s->x_layout, kiln_plain_data_layout(s->rank));
    kiln_prefer_layout(s->x_layout, blocked);
    kiln_prefer_layout(s->y_layout, blocked);
    kiln_prefer_layout(s->w_layout, w);
}

/* ---- geometry ---- */

/* Of a tensor in blocks of `block` channels, or plain where that is 1. */
static kiln_pitch pitch_of(const int64_t size[3], int64_t channels, int block)
{
    int64_t pixels = size[0] * size[1] * size[2];
    return (kiln_pitch){.image = round_up(channels, block) * pixels,
                        .block = block * pixels,
                        .plane = block * size[1] * size[2],
                        .row = block * size[2],
                        .pixel = block,
                        .channel = block == 1 ? pixels : 1,
                        .neighbours = block,
                        .blocks = divide_up(channels, block)};
}

static bool is_pointwise(const kiln_shape *s)
{
    for (int a = 0; a < 3; a++)
        if (s->filter[a] != 1 || s->stride[a] != 1 || s->pad[a] != 0 || s->pad_end[a] != 0)
            return false;
    return true;
}

/* The largest divisor of `number` that is at most `limit`. */
static int64_t divisor(int64_t number, int64_t limit)
{
    int64_t d = number < limit ? number : limit;
    while (number % d)
        d--;
    return d;
}

/* Where a pixel of dy meets one of x: makes rows of as many pixels as divide an image, up to
 * `limit`; of images of a single pixel, one row. */
static void flatten(kiln_blocked *b, int64_t limit)
{
    int64_t pixels = b->src[0] * b->src[1] * b->src[2], row = divisor(pixels, limit);
    if (row < b->src[KILN_AXIS_W])
        return; /* rows are longer as they are */
    for (int a = 0; a < 3; a++)
        b->src[a] = b->dst[a] = a == KILN_AXIS_W ? row : a == KILN_AXIS_H ? pixels / row : 1;
    b->src_pitch.row = row * b->src_pitch.pixel;
    b->dst_pitch.row = row * b->dst_pitch.pixel;
    if (pixels > 1)
        return;
    b->src[KILN_AXIS_W] = b->dst[KILN_AXIS_W] = b->n;
    b->src_pitch.pixel = b->src_pitch.image;
    b->dst_pitch.pixel = b->dst_pitch.image;
    b->n = 1;
}

static geometry geometry_of(const kiln_shape *s, const kiln_device_facts *d)
{
    int block = block_of(s, d);
    geometry g = {.lanes = lanes_of(s, block),
                  .plain_w = strcmp(s->w_layout, kiln_plain_filter_layout(s->rank)) == 0};
    kiln_blocked *b = &g.b;
    *b = (kiln_blocked){.block = block,
                        .wide = s->wide,
                        .n = s->n,
                        .groups = s->g,
                        .src_c = s->c / s->g,
                        .dst_c = s->k / s->g};
    for (int a = 0; a < 3; a++) {
        b->src[a] = s->in[a];
        b->dst[a] = s->out[a];
        b->filter[a] = s->filter[a];
        b->stride[a] = s->stride[a];
        b->dilation[a] = s->dilation[a];
        b->lead[a] = s->pad[a];
        b->up[a] = 1;
    }
    /* Other plain tensors are put in blocks first. */
    g.plain_x = g.lanes == LANES_K && kiln_layout_block(s->x_layout, s->rank) == 1;
    b->src_pitch = pitch_of(b->src, s->c, g.plain_x ? 1 : block);
    b->dst_pitch = pitch_of(b->dst, s->k, block);
    if (g.plain_x)
        b->src_pitch.block = block * b->src_pitch.channel;
    if (is_pointwise(s))
        flatten(b, 256);
    const int64_t width = b->dst[KILN_AXIS_W];
    g.strip = width > 1024 ? 512 : width;
    g.strips = divide_up(width, g.strip);
    return g;
}

static bool reads_elements(const geometry *g)
{
    return g->lanes == LANES_K && !g->plain_x;
}

static int64_t units_x(const geometry *g, const kiln_config *c)
{
    if (g->lanes == LANES_BOTH)
        return 1;
    if (g->lanes == LANES_C)
        return divide_up(g->b.src_c, g->b.block);
    return reads_elements(g) ? round_up(g->b.src_c, c->v[TILE_X]) : g->b.src_c;
}

static int64_t units_y(const geometry *g, const kiln_config *c)
{
    if (g->lanes == LANES_BOTH)
        return divide_up(g->b.groups, g->b.block);
    return g->lanes == LANES_C ? round_up(g->b.dst_c, c->v[TILE_Y])
                               : divide_up(g->b.dst_c, g->b.block);
}

static int64_t groups_of(const geometry *g)
{
    return g->lanes == LANES_BOTH ? 1 : g->b.groups;
}

/* Units of dy that one item takes. */
static int64_t item_y(const geometry *g, const kiln_config *c)
{
    return g->lanes == LANES_C ? (int64_t)c->v[BLOCKS] * g->b.block : c->v[BLOCKS];
}

/* Strips of dy, which are whole rows where those are short. */
static int64_t rows_of(const geometry *g)
{
    return g->b.dst[0] * g->b.dst[1] * g->b.n * g->strips;
}

static int64_t chunk_of(const geometry *g, const kiln_config *c)
{
    int64_t rows = c->v[PIXELS] / g->strip;
    return rows > 1 ? rows : 1;
}

static int64_t part_of(const geometry *g, const kiln_config *c)
{
    return divide_up(rows_of(g), c->v[PARTS]);
}

static int sums_of(const geometry *g, const kiln_device_facts *d, const kiln_config *c)
{
    return c->v[TILE_X] * c->v[TILE_Y] * c->v[TILE_S] * kiln_blocked_vectors(g->b.block, d);
}

/* ---- what it can do ---- */

static bool wrong_layouts(const kiln_shape *s, const kiln_device_facts *d, kiln_why *why)
{
    int x = kiln_layout_block(s->x_layout, s->rank), y = kiln_layout_block(s->y_layout, s->rank);
    if (!x || !y || (x > 1 && y > 1 && x != y))
        return kiln_no(why,
                       "it reads plain tensors and blocks of 16, 8 and 4 channels, both the "
                       "same; the layouts are %s and %s",
                       s->x_layout, s->y_layout);
    int block = block_of(s, d);
    lanes lanes = lanes_of(s, block);
    char w[KILN_LAYOUT_TEXT];
    w_layout_of(s, lanes, block, w);
    const char *plain = kiln_plain_filter_layout(s->rank);
    if (strcmp(s->w_layout, plain) != 0 && strcmp(s->w_layout, w) != 0)
        return kiln_no(why, "it writes the layouts %s and %s; dw is %s", plain, w, s->w_layout);
    if (!fits(s, lanes, block))
        return kiln_no(why, "groups of %lld and %lld channels do not fill blocks of %d",
                       (long long)(s->c / s->g), (long long)(s->k / s->g), block);
    return false;
}

static bool reject(const kiln_shape *s, const kiln_device_facts *d, kiln_why *why)
{
    if (d->kind != KILN_DEVICE_CPU)
        return kiln_no(
            why, "it is shaped for a CPU, where one item has a core and its vectors to itself");
    if (s->direction != KILN_BACKWARD_WEIGHTS)
        return kiln_no(why, "it does backward weights");
    if (s->x_type == KILN_I8)
        return kiln_no(why, "it adds floats, and these tensors are i8");
    if (wrong_layouts(s, d, why))
        return true;
    const char *dy = s->mirrored ? s->x_layout : s->y_layout; /* the caller's */
    if (s->epilogue.bias && kiln_layout_block(dy, s->rank) != 1)
        return kiln_no(why, "the bias gradient needs dy in the layout %s; it is %s",
                       kiln_plain_data_layout(s->rank), dy);
    for (int a = 0; a < 3; a++)
        if (s->in[a] + s->pad[a] + s->pad_end[a] + s->stride[a] + s->dilation[a] > INT32_MAX / 64)
            return kiln_no(why, "an axis with its padding has 2^25 elements or more");
    geometry g = geometry_of(s, d);
    int64_t most = INT32_MAX / 64;
    if (rows_of(&g) > most || g.b.src[0] * g.b.src[1] * g.b.src[2] > most || s->k > most ||
        s->c > most || g.b.src_pitch.pixel > most / g.b.stride[2] || g.b.dst_pitch.pixel > most)
        return kiln_no(why, "it counts rows and pixels of a block of channels below 2^25");
    return false;
}

static bool illegal_units(const geometry *g, const kiln_config *c, kiln_why *why)
{
    const int *v = c->v, block = g->b.block;
    int64_t blocks = divide_up(g->b.dst_c, block);
    if (g->lanes == LANES_BOTH && (v[TILE_Y] != 1 || g->b.filter[KILN_AXIS_H] % v[TILE_X]))
        return kiln_no(why, "depthwise needs T_Y 1 and a T_X that divides the %lld filter rows",
                       (long long)g->b.filter[KILN_AXIS_H]);
    if (g->lanes == LANES_BOTH)
        return false;
    bool split =
        reads_elements(g) && (block % v[TILE_X] || (g->b.groups > 1 && g->b.src_c % v[TILE_X]));
    if (split || v[TILE_X] > units_x(g, c))
        return kiln_no(why, "T_X is %d; it must fit %lld channels in blocks of %d", v[TILE_X],
                       (long long)g->b.src_c, block);
    split = g->lanes == LANES_C ? block % v[TILE_Y] || (g->b.groups > 1 && g->b.dst_c % v[TILE_Y])
                                : v[TILE_Y] > blocks;
    if (split)
        return kiln_no(why, "T_Y is %d; it must fit %lld channels in blocks of %d", v[TILE_Y],
                       (long long)g->b.dst_c, block);
    if (g->lanes == LANES_K && v[BLOCKS] % v[TILE_Y] && v[BLOCKS] < blocks)
        return kiln_no(why, "T_BLOCKS is %d, not a multiple of T_Y, %d", v[BLOCKS], v[TILE_Y]);
    return false;
}

static bool illegal(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                    kiln_why *why)
{
    geometry g = geometry_of(s, d);
    const int *v = c->v;
    if (g.b.filter[KILN_AXIS_W] % v[TILE_S])
        return kiln_no(why, "T_S is %d, which does not divide the %lld taps of a filter row",
                       v[TILE_S], (long long)g.b.filter[KILN_AXIS_W]);
    if (sums_of(&g, d, c) > 2 * kiln_blocked_registers(d))
        return kiln_no(why, "%d vectors of sums are too many for registers", sums_of(&g, d, c));
    if (illegal_units(&g, c, why))
        return true;
    if ((v[PARTS] - 1) * part_of(&g, c) >= rows_of(&g))
        return kiln_no(why, "T_PARTS is %d, which leaves parts without any of the %lld rows",
                       v[PARTS], (long long)rows_of(&g));
    return false;
}

/* ---- time ---- */

/* Cycles of one pixel: a multiply-add each, or as many loads. */
static double pixel_cost(const geometry *g, const kiln_device_facts *d, const kiln_config *c)
{
    double vectors = kiln_blocked_vectors(g->b.block, d), sums = sums_of(g, d, c);
    double x = c->v[TILE_X] * c->v[TILE_S], y = c->v[TILE_Y];
    double wide = vectors * (g->lanes == LANES_C ? x : g->lanes == LANES_K ? y : x + y);
    double narrow = g->lanes == LANES_C ? y : g->lanes == LANES_K ? x : 0;
    double loads = wide + 0.5 * narrow, cost = sums > loads ? sums : loads;
    double spare = kiln_blocked_registers(d) - 2 - sums - wide;
    return (cost > 4 ? cost : 4) + 0.1 * loads + 1.2 - (spare < 0 ? 3 * spare : 0);
}

static double predict(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    geometry g = geometry_of(s, d);
    const int *v = c->v;
    double taps = (double)kiln_blocked_meetings(&g.b, 0) / (double)g.b.dst[0] *
                  (double)kiln_blocked_meetings(&g.b, 1) / (double)g.b.dst[1] *
                  (double)g.b.filter[2];
    double tile_taps = g.lanes == LANES_BOTH ? v[TILE_X] * v[TILE_S] : v[TILE_S];
    double tiles_x = g.lanes == LANES_BOTH ? 1 : (double)divide_up(units_x(&g, c), v[TILE_X]);
    double tiles_y = (double)divide_up(units_y(&g, c), v[TILE_Y]);
    double rows = (double)rows_of(&g);
    double chunks = ceil((double)part_of(&g, c) / (double)chunk_of(&g, c));
    double cycles = groups_of(&g) * tiles_x * tiles_y * taps / tile_taps *
                    (rows * ((double)g.strip * pixel_cost(&g, d, c) + 14) +
                     v[PARTS] * chunks * (4 * sums_of(&g, d, c) + 40));
    /* The last item of a group may be smaller; cores wait for the others. */
    double per_group = (double)divide_up(units_y(&g, c), item_y(&g, c));
    double share = fmin((double)item_y(&g, c) / (double)units_y(&g, c), 1) /
                   ((double)groups_of(&g) * v[PARTS]);
    double items = per_group * (double)groups_of(&g) * v[PARTS];
    double waves = ceil(items / d->compute_units) * d->compute_units * share;
    int width = g.b.block < d->simd_floats ? d->simd_floats : g.b.block;
    double fma = (double)width / kiln_blocked_vectors(g.b.block, d);
    double ms = waves * cycles * 2 * fma / (0.9 * d->peak_gflops * 1e6);
    double size = (double)kiln_type_size(s->x_type),
           bytes = size * (double)(s->x_count + s->y_count);
    if (kiln_layout_block(s->x_layout, s->rank) == 1 && g.lanes != LANES_K)
        bytes += 2 * size * (double)s->x_count;
    if (kiln_layout_block(s->y_layout, s->rank) == 1)
        bytes += 2 * size * (double)s->y_count;
    bytes += 4.0 * (double)s->w_count * (1 + (v[PARTS] > 1 ? 2.0 * v[PARTS] : 0) + 3.0 * g.plain_w);
    /* What comes after the first launch waits for threads to wake. */
    return ms + bytes / (d->bandwidth_gbs * 1e6) + 0.01 + (v[PARTS] > 1 ? 0.03 : 0);
}

/* ---- configs ---- */

static bool skip(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    geometry g = geometry_of(s, d);
    int sums = sums_of(&g, d, c), registers = kiln_blocked_registers(d);
    bool few = sums < registers / 3 && g.lanes != LANES_BOTH;
    return sums > registers - 3 || few || chunk_of(&g, c) > part_of(&g, c) * 2;
}

static void guess_tile(const kiln_shape *s, const kiln_device_facts *d, kiln_config *best)
{
    double least = 0;
    kiln_config start = *best;
    for (int x = 1; x <= 8; x++)
        for (int y = 1; y <= 16; y++)
            for (int t = 1; t <= 16; t++) {
                kiln_config next = start;
                next.v[TILE_X] = x;
                next.v[TILE_Y] = y;
                next.v[TILE_S] = t;
                kiln_why why;
                if (x * y * t > 64 || illegal(s, d, &next, &why))
                    continue;
                double ms = predict(s, d, &next);
                if (least == 0 || ms < least) {
                    least = ms;
                    *best = next;
                }
            }
}

static void guess(const kiln_shape *s, const kiln_device_facts *d, kiln_config *c)
{
    geometry g = geometry_of(s, d);
    kiln_config best = {
        .v = {
            [TILE_X] = 1, [TILE_Y] = 1, [TILE_S] = 1, [BLOCKS] = 16, [PIXELS] = 128, [PARTS] = 1}};
    guess_tile(s, d, &best);
    double least = predict(s, d, &best);
    kiln_config tile = best;
    for (int blocks = 1; blocks <= 16; blocks++)
        for (int parts = 1; parts <= 64; parts *= 2) {
            kiln_config next = tile;
            next.v[BLOCKS] = blocks;
            next.v[PARTS] = parts;
            kiln_why why;
            if (blocks * g.b.block > round_up(g.b.dst_c, g.b.block) && blocks > 1)
                continue;
            if (illegal(s, d, &next, &why))
                continue;
            double ms = predict(s, d, &next);
            if (ms < least) {
                least = ms;
                best = next;
            }
        }
    *c = best;
}

/* ---- the plan ---- */

/* Adds the stage that puts a plain tensor in blocks; returns the role of the result. */
static int emit_blocks(const kiln_shape *s, const kiln_device_facts *d, char tensor, int role,
                       int block, kiln_plan *plan)
{
    char text[KILN_LAYOUT_TEXT], why[KILN_ERROR_TEXT];
    kiln_storage plain, blocked;
    const char *layout = tensor == 'x' ? s->x_layout : s->y_layout;
    kiln_type type = tensor == 'x' ? s->x_type : s->y_type;
    data_layout_of(s, block, text);
    if (!kiln_shape_storage(s, tensor, layout, &plain, why) ||
        !kiln_shape_storage(s, tensor, text, &blocked, why)) {
        plan->broken = true;
        return role;
    }
    int temp = kiln_plan_temp(plan, blocked.cells * (int64_t)kiln_type_size(type));
    const kiln_operand from = {&plain, type, role}, to = {&blocked, type, temp};
    plan->broken = !kiln_reformat_stage(plan, &from, &to, 0, d, why) || plan->broken;
    return temp;
}

static void define_all(const kiln_shape *s, const geometry *g, int64_t cells, const kiln_config *c,
                       kiln_plan *plan)
{
    kiln_define_types(plan, s);
    if (!s->wide && cells * c->v[PARTS] > INT32_MAX)
        kiln_define(plan, "P_WIDE", 1);
    kiln_blocked_define(&g->b, plan);
    kiln_define(plan, "D_LANES", g->lanes);
    kiln_define(plan, "D_UNITS_X", units_x(g, c));
    kiln_define(plan, "D_UNITS_Y", units_y(g, c));
    kiln_define(plan, "D_ITEM_Y", item_y(g, c));
    kiln_define(plan, "D_ITEMS", divide_up(units_y(g, c), item_y(g, c)));
    kiln_define(plan, "D_STRIPS", g->strips);
    kiln_define(plan, "D_STRIP", g->strip);
    kiln_define(plan, "D_ROWS", rows_of(g));
    kiln_define(plan, "D_CHUNK", chunk_of(g, c));
    kiln_define(plan, "D_PART", part_of(g, c));
    kiln_define(plan, "D_CELLS", cells);
    for (int i = 0; i < PARAMS; i++)
        kiln_define(plan, params[i].name, c->v[i]);
}

/* Sums of all parts are in `out`, in blocks; dw may be plain or of another type. */
static void emit_result(const kiln_shape *s, const kiln_device_facts *d, const geometry *g,
                        const kiln_storage *blocked, int parts, int out, kiln_plan *plan)
{
    char why[KILN_ERROR_TEXT];
    if (!g->plain_w) {
        kiln_sum_parts_emit(s, d, blocked->cells, parts, out, KILN_ROLE_W, plan);
        return;
    }
    if (parts > 1) {
        kiln_shape floats = *s;
        floats.w_type = KILN_F32;
        int sum = kiln_plan_temp(plan, blocked->cells * 4);
        kiln_sum_parts_emit(&floats, d, blocked->cells, parts, out, sum, plan);
        out = sum;
    }
    kiln_storage plain;
    const kiln_operand from = {blocked, KILN_F32, out}, to = {&plain, s->w_type, KILN_ROLE_W};
    plan->broken = !kiln_shape_storage(s, 'w', s->w_layout, &plain, why) ||
                   !kiln_reformat_stage(plan, &from, &to, 0, d, why) || plan->broken;
}

static void emit(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                 kiln_plan *plan)
{
    geometry g = geometry_of(s, d);
    char text[KILN_LAYOUT_TEXT], why[KILN_ERROR_TEXT];
    kiln_storage blocked;
    w_layout_of(s, g.lanes, g.b.block, text);
    if (!kiln_shape_storage(s, 'w', text, &blocked, why)) {
        plan->broken = true;
        return;
    }
    int x = KILN_ROLE_X, dy = KILN_ROLE_Y, out = KILN_ROLE_W, parts = c->v[PARTS];
    if (kiln_layout_block(s->x_layout, s->rank) == 1 && !g.plain_x)
        x = emit_blocks(s, d, 'x', x, g.b.block, plan);
    if (kiln_layout_block(s->y_layout, s->rank) == 1)
        dy = emit_blocks(s, d, 'y', dy, g.b.block, plan);
    if (s->epilogue.bias)
        kiln_bias_gradient_emit(s, d, plan);
    bool own = parts > 1 || g.plain_w || s->w_type != KILN_F32;
    if (own)
        out = kiln_plan_temp(plan, blocked.cells * parts * 4);
    if (g.lanes == LANES_C && units_y(&g, c) % g.b.block)
        kiln_plan_clear(plan, out, blocked.cells * parts * 4);
    kiln_plan_stage(plan, "weights_blocked.cl", "weights_blocked");
    define_all(s, &g, blocked.cells, c, plan);
    kiln_arg_buffer(plan, x);
    kiln_arg_buffer(plan, dy);
    kiln_arg_buffer(plan, out);
    int64_t items = groups_of(&g) * divide_up(units_y(&g, c), item_y(&g, c));
    kiln_grid(plan, 1, 1, 1, items, parts, 1);
    if (own)
        emit_result(s, d, &g, &blocked, parts, out, plan);
}

const kiln_solver kiln_solver_weights_blocked = {
    .name = "weights_blocked",
    .id = 1040,
    .algorithm = 1,
    .version = 1,
    .params = params,
    .nparams = PARAMS,
    .prefer = prefer,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
