/* The blocked direct solver: neighbouring channels in vectors, packed weights, register tiles. */
#include "blocked.h"
#include "integers.h"
#include "problem_layout.h"
#include "problem_text.h"

#include <string.h>

enum { TILE_W, TILE_KV, ORDER, LANES, GROUP, PARAMS };

static const kiln_param params[PARAMS] = {
    [TILE_W] = {"T_W", 13, {2, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28}, 1, 32},
    [TILE_KV] = {"T_KV", 4, {1, 2, 3, 4}, 0, 0},
    [ORDER] = {"T_ORDER", 2, {0, 1}, 0, 0},
    [LANES] = {"T_V", 3, {4, 8, 16}, 0, 0},
    [GROUP] = {"T_GROUP", 4, {1, 32, 64, 128}, 0, 0},
};

static bool is_cpu(const kiln_device_facts *d)
{
    return d->kind == KILN_DEVICE_CPU;
}

/* ---- layouts ---- */

/* Layouts that are not plain and that the caller named decide for the others. */
static void prefer(kiln_shape *s, const kiln_device_facts *d)
{
    const char *plain = kiln_plain_data_layout(s->rank);
    char *layouts[2] = {s->x_layout, s->y_layout};
    for (int i = 0; i < 2; i++) {
        const char *other = layouts[1 - i];
        bool few = i == 0 && s->direction == KILN_FORWARD && s->c <= d->simd_floats / 4;
        if (!few && !kiln_layout_is_any(other) && strcmp(other, plain) != 0)
            kiln_prefer_layout(layouts[i], other);
    }
    if (is_cpu(d))
        kiln_blocked_prefer(s, d, true);
}

static bool is_plain(const kiln_shape *s)
{
    const char *plain = kiln_plain_data_layout(s->rank);
    return strcmp(s->x_layout, plain) == 0 && strcmp(s->y_layout, plain) == 0;
}

/* A plain destination takes vectors of pixels, which only a CPU turns vectors of channels into. */
static bool writes(const kiln_blocked *b, const kiln_device_facts *d)
{
    const kiln_pitch *p = &b->dst_pitch;
    return p->blocks && (p->channel == 1 || (is_cpu(d) && p->pixel == 1));
}

static bool reject(const kiln_shape *s, const kiln_device_facts *d, kiln_why *why)
{
    const char *filter = kiln_plain_filter_layout(s->rank);
    if (s->direction == KILN_BACKWARD_WEIGHTS)
        return kiln_no(why, "it does forward and backward data");
    if (strcmp(s->w_layout, filter) != 0)
        return kiln_no(why, "it packs weights from the layout %s; these are %s", filter,
                       s->w_layout);
    kiln_blocked b = kiln_blocked_of(s);
    if (!b.src_pitch.blocks || !writes(&b, d) || (is_plain(s) && !is_cpu(d)))
        return kiln_no(why,
                       "it works on layouts that keep channels together, NHWC, NC/16HW16 and their "
                       "kin, or reads a plain one, and writes one on a CPU; the layouts are %s and "
                       "%s",
                       s->x_layout, s->y_layout);
    const int w = KILN_AXIS_W;
    if (b.dst[w] < b.up[w])
        return kiln_no(why, "a row of %lld pixels is shorter than the stride, %lld",
                       (long long)b.dst[w], (long long)b.up[w]);
    return kiln_blocked_too_large(s, why);
}

/* Channels that the loop over taps takes at a time: within a block or whole blocks, wherever the
 * channels of a group begin. */
static int64_t step_of(const kiln_blocked *b)
{
    enum { STEP = 16 };
    const kiln_pitch *p = &b->src_pitch;
    bool aligned = b->groups == 1 || b->src_c % p->neighbours == 0;
    if (p->blocks == 1 || (aligned && STEP % p->neighbours == 0))
        return STEP;
    return gcd(aligned ? p->neighbours : gcd(b->src_c, p->neighbours), STEP);
}

/* Vectors are loaded and stored in this many lanes at once, if they divide `most`. */
static int64_t at_once(int64_t most)
{
    return most % 16 == 0 ? 16 : most % 8 == 0 ? 8 : most % 4 == 0 ? 4 : 1;
}

/* Lanes of a destination vector that lie together, wherever the channels of a group begin. */
static int64_t piece_of(const kiln_blocked *b, int64_t lanes)
{
    const kiln_pitch *p = &b->dst_pitch;
    if (p->blocks == 1)
        return lanes;
    return at_once(gcd(gcd(lanes, p->neighbours), b->groups > 1 ? b->dst_c : lanes));
}

/* Channels of padding in the destination's layout. */
static int64_t padding_of(const kiln_blocked *b)
{
    return b->dst_pitch.neighbours * b->dst_pitch.blocks - b->dst_c * b->groups;
}

