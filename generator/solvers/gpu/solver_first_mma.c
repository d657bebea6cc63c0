/* The forward pass of a layer with few source channels on tensor cores, in f16, bf16 and int8.
 *
 *     source, in local memory      a group copies the pixels that its T_ROWS x T_WIDTH results
 *     +----+----+----+----         meet, once; its warps multiply 16 pixels by 32 channels at a
 *     | t0 | t1 | t2 |             time. An item reads the words of its taps as they lie, so
 *     | t3 | t4 | t5 |             that no patch is ever laid out; weights stay in registers
 *     +----+----+----+----
 *
 * The other solvers for tensor cores need a stage that fills channels up, and copy tap by tap,
 * which took three times as long as a copy of the tensors. templates/gpu/first_mma.cl has the
 * kernel.
 */
#include "generator/base/integers.h"
#include "generator/base/names.h"
#include "generator/plan/config_best.h"

#include "first_mma_fit.h"
#include "mma_tiles.h"
#include "tiles.h"

#include <math.h>
#include <string.h>

enum { ROWS, WIDTH, WARPS, BLOCKS, PARAMS };

static const kiln_param params[PARAMS] = {
    [ROWS] = {"T_ROWS", 4, {1, 2, 4, 8}, 0, 0},
    [WIDTH] = {"T_WIDTH", 5, {16, 32, 56, 64, 112}, 0, 0},
    [WARPS] = {"T_WARPS", 2, {4, 8}, 0, 0},
    [BLOCKS] = {"T_BLOCKS", 3, {1, 2, 4}, 0, 0},
};

static const kiln_config smallest = {{[ROWS] = 1, [WIDTH] = 16, [WARPS] = 4, [BLOCKS] = 1}};

/* Channels of a block; words that a lane has of a step's weights; steps whose weights fit in a
 * lane's registers. */
enum { BLOCK = 32, LANE_WORDS = 8, MOST_STEPS = 16 };

typedef struct tile {
    int64_t size;         /* bytes of an element */
    int64_t words;        /* words of a pixel in local memory */
    int64_t steps;        /* steps of 32 bytes of terms */
    int64_t blocks;       /* blocks of channels in all */
    int64_t tiles, items; /* tiles of pixels; work-items of a group */
    int64_t local_bytes;
} tile;

static tile tile_of(const kiln_shape *s, const kiln_config *c)
{
    const int *v = c->v;
    tile t = {.size = (int64_t)kiln_type_size(s->x_type)};
    int64_t met[2];
    for (int i = 0; i < 2; i++)
        met[i] = (v[i == 0 ? ROWS : WIDTH] - 1) * s->stride[i + 1] +
                 (s->filter[i + 1] - 1) * s->dilation[i + 1] + 1;
    t.words = s->c * t.size <= 4 ? 1 : 2;
    t.steps = divide_up(s->filter[1] * s->filter[2], 8 / t.words);
    t.blocks = divide_up(s->k, BLOCK);
    t.tiles = product_of(s->n, divide_up(s->out[1], v[ROWS]) * divide_up(s->out[2], v[WIDTH]));
    t.items = 32 * v[WARPS];
    t.local_bytes = product_of(product_of(met[0], met[1]), 4 * t.words);
    return t;
}

static bool illegal(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    const tile t = tile_of(s, c);
    if (t.items > d->max_group || t.items > d->max_local[0])
        return kiln_no(why, "a group of %lld items exceeds the device's limit", (long long)t.items);
    if (c->v[ROWS] * c->v[WIDTH] % 16)
        return kiln_no(why, "%d x %d pixels are no multiple of 16", c->v[ROWS], c->v[WIDTH]);
    if (t.local_bytes > d->local_memory)
        return kiln_no(why, "%lld bytes of local memory exceed the device's %lld",
                       (long long)t.local_bytes, (long long)d->local_memory);
    return false;
}

