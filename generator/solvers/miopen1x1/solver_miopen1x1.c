/* The solver MIOpen calls ConvOclDirectFwd1x1: one work-item computes a few pixels of many
 * channels.
 *
 * kiln differs from MIOpen in this: y is cleared before a split sum, not inside the kernel; loop
 * counts may be odd or 1; the kernels guard the rounded-up grid; weights are not in constant
 * memory. */
#include "miopen1x1.h"

#include <math.h>
#include <string.h>

/* Values are MIOpen's search grid for both paths together; skip() tells the paths apart. The ranges
 * take every row of MIOpen's own tuning databases, where fields that a path ignores hold anything.
 * Of n_in, 2048 comes first because MIOpen writes "C is not split" so; 32768 says the same for
 * larger C. */
static const kiln_param params[] = {
    [MIOPEN1X1_GRP_TILE1] = {"grp_tile1", 1, {1}, 1, 1024},
    [MIOPEN1X1_GRP_TILE0] = {"grp_tile0", 3, {64, 128, 256}, 1, 1024},
    [MIOPEN1X1_IN_TILE1] = {"in_tile1", 1, {1}, 1, INT32_MAX},
    [MIOPEN1X1_IN_TILE0] = {"in_tile0", 1, {1}, 1, INT32_MAX},
    [MIOPEN1X1_OUT_PIX_TILE1] = {"out_pix_tile1", 2, {1, 0}, 0, 16},
    [MIOPEN1X1_OUT_PIX_TILE0] = {"out_pix_tile0", 4, {0, 1, 2, 4}, 0, 16},
    [MIOPEN1X1_N_OUT_PIX_TILES] = {"n_out_pix_tiles", 5, {4, 8, 16, 32, 64}, 1, 128},
    [MIOPEN1X1_N_IN_DATA_TILES] =
        {"n_in_data_tiles", 7, {2048, 32768, 64, 128, 256, 4, 8}, 1, INT32_MAX},
    [MIOPEN1X1_N_STACKS] = {"n_stacks", 1, {0}, 0, 16},
};

/* More sums or loaded values than these in a work-item would only spill and build slowly. */
enum { MAX_SUMS = 256, MAX_LOADED = 256 };

static bool wrong_kind(const kiln_shape *s, kiln_why *why)
{
    if (s->direction == KILN_BACKWARD_WEIGHTS)
        return kiln_no(why, "it computes forward and backward data, not backward weights");
    if (s->rank != 2)
        return kiln_no(why, "it needs 2 spatial axes; the problem has %d", s->rank);
    bool floats = s->x_type == KILN_F32 || s->x_type == KILN_F16 || s->x_type == KILN_BF16;
    if (!floats || s->w_type != s->x_type || s->y_type != s->x_type)
        return kiln_no(
            why, "it needs one type of f32, f16, bf16 for all tensors; x is %s, w %s, y %s",
            kiln_type_name(s->x_type), kiln_type_name(s->w_type), kiln_type_name(s->y_type));
    if (!kiln_shape_is_plain_layout(s))
        return kiln_no(why, "it needs the layouts NCHW, OIHW, NCHW; these are %s, %s, %s",
                       s->x_layout, s->w_layout, s->y_layout);
    return false;
}

static bool wrong_geometry(const kiln_shape *s, kiln_why *why)
{
    if (s->g != 1)
        return kiln_no(why, "it needs 1 group; the problem has %lld", (long long)s->g);
    for (int a = KILN_AXIS_H; a <= KILN_AXIS_W; a++) {
        char axis = "DHW"[a];
        if (s->filter[a] != 1)
            return kiln_no(why, "it needs a 1x1 filter; this one is %lld along %c",
                           (long long)s->filter[a], axis);
        if (s->pad[a] != 0 || s->pad_end[a] != 0)
            return kiln_no(why, "it needs no padding; this is %lld before and %lld after along %c",
                           (long long)s->pad[a], (long long)s->pad_end[a], axis);
        if (s->dilation[a] != 1)
            return kiln_no(why, "it needs dilation 1; this is %lld along %c",
                           (long long)s->dilation[a], axis);
    }
    return false;
}

