/* The blocked depthwise solver: groups no wider than a vector of channels, which are neighbours in
 * memory or become so on the way; for CPUs. */
#include "depthwise.h"
#include "integers.h"
#include "problem_text.h"

#include <math.h>
#include <string.h>

enum { TILE_W, TILE_H, TILES, STREAM, PARAMS };

static const kiln_param params[PARAMS] = {
    [TILE_W] = {"T_W", 10, {1, 2, 4, 5, 6, 7, 8, 10, 12, 14}, 1, 28},
    [TILE_H] = {"T_H", 4, {1, 2, 3, 4}, 1, 16},
    [TILES] = {"T_TILES", 6, {1, 2, 4, 7, 14, 28}, 1, 4096},
    [STREAM] = {"T_STREAM", 2, {0, 1}, 0, 0},
};

/* Pixels of a tile per T_W and T_H, and instructions of unrolled taps, beyond which the compiler
 * would take long or give up. */
enum { MOST_PHASES = 64, MOST_UNROLLED = 1200 };

/* What an item keeps of plain tensors leaves a core's first cache beyond FEW_BYTES, and in the end
 * its stack. */
enum { FEW_BYTES = 28 << 10, MOST_BYTES = 256 << 10 };

/* ---- geometry ---- */

/* A tile in pixels, and the source elements that its taps meet, from that of its first pixel. */
typedef struct span {
    int64_t pixels, tiles, from, to;
} span;

static span span_of(const kiln_blocked *b, const kiln_config *c, int a)
{
    const int64_t up = b->up[a], pixels = (a == KILN_AXIS_W ? c->v[TILE_W] : c->v[TILE_H]) * up;
    const int64_t reach = (pixels - 1) * b->stride[a] + (b->filter[a] - 1) * b->dilation[a];
    return (span){.pixels = pixels,
                  .tiles = divide_up(b->dst[a], pixels),
                  .from = divide_up(-b->lead[a], up),
                  .to = divide_up(reach - b->lead[a] + 1, up) - 1};
}

static bool reads_past(const kiln_blocked *b, const span *w, int64_t tile)
{
    int64_t at = tile * w->pixels * b->stride[KILN_AXIS_W] / b->up[KILN_AXIS_W];
    return at + w->from < 0 || at + w->to >= b->src[KILN_AXIS_W];
}

/* Whether the compiler may know the columns that taps do not reach: they are in the first and last
 * tile only, and the code stays small. */
static bool unrolled(const kiln_blocked *b, const kiln_config *c)
{
    const span h = span_of(b, c, KILN_AXIS_H), w = span_of(b, c, KILN_AXIS_W);
    if (w.tiles > 2 && (reads_past(b, &w, 1) || reads_past(b, &w, w.tiles - 2)))
        return false;
    double met = (double)(h.to - h.from + 1) * (double)(w.to - w.from + 1);
    return met * (double)(h.pixels * b->filter[KILN_AXIS_W] * b->src_c) <= MOST_UNROLLED;
}

/* Items that share one plane of a vector of channels. */
static int64_t strips_of(const kiln_blocked *b, const kiln_config *c)
{
    return divide_up(span_of(b, c, KILN_AXIS_H).tiles, c->v[TILES]);
}

/* ---- plain tensors ---- */

/* Source rows that an item turns into vectors of channels: what its tiles meet, and at least as
 * many pixels as a vector has channels. */
static int64_t rows_of(const kiln_blocked *b, const kiln_config *c)
{
    const span h = span_of(b, c, KILN_AXIS_H);
    const int64_t next = h.pixels * b->stride[KILN_AXIS_H] / b->up[KILN_AXIS_H];
    const int64_t rows = (c->v[TILES] - 1) * next + h.to - h.from + 1;
    const int64_t least = divide_up(b->block, b->src[KILN_AXIS_W]);
    const int64_t wanted = rows > least ? rows : least;
    return wanted < b->src[KILN_AXIS_H] ? wanted : b->src[KILN_AXIS_H];
}

/* Pixels that an item turns back. */
static int64_t results_of(const kiln_blocked *b, const kiln_config *c)
{
    return c->v[TILES] * span_of(b, c, KILN_AXIS_H).pixels * b->dst[KILN_AXIS_W];
}

static int64_t kept_bytes(const kiln_blocked *b, const kiln_config *c)
{
    return (rows_of(b, c) * b->src[KILN_AXIS_W] + results_of(b, c)) * b->block * 4;
}