/* Vectors of one group; those of the last one cover the padding. */
static int64_t vectors_of(const kiln_blocked *b, const kiln_config *c)
{
    return divide_up(b->dst_c + padding_of(b), c->v[LANES]);
}

static int sums_of(const kiln_device_facts *d, const kiln_config *c)
{
    return c->v[TILE_W] * c->v[TILE_KV] * kiln_blocked_vectors(c->v[LANES], d);
}

/* Pixels of a row whose taps read the same columns. */
static int64_t row_of(const kiln_blocked *b)
{
    return b->dst[KILN_AXIS_W] / b->up[KILN_AXIS_W];
}

static bool does_not_fit(const kiln_blocked *b, const kiln_device_facts *d, const kiln_config *c,
                         kiln_why *why)
{
    if (c->v[TILE_W] > row_of(b))
        return kiln_no(why, "T_W is %d, but a row has only %lld pixels", c->v[TILE_W],
                       (long long)row_of(b));
    if (c->v[TILE_KV] > vectors_of(b, c))
        return kiln_no(why, "T_KV is %d, but a group has only %lld vectors of %d channels",
                       c->v[TILE_KV], (long long)vectors_of(b, c), c->v[LANES]);
    if (is_cpu(d) ? sums_of(d, c) > 2 * kiln_blocked_registers(d)
                  : c->v[TILE_W] * c->v[TILE_KV] * c->v[LANES] > 256)
        return kiln_no(why, "%d vectors of sums are too many for registers",
                       c->v[TILE_W] * c->v[TILE_KV]);
    if (c->v[GROUP] > d->max_group || c->v[GROUP] > d->max_local[0])
        return kiln_no(why, "T_GROUP is %d, more items than the device puts in a group",
                       c->v[GROUP]);
    return false;
}

static bool illegal(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                    kiln_why *why)
{
    const kiln_blocked b = kiln_blocked_of(s);
    return does_not_fit(&b, d, c, why);
}

/* ---- the ends of a row ---- */

typedef enum strips { NEVER, AT_ENDS, ALWAYS } strips;

/* Unrolled taps are as many copies of the tile. A strip is memory, which items of a GPU have not.
 */
static strips strips_of(const kiln_blocked *b, const kiln_shape *s, const kiln_device_facts *d,
                        const kiln_blocked_ends *e, const kiln_config *c)
{
    kiln_type source = s->direction == KILN_FORWARD ? s->x_type : s->y_type;
    if (!is_cpu(d))
        return NEVER;
    if (source != KILN_F32)
        return ALWAYS;
    if (!e->first && !e->last && !e->more)
        return NEVER;
    int64_t copies = b->filter[KILN_AXIS_W] * c->v[TILE_W] * c->v[TILE_KV];
    return e->more || copies > 220 ? AT_ENDS : NEVER;
}

/* ---- time ---- */

/* Multiply-adds of vectors that one tile takes per tap and source channel. Weights come from far
 * and are used once a tile, so a wide tile is better than many blocks; few sums wait for one
 * another, and too many do not stay in registers. */
static double tile_cost(const kiln_device_facts *d, const kiln_config *c)
{
    int vectors = kiln_blocked_vectors(c->v[LANES], d);
    double sums = sums_of(d, c), weights = c->v[TILE_KV] * vectors;
    double loads = c->v[TILE_W] + weights, cost = sums > loads ? sums : loads;
    double spare = kiln_blocked_registers(d) - 1 - sums - weights;
    return (cost > 8 ? cost : 8) + 0.1 * loads + weights + 1 - (spare < 0 ? 4 * spare : 0);
}

/* Taps that a row of the destination sees of each source channel, on average. */
static double taps_of(const kiln_blocked *b, bool all_of_w)
{
    double taps = 1;
    for (int a = 0; a < 3; a++)
        taps *= a == KILN_AXIS_W && all_of_w
                    ? (double)b->filter[a] / (double)b->up[a]
                    : (double)kiln_blocked_meetings(b, a) / (double)b->dst[a];
    return taps;
}

static int64_t tiles_of(const kiln_blocked *b, const kiln_config *c)
{
    const int w = KILN_AXIS_W;
    return b->dst[0] * b->dst[1] * b->up[w] *
           divide_up(divide_up(b->dst[w], b->up[w]), c->v[TILE_W]);
}

static int64_t tiles_k_of(const kiln_blocked *b, const kiln_config *c)
{
    return b->groups * divide_up(vectors_of(b, c), c->v[TILE_KV]);
}

/* Of a vector of sums: vectors of channels become vectors of pixels, and with a stride scalars. */
static double store_cost(const kiln_blocked *b)
{
    if (b->dst_pitch.channel == 1)
        return 2;
    return b->up[KILN_AXIS_W] == 1 ? 10 : 200;
}

