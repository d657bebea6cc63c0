/* 1x1 filters over few pixels, such as images of one pixel: forward and backward data as products
 * of vectors, in one launch.
 *
 *     lanes of a team    0   1   2   ...    a team has T_PIXELS x T_CHANNELS results; a lane adds
 *     terms            | v | v | v |        the products of its own vectors of terms, and at last
 *                                           the team adds up its lanes' sums in local memory
 *
 * No step waits for another one, so that all reads of an item are under way at once: a layer of one
 * pixel takes the time of one of them. One pixel fills a 64th of a tile of tensor cores.
 * templates/gpu/gemv.cl has the kernel.
 */
#include "generator/base/integers.h"
#include "generator/base/names.h"
#include "generator/plan/config_best.h"

#include "gemv_fit.h"
#include "tiles.h"

#include <math.h>
#include <string.h>

enum { ITEMS, LANES, PIXELS, CHANNELS, PARAMS };

static const kiln_param params[PARAMS] = {
    [ITEMS] = {"T_ITEMS", 3, {128, 64, 256}, 0, 0},
    [LANES] = {"T_LANES", 4, {32, 16, 64, 128}, 4, 256},
    [PIXELS] = {"T_PIXELS", 4, {1, 2, 4, 8}, 1, 16},
    [CHANNELS] = {"T_CHANNELS", 4, {1, 2, 4, 8}, 1, 16},
};

static const kiln_config smallest = {{[ITEMS] = 64, [LANES] = 4, [PIXELS] = 1, [CHANNELS] = 1}};

/* More pixels have better solvers: each tile of pixels reads all weights again. */
enum { MOST_PIXELS = 256 };

/* Sums of an item, which has registers for the terms of some steps beside them; bytes that it
 * reads at once. */
enum { MOST_SUMS = 32, VECTOR_BYTES = 16 };

typedef struct product {
    int64_t pixels, src_c, dst_c; /* pixels; channels of a group */
    int64_t vector;               /* terms that an item reads at once */
    bool backward;
} product;

static int64_t vector_of(int64_t channels, kiln_type type)
{
    const int64_t widest = VECTOR_BYTES / (int64_t)kiln_type_size(type),
                  vector = gcd(channels, widest);
    return vector < 4 ? 1 : vector;
}

/* Returns the product of a shape that kiln_tiles_fold() made. */
static product of_shape(const kiln_shape *s)
{
    const bool backward = s->direction == KILN_BACKWARD_DATA;
    const int64_t c = s->c / s->g, k = s->k / s->g;
    product p = {.pixels = product_of(s->n, s->in[0] * s->in[1] * s->in[2]),
                 .src_c = backward ? k : c,
                 .dst_c = backward ? c : k,
                 .backward = backward};
    p.vector = vector_of(p.src_c, backward ? s->y_type : s->x_type);
    return p;
}

static int64_t group_channels(const kiln_config *c)
{
    return (int64_t)c->v[ITEMS] / c->v[LANES] * c->v[CHANNELS];
}

static int64_t local_bytes(const kiln_config *c)
{
    return 4 * group_channels(c) * c->v[PIXELS] * (c->v[LANES] + 1);
}

/* ---- limits ---- */

static bool illegal(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    const int *v = c->v;
    if (v[ITEMS] % v[LANES])
        return kiln_no(why, "%d items are no whole number of teams of %d", v[ITEMS], v[LANES]);
    if (v[PIXELS] * v[CHANNELS] > MOST_SUMS)
        return kiln_no(why, "%d x %d sums of an item are more than %d", v[PIXELS], v[CHANNELS],
                       MOST_SUMS);
    if (v[ITEMS] > d->max_group || v[ITEMS] > d->max_local[0])
        return kiln_no(why, "a group of %d items exceeds the device's limit", v[ITEMS]);
    if (local_bytes(c) > d->local_memory)
        return kiln_no(why, "%lld bytes of local memory exceed the device's %lld",
                       (long long)local_bytes(c), (long long)d->local_memory);
    return false;
}

