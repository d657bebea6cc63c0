/* Winograd in one launch: an item transforms its tiles for all source channels into local memory
 * and multiplies them by every destination channel's transformed filter there.
 *
 * Accuracy: its results err more than plain sums, by at most the factor that
 * kiln_winograd_amplification() derives and verification multiplies its bound by. Measured on
 * uniform data, 30x30, C = 4 and 512: the root mean square of the errors over that of the results,
 * and the largest part of its bound that an element's error reached:
 *
 *     T_T        3x3 taps                  5x5 taps                  1x7 taps
 *       4    2.7e-8, 1.7e-7   0.07
 *       6    1.7e-7, 1.1e-6   0.05     2.0e-7, 1.1e-6   0.04
 *       8    3.7e-7, 2.1e-6   0.03     3.4e-7, 1.7e-6   0.04     1.0e-7, 5.1e-7   0.08
 *      10                                                        3.3e-7, 1.6e-6   0.06
 */
#include "generator/plan/shared_grid.h"

#include "winograd.h"

#include <math.h>

enum { SPLIT = WINOGRAD_SHARED, ORDER, PARAMS };

static const kiln_param params[PARAMS] = {
    [WINOGRAD_T] = {"T_T", 4, {4, 6, 8, 10}, 0, 0},
    [WINOGRAD_TILES] = {"T_TILES", 9, {4, 7, 8, 14, 16, 21, 26, 28, 32}, 1, 64},
    [WINOGRAD_W] = {"T_W", 4, {4, 7, 8, 13}, 1, 16},
    [WINOGRAD_KV] = {"T_KV", 3, {1, 2, 4}, 1, 4},
    [SPLIT] = {"T_SPLIT", 3, {1, 2, 4}, 1, 64},
    [ORDER] = {"T_ORDER", 1, {0}, 0, 1},
};

static kiln_config smallest(const kiln_winograd *w)
{
    return (kiln_config){.v = {[WINOGRAD_T] = kiln_winograd_least(w),
                               [WINOGRAD_TILES] = 1,
                               [WINOGRAD_W] = 1,
                               [WINOGRAD_KV] = 1,
                               [SPLIT] = 1}};
}

/* Returns the bytes of the kernel's three arrays in local memory, as the template declares them. */
static int64_t local_bytes(const kiln_winograd *w, const kiln_config *c)
{
    int64_t vectors = (w->src_blocks + c->v[WINOGRAD_KV]) * c->v[WINOGRAD_TILES] + 2;
    return kiln_winograd_elements(w, c) * vectors * w->block * 4 + kiln_winograd_strip(w, c);
}

static bool illegal(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    kiln_winograd w = kiln_winograd_of(s, d);
    if (kiln_winograd_illegal(&w, c, why))
        return true;
    if (c->v[SPLIT] > kiln_winograd_dst_tiles(&w, c))
        return kiln_no(why, "T_SPLIT is %d, but a group has only %lld tiles of channels",
                       c->v[SPLIT], (long long)kiln_winograd_dst_tiles(&w, c));
    return kiln_winograd_no_room(d, local_bytes(&w, c), 3, why);
}

static bool reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why)
{
    if (d->kind != KILN_DEVICE_CPU)
        return kiln_no(why, "its items are as large as a CPU core's cache, not for this device");
    if (kiln_winograd_reject(s, d, why))
        return true;
    kiln_winograd w = kiln_winograd_of(s, d);
    kiln_config least = smallest(&w);
    return illegal(self, s, d, &least, why);
}

static bool skip(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c)
{
    const int *v = c->v;
    kiln_winograd w = kiln_winograd_of(s, d);
    int64_t items = kiln_winograd_items(&w, c), few = 8 * (int64_t)d->compute_units;
    if (kiln_winograd_skip(&w, d, c) || kiln_winograd_dst_tiles(&w, c) % v[SPLIT] ||
        (v[SPLIT] > 1 && items * v[SPLIT] > few))
        return true;
    return v[WINOGRAD_TILES] < 14 && items > 4 * few && 4 * local_bytes(&w, c) < d->local_memory;
}

static double predict(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c)
{
    kiln_winograd w = kiln_winograd_of(s, d);
    /* All units wait for the one with the most items, which are full. */
    int64_t all = kiln_winograd_all_tiles(&w, c), tiles = c->v[WINOGRAD_TILES];
    kiln_winograd_cost cost = kiln_winograd_cost_of(&w, c, tiles < all ? tiles : all);
    double split = c->v[SPLIT], items = (double)(kiln_winograd_items(&w, c) * w.groups) * split;
    double waves = ceil(items / d->compute_units) * d->compute_units;
    double kt = ceil((double)kiln_winograd_dst_tiles(&w, c) / split);
    double first = kiln_winograd_ms(&w, d, waves * cost.source);
    double rest = kiln_winograd_multiply_ms(
        &w, d, c, waves * kt * (cost.products + cost.destination), kiln_winograd_items(&w, c));
    double bytes = (double)kiln_type_size(s->x_type) * (double)(s->x_count + s->y_count);
    return first + rest + 0.5 * kiln_device_move_ms(d, bytes) + kiln_device_launch_ms(d);
}

static void guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                  kiln_config *c)
{
    static const kiln_winograd_range range = {4, WINOGRAD_LONGEST, 32, 8, kiln_winograd_fits};
    kiln_winograd w = kiln_winograd_of(s, d);
    *c = smallest(&w);
    kiln_winograd_guess(self, s, d, &range, c);
}

static void emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c, kiln_plan *plan)
{
    kiln_winograd w = kiln_winograd_of(s, d);
    kiln_plan_fact(plan, "LOCAL_BYTES", local_bytes(&w, c));
    kiln_winograd_emit_pack(s, &w, self, c, false, plan);
    kiln_winograd_stage(s, &w, self, c, false, "winograd_fused", plan);
    kiln_arg_buffer(plan, w.backward ? KILN_ROLE_Y : KILN_ROLE_X);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_arg_buffer(plan, w.backward ? KILN_ROLE_X : KILN_ROLE_Y);
    kiln_arg_epilogue(plan, s);
    int64_t items = kiln_winograd_items(&w, c), split = c->v[SPLIT];
    const int64_t first = c->v[ORDER] ? split : items, second = c->v[ORDER] ? items : split;
    kiln_grid_shared(plan, d, predict(self, s, d, c), first, second, s->g);
}

const kiln_solver kiln_solver_winograd_fused = {
    .name = "winograd_fused",
    .id = 1020,
    .algorithm = 3,
    .version = 4,
    .params = params,
    .nparams = PARAMS,
    .prefer = kiln_winograd_prefer,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