static double cpu_flops(const kiln_blocked *b, const kiln_shape *s, const kiln_device_facts *d,
                        const kiln_config *c)
{
    kiln_blocked_ends e = kiln_blocked_ends_of(b, c->v[TILE_W]);
    strips how = strips_of(b, s, d, &e, c);
    double per_tap = tile_cost(d, c) * (double)b->src_c;
    if (how == ALWAYS)
        per_tap += 3.0 * c->v[TILE_W] * (double)divide_up(b->src_c, 16);
    double per_tile = taps_of(b, how != NEVER) * per_tap + store_cost(b) * sums_of(d, c) + 50;
    int64_t items = tiles_of(b, c) * tiles_k_of(b, c) * b->n;
    double waves = (double)divide_up(items, d->compute_units) * d->compute_units;
    /* Narrow vectors take less time than wide ones, but not in proportion. */
    int own = c->v[LANES], width = own < d->simd_floats ? (own + d->simd_floats) / 2 : own;
    double lanes = (double)width / kiln_blocked_vectors(c->v[LANES], d);
    return waves * per_tile * 2 * lanes;
}

/* Neighbouring items read weights that are no neighbours, which leaves a GPU a tenth of its speed.
 */
static double gpu_flops(const kiln_blocked *b, const kiln_device_facts *d, const kiln_config *c)
{
    double v = c->v[TILE_KV] * c->v[LANES], w = c->v[TILE_W];
    double per_tap = (v * w + 4 * v + w) * (double)b->src_c;
    int64_t first = tiles_of(b, c), second = tiles_k_of(b, c);
    int64_t *along = c->v[ORDER] ? &second : &first;
    *along = divide_up(*along, c->v[GROUP]) * c->v[GROUP];
    double items = (double)(first * second * b->n);
    double least = 1024.0 * d->compute_units;
    items = items < least ? least : items;
    return items * taps_of(b, true) * per_tap * 2 / 0.1;
}

static double ms_of(const kiln_blocked *b, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c)
{
    double flops = is_cpu(d) ? cpu_flops(b, s, d, c) : gpu_flops(b, d, c);
    double size = (double)kiln_type_size(s->x_type);
    /* Packed weights are read from a cache that the cores share. */
    double bytes = size * (double)(s->x_count + s->y_count) + 2.0 * (double)s->w_count;
    return flops / (d->peak_gflops * 1e6) + bytes / (d->bandwidth_gbs * 1e6) + 0.02;
}

static double predict(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    const kiln_blocked b = kiln_blocked_of(s);
    return ms_of(&b, s, d, c);
}

/* ---- configs ---- */

/* As wide as the device's vectors, unless a group is narrower. */
static int lanes_for(const kiln_blocked *b, const kiln_device_facts *d)
{
    int64_t channels = b->dst_c + padding_of(b);
    int lanes = !is_cpu(d) ? 4 : d->simd_floats >= 16 ? 16 : d->simd_floats >= 8 ? 8 : 4;
    while (lanes > 4 && channels <= lanes / 2)
        lanes /= 2;
    return lanes;
}

static bool skip(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    const kiln_blocked b = kiln_blocked_of(s);
    int64_t size = row_of(&b), width = c->v[TILE_W];
    if (c->v[LANES] != lanes_for(&b, d) || (c->v[GROUP] == 1) != is_cpu(d))
        return true;
    if (divide_up(size, width) * width * 4 > size * 5) /* computes much twice */
        return true;
    int sums = sums_of(d, c), registers = kiln_blocked_registers(d);
    if (!is_cpu(d))
        return c->v[TILE_W] * c->v[TILE_KV] * c->v[LANES] > 64;
    /* A tile that does not stay in registers, and one that could be larger. */
    return sums + c->v[TILE_KV] > registers - 1 || (sums < registers / 3 && width < size);
}

static void guess(const kiln_shape *s, const kiln_device_facts *d, kiln_config *c)
{
    const kiln_blocked b = kiln_blocked_of(s);
    double least = 0;
    kiln_config best = {.v = {[TILE_W] = 1, [TILE_KV] = 1, [GROUP] = 1}};
    best.v[LANES] = lanes_for(&b, d);
    while (!is_cpu(d) && best.v[GROUP] < 64 && 2 * best.v[GROUP] <= d->max_local[0])
        best.v[GROUP] *= 2;
    /* Long sums stay with their pixels, which are then read once. */
    best.v[ORDER] = b.src_c >= 256 || !is_cpu(d);
    int widest = is_cpu(d) ? 32 : 8;
    for (int kv = 1; kv <= 4; kv++)
        for (int width = 1; width <= widest; width++) {
            kiln_config next = best;
            kiln_why why;
            next.v[TILE_W] = width;
            next.v[TILE_KV] = kv;
            if (does_not_fit(&b, d, &next, &why))
                continue;
            double ms = ms_of(&b, s, d, &next);
            if (least == 0 || ms < least) {
                least = ms;
                best = next;
            }
        }
    *c = best;
}