/* Returns whether a tensor is a matrix that has the channels of a pixel as a row. */
static bool has_rows(const kiln_shape *s, char tensor)
{
    const int64_t *size = tensor == 'x' ? s->in : s->out;
    const kiln_pitch p = kiln_pitch_of(s, tensor);
    const kiln_order order = kiln_order_of(&p, size, tensor == 'x' ? s->c : s->k);
    return order == KILN_CHANNELS_LAST ||
           (order == KILN_CHANNELS_FIRST && size[0] * size[1] * size[2] == 1);
}

static bool reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why)
{
    const kiln_shape f = kiln_tiles_fold(s);
    const product p = of_shape(&f);
    const int64_t most = INT32_MAX / 4;
    if (s->direction == KILN_BACKWARD_WEIGHTS)
        return kiln_no(why, "it does forward and backward data");
    if (!kiln_shape_is_pointwise(&f))
        return kiln_no(why, "a pixel of y does not meet the pixel of x at its own place alone");
    if (p.pixels > MOST_PIXELS)
        return kiln_no(why, "it does few pixels, %d at most; these are %lld", MOST_PIXELS,
                       (long long)p.pixels);
    if (strcmp(s->w_layout, kiln_plain_filter_layout(s->rank)) != 0)
        return kiln_no(why, "it reads weights in the layout %s; these are %s",
                       kiln_plain_filter_layout(s->rank), s->w_layout);
    /* Where x and y order pixels differently, a row of all pixels does not show it. */
    if (!kiln_tiles_take_layouts(s) || !has_rows(&f, 'x') || !has_rows(&f, 'y'))
        return kiln_no(why, "channels of a pixel are no neighbours in %s and %s", s->x_layout,
                       s->y_layout);
    if (f.c > most || f.k > most || f.g > UINT16_MAX)
        return kiln_no(why, "its channels or groups leave the range of its grid");
    return illegal(self, s, d, &smallest, why);
}

/* Leaves out a CPU, which has better solvers, and lanes and tiles that stay half empty. */
static bool skip(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c)
{
    const kiln_shape f = kiln_tiles_fold(s);
    const product p = of_shape(&f);
    const int *v = c->v;
    return d->kind == KILN_DEVICE_CPU || v[PIXELS] >= 2 * p.pixels || v[CHANNELS] >= 2 * p.dst_c ||
           (v[LANES] > 16 && v[LANES] >= 2 * divide_up(p.src_c, p.vector));
}

/* ---- time ---- */

/* Larger weights than a GPU's second cache holds come from memory for each tile of pixels. */
enum { HELD_BYTES = 16 << 20 };

/* An item waits for each step's reads, and a group for the sums of its lanes; meanwhile all units
 * are busy, or weights come from memory. */
static double ms_of_product(const kiln_solver *self, const product *p, const kiln_shape *s,
                            const kiln_device_facts *d, const kiln_config *c)
{
    const kiln_fit *fit = self->fits[0];
    const kiln_gemv_numbers *k = fit->numbers;
    const int *v = c->v;
    const double steps = (double)divide_up(p->src_c, v[LANES] * p->vector);
    const double groups = (double)product_of(s->g, divide_up(p->dst_c, group_channels(c))) *
                          (double)divide_up(p->pixels, v[PIXELS]);
    const double sums = v[PIXELS] * v[CHANNELS], reads = v[PIXELS] + v[CHANNELS];
    const double cycles =
        k->warp + steps * (k->read * reads + k->multiply * sums * (double)p->vector);
    const double size = (double)kiln_type_size(s->w_type), weights = size * (double)s->w_count;
    const double rows = (double)(group_channels(c) + v[PIXELS]) * (double)p->src_c * size;
    const double busy = groups * fmax(cycles * v[ITEMS] / 32, rows / k->copy) / d->compute_units;
    const double times = weights > HELD_BYTES ? (double)divide_up(p->pixels, v[PIXELS]) : 1;
    const double results = (double)divide_up(group_channels(c) * v[PIXELS], v[ITEMS]);
    const double turns = d->kind == KILN_DEVICE_CPU ? 30 : 1; /* items take turns at the barrier */
    return turns * (k->begin_ms + steps * k->step_ms + results * v[LANES] * k->add_ms +
                    fmax(busy / (kiln_device_fit_ghz(d, fit) * 1e6),
                         kiln_device_move_ms(d, times * weights)));
}