/* Whether vectors of results fill lines: such that do not are no good past the caches. */
static bool stores_whole(const kiln_shape *s, const kiln_blocked *b, const kiln_config *c)
{
    return !kiln_shape_is_plain_layout(s) ||
           (results_of(b, c) % b->block == 0 && b->dst_pitch.channel % b->block == 0);
}

static bool reject_plain(const kiln_shape *s, const kiln_blocked *b, kiln_why *why)
{
    const kiln_config least = {.v = {1, 1, 1, 0}};
    if (s->in[0] * s->out[0] * s->filter[0] > 1)
        return kiln_no(why, "it works on images of one plane where the layouts are plain");
    if (b->block > b->dst_c * b->groups || b->block > b->src[1] * b->src[2])
        return kiln_no(why,
                       "it turns squares of %d channels by %d pixels; an image has %lld by %lld",
                       b->block, b->block, (long long)(b->dst_c * b->groups),
                       (long long)(b->src[1] * b->src[2]));
    if (kept_bytes(b, &least) > MOST_BYTES)
        return kiln_no(why, "an item would keep %lld bytes of plain tensors; the limit is %d",
                       (long long)kept_bytes(b, &least), MOST_BYTES);
    return false;
}

/* ---- what it can do ---- */

static bool reject(const kiln_shape *s, const kiln_device_facts *d, kiln_why *why)
{
    if (d->kind != KILN_DEVICE_CPU)
        return kiln_no(
            why, "it is shaped for a CPU, where one item has a core and its vectors to itself");
    if (s->direction == KILN_BACKWARD_WEIGHTS)
        return kiln_no(why, "it does forward and backward data");
    const char *filter = kiln_plain_filter_layout(s->rank);
    if (strcmp(s->w_layout, filter) != 0)
        return kiln_no(why, "it packs weights from the layout %s; these are %s", filter,
                       s->w_layout);
    const bool plain = kiln_shape_is_plain_layout(s);
    if ((!plain && kiln_depthwise_layouts(s, d, why)) || kiln_blocked_too_large(s, why))
        return true;
    kiln_blocked b = kiln_depthwise_of(s, d);
    if (b.groups == 1 || b.src_c != b.dst_c || b.src_c >= b.block || b.block % b.src_c)
        return kiln_no(why,
                       "it takes groups of equally many channels on both sides, fewer than the %d "
                       "of a vector and a divisor of it; these are %lld groups of %lld and %lld",
                       b.block, (long long)b.groups, (long long)b.src_c, (long long)b.dst_c);
    if (b.up[KILN_AXIS_H] > MOST_PHASES / b.up[KILN_AXIS_W])
        return kiln_no(why, "strides of %lld and %lld are too large for its backward data",
                       (long long)b.up[KILN_AXIS_H], (long long)b.up[KILN_AXIS_W]);
    return plain && reject_plain(s, &b, why);
}

static bool illegal(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                    kiln_why *why)
{
    kiln_blocked b = kiln_depthwise_of(s, d);
    const span h = span_of(&b, c, KILN_AXIS_H), w = span_of(&b, c, KILN_AXIS_W);
    if (w.pixels - b.up[KILN_AXIS_W] >= b.dst[KILN_AXIS_W] ||
        h.pixels - b.up[KILN_AXIS_H] >= b.dst[KILN_AXIS_H])
        return kiln_no(why, "a tile has %lld rows of %lld pixels, but an image only %lld of %lld",
                       (long long)h.pixels, (long long)w.pixels, (long long)b.dst[KILN_AXIS_H],
                       (long long)b.dst[KILN_AXIS_W]);
    if (c->v[TILES] > h.tiles)
        return kiln_no(why, "T_TILES is %d, but an image has only %lld rows of tiles", c->v[TILES],
                       (long long)h.tiles);
    if (c->v[TILE_H] * c->v[TILE_W] > MOST_PHASES)
        return kiln_no(why, "a tile of %d times %d is too large for registers", c->v[TILE_H],
                       c->v[TILE_W]);
    if (kiln_shape_is_plain_layout(s) && kept_bytes(&b, c) > MOST_BYTES)
        return kiln_no(why, "an item would keep %lld bytes of plain tensors; the limit is %d",
                       (long long)kept_bytes(&b, c), MOST_BYTES);
    return false;
}

/* ---- time ---- */