/* ---- the plan ---- */

static void define_vectors(const kiln_blocked *b, const kiln_config *c, kiln_plan *plan)
{
    int64_t lanes = c->v[LANES], step = step_of(b), padding = padding_of(b);
    int64_t neighbours = b->src_pitch.neighbours;
    int64_t load = b->src_pitch.channel != 1  ? 1
                   : b->src_pitch.blocks == 1 ? at_once(step)
                                              : at_once(gcd(step, neighbours));
    bool over = (b->groups == 1 || b->src_pitch.blocks > 1) && neighbours % load == 0;
    bool whole = (b->dst_c + padding) % lanes == 0 && (b->groups == 1 || padding == 0);
    kiln_define(plan, "D_GROUPS", b->groups);
    kiln_define(plan, "D_STEP", step);
    kiln_define(plan, "D_STRIP_LOAD", load);
    kiln_define(plan, "D_STRIP_OVER", over);
    kiln_define(plan, "D_DST_PADDED", b->dst_pitch.neighbours * b->dst_pitch.blocks);
    kiln_define(plan, "D_DST_VECTORS", vectors_of(b, c));
    kiln_define(plan, "D_PIECE", piece_of(b, lanes));
    kiln_define(plan, "D_WHOLE", whole);
    bool plain = b->dst_pitch.channel != 1;
    kiln_define(plan, "D_PLAIN", plain);
    if (plain)
        kiln_define(plan, "D_ROW", lanes);
}

static void define_all(const kiln_shape *s, const kiln_blocked *b, const kiln_device_facts *d,
                       const kiln_config *c, kiln_plan *plan)
{
    kiln_blocked_ends e = kiln_blocked_ends_of(b, c->v[TILE_W]);
    strips how = strips_of(b, s, d, &e, c);
    bool ends = how == NEVER && (e.first || e.last || e.more);
    kiln_define_types(plan, s);
    kiln_define_epilogue(plan, s);
    kiln_blocked_define(b, plan);
    define_vectors(b, c, plan);
    kiln_define(plan, "D_TILES_W", e.tiles);
    kiln_define(plan, "D_TILES_K", divide_up(vectors_of(b, c), c->v[TILE_KV]));
    kiln_define(plan, "D_ITEMS", c->v[ORDER] ? tiles_k_of(b, c) : tiles_of(b, c));
    kiln_define(plan, "D_STRIP", how);
    kiln_define(plan, "D_END", !ends ? 0 : is_cpu(d) ? 1 : 2);
    kiln_define(plan, "D_FIRST", e.first);
    kiln_define(plan, "D_LAST", e.last);
    kiln_define(plan, "D_BACKWARD", s->direction == KILN_BACKWARD_DATA);
    for (int i = 0; i < PARAMS; i++)
        kiln_define(plan, params[i].name, c->v[i]);
}

static void emit(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                 kiln_plan *plan)
{
    kiln_blocked b = kiln_blocked_of(s);
    b.block = c->v[LANES];
    bool backward = s->direction == KILN_BACKWARD_DATA;
    int64_t tiles_k = tiles_k_of(&b, c), tiles = tiles_of(&b, c);
    bool k_first = c->v[ORDER];
    int64_t taps = s->filter[0] * s->filter[1] * s->filter[2];
    plan->packed_bytes = tiles_k * b.src_c * taps * c->v[TILE_KV] * c->v[LANES] * 4;
    kiln_plan_stage(plan, "direct_blocked.cl", "pack")->pack = true;
    define_all(s, &b, d, c, plan);
    kiln_arg_buffer(plan, KILN_ROLE_W);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_grid(plan, 1, 1, 1, divide_up(b.src_c, step_of(&b)), tiles_k, 1);

    kiln_plan_stage(plan, "direct_blocked.cl", "direct_blocked");
    define_all(s, &b, d, c, plan);
    kiln_arg_buffer(plan, backward ? KILN_ROLE_Y : KILN_ROLE_X);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_arg_buffer(plan, backward ? KILN_ROLE_X : KILN_ROLE_Y);
    kiln_arg_epilogue(plan, s);
    kiln_grid(plan, c->v[GROUP], 1, 1, k_first ? tiles_k : tiles, k_first ? tiles : tiles_k, b.n);
}

const kiln_solver kiln_solver_direct_blocked = {
    .name = "direct_blocked",
    .id = 1010,
    .algorithm = 1,
    .version = 2,
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
