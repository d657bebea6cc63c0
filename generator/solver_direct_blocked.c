/* The blocked direct solver: channels in blocks, packed weights, register tiles; for CPUs. */
#include "blocked.h"

enum { TILE_W, TILE_KV, ORDER, PARAMS };

static const kiln_param params[PARAMS] = {
    [TILE_W] = {"T_W", 12, {4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28}, 1, 32},
    [TILE_KV] = {"T_KV", 4, {1, 2, 3, 4}, 0, 0},
    [ORDER] = {"T_ORDER", 2, {0, 1}, 0, 0},
};

static int64_t divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static void prefer(kiln_shape *s, const kiln_device_facts *d)
{
    kiln_blocked_prefer(s, d, true);
}

static bool reject(const kiln_shape *s, const kiln_device_facts *d, kiln_why *why)
{
    if (kiln_blocked_reject(s, d, why))
        return true;
    kiln_blocked b = kiln_blocked_of(s);
    if (b.groups > 1 && (b.src_c % b.block || b.dst_c % b.block))
        return kiln_no(why, "groups of %lld and %lld channels do not fill blocks of %d",
                       (long long)b.src_c, (long long)b.dst_c, b.block);
    return false;
}

static int64_t blocks_of(const kiln_blocked *b)
{
    return divide_up(b->dst_c, b->block);
}

static int sums_of(const kiln_blocked *b, const kiln_device_facts *d, const kiln_config *c)
{
    return c->v[TILE_W] * c->v[TILE_KV] * kiln_blocked_vectors(b->block, d);
}

static bool illegal(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                    kiln_why *why)
{
    kiln_blocked b = kiln_blocked_of(s);
    if (c->v[TILE_W] > b.dst[KILN_AXIS_W])
        return kiln_no(why, "T_W is %d, but a row has only %lld pixels", c->v[TILE_W],
                       (long long)b.dst[KILN_AXIS_W]);
    if (c->v[TILE_KV] > blocks_of(&b))
        return kiln_no(why, "T_KV is %d, but a group has only %lld blocks of %d channels",
                       c->v[TILE_KV], (long long)blocks_of(&b), b.block);
    if (sums_of(&b, d, c) > 2 * kiln_blocked_registers(d))
        return kiln_no(why, "%d vectors of sums are too many for registers", sums_of(&b, d, c));
    return false;
}

/* ---- the ends of a row ---- */

typedef enum strips { NEVER, AT_ENDS, ALWAYS } strips;