/* The prediction has to be comparable with predictions of solvers for tensor cores, if the device
 * has tensor cores for the types, and else with predictions of the solver gemm. */
static double predict(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c)
{
    const kiln_shape f = kiln_tiles_fold(s);
    const product p = of_shape(&f);
    const kiln_gemv_numbers *k = self->fits[0]->numbers;
    const double ms = ms_of_product(self, &p, &f, d, c);
    const bool tensor_cores = d->gpu.has_mma && kiln_shape_suits_tensor_cores(s);
    return (tensor_cores ? ms - k->less_ms : kiln_tiles_row_ms(d, ms, 1)) +
           kiln_device_launch_ms(d);
}

/* Larger tiles were seldom faster. */
static double ms_of(const kiln_guess *g, kiln_config *c)
{
    if (c->v[CHANNELS] > 4 || c->v[PIXELS] * c->v[CHANNELS] > 16)
        return INFINITY;
    return illegal(g->self, g->s, g->d, c, NULL) ? INFINITY
                                                 : ms_of_product(g->self, g->own, g->s, g->d, c);
}

static void guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                  kiln_config *c)
{
    const kiln_range all[] = {kiln_searched(params, ITEMS), kiln_searched(params, LANES),
                              kiln_searched(params, PIXELS), kiln_searched(params, CHANNELS)};
    const kiln_shape f = kiln_tiles_fold(s);
    product own = of_shape(&f);
    kiln_guess g = {.self = self,
                    .s = &f,
                    .d = d,
                    .own = &own,
                    .ms = ms_of,
                    .best = smallest,
                    .best_ms = INFINITY};
    kiln_config_best(&g, &smallest, all, sizeof all / sizeof *all);
    *c = g.best;
}

/* ---- the plan ---- */

static void define_all(const kiln_shape *s, const product *p, const kiln_device_facts *d,
                       const kiln_config *c, kiln_plan *plan)
{
    kiln_define_types(plan, s);
    kiln_define_epilogue(plan, s);
    kiln_define(plan, "P_PIXELS", p->pixels);
    kiln_define(plan, "P_GROUPS", s->g);
    kiln_define(plan, "D_SRC_C", p->src_c);
    kiln_define(plan, "D_DST_C", p->dst_c);
    kiln_define(plan, "D_VECTOR", p->vector);
    if (d->kind == KILN_DEVICE_GPU)
        kiln_define(plan, "D_ALIGNED", 1);
    kiln_define_params(plan, params, PARAMS, c);
}

static void emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c, kiln_plan *plan)
{
    const kiln_shape f = kiln_tiles_fold(s);
    const product p = of_shape(&f);
    const int *v = c->v;
    if (p.backward) {
        plan->packed_bytes = product_of(f.w_count, (int64_t)kiln_type_size(f.w_type));
        kiln_plan_stage(plan, "gemv.cl", "gemv_pack")->pack = true;
        define_all(&f, &p, d, c, plan);
        kiln_arg_buffer(plan, KILN_ROLE_W);
        kiln_arg_buffer(plan, KILN_ROLE_PACKED);
        kiln_grid(plan, kiln_device_group(d, 64), 1, 1, p.src_c, p.dst_c, f.g);
    }
    kiln_plan_stage(plan, "gemv.cl", "gemv");
    define_all(&f, &p, d, c, plan);
    kiln_arg_buffer(plan, p.backward ? KILN_ROLE_Y : KILN_ROLE_X);
    kiln_arg_buffer(plan, p.backward ? KILN_ROLE_PACKED : KILN_ROLE_W);
    kiln_arg_buffer(plan, p.backward ? KILN_ROLE_X : KILN_ROLE_Y);
    kiln_arg_epilogue(plan, s);
    kiln_grid(plan, v[ITEMS], 1, 1, v[ITEMS] * divide_up(p.dst_c, group_channels(c)),
              divide_up(p.pixels, v[PIXELS]), f.g);
}

const kiln_solver kiln_solver_gemv = {
    .name = "gemv",
    .id = 1067,
    .algorithm = 5,
    .version = 1,
    .params = params,
    .nparams = PARAMS,
    .fits = (const kiln_fit *const[]){&gemv_fit},
    .nfits = 1,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
