/* Plans the stage of a pool: vectors of channels where they are neighbours, else rows of pixels. */
#include "pool.h"

#include "generator/base/activations.h"
#include "generator/base/integers.h"
#include "generator/base/types.h"

#include "shared_grid.h"

#include <string.h>

enum { LOCAL = 64, DIM_C = 1 };

/* The storages of a pool: its tensors, larger ones whole. */
typedef struct tensors {
    kiln_storage x, y, other;
} tensors;

/* Returns how many channels from `first` on are neighbours in the storage, as a power of two. */
static int64_t neighbours(const kiln_storage *s, int64_t first, int64_t most)
{
    const int last = s->layout.naxes - 1;
    const kiln_axis *axis = &s->layout.axis[last];
    int64_t n = axis->dim == DIM_C && axis->div == 1 ? most : 1;
    while (n > 1 && (s->extent[last] % n || first % n))
        n /= 2;
    return n;
}

/* Returns the channels of an item. A vector must not reach over the end of a range. */
static int64_t lanes_of(const kiln_pool *p, const tensors *t, const kiln_device_facts *d)
{
    static const int64_t cpu = 16, gpu = 4;
    const bool inner = p->y_range.first + p->channels < p->y_range.of;
    int64_t n = d->kind == KILN_DEVICE_CPU ? cpu : gpu;
    n = neighbours(&t->x, p->x_range.first, n);
    n = neighbours(&t->y, p->y_range.first, n);
    if (p->with)
        n = neighbours(&t->other, 0, n);
    while (n > 1 && inner && p->channels % n)
        n /= 2;
    return n < 4 ? 1 : n;
}

/* Returns a dim's size with the cells of padding that the layout adds. */
static int64_t padded_size(const kiln_storage *s, int dim)
{
    int64_t size = 1;
    for (int a = 0; a < s->layout.naxes; a++)
        if (s->layout.axis[a].dim == dim)
            size *= s->extent[a];
    return size;
}

static void define_place(kiln_plan *plan, const char *name, const kiln_storage *s)
{
    char text[KILN_EXPRESSION_TEXT];
    if (kiln_storage_expression(s, 'o', text, sizeof text) >= sizeof text)
        plan->broken = true;
    kiln_define_text(plan, name, text);
}

/* Sets the three spatial values, 1 or `none` along an axis that the pool does not have. */
static void to_axes(const kiln_pool *p, const int64_t *value, int64_t none, int64_t out[3])
{
    for (int a = 0; a < 3; a++) {
        const int own = a - (3 - p->spatial_rank);
        out[a] = own < 0 ? none : value[own];
    }
}

static void define_axes(kiln_plan *plan, const kiln_pool *p, const char *name, const int64_t *value,
                        int64_t none)
{
    int64_t axes[3];
    to_axes(p, value, none, axes);
    kiln_define_axes(plan, name, axes);
}

static void define_window(kiln_plan *plan, const kiln_pool *p)
{
    kiln_define(plan, "P_POOL", p->kind);
    if (p->kind == KILN_POOL_NONE)
        return;
    define_axes(plan, p, "P_IN", p->input, 1);
    define_axes(plan, p, "P_WINDOW", p->window, 1);
    define_axes(plan, p, "P_STRIDE", p->stride, 1);
    define_axes(plan, p, "P_PAD", p->pad_begin, 0);
    define_axes(plan, p, "P_DILATION", p->dilation, 1);
}

static void define_terms(kiln_plan *plan, const kiln_pool *p)
{
    if (p->alpha != 1)
        kiln_define_float(plan, "P_ALPHA", p->alpha);
    if (p->with) {
        kiln_define(plan, "P_WITH", p->with);
        kiln_define(plan, "P_OTHER_IS_ONE", p->other_is_one != 0);
        kiln_define_float(plan, "P_OTHER_FACTOR", p->beta);
    }
    if (p->activation == KILN_IDENTITY)
        return;
    kiln_define(plan, "P_ACTIVATION", p->activation);
    kiln_define_float(plan, "P_ACTIVATION_A", p->param[0]);
    kiln_define_float(plan, "P_ACTIVATION_B", p->param[1]);
    if (kiln_activation_facts(p->activation)->curve)
        kiln_define(plan, "D_CURVE", 1);
}

/* What the kernel walks: the cells of y, padding that the pool owns included. */
typedef struct walk {
    int64_t batch, channels, out[3];
    bool padded; /* some of these cells are padding */
} walk;