/* Unrolled taps are as many copies of the tile. */
static strips strips_of(const kiln_blocked *b, const kiln_shape *s, const kiln_blocked_ends *e,
                        const kiln_config *c)
{
    kiln_type source = s->direction == KILN_FORWARD ? s->x_type : s->y_type;
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
static double tile_cost(const kiln_blocked *b, const kiln_device_facts *d, const kiln_config *c)
{
    int vectors = kiln_blocked_vectors(b->block, d);
    double sums = sums_of(b, d, c), weights = c->v[TILE_KV] * vectors;
    double loads = c->v[TILE_W] + weights, cost = sums > loads ? sums : loads;
    double spare = kiln_blocked_registers(d) - 1 - sums - weights;
    return (cost > 8 ? cost : 8) + 0.1 * loads + weights + 1 - (spare < 0 ? 4 * spare : 0);
}

static double predict(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    kiln_blocked b = kiln_blocked_of(s);
    kiln_blocked_ends e = kiln_blocked_ends_of(&b, c->v[TILE_W]);
    strips how = strips_of(&b, s, &e, c);
    double rows = (double)(b.dst[0] * b.dst[1] * b.n);
    double taps = (double)kiln_blocked_meetings(&b, 0) * (double)kiln_blocked_meetings(&b, 1) /
                  (double)(b.dst[0] * b.dst[1]) * (double)b.filter[2];
    if (how == NEVER)
        taps *= (double)kiln_blocked_meetings(&b, 2) / (double)(b.dst[2] * b.filter[2]);
    double per_tap = tile_cost(&b, d, c) * (double)b.src_c;
    if (how == ALWAYS)
        per_tap += 3.0 * c->v[TILE_W] * (double)divide_up(b.src_c, b.block);
    double per_tile = taps * per_tap + 2 * sums_of(&b, d, c) + 50;
    double tiles = rows * (double)(e.tiles * b.groups * divide_up(blocks_of(&b), c->v[TILE_KV]));
    double waves = (double)divide_up((int64_t)tiles, d->compute_units) * d->compute_units;
    int width = b.block < d->simd_floats ? d->simd_floats : b.block;
    double lanes = (double)width / kiln_blocked_vectors(b.block, d);
    double ms = waves * per_tile * 2 * lanes / (0.85 * d->peak_gflops * 1e6);
    double size = (double)kiln_type_size(s->x_type);
    double bytes = size * (double)(s->x_count + s->y_count) + 8.0 * (double)s->w_count;
    return ms + bytes / (d->bandwidth_gbs * 1e6) + 0.02;
}

/* ---- configs ---- */

static bool skip(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    kiln_blocked b = kiln_blocked_of(s);
    int64_t size = b.dst[KILN_AXIS_W], width = c->v[TILE_W];
    int sums = sums_of(&b, d, c), registers = kiln_blocked_registers(d);
    if (sums + c->v[TILE_KV] > registers - 1)
        return true;
    /* A tile that could be larger, and one that computes much twice. */
    bool small = sums < registers / 3 && width < size;
    return small || divide_up(size, width) * width * 4 > size * 5;
}

static void guess(const kiln_shape *s, const kiln_device_facts *d, kiln_config *c)
{
    double least = 0;
    kiln_blocked b = kiln_blocked_of(s);
    kiln_config best = {.v = {[TILE_W] = 1, [TILE_KV] = 1}};
    /* Long sums stay with their pixels, which are then read once. */
    best.v[ORDER] = b.src_c >= 256;
    for (int kv = 1; kv <= 4; kv++)
        for (int width = 1; width <= 32; width++) {
            kiln_config next = best;
            kiln_why why;
            next.v[TILE_W] = width;
            next.v[TILE_KV] = kv;
            if (illegal(s, d, &next, &why))
                continue;
            double ms = predict(s, d, &next);
            if (least == 0 || ms < least) {
                least = ms;
                best = next;
            }
        }
    *c = best;
}

/* ---- the plan ---- */

static void define_all(const kiln_shape *s, const kiln_blocked *b, const kiln_config *c,
                       kiln_plan *plan)
{
    kiln_blocked_ends e = kiln_blocked_ends_of(b, c->v[TILE_W]);
    strips how = strips_of(b, s, &e, c);
    kiln_define_types(plan, s);
    kiln_define_epilogue(plan, s);
    kiln_blocked_define(b, plan);
    kiln_define(plan, "D_TILES_W", e.tiles);
    kiln_define(plan, "D_TILES_K", divide_up(blocks_of(b), c->v[TILE_KV]));
    kiln_define(plan, "D_STRIP", how);
    kiln_define(plan, "D_UNROLL", how == NEVER && (e.first || e.last));
    kiln_define(plan, "D_FIRST", e.first);
    kiln_define(plan, "D_LAST", e.last);
    kiln_define(plan, "D_BACKWARD", s->direction == KILN_BACKWARD_DATA);
    for (int i = 0; i < PARAMS; i++)
        kiln_define(plan, params[i].name, c->v[i]);
}

static void emit(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                 kiln_plan *plan)
{
    (void)d;
    kiln_blocked b = kiln_blocked_of(s);
    bool backward = s->direction == KILN_BACKWARD_DATA;
    int64_t tiles_k = b.groups * divide_up(blocks_of(&b), c->v[TILE_KV]);
    int64_t taps = s->filter[0] * s->filter[1] * s->filter[2];
    plan->packed_bytes = tiles_k * b.src_c * taps * c->v[TILE_KV] * b.block * 4;
    kiln_plan_stage(plan, "direct_blocked.cl", "pack")->pack = true;
    define_all(s, &b, c, plan);
    kiln_arg_buffer(plan, KILN_ROLE_W);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_grid(plan, 1, 1, 1, divide_up(b.src_c, b.block), tiles_k, 1);

    kiln_plan_stage(plan, "direct_blocked.cl", "direct_blocked");
    define_all(s, &b, c, plan);
    kiln_arg_buffer(plan, backward ? KILN_ROLE_Y : KILN_ROLE_X);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_arg_buffer(plan, backward ? KILN_ROLE_X : KILN_ROLE_Y);
    kiln_arg_epilogue(plan, s);
    int64_t tiles = divide_up(b.dst[2], c->v[TILE_W]) * b.dst[1] * b.dst[0];
    bool k_first = c->v[ORDER];
    kiln_grid(plan, 1, 1, 1, k_first ? tiles_k : tiles, k_first ? tiles : tiles_k, b.n);
}

const kiln_solver kiln_solver_direct_blocked = {
    .name = "direct_blocked",
    .id = 1010,
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
