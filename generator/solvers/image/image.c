/* Computes layouts and limits of the solvers over images, and adds their defines. */
#include "image.h"

#include "generator/base/names.h"
#include "generator/base/types.h"
#include "generator/plan/staging.h"
#include "generator/problem/problem_layout.h"

#include <math.h>
#include <string.h>

static const char channel_major[] = "NH|CW|4c", argument[] = "|W|4w";

const char *const kiln_image_filters[] = {"OHW|I|4o", "O|HWI|4o", "OHW|I|4o;I%4", "O|HWI|4o;I%4",
                                          NULL};

int64_t kiln_filter_flat(const kiln_storage *filter)
{
    bool flat = filter->layout.row_end == 1;
    return flat ? filter->width / (filter->dim[2] * filter->dim[3]) : 0;
}

/* Makes the storage of one tensor of the shape in a layout. */
static bool make(const kiln_shape *s, char tensor, const char *layout, kiln_storage *storage,
                 kiln_why *why)
{
    return kiln_shape_storage(s, tensor, layout, storage, why->text);
}

void kiln_image_prefer(const kiln_solver *self, kiln_shape *s, const kiln_device_facts *d)
{
    const char *const *filters = self->own;
    kiln_storage storage;
    kiln_why why;
    if (s->rank != 2)
        return;
    kiln_prefer_layout(s->x_layout, channel_major);
    kiln_prefer_layout(s->y_layout, channel_major);
    if (make(s, 'w', filters[0], &storage, &why))
        kiln_prefer_layout(s->w_layout, filters[0]);
    kiln_prefer_layout(s->bias_layout, argument);
}

static bool wrong_type(kiln_type type)
{
    return !kiln_type_is_float(type) || !kiln_type_facts(type)->imaged;
}

bool kiln_image_reject(const kiln_shape *s, const kiln_device_facts *d, kiln_why *why)
{
    kiln_storage storage;
    if (s->direction != KILN_FORWARD)
        return kiln_no(why, "it does the forward pass only");
    if (s->rank != 2 || strcmp(s->x_layout, channel_major) || strcmp(s->y_layout, channel_major))
        return kiln_no(why,
                       "it works on channel-major images, IMG_CHANNEL_MAJOR; x and y are %s "
                       "and %s",
                       s->x_layout, s->y_layout);
    if (wrong_type(s->x_type) || wrong_type(s->w_type) || wrong_type(s->y_type))
        return kiln_no(why, "its images hold f32 and f16");
    if (!d->image_width)
        return kiln_no(why, "the device has no images");
    if (s->wide)
        return kiln_no(why, "a padded axis has 2^31 elements or more");
    for (int i = 0; i < 2; i++)
        if (!make(s, "xy"[i], channel_major, &storage, why) ||
            !kiln_storage_fits_image(&storage, d->image_width, d->image_height, why->text))
            return true;
    return false;
}

static bool fits(const kiln_shape *s, const kiln_device_facts *d, const char *layout,
                 kiln_storage *storage, kiln_why *why)
{
    return make(s, 'w', layout, storage, why) &&
           kiln_storage_fits_image(storage, d->image_width, d->image_height, why->text);
}

bool kiln_image_filter(const kiln_shape *s, const kiln_device_facts *d, const char *const *filters,
                       kiln_filter_image *filter, kiln_why *why)
{
    filter->given = strcmp(s->w_layout, kiln_plain_filter_layout(s->rank)) != 0;
    kiln_why first = {.text = ""};
    for (int i = 0; filters[i]; i++) {
        if (filter->given && strcmp(s->w_layout, filters[i]))
            continue;
        if (fits(s, d, filters[i], &filter->storage, why))
            return true;
        if (!*first.text)
            first = *why;
    }
    if (*first.text)
        *why = first;
    else
        kiln_no(why, "it reads no filter in the layout %s", s->w_layout);
    return false;
}

int kiln_image_pack(kiln_plan *plan, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_filter_image *filter)
{
    const kiln_storage *to = &filter->storage;
    if (filter->given)
        return KILN_ROLE_W;
    /* A plain filter over the dims M, I: output channel i * M + m. */
    const char *dims = to->layout.dims;
    kiln_layout layout;
    kiln_storage plain;
    char why[KILN_ERROR_TEXT];
    if (!kiln_layout_parse(&layout, dims[0] == 'M' ? "IMHW" : dims, dims, why) ||
        !kiln_storage_make(&plain, &layout, to->dim, s->w_type, why)) {
        plan->broken = true;
        return KILN_ROLE_PACKED;
    }
    const kiln_operand source = {&plain, s->w_type, KILN_ROLE_W};
    const kiln_operand target = {to, s->w_type, KILN_ROLE_PACKED};
    if (kiln_stage_reformat(d, &source, &target, plan))
        plan->stage[plan->nstages - 1].pack = true;
    kiln_plan_pack_image(plan, (kiln_image){to->width, to->height, s->w_type});
    return KILN_ROLE_PACKED;
}

