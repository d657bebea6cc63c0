/* Forward and backward data of groups of one channel on both sides, for GPUs. An item gathers the
 * pixels that its tile of the destination meets; caches serve neighbouring items together.
 *
 *     destination           an item has T_ROWS x T_COLUMNS pixels of T_VECTOR channels, and
 *     +---+---+---+---      reads each pixel of the source that these meet once: row by row
 *     | 0 | 1 | 2 | 3       with all weights in registers, or column by column with all sums
 *     +---+---+---+---
 *       neighbouring items
 *
 * NCHW has one channel an item, NHWC vectors of neighbouring channels.
 * templates/gpu/depthwise_gather.cl has the kernel.
 */
#include "generator/base/integers.h"
#include "generator/base/names.h"
#include "generator/plan/config_best.h"

#include "depthwise_gather_fit.h"
#include "depthwise_tile.h"
#include "tiles.h"

#include <math.h>
#include <string.h>

static const kiln_param params[GATHER_PARAMS] = {
    [GATHER_GROUP] = {"T_GROUP", 3, {128, 256, 64}, 32, 512},
    [GATHER_ROWS] = {"T_ROWS", 6, {1, 2, 4, 7, 8, 14}, 1, 16},
    [GATHER_COLUMNS] = {"T_COLUMNS", 4, {1, 2, 4, 8}, 1, 8},
    [GATHER_VECTOR] = {"T_VECTOR", 4, {1, 4, 8, 16}, 0, 0},
    [GATHER_ROW_WISE] = {"T_ROW_WISE", 2, {1, 0}, 0, 0},
};

static const kiln_config least = {{[GATHER_GROUP] = 32,
                                   [GATHER_ROWS] = 1,
                                   [GATHER_COLUMNS] = 1,
                                   [GATHER_VECTOR] = 1,
                                   [GATHER_ROW_WISE] = 1}};

/* Sums and weights that an item holds at most. */
enum { MOST_HELD = 160 };

enum { MOST_TAPS = 121, MOST_ROWS_MET = 256, MOST_PRODUCTS = 8192 };

static int64_t taps_of(const kiln_shape *s)
{
    return s->filter[0] * s->filter[1] * s->filter[2];
}

static bool illegal(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    const kiln_depthwise_tile g = kiln_depthwise_tile_of(s, c);
    if (c->v[GATHER_GROUP] > d->max_group || c->v[GATHER_GROUP] > d->max_local[0])
        return kiln_no(why, "a group of %d items exceeds the device's limit", c->v[GATHER_GROUP]);
    if (g.sums + g.weights > MOST_HELD && (c->v[GATHER_VECTOR] > 1 || c->v[GATHER_COLUMNS] > 1))
        return kiln_no(why, "an item would hold %lld sums and %lld weights, more than %d",
                       (long long)g.sums, (long long)g.weights, MOST_HELD);
    if (g.rows * c->v[GATHER_COLUMNS] * c->v[GATHER_VECTOR] * s->filter[1] * s->filter[2] >
        MOST_PRODUCTS)
        return kiln_no(why, "the products of an item would be more than %d", MOST_PRODUCTS);
    if (c->v[GATHER_COLUMNS] > 1 && !c->v[GATHER_ROW_WISE])
        return kiln_no(why, "only items that go row by row may have several columns");
    if (g.window > MOST_ROWS_MET)
        return kiln_no(why, "the rows of an item meet %lld rows of the source, more than %d",
                       (long long)g.window, MOST_ROWS_MET);
    if (c->v[GATHER_COLUMNS] > 1 && g.steps > 2 * s->filter[2] + 2 * c->v[GATHER_COLUMNS])
        return kiln_no(why, "between what the columns of an item meet lie columns that none does");
    if (c->v[GATHER_COLUMNS] > 1 && g.backward && s->stride[2] > 1)
        return kiln_no(why, "columns of an item would have taps of their own");
    if (c->v[GATHER_VECTOR] > 1 && s->c % c->v[GATHER_VECTOR])
        return kiln_no(why, "%lld channels are no multiple of %d", (long long)s->c,
                       c->v[GATHER_VECTOR]);
    if (c->v[GATHER_VECTOR] > 1 && !kiln_depthwise_order(s, KILN_CHANNELS_LAST))
        return kiln_no(why, "the channels of a vector are no neighbours in %s and %s", s->x_layout,
                       s->y_layout);
    return false;
}

