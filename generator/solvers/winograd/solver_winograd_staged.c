/* Winograd in three launches, through the workspace: for so many channels that reading the
 * transformed filters once for all tiles is faster than reading them again for every item.
 *
 * Accuracy: as winograd_fused. */
#include "generator/plan/shared_grid.h"

#include "winograd.h"

#include <math.h>

static const kiln_param params[WINOGRAD_SHARED] = {
    [WINOGRAD_T] = {"T_T", 4, {4, 6, 8, 10}, 0, 0},
    [WINOGRAD_TILES] = {"T_TILES", 6, {4, 16, 28, 56, 64, 112}, 1, 256},
    [WINOGRAD_W] = {"T_W", 4, {4, 7, 8, 13}, 1, 16},
    [WINOGRAD_KV] = {"T_KV", 3, {1, 2, 4}, 1, 4},
};

static kiln_config smallest(const kiln_winograd *w)
{
    return (kiln_config){.v = {[WINOGRAD_T] = kiln_winograd_least(w),
                               [WINOGRAD_TILES] = 1,
                               [WINOGRAD_W] = 1,
                               [WINOGRAD_KV] = 1}};
}

/* Returns the elements of the transformed source and of the products, with the vector between
 * planes that the template explains. */
static int64_t scratch(const kiln_winograd *w, const kiln_config *c, int64_t blocks)
{
    int64_t room = c->v[WINOGRAD_TILES] * kiln_winograd_items(w, c);
    return kiln_winograd_elements(w, c) * (blocks * room + 1) * w->block;
}

static int64_t source_scratch(const kiln_winograd *w, const kiln_config *c)
{
    return scratch(w, c, w->src_blocks);
}

static int64_t product_scratch(const kiln_winograd *w, const kiln_config *c)
{
    return scratch(w, c, kiln_winograd_dst_tiles(w, c) * c->v[WINOGRAD_KV]);
}

static bool illegal(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    kiln_winograd w = kiln_winograd_of(s, d);
    if (kiln_winograd_illegal(&w, c, why))
        return true;
    if (source_scratch(&w, c) > INT32_MAX || product_scratch(&w, c) > INT32_MAX)
        return kiln_no(why, "the transformed tensors have 2^31 elements or more");
    return kiln_winograd_no_room(d, kiln_winograd_strip(&w, c), 1, why);
}

static bool reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why)
{
    if (d->kind != KILN_DEVICE_CPU)
        return kiln_no(why,
                       "its items are single vectors' work of a CPU core, not for this device");
    if (kiln_winograd_reject(s, d, why))
        return true;
    if (s->g > 1)
        return kiln_no(why, "it does one group, and there are %lld", (long long)s->g);
    kiln_winograd w = kiln_winograd_of(s, d);
    kiln_config least = smallest(&w);
    return illegal(self, s, d, &least, why);
}

static bool skip(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c)
{
    kiln_winograd w = kiln_winograd_of(s, d);
    return kiln_winograd_skip(&w, d, c);
}

/* Times of the three steps in ms, without launches. */
typedef struct steps {
    double source, products, destination;
} steps;

static steps predict_steps(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    kiln_winograd w = kiln_winograd_of(s, d);
    int64_t items = kiln_winograd_items(&w, c), tiles = c->v[WINOGRAD_TILES];
    double full = (double)(items - 1), kt = (double)kiln_winograd_dst_tiles(&w, c);
    kiln_winograd_cost cost = kiln_winograd_cost_of(&w, c, tiles);
    kiln_winograd_cost last =
        kiln_winograd_cost_of(&w, c, kiln_winograd_all_tiles(&w, c) - (items - 1) * tiles);
    double bytes = (double)kiln_type_size(s->x_type) * (double)(s->x_count + s->y_count);
    /* Bytes that pass between the steps for each element, written and read mostly in caches: fitted
     * where vectors go through units in halves, 6, and where they do not, 11. */
    const double each = kiln_device_double_pumped(d) ? 6 : 11;
    double passed = each * (double)(source_scratch(&w, c) + product_scratch(&w, c));
    double moved = kiln_device_move_ms(d, 0.5 * bytes + passed);
    /* Measured where a core has a large second cache: half of that. The last cache is larger there
     * than these cores' share of it. */
    if (kiln_device_large_l2(d) && !kiln_device_holds(d, 0.5 * bytes + passed))
        moved /= 2;
    return (steps){
        .source = kiln_winograd_ms(&w, d, full * cost.source + last.source) + moved / 2,
        .products =
            kiln_winograd_multiply_ms(&w, d, c, kt * (full * cost.products + last.products), items),
        .destination =
            kiln_winograd_ms(&w, d, kt * (full * cost.destination + last.destination)) + moved / 2,
    };
}

static double predict(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c)
{
    const steps t = predict_steps(s, d, c);
    return t.source + t.products + t.destination + 3 * kiln_device_launch_ms(d);
}

static void guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                  kiln_config *c)
{
    static const kiln_winograd_range range = {4, WINOGRAD_LONGEST, 128, 0, kiln_winograd_fits};
    kiln_winograd w = kiln_winograd_of(s, d);
    *c = smallest(&w);
    kiln_winograd_guess(self, s, d, &range, c);
}

static void emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c, kiln_plan *plan)
{
    kiln_winograd w = kiln_winograd_of(s, d);
    int64_t items = kiln_winograd_items(&w, c), elements = kiln_winograd_elements(&w, c);
    int v = kiln_plan_temp(plan, source_scratch(&w, c) * 4);
    int p = kiln_plan_temp(plan, product_scratch(&w, c) * 4);
    kiln_winograd_emit_pack(s, &w, self, c, true, plan);

    const steps t = predict_steps(s, d, c);
    const double launch = kiln_device_launch_ms(d);
    kiln_winograd_stage(s, &w, self, c, true, "source", plan);
    kiln_define(plan, "D_LAUNCH", 1);
    kiln_arg_buffer(plan, w.backward ? KILN_ROLE_Y : KILN_ROLE_X);
    kiln_arg_buffer(plan, v);
    kiln_grid_shared(plan, d, t.source + launch, items, w.src_blocks, 1);

    kiln_winograd_stage(s, &w, self, c, true, "products", plan);
    kiln_define(plan, "D_LAUNCH", 2);
    kiln_arg_buffer(plan, v);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_arg_buffer(plan, p);
    kiln_grid_shared(plan, d, t.products + launch, kiln_winograd_dst_tiles(&w, c), elements, items);

    kiln_winograd_stage(s, &w, self, c, true, "destination", plan);
    kiln_define(plan, "D_LAUNCH", 3);
    kiln_arg_buffer(plan, p);
    kiln_arg_buffer(plan, w.backward ? KILN_ROLE_X : KILN_ROLE_Y);
    kiln_arg_epilogue(plan, s);
    kiln_grid_shared(plan, d, t.destination + launch, items, w.dst_blocks, 1);
}

const kiln_solver kiln_solver_winograd_staged = {
    .name = "winograd_staged",
    .id = 1021,
    .algorithm = 3,
    .version = 4,
    .params = params,
    .nparams = WINOGRAD_SHARED,
    .prefer = kiln_winograd_prefer,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