/* Cycles of one core for a row of tiles, in vector multiply-adds. */
static double row_cost(const kiln_blocked *b, const kiln_device_facts *d, const kiln_config *c)
{
    const span h = span_of(b, c, KILN_AXIS_H), w = span_of(b, c, KILN_AXIS_W);
    const double group = (double)b->src_c, vectors = kiln_blocked_vectors(b->block, d);
    const double sums = (double)(h.pixels * w.pixels) * vectors;
    const bool known = unrolled(b, c);
    double met = 1; /* taps of a destination row */
    for (int a = 0; a < 2; a++)
        met *= (double)kiln_blocked_meetings(b, a) / (double)b->dst[a];
    double taps = met * (known ? (double)kiln_blocked_meetings(b, 2) / (double)b->dst[2]
                               : 1.8 * (double)b->filter[2]);
    double adds = taps * group * sums;
    /* Weights of the filter rows that meet one source row stay in registers, if there is room. */
    double rows = fmin((double)h.pixels, ceil((double)b->filter[1] / (double)b->stride[1]));
    double weights = rows * (double)b->filter[2] * vectors;
    double over = sums + weights + 2 - kiln_blocked_registers(d);
    double loads = (double)((h.to - h.from + 1) * (w.to - w.from + 1)) * vectors;
    double cost = fmax(adds, loads) + 0.1 * adds + 0.25 * loads;
    if (group > 1)
        cost += 0.8 * loads * group;
    if (over > 0)
        cost += adds * fmin(0.6, 0.6 * over / weights);
    return (double)w.tiles * (fmax(cost, 4 * taps * group) + sums + 15);
}

/* The same for an item's squares of channels by pixels: rounds of shuffles, loads and stores. */
static double turn_cost(const kiln_blocked *b, const kiln_config *c)
{
    double squares = (double)(divide_up(rows_of(b, c) * b->src[KILN_AXIS_W], b->block) +
                              divide_up(results_of(b, c), b->block));
    return squares * b->block * (log2(b->block) + 1);
}

static double predict(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    kiln_blocked b = kiln_depthwise_of(s, d);
    double items = (double)(strips_of(&b, c) * b.dst[0] * kiln_depthwise_vectors(&b) * b.n);
    /* Cores wait for the one that took a share of items too many. */
    double wait = 1 + 0.7 * d->compute_units / items;
    double item = c->v[TILES] * row_cost(&b, d, c) + 250;
    if (kiln_shape_is_plain_layout(s))
        item = (item + turn_cost(&b, c)) * (kept_bytes(&b, c) > FEW_BYTES ? 1.1 : 1);
    double work = items * item;
    double ms = wait * work * 2 * d->simd_floats / (0.8 * d->peak_gflops * 1e6);
    /* Rows between two items are read by both. */
    const span h = span_of(&b, c, KILN_AXIS_H);
    double own = (double)(h.pixels * b.stride[1]) / (double)b.up[1];
    double shared = fmax(0, (double)(h.to - h.from + 1) - own) / (own * c->v[TILES]);
    bool backward = s->direction == KILN_BACKWARD_DATA;
    double source = (double)(backward ? s->y_count : s->x_count);
    double count = (double)(s->x_count + s->y_count) + 0.5 * shared * source;
    double move = (kiln_better_fetched(s, d) ? 0.8 : 1) * wait *
                  kiln_device_move_ms(d, count * (double)kiln_type_size(s->x_type));
    if (kiln_better_streamed(s, d) ? !(c->v[STREAM] && stores_whole(s, &b, c)) : c->v[STREAM])
        move *= 1.3;
    const double launch = 0.012; /* until the other cores join */
    return launch + 0.3 * fmin(ms, move) + fmax(ms, move);
}

/* ---- configs ---- */

static bool skip(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    kiln_blocked b = kiln_depthwise_of(s, d);
    const span h = span_of(&b, c, KILN_AXIS_H), w = span_of(&b, c, KILN_AXIS_W);
    if (w.tiles * w.pixels * 3 > b.dst[KILN_AXIS_W] * 4 ||
        h.tiles * h.pixels * 3 > b.dst[KILN_AXIS_H] * 4)
        return true;
    int64_t items = strips_of(&b, c) * b.dst[0] * kiln_depthwise_vectors(&b) * b.n;
    return h.pixels * w.pixels > kiln_blocked_registers(d) ||
           (c->v[TILES] > 1 && items < 2 * d->compute_units) ||
           (c->v[STREAM] && (kiln_shape_out_type(s) != KILN_F32 || !stores_whole(s, &b, c)));
}