static bool reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why)
{
    const int64_t most = INT32_MAX / 4;
    if (s->direction == KILN_BACKWARD_WEIGHTS)
        return kiln_no(why, "it does forward and backward data");
    if (s->c != s->g || s->k != s->g)
        return kiln_no(why, "it does groups of one channel; these have %lld and %lld",
                       (long long)(s->c / s->g), (long long)(s->k / s->g));
    if (strcmp(s->w_layout, kiln_plain_filter_layout(s->rank)) != 0 || !kiln_tiles_take_layouts(s))
        return kiln_no(why,
                       "it works on the layouts NCHW, NHWC and OIHW and their kin; these are "
                       "%s, %s and %s",
                       s->x_layout, s->y_layout, s->w_layout);
    if (taps_of(s) > MOST_TAPS)
        return kiln_no(why, "its loop over taps is unrolled, at most %d; the filter has %lld",
                       MOST_TAPS, (long long)taps_of(s));
    for (int a = 0; a < 3; a++)
        if (s->in[a] + s->pad[a] + s->pad_end[a] + s->stride[a] + s->dilation[a] > most)
            return kiln_no(why, "an axis with its padding has 2^29 elements or more");
    if (s->in[0] * s->in[1] * s->in[2] > most || s->out[0] * s->out[1] * s->out[2] > most)
        return kiln_no(why, "a channel of an image has 2^29 elements or more");
    return illegal(self, s, d, &least, why);
}

/* Types of less than 32 bits are slow without vectors. */
static void prefer(const kiln_solver *self, kiln_shape *s, const kiln_device_facts *d)
{
    static const char *const last[] = {"NWC", "NHWC", "NDHWC"};
    if (d->kind != KILN_DEVICE_GPU || s->x_type == KILN_F32 || s->c % 4)
        return;
    kiln_prefer_layout(s->x_layout, last[s->rank - 1]);
    kiln_prefer_layout(s->y_layout, last[s->rank - 1]);
}

/* A CPU has better solvers. */
static bool skip(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c)
{
    return d->kind == KILN_DEVICE_CPU;
}

/* The fits, one for each kind of item; vectors by columns come before vectors by rows. */
enum { PLAIN, FLOATS, SHORTS = FLOATS + 2, FITS = SHORTS + 2 };

static const kiln_gather_numbers *numbers_of(const kiln_solver *self, const kiln_shape *s,
                                             const kiln_config *c)
{
    const int vectors = s->x_type == KILN_F32 ? FLOATS : SHORTS;
    return self->fits[c->v[GATHER_VECTOR] == 1 ? PLAIN : vectors + c->v[GATHER_ROW_WISE]]->numbers;
}

/* Registers of an item: its sums, its weights, and the elements that it loads at once. */
static double registers_of(const kiln_shape *s, const kiln_config *c, const kiln_depthwise_tile *g)
{
    const double words = c->v[GATHER_VECTOR] * (double)kiln_type_size(s->x_type) / 4;
    const double loads = (double)(c->v[GATHER_ROW_WISE] ? g->steps : g->window);
    return (double)(g->sums + g->weights) + words * loads;
}