/* Channel numbers are ints in the kernels; the product of all sizes must fit 63 bits here. */
static bool too_large(const kiln_shape *s, kiln_why *why)
{
    if (s->c > 1 << 30 || s->k > 1 << 30)
        return kiln_no(why, "it needs at most 2^30 channels; the problem has %lld and %lld",
                       (long long)s->c, (long long)s->k);
    if (s->flops > 4e18)
        return kiln_no(why, "%.3g operations are too many for one launch", s->flops);
    return false;
}

static int64_t largest_group(const kiln_device_facts *d)
{
    return d->max_group < d->max_local[0] ? d->max_group : d->max_local[0];
}

static bool reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why)
{
    if (wrong_kind(s, why) || wrong_geometry(s, why) || too_large(s, why))
        return true;
    if (kiln_miopen1x1_view(s).j1 && largest_group(d) < MIOPEN1X1_J1_GROUP)
        return kiln_no(why, "it needs work-groups of %d; the device allows %lld",
                       MIOPEN1X1_J1_GROUP, (long long)largest_group(d));
    return false;
}

static bool illegal_j1(const kiln_shape *s, const miopen1x1_view *v, const miopen1x1_numbers *m,
                       kiln_why *why)
{
    if (v->outputs % m->out_maps != 0)
        return kiln_no(why, "N_LCL_OUT_MAPS %lld does not divide the %lld output channels",
                       (long long)m->out_maps, (long long)v->outputs);
    int64_t covered = ((m->in_groups - 1) * m->cloop0 + m->cloop2) * m->once;
    if (covered != v->inputs || m->cloop0 < 1 || m->cloop2 < 1)
        return kiln_no(why, "loops of %lld and %lld steps do not cover the %lld input channels",
                       (long long)m->cloop0, (long long)m->cloop2, (long long)v->inputs);
    if (m->in_groups > 1 && !kiln_epilogue_is_identity(&s->epilogue))
        return kiln_no(why,
                       "n_in_data_tiles %lld splits the sum over C among %lld groups, and none "
                       "of them sees the whole sum that the epilogue needs",
                       (long long)m->in_maps, (long long)m->in_groups);
    return false;
}

static bool illegal_s(const kiln_device_facts *d, const kiln_config *c, const miopen1x1_numbers *m,
                      kiln_why *why)
{
    if (c->v[MIOPEN1X1_OUT_PIX_TILE0] < 1)
        return kiln_no(why, "out_pix_tile0 is %d; a work-item needs at least 1 pixel here",
                       c->v[MIOPEN1X1_OUT_PIX_TILE0]);
    if (m->local > largest_group(d))
        return kiln_no(why, "grp_tile0 is %lld; the device allows groups of %lld",
                       (long long)m->local, (long long)largest_group(d));
    if (m->in_maps * m->read_unit > MAX_LOADED)
        return kiln_no(why, "%lld channels of %lld pixels are too many for a work-item to hold",
                       (long long)m->in_maps, (long long)m->read_unit);
    return false;
}

static bool illegal(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    miopen1x1_view v = kiln_miopen1x1_view(s);
    miopen1x1_numbers m = kiln_miopen1x1_numbers(&v, c);
    int64_t sums = m.out_maps * (v.j1 ? 1 : m.read_unit);
    if (sums > MAX_SUMS)
        return kiln_no(why, "%lld sums are too many for a work-item to hold", (long long)sums);
    return v.j1 ? illegal_j1(s, &v, &m, why) : illegal_s(d, c, &m, why);
}

/* Whether MIOpen's search on this path tries the config; it is a member of the common grid. */
static bool in_grid(const miopen1x1_view *v, const kiln_config *c)
{
    int n_out = c->v[MIOPEN1X1_N_OUT_PIX_TILES], n_in = c->v[MIOPEN1X1_N_IN_DATA_TILES];
    int tile = c->v[MIOPEN1X1_OUT_PIX_TILE0];
    if (v->j1)
        return c->v[MIOPEN1X1_GRP_TILE0] == 64 && c->v[MIOPEN1X1_OUT_PIX_TILE1] == 1 && tile != 2 &&
               n_out >= 16 && n_in >= 64;
    bool odd = v->out_w % 2 != 0 || (!v->forward && v->in_w % 2 != 0);
    int widest = v->stride_w == 1 ? 4 : odd ? 1 : 2;
    int most = v->outputs % 64 == 0 ? 64 : v->outputs % 32 == 0 ? 32 : 16;
    return c->v[MIOPEN1X1_OUT_PIX_TILE1] == 0 && tile >= 1 && tile <= widest && n_out <= most &&
           n_out * tile <= 64 && n_in <= (v->inputs % 8 == 0 ? 8 : 4);
}