static walk walk_of(const kiln_pool *p, const kiln_storage *y)
{
    const bool ends = p->y_range.first + p->channels == p->y_range.of;
    int64_t own[KILN_MAX_RANK] = {0}, out[3], real[3];
    walk w = {.batch = padded_size(y, 0),
              .channels = ends ? padded_size(y, DIM_C) - p->y_range.first : p->channels};
    for (int a = 0; a < p->spatial_rank; a++)
        own[a] = padded_size(y, 2 + a);
    to_axes(p, own, 1, out);
    for (int a = 0; a < p->spatial_rank; a++)
        own[a] = kiln_pool_output(p, a);
    to_axes(p, own, 1, real);
    memcpy(w.out, out, sizeof w.out);
    w.padded =
        w.batch != p->batch || w.channels != p->channels || memcmp(out, real, sizeof out) != 0;
    return w;
}

static void define_walk(kiln_plan *plan, const kiln_pool *p, const walk *w, int64_t lanes,
                        int64_t pixels)
{
    int64_t out[KILN_MAX_RANK];
    for (int a = 0; a < p->spatial_rank; a++)
        out[a] = kiln_pool_output(p, a);
    kiln_define_axes(plan, "D_WALK", w->out);
    kiln_define(plan, "D_LANES", lanes);
    kiln_define(plan, "D_PIXELS", pixels);
    kiln_define(plan, "P_X_FIRST", p->x_range.first);
    kiln_define(plan, "P_Y_FIRST", p->y_range.first);
    if (!w->padded)
        return;
    kiln_define(plan, "P_N", p->batch);
    kiln_define(plan, "P_C", p->channels);
    define_axes(plan, p, "P_OUT", out, 1);
}

/* On a CPU an item is a row of pixels; elsewhere neighbouring items are neighbouring elements. */
static void set_grid(kiln_plan *plan, const kiln_pool *p, const kiln_device_facts *d, const walk *w,
                     int64_t lanes, int64_t pixels)
{
    const int64_t channels = divide_up(w->channels, lanes);
    const int64_t rows = w->out[0] * w->out[1] * divide_up(w->out[2], pixels);
    if (d->kind == KILN_DEVICE_CPU) {
        kiln_grid_parted(plan, d, kiln_pool_ms(p, d), rows, channels, w->batch);
        return;
    }
    const bool across = lanes > 1;
    kiln_define(plan, "D_CHANNELS_FIRST", across);
    kiln_define(plan, "D_GRID", across ? channels : rows);
    kiln_grid(plan, kiln_device_group(d, LOCAL), 1, 1, across ? channels : rows,
              across ? rows : channels, w->batch);
}

double kiln_pool_ms(const kiln_pool *p, const kiln_device_facts *d)
{
    return kiln_device_move_ms(d, (double)kiln_pool_bytes(p, 'x') +
                                      (double)kiln_pool_bytes(p, 'y') +
                                      (double)kiln_pool_bytes(p, 'r'));
}

static bool holds(const kiln_pool *p, const kiln_device_facts *d, char *why)
{
    for (const char *t = "xyr"; *t; t++)
        if (kiln_pool_bytes(p, *t) > d->max_alloc)
            return kiln_deny(why,
                             "a tensor of the pool needs %lld bytes, but the device's largest "
                             "allocation is %lld",
                             (long long)kiln_pool_bytes(p, *t), (long long)d->max_alloc);
    return true;
}

bool kiln_pool_plan(const kiln_pool *p, const kiln_device_facts *d, kiln_plan *plan, char *why)
{
    tensors t = {.other.cells = 0};
    if (!holds(p, d, why) || !kiln_pool_storage(p, 'x', &t.x, why) ||
        !kiln_pool_storage(p, 'y', &t.y, why) ||
        (p->with && !kiln_pool_storage(p, 'r', &t.other, why)))
        return false;
    const walk w = walk_of(p, &t.y);
    const int64_t lanes = lanes_of(p, &t, d), pixels = d->kind == KILN_DEVICE_CPU ? w.out[2] : 1;
    kiln_plan_start(plan);
    kiln_plan_stage(plan, "pool.cl", "pool");
    kiln_define_type(plan, "SRC_TYPE", p->x_type);
    kiln_define_type(plan, "DST_TYPE", p->y_type);
    if (t.x.cells > INT32_MAX - LOCAL || t.y.cells > INT32_MAX - LOCAL)
        kiln_define(plan, "P_WIDE", 1);
    define_window(plan, p);
    define_terms(plan, p);
    define_walk(plan, p, &w, lanes, pixels);
    define_place(plan, "D_X_AT", &t.x);
    define_place(plan, "D_Y_AT", &t.y);
    kiln_arg_buffer(plan, KILN_ROLE_X);
    kiln_arg_buffer(plan, KILN_ROLE_Y);
    if (p->with) {
        define_place(plan, "D_OTHER_AT", &t.other);
        kiln_arg_buffer(plan, KILN_ROLE_RESIDUAL);
    }
    set_grid(plan, p, d, &w, lanes, pixels);
    if (p->y_range.of == p->channels)
        kiln_plan_wrote(plan, KILN_ROLE_Y, &t.y, p->y_type);
    return !plan->broken || kiln_deny(why, "the expressions of the pool's layouts are too long");
}