/* Items read, multiply and add while tensors move, but not altogether. */
static double predict(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c)
{
    const kiln_depthwise_tile g = kiln_depthwise_tile_of(s, c);
    const double size = (double)kiln_type_size(s->x_type), vector = c->v[GATHER_VECTOR];
    const bool floats = s->x_type == KILN_F32;
    const kiln_gather_numbers *k = numbers_of(self, s, c);
    const double taps = (double)(s->filter[0] * s->filter[1] * divide_up(s->filter[2], g.jump));
    const double outs = (double)c->v[GATHER_ROWS] * c->v[GATHER_COLUMNS];
    const double met = (double)(s->filter[0] * g.window);
    const double loads = met * (double)(g.run ? g.steps - g.run + 1 : g.steps);
    const double convert = floats ? 0 : k->convert * vector;
    const double cycles = (k->load * fmax(1, vector * size / 8) + convert) * loads +
                          (k->sum * taps + k->result) * outs * vector + k->weight * taps * vector +
                          k->item;
    const double crowd = 1 + k->crowded * fmax(0, registers_of(s, c, &g) / 100 - k->roomy);
    const double ms = 2 * crowd * cycles * (double)g.items / (d->peak_gflops * 1e6);
    const double bytes =
        size * (double)s->x_count + (double)kiln_type_size(s->y_type) * (double)s->y_count;
    const double move = k->move * kiln_device_move_ms(d, bytes);
    const double turns = d->kind == KILN_DEVICE_CPU ? 30 : 1; /* a CPU's vectors stay empty */
    const double all = k->begin_ms + k->load_ms * loads + k->row_ms * met + fmax(ms, move) +
                       k->beside * fmin(ms, move);
    return kiln_device_launch_ms(d) + kiln_tiles_row_ms(d, turns * all, 1);
}

/* Returns whether several columns with vectors are slow. Two columns of four short elements are
 * fast where they share most of the pixels that they read; high tiles leave few items, so that
 * the last items of a unit are alone. */
static bool unlikely_columns(const kiln_shape *s, const kiln_config *c)
{
    const kiln_depthwise_tile g = kiln_depthwise_tile_of(s, c);
    const int64_t columns = c->v[GATHER_COLUMNS], rows = c->v[GATHER_ROWS];
    return s->x_type == KILN_F32 || columns != 2 || c->v[GATHER_VECTOR] != 4 ||
           4 * g.steps > 3 * columns * s->filter[2] || (rows > 8 && g.dst[1] > rows);
}

/* Returns whether the guess leaves a config out, which was never the fastest or was not fitted:
 * rows of the source that take more registers than they save, several columns but for short
 * elements, long vectors. */
static bool unlikely(const kiln_shape *s, const kiln_config *c)
{
    const int64_t rows = c->v[GATHER_ROWS] * s->stride[1];
    if (c->v[GATHER_VECTOR] > 1)
        return c->v[GATHER_VECTOR] > 8 || rows > 14 ||
               (c->v[GATHER_COLUMNS] > 1 && unlikely_columns(s, c));
    if (c->v[GATHER_COLUMNS] > 1 &&
        (c->v[GATHER_COLUMNS] != 4 || s->x_type == KILN_F32 || !kiln_depthwise_tile_of(s, c).run))
        return true;
    return rows > 8 || !c->v[GATHER_ROW_WISE];
}

static double ms_of(const kiln_guess *g, kiln_config *c)
{
    return unlikely(g->s, c) ? INFINITY : kiln_legal_ms(g, c);
}

static void guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                  kiln_config *c)
{
    const kiln_range all[] = {
        kiln_searched(params, GATHER_GROUP), kiln_searched(params, GATHER_ROWS),
        kiln_searched(params, GATHER_COLUMNS), kiln_searched(params, GATHER_VECTOR),
        kiln_searched(params, GATHER_ROW_WISE)};
    kiln_guess g = {.self = self, .s = s, .d = d, .ms = ms_of, .best = least, .best_ms = INFINITY};
    kiln_config_best(&g, &least, all, sizeof all / sizeof *all);
    *c = g.best;
}