static void guess(const kiln_shape *s, const kiln_device_facts *d, kiln_config *c)
{
    const kiln_blocked b = kiln_depthwise_of(s, d);
    kiln_config best = {.v = {1, 1, 1, 0}};
    double least = predict(s, d, &best);
    /* Higher tiles have won nowhere: a core fetches few rows ahead. */
    for (int height = 1; height <= 2; height++)
        for (int width = 1; width <= 20; width++) {
            kiln_config next = {.v = {width, height, 1, 0}};
            kiln_why why;
            if (illegal(s, d, &next, &why))
                continue;
            const int64_t tiles = span_of(&b, &next, KILN_AXIS_H).tiles;
            for (int strips = 1; strips <= 32 && strips <= tiles; strips++) {
                next.v[TILES] = (int)divide_up(tiles, strips);
                next.v[STREAM] = kiln_better_streamed(s, d) && stores_whole(s, &b, &next);
                double ms = predict(s, d, &next);
                if (illegal(s, d, &next, &why) || ms >= least)
                    continue;
                least = ms;
                best = next;
            }
        }
    *c = best;
}

/* ---- the plan ---- */

/* Whether an item asks for source rows ahead. A core does so itself where it goes through rows as
 * they lie, and is fast enough if they are in the last cache. */
static bool fetches(const kiln_shape *s, const kiln_device_facts *d, const kiln_blocked *b,
                    const kiln_config *c)
{
    bool torn = span_of(b, c, KILN_AXIS_W).tiles > 1 || kiln_shape_is_plain_layout(s);
    return kiln_better_fetched(s, d) && (torn || kiln_better_streamed(s, d));
}

static void define_plain(const kiln_blocked *b, const kiln_config *c, kiln_plan *plan)
{
    const int64_t rows = c->v[TILES] * span_of(b, c, KILN_AXIS_H).pixels;
    const int64_t down = rows * b->stride[KILN_AXIS_H] / b->up[KILN_AXIS_H] * b->src[KILN_AXIS_W];
    kiln_define(plan, "D_ROW", b->block);
    kiln_define(plan, "D_ROWS", rows_of(b, c));
    kiln_define(plan, "D_NEXT_ITEM", strips_of(b, c) > 1 ? down : b->block * b->src_pitch.channel);
}

static void define_all(const kiln_shape *s, const kiln_device_facts *d, const kiln_blocked *b,
                       const kiln_config *c, kiln_plan *plan)
{
    kiln_define_types(plan, s);
    kiln_define_epilogue(plan, s);
    kiln_depthwise_define(b, plan);
    kiln_define(plan, "D_GROUP", b->src_c);
    kiln_define(plan, "D_UNROLL", unrolled(b, c));
    kiln_define(plan, "D_STRIPS", strips_of(b, c));
    kiln_define(plan, "D_AHEAD", fetches(s, d, b, c));
    kiln_define(plan, "D_BACKWARD", s->direction == KILN_BACKWARD_DATA);
    for (int i = 0; i < PARAMS; i++)
        kiln_define(plan, params[i].name, c->v[i]);
    kiln_define(plan, "D_PLAIN", kiln_shape_is_plain_layout(s));
    if (kiln_shape_is_plain_layout(s))
        define_plain(b, c, plan);
}

static void emit(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                 kiln_plan *plan)
{
    kiln_blocked b = kiln_depthwise_of(s, d);
    bool backward = s->direction == KILN_BACKWARD_DATA;
    int64_t taps = s->filter[0] * s->filter[1] * s->filter[2];
    plan->packed_bytes = kiln_depthwise_vectors(&b) * taps * b.src_c * b.block * 4;
    kiln_plan_stage(plan, "depthwise_blocked.cl", "pack")->pack = true;
    define_all(s, d, &b, c, plan);
    kiln_arg_buffer(plan, KILN_ROLE_W);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_grid(plan, 1, 1, 1, kiln_depthwise_vectors(&b), 1, 1);

    kiln_plan_stage(plan, "depthwise_blocked.cl", "depthwise_blocked");
    define_all(s, d, &b, c, plan);
    kiln_arg_buffer(plan, backward ? KILN_ROLE_Y : KILN_ROLE_X);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_arg_buffer(plan, backward ? KILN_ROLE_X : KILN_ROLE_Y);
    kiln_arg_epilogue(plan, s);
    kiln_grid(plan, 1, 1, 1, strips_of(&b, c) * b.dst[0], kiln_depthwise_vectors(&b), b.n);
}

const kiln_solver kiln_solver_depthwise_blocked = {
    .name = "depthwise_blocked",
    .id = 1011,
    .algorithm = 1,
    .version = 4,
    .params = params,
    .nparams = PARAMS,
    .prefer = kiln_depthwise_prefer,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