static bool reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why)
{
    const kiln_pitch y = kiln_pitch_of(s, 'y');
    const tile t = tile_of(s, &smallest);
    const int64_t most = INT32_MAX / 4;
    if (s->direction != KILN_FORWARD || s->g != 1)
        return kiln_no(why, "it does forward passes without groups");
    if (s->x_type == KILN_F32)
        return kiln_no(why, "it multiplies f16, bf16 and int8");
    if (kiln_mma_lacks(s, d, KILN_MMA, why))
        return true;
    if (s->c > 4)
        return kiln_no(why, "it takes four source channels at most, not %lld", (long long)s->c);
    if (s->k % 8 || kiln_order_of(&y, s->out, s->k) != KILN_CHANNELS_LAST)
        return kiln_no(why,
                       "it writes eight neighbouring channels at a time; y has %lld in the layout "
                       "%s",
                       (long long)s->k, s->y_layout);
    if (strcmp(s->w_layout, kiln_plain_filter_layout(s->rank)) != 0 || !kiln_tiles_take_layouts(s))
        return kiln_no(why,
                       "it works on the layouts NCHW, NHWC and OIHW and their kin; these are "
                       "%s and %s",
                       s->x_layout, s->w_layout);
    if (s->in[0] != 1 || s->filter[0] != 1 || s->out[0] != 1 || s->pad[0] != 0)
        return kiln_no(why, "it does one and two axes");
    if (t.steps > MOST_STEPS)
        return kiln_no(why, "an item keeps weights of %d steps; the filter has %lld taps",
                       MOST_STEPS, (long long)(s->filter[1] * s->filter[2]));
    for (int a = 1; a < 3; a++)
        if (s->in[a] + s->pad[a] + s->pad_end[a] + s->stride[a] + s->dilation[a] > most)
            return kiln_no(why, "an axis with its padding has 2^29 elements or more");
    if (product_of(t.tiles, t.items) > most || s->k > most / 4096)
        return kiln_no(why, "its tiles or channels leave the range of its grid");
    return illegal(self, s, d, &smallest, why);
}

static void prefer(const kiln_solver *self, kiln_shape *s, const kiln_device_facts *d)
{
    static const char *const last[] = {"NWC", "NHWC", "NDHWC"};
    kiln_prefer_layout(s->x_layout, last[s->rank - 1]);
    kiln_prefer_layout(s->y_layout, last[s->rank - 1]);
}

/* Leaves out blocks without channels, and warps without pixels. */
static bool skip(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c)
{
    const int *v = c->v;
    return v[BLOCKS] > divide_up(s->k, BLOCK) || v[ROWS] * v[WIDTH] * v[BLOCKS] < 16 * v[WARPS] ||
           v[WIDTH] >= 2 * round_up(s->out[2], 16);
}

/* Groups copy, multiply and write. These overlap, but where groups write words and not halves of
 * them, and much at a time, they come one after the other. Eight warps leave a unit room for
 * fewer groups. */
static double predict(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c)
{
    const kiln_fit *fit = self->fits[0];
    const kiln_first_mma_numbers *k = fit->numbers;
    const tile t = tile_of(s, c);
    const double out = (double)kiln_type_size(s->y_type);
    const double groups = (double)(t.tiles * divide_up(t.blocks, c->v[BLOCKS]));
    const double columns = c->v[BLOCKS], products = c->v[ROWS] * c->v[WIDTH] / 16.0 * columns;
    const double met = (double)t.local_bytes / (4.0 * (double)t.words);
    const double cycles =
        (products * k->step + k->weights * columns) * (double)t.steps + k->pixel * met;
    const double slower = c->v[WARPS] > 4 ? 1 + k->crowded : 1;
    const double ms =
        slower * cycles * ceil(groups / d->compute_units) / (kiln_device_fit_ghz(d, fit) * 1e6);
    const double bytes = (double)t.size * (double)s->x_count + out * (double)s->y_count;
    const double move = kiln_device_move_ms(d, bytes);
    const double written = out * BLOCK * c->v[ROWS] * c->v[WIDTH]; /* by a block's warps */
    const double later = out > 2 ? k->burst * written * move : 0;
    return kiln_device_launch_ms(d) + k->begin_ms + fmax(ms, move) + k->beside * fmin(ms, move) +
           later;
}