static void define_all(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                       const kiln_depthwise_tile *g, kiln_plan *plan)
{
    const bool packed = c->v[GATHER_VECTOR] > 1;
    const kiln_pitch src = kiln_pitch_of(s, g->backward ? 'y' : 'x');
    const kiln_pitch dst = kiln_pitch_of(s, g->backward ? 'x' : 'y');
    kiln_define_types(plan, s);
    kiln_define_epilogue(plan, s);
    if (d->kind == KILN_DEVICE_GPU)
        kiln_define(plan, "D_ALIGNED", 1);
    kiln_define_axes(plan, "P_SRC", g->src);
    kiln_define_axes(plan, "P_DST", g->dst);
    kiln_define_axes(plan, "P_FILTER", s->filter);
    kiln_define_axes(plan, "P_STRIDE", s->stride);
    kiln_define_axes(plan, "P_DILATION", s->dilation);
    kiln_define_axes(plan, "P_PAD", s->pad);
    kiln_define(plan, "P_IMAGES", s->n);
    kiln_define(plan, "P_CHANNELS", s->c);
    kiln_define(plan, "D_BACKWARD", g->backward);
    kiln_define(plan, "D_CHANNELS_LAST", kiln_order_of(&dst, g->dst, s->c) == KILN_CHANNELS_LAST);
    kiln_pitch_define(&src, "D_SRC", plan);
    kiln_pitch_define(&dst, "D_DST", plan);
    kiln_define(plan, "D_W_CHANNEL", packed ? 1 : taps_of(s));
    kiln_define(plan, "D_W_TAP", packed ? s->c : 1);
    kiln_define(plan, "D_ROWS", g->rows);
    kiln_define(plan, "D_FIRST", g->first);
    kiln_define(plan, "D_WINDOW", g->window);
    kiln_define(plan, "D_JUMP", g->jump);
    kiln_define(plan, "D_MOVE", g->move);
    kiln_define(plan, "D_ACROSS", g->across);
    kiln_define(plan, "D_LEFT", g->left);
    kiln_define(plan, "D_STEP", g->step);
    kiln_define(plan, "D_STEPS", g->steps);
    kiln_define(plan, "D_RUN", g->run);
    kiln_define(plan, "D_RUN_AT", g->run_at);
    kiln_define(plan, "T_GROUP", c->v[GATHER_GROUP]);
    kiln_define(plan, "T_COLUMNS", c->v[GATHER_COLUMNS]);
    kiln_define(plan, "T_VECTOR", c->v[GATHER_VECTOR]);
    kiln_define(plan, "T_ROW_WISE", c->v[GATHER_ROW_WISE]);
    kiln_define(plan, "D_WORDS", c->v[GATHER_VECTOR] * (int64_t)kiln_type_size(s->w_type) / 4);
}

static void emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c, kiln_plan *plan)
{
    const kiln_depthwise_tile g = kiln_depthwise_tile_of(s, c);
    if (c->v[GATHER_VECTOR] > 1) {
        plan->packed_bytes = 4 * s->w_count;
        kiln_plan_stage(plan, "depthwise_gather.cl", "depthwise_gather_pack")->pack = true;
        define_all(s, d, c, &g, plan);
        kiln_arg_buffer(plan, KILN_ROLE_W);
        kiln_arg_buffer(plan, KILN_ROLE_PACKED);
        kiln_grid(plan, kiln_device_group(d, 64), 1, 1, s->w_count, 1, 1);
    }
    kiln_plan_stage(plan, "depthwise_gather.cl", "depthwise_gather");
    define_all(s, d, c, &g, plan);
    kiln_arg_buffer(plan, g.backward ? KILN_ROLE_Y : KILN_ROLE_X);
    kiln_arg_buffer(plan, c->v[GATHER_VECTOR] > 1 ? KILN_ROLE_PACKED : KILN_ROLE_W);
    kiln_arg_buffer(plan, g.backward ? KILN_ROLE_X : KILN_ROLE_Y);
    kiln_arg_epilogue(plan, s);
    kiln_grid(plan, c->v[GATHER_GROUP], 1, 1, g.items, 1, 1);
}
const kiln_solver kiln_solver_depthwise_gather = {
    .name = "depthwise_gather",
    .id = 1053,
    .algorithm = 1,
    .version = 4,
    .params = params,
    .nparams = GATHER_PARAMS,
    .fits =
        (const kiln_fit *const[]){
            [PLAIN] = &gather_plain_fit,
            [FLOATS] = &gather_floats_by_columns_fit,
            [FLOATS + 1] = &gather_floats_by_rows_fit,
            [SHORTS] = &gather_shorts_by_columns_fit,
            [SHORTS + 1] = &gather_shorts_by_rows_fit,
        },
    .nfits = FITS,
    .prefer = prefer,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