/* Whether an earlier value of one field, still in the grid, gives the same numbers. */
static bool repeats(const miopen1x1_view *v, const kiln_config *c, int field)
{
    miopen1x1_numbers m = kiln_miopen1x1_numbers(v, c);
    for (const int *value = params[field].value; *value != c->v[field]; value++) {
        kiln_config other = *c;
        other.v[field] = *value;
        miopen1x1_numbers o = kiln_miopen1x1_numbers(v, &other);
        if (in_grid(v, &other) && memcmp(&o, &m, sizeof m) == 0)
            return true;
    }
    return false;
}

static bool skip(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c)
{
    miopen1x1_view v = kiln_miopen1x1_view(s);
    return !in_grid(&v, c) || repeats(&v, c, MIOPEN1X1_OUT_PIX_TILE0) ||
           repeats(&v, c, MIOPEN1X1_N_OUT_PIX_TILES) || repeats(&v, c, MIOPEN1X1_N_IN_DATA_TILES);
}

/* MIOpen's default, without its split of C unless that is wanted and possible. */
static void guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                  kiln_config *c)
{
    *c = kiln_miopen1x1_default(s);
    if (!kiln_miopen1x1_view(s).j1) {
        if (largest_group(d) < c->v[MIOPEN1X1_GRP_TILE0])
            c->v[MIOPEN1X1_GRP_TILE0] = (int)largest_group(d);
        return;
    }
    bool may_split =
        s->determinism == KILN_NONDETERMINISTIC && kiln_epilogue_is_identity(&s->epilogue);
    if (!may_split && s->c > c->v[MIOPEN1X1_N_IN_DATA_TILES])
        c->v[MIOPEN1X1_N_IN_DATA_TILES] = s->c > 2048 ? (int)s->c : 2048;
}

/* A roofline. Of the 230 GFLOP/s of a small CPU, J1 has reached 79 (16 pixels in a vector),
 * backward data 37 (its weights lie side by side for the output channels), and the rest of S, which
 * is scalar, 9. On GPUs a work-item for each pixel fits better (MIOpen: 5.7 of 13 TFLOP/s on a
 * gfx906). */
static double predict(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c)
{
    miopen1x1_view v = kiln_miopen1x1_view(s);
    miopen1x1_numbers m = kiln_miopen1x1_numbers(&v, c);
    double on_cpu = v.j1 ? 0.15 : v.forward ? 0.026 : 0.1;
    double reached = d->kind == KILN_DEVICE_GPU ? 0.07 : on_cpu;
    /* A split reads and writes y once per group instead of writing it once. */
    double passes = m.in_groups > 1 ? 2.0 * (double)m.in_groups + 1 : 1;
    double x = (double)s->x_count, y = (double)s->y_count;
    double elements = (double)s->w_count + (v.forward ? x + y * passes : y + x);
    double compute = s->flops / (d->peak_gflops * reached) * 1e-6;
    double memory = elements * (double)kiln_type_size(s->x_type) / d->bandwidth_gbs * 1e-6;
    /* On a GPU an item waits for memory at each channel of its sums. */
    double waits = d->kind == KILN_DEVICE_GPU ? 1e-4 * (double)kiln_shape_terms(s) /
                                                    (double)(m.in_groups > 1 ? m.in_groups : 1)
                                              : 0;
    return fmax(fmax(compute, memory), waits) + kiln_device_rough_launch_ms(d);
}

/* Work-groups that share the sum over C add to y in any order. */
static bool varies(const kiln_solver *self, const kiln_shape *s, const kiln_config *c)
{
    const miopen1x1_view v = kiln_miopen1x1_view(s);
    return v.j1 && kiln_miopen1x1_numbers(&v, c).in_groups > 1;
}

static void emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c, kiln_plan *plan)
{
    if (kiln_miopen1x1_view(s).j1)
        kiln_miopen1x1_emit_j1(s, d, c, plan);
    else
        kiln_miopen1x1_emit_s(s, c, plan);
}

const kiln_solver kiln_solver_miopen1x1 = {
    .name = "ConvOclDirectFwd1x1",
    .id = 13,
    .algorithm = 1,
    .version = 1,
    .params = params,
    .nparams = MIOPEN1X1_PARAMS,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .varies = varies,
    .emit = emit,
};