void kiln_image_define(kiln_plan *plan, const kiln_shape *s)
{
    static const struct {
        const char *name;
        size_t offset;
    } axes[] = {
        {"P_SRC", offsetof(kiln_shape, in)},
        {"P_DST", offsetof(kiln_shape, out)},
        {"P_FILTER", offsetof(kiln_shape, filter)},
        {"P_STRIDE", offsetof(kiln_shape, stride)},
        {"P_DILATION", offsetof(kiln_shape, dilation)},
        {"P_PAD", offsetof(kiln_shape, pad)},
    };
    kiln_define_types(plan, s);
    kiln_define_epilogue(plan, s);
    kiln_define(plan, "D_IMAGE", 1);
    kiln_define(plan, "D_CHANNELS", s->k);
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        int64_t size[3];
        memcpy(size, (const char *)s + axes[i].offset, sizeof size);
        kiln_define_axes(plan, axes[i].name, size);
    }
}

void kiln_image_bind(kiln_plan *plan, const kiln_shape *s)
{
    const struct {
        int role;
        char tensor;
        const char *layout;
        kiln_type type;
    } tensors[] = {
        {KILN_ROLE_X, 'x', s->x_layout, s->x_type},
        {KILN_ROLE_W, 'w', s->w_layout, s->w_type},
        {KILN_ROLE_Y, 'y', s->y_layout, s->y_type},
        {KILN_ROLE_RESIDUAL, 'y', s->y_layout, s->y_type},
        {KILN_ROLE_BIAS, 'b', s->bias_layout, (kiln_type)s->epilogue.bias},
    };
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++) {
        kiln_storage storage;
        kiln_why why;
        if (make(s, tensors[i].tensor, tensors[i].layout, &storage, &why) && storage.layout.image)
            plan->image[tensors[i].role] =
                (kiln_image){storage.width, storage.height, tensors[i].type};
    }
}

/* On a CPU, to read a pixel is a call of many instructions. The texture units of a GPU deliver a
 * pixel in the time of some sixty multiply-adds of a compute unit. */
double kiln_image_ms(const kiln_device_facts *d, double items, double reads, double adds,
                     double writes)
{
    double cost = fmax(2 * adds, 64 * (reads + writes));
    if (d->kind == KILN_DEVICE_CPU)
        cost = d->simd_floats * (27 * reads + 45 * writes + adds / 4);
    const double launch = 0.03 * kiln_device_pace(d); /* as fitted, with images */
    return launch + items * cost * 2 / (d->peak_gflops * 1e6);
}

bool kiln_image_group_illegal(const kiln_solver *self, const kiln_device_facts *d,
                              const kiln_config *c, kiln_why *why)
{
    const int *group = &c->v[self->nparams - 2];
    return ((int64_t)group[0] * group[1] > d->max_group || group[0] > d->max_local[0] ||
            group[1] > d->max_local[1]) &&
           kiln_no(why, "the device has no groups of %d x %d items", group[0], group[1]);
}

bool kiln_image_group_skipped(const kiln_solver *self, const kiln_device_facts *d,
                              const kiln_config *c, int64_t along, int64_t across)
{
    const int *group = &c->v[self->nparams - 2];
    if ((group[0] > 1 && group[0] >= 2 * along) || (group[1] > 1 && group[1] >= 2 * across))
        return true;
    return d->kind == KILN_DEVICE_CPU ? group[1] > 1 : group[0] * group[1] < 16;
}

void kiln_image_guess(const kiln_guess *start, const kiln_range *range, int nranges, kiln_config *c)
{
    const kiln_device_facts *d = start->d;
    const bool wide = d->max_group >= 64 && d->max_local[0] >= 16 && d->max_local[1] >= 4;
    kiln_guess g = *start;
    g.best_ms = g.self->predict(g.self, g.s, g.d, &g.best);
    kiln_config_best(&g, &start->best, range, nranges);
    *c = g.best;
    int *group = &c->v[g.self->nparams - 2];
    group[0] = group[1] = 1;
    if (d->kind != KILN_DEVICE_CPU && wide) {
        group[0] = 16;
        group[1] = 4;
    }
}