static double ms_of(const kiln_guess *g, kiln_config *c)
{
    /* Narrow tiles of wide images were not fitted, nor low tiles where there are many. */
    const double many = 8.0 * g->d->compute_units;
    if ((c->v[WIDTH] < 56 && g->s->out[2] >= 56) ||
        (c->v[ROWS] < 4 && (double)tile_of(g->s, c).tiles > many))
        return INFINITY;
    return illegal(g->self, g->s, g->d, c, NULL) || skip(g->self, g->s, g->d, c)
               ? INFINITY
               : predict(g->self, g->s, g->d, c);
}

static void guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                  kiln_config *c)
{
    const kiln_range all[] = {kiln_searched(params, ROWS), kiln_searched(params, WIDTH),
                              kiln_searched(params, WARPS), kiln_searched(params, BLOCKS)};
    kiln_guess g = {
        .self = self, .s = s, .d = d, .ms = ms_of, .best = smallest, .best_ms = INFINITY};
    kiln_config_best(&g, &smallest, all, sizeof all / sizeof *all);
    *c = g.best;
}

static void define_all(const kiln_shape *s, const kiln_config *c, const tile *t, kiln_plan *plan)
{
    const kiln_pitch src = kiln_pitch_of(s, 'x'), dst = kiln_pitch_of(s, 'y');
    kiln_define_types(plan, s);
    kiln_define_epilogue(plan, s);
    kiln_define(plan, "D_ALIGNED", 1);
    kiln_define_axes(plan, "P_SRC", s->in);
    kiln_define_axes(plan, "P_DST", s->out);
    kiln_define_axes(plan, "P_FILTER", s->filter);
    kiln_define_axes(plan, "P_STRIDE", s->stride);
    kiln_define_axes(plan, "P_DILATION", s->dilation);
    kiln_define_axes(plan, "P_PAD", s->pad);
    kiln_define(plan, "D_SRC_C", s->c);
    kiln_define(plan, "D_DST_C", s->k);
    kiln_pitch_define(&src, "D_SRC", plan);
    kiln_pitch_define(&dst, "D_DST", plan);
    kiln_define(plan, "D_WORDS", t->words);
    kiln_define_params(plan, params, PARAMS, c);
}

static void emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c, kiln_plan *plan)
{
    const tile t = tile_of(s, c);
    const int64_t words = t.blocks * t.steps * 32 * LANE_WORDS;
    plan->packed_bytes = 4 * words;
    kiln_plan_stage(plan, "first_mma.cl", "first_mma_pack")->pack = true;
    define_all(s, c, &t, plan);
    kiln_arg_buffer(plan, KILN_ROLE_W);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_grid(plan, kiln_device_group(d, 64), 1, 1, words, 1, 1);
    kiln_plan_stage(plan, "first_mma.cl", "first_mma");
    define_all(s, c, &t, plan);
    kiln_arg_buffer(plan, KILN_ROLE_X);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_arg_buffer(plan, KILN_ROLE_Y);
    kiln_arg_epilogue(plan, s);
    kiln_grid(plan, t.items, 1, 1, t.tiles * t.items, divide_up(t.blocks, c->v[BLOCKS]), 1);
}

const kiln_solver kiln_solver_first_mma = {
    .name = "first_mma",
    .id = 1064,
    .algorithm = 1,
    .version = 1,
    .params = params,
    .nparams = PARAMS,
    .fits = (const kiln_fit *const[]){&first_mma_fit},
    .nfits = 1,
    .prefer = prefer,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
