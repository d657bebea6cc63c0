/* The Winograd solver over images: transforms and products are stages of their own, with U, V and M
 * as images between them. */
#include "generator/base/integers.h"
#include "generator/base/names.h"
#include "generator/solvers/winograd/winograd.h"

#include "image.h"

#include <math.h>
#include <string.h>

enum { M, TILES, BLOCKS, GROUP_0, GROUP_1, PARAMS };

static const kiln_param params[PARAMS] = {
    [M] = {"T_M", 2, {2, 4}, 0, 0},
    [TILES] = {"T_P", 4, {1, 2, 4, 8}, 1, 16},
    [BLOCKS] = {"T_KV", 2, {1, 2}, 1, 4},
    [GROUP_0] = {"T_GROUP_0", 4, {1, 8, 16, 32}, 1, 1024},
    [GROUP_1] = {"T_GROUP_1", 4, {1, 2, 4, 8}, 1, 1024},
};

static const char *const plain[] = {"OIHW", NULL};

/* The images of one tile size. */
typedef struct images {
    int64_t tiles_h, tiles_w, tiles, elements;
    kiln_storage u, v, m;
    kiln_filter_image filter; /* the source of U; set by emit() */
} images;

static bool make(kiln_storage *storage, const char *layout, int64_t t, int64_t a, int64_t b,
                 const kiln_device_facts *d, kiln_why *why)
{
    const int64_t dim[KILN_MAX_DIMS] = {t, a, b};
    char *text = why ? why->text : NULL;
    kiln_layout l;
    return kiln_layout_parse(&l, layout, NULL, text) &&
           kiln_storage_make(storage, &l, dim, KILN_F32, text) &&
           kiln_storage_fits_image(storage, d->image_width, d->image_height, text);
}

/* Returns false, with the reason, when one of the images does not fit the device. */
static bool make_images(const kiln_shape *s, const kiln_device_facts *d, int m, images *i,
                        kiln_why *why)
{
    i->tiles_h = divide_up(s->out[KILN_AXIS_H], m);
    i->tiles_w = divide_up(s->out[KILN_AXIS_W], m);
    i->tiles = s->n * i->tiles_h * i->tiles_w;
    i->elements = (m + 2) * (m + 2);
    return make(&i->u, "IMG_WINO_FILTER", i->elements, s->k, s->c / s->g, d, why) &&
           make(&i->v, "IMG_WINO_MATRIX", i->elements, s->c, i->tiles, d, why) &&
           make(&i->m, "IMG_WINO_MATRIX", i->elements, s->k, i->tiles, d, why);
}

/* Whether the caller gives the weights as an image. */
static bool given_filter(const kiln_shape *s, const kiln_device_facts *d, kiln_filter_image *filter,
                         kiln_why *why)
{
    *filter = (kiln_filter_image){.given = false};
    return strcmp(s->w_layout, kiln_plain_filter_layout(s->rank)) == 0 ||
           kiln_image_filter(s, d, kiln_image_filters, filter, why);
}

static bool reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why)
{
    images i;
    kiln_filter_image filter;
    kiln_why second;
    if (kiln_image_reject(s, d, why) || kiln_winograd_reject_problem(s, why))
        return true;
    for (int a = KILN_AXIS_H; a <= KILN_AXIS_W; a++)
        if (s->filter[a] != 3 || s->stride[a] != 1 || s->dilation[a] != 1)
            return kiln_no(why, "its images are those of 3x3 filters, stride 1 and dilation 1");
    if (!given_filter(s, d, &filter, why))
        return true;
    if (s->g > 1 && (s->c / s->g % 4 || s->k / s->g % 4))
        return kiln_no(why, "groups of %lld and %lld channels do not fill pixels of four",
                       (long long)(s->c / s->g), (long long)(s->k / s->g));
    return !make_images(s, d, 2, &i, why) && !make_images(s, d, 4, &i, &second);
}

static int64_t blocks_of(const kiln_shape *s)
{
    return divide_up(s->k / s->g, 4);
}

static bool illegal(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    const int *v = c->v;
    images i;
    if (!make_images(s, d, v[M], &i, why))
        return true;
    if (v[BLOCKS] > blocks_of(s))
        return kiln_no(why, "T_KV is %d, but a group has only %lld blocks of four channels",
                       v[BLOCKS], (long long)blocks_of(s));
    if (v[TILES] * v[BLOCKS] > 16)
        return kiln_no(why, "%d x %d blocks of sums are too many for registers", v[TILES],
                       v[BLOCKS]);
    return kiln_image_group_illegal(self, d, c, why);
}

static bool skip(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c)
{
    const int *v = c->v;
    images i;
    kiln_why why;
    if (!make_images(s, d, v[M], &i, &why))
        return true;
    return kiln_image_group_skipped(self, d, c, divide_up(i.tiles, v[TILES]),
                                    s->g * divide_up(blocks_of(s), v[BLOCKS]));
}

static double predict(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c)
{
    const int *v = c->v;
    images i;
    kiln_why why;
    if (!make_images(s, d, v[M], &i, &why))
        return INFINITY;
    double e = (double)i.elements, tiles = (double)i.tiles, pixels = v[M] * v[M];
    double sources = tiles * (double)(s->g * divide_up(s->c / s->g, 4));
    double blocks = (double)(s->g * divide_up(blocks_of(s), v[BLOCKS]));
    double depth = (double)divide_up(s->c / s->g, 4);
    double sums = 4.0 * v[TILES] * v[BLOCKS];
    double reads = depth * (v[TILES] + 4.0 * v[BLOCKS]);
    return kiln_image_ms(d, sources, e, 8 * e, e) +
           kiln_image_ms(d, e * blocks * (double)divide_up(i.tiles, v[TILES]), reads,
                         4 * depth * sums, sums / 4) +
           kiln_image_ms(d, tiles * (double)(s->g * blocks_of(s)), e, 8 * e, pixels);
}

static double guessed_ms(const kiln_guess *g, kiln_config *c)
{
    /* On a CPU a read costs more than sums that do not stay in registers. */
    const int most = g->d->kind == KILN_DEVICE_CPU ? 16 : 8;
    return c->v[TILES] * c->v[BLOCKS] > most ? INFINITY : kiln_legal_ms(g, c);
}

static void guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                  kiln_config *c)
{
    const kiln_config start = {
        .v = {[M] = 2, [TILES] = 1, [BLOCKS] = 1, [GROUP_0] = 1, [GROUP_1] = 1}};
    const kiln_range range[] = {kiln_doubled(M, 2, 4), kiln_doubled(TILES, 1, 8),
                                kiln_doubled(BLOCKS, 1, 2)};
    const kiln_guess g = {.self = self, .s = s, .d = d, .ms = guessed_ms, .best = start};
    kiln_image_guess(&g, range, sizeof range / sizeof *range, c);
}

/* ---- the plan ---- */

static kiln_image image_of(const kiln_storage *s)
{
    return (kiln_image){s->width, s->height, KILN_F32};
}

/* Adds a stage over a grid in whole groups of the config. */
static void start(kiln_plan *plan, const kiln_shape *s, const images *i, const kiln_config *c,
                  const char *kernel, int64_t g0, int64_t g1, int64_t g2)
{
    kiln_plan_stage(plan, "winograd_image.cl", kernel);
    kiln_image_define(plan, s);
    kiln_define(plan, "D_B", 4);
    kiln_define(plan, "T_T", c->v[M] + 2);
    kiln_define(plan, "D_SRC_C", s->c / s->g);
    kiln_define(plan, "D_DST_C", s->k / s->g);
    kiln_define(plan, "D_GROUPS", s->g);
    kiln_define(plan, "D_TILES", i->tiles);
    kiln_define(plan, "D_TILES_H", i->tiles_h);
    kiln_define(plan, "D_TILES_W", i->tiles_w);
    kiln_define(plan, "D_TILES_K", divide_up(blocks_of(s), c->v[BLOCKS]));
    if (i->filter.given) {
        kiln_define(plan, "D_FILTER_IMAGE", 1);
        kiln_define(plan, "D_FLAT", kiln_filter_flat(&i->filter.storage));
    }
    kiln_define_params(plan, params, PARAMS, c);
    kiln_grid(plan, c->v[GROUP_0], c->v[GROUP_1], 1, g0, g1, g2);
}

static void emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c, kiln_plan *plan)
{
    const int *v = c->v;
    images i;
    kiln_why why;
    if (!make_images(s, d, v[M], &i, &why) || !given_filter(s, d, &i.filter, &why))
        plan->broken = true;
    int64_t sources = divide_up(s->c / s->g, 4), blocks = blocks_of(s);
    int matrix_v = kiln_plan_temp_image(plan, image_of(&i.v));
    int matrix_m = kiln_plan_temp_image(plan, image_of(&i.m));
    plan->amplification = kiln_winograd_amplification(v[M] + 2, (const int[]){3, 3}, s->c / s->g);

    start(plan, s, &i, c, "filter", sources, s->k, 1);
    plan->stage[plan->nstages - 1].pack = true;
    kiln_plan_pack_image(plan, image_of(&i.u));
    kiln_arg_buffer(plan, KILN_ROLE_W);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_plan_wrote(plan, KILN_ROLE_PACKED, &i.u, KILN_F32);

    start(plan, s, &i, c, "source", i.tiles, s->g * sources, 1);
    kiln_arg_buffer(plan, KILN_ROLE_X);
    kiln_arg_buffer(plan, matrix_v);
    kiln_plan_wrote(plan, matrix_v, &i.v, KILN_F32);

    start(plan, s, &i, c, "product", divide_up(i.tiles, v[TILES]),
          s->g * divide_up(blocks, v[BLOCKS]), i.elements);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_arg_buffer(plan, matrix_v);
    kiln_arg_buffer(plan, matrix_m);
    kiln_plan_wrote(plan, matrix_m, &i.m, KILN_F32);

    start(plan, s, &i, c, "destination", i.tiles, s->g * blocks, 1);
    kiln_arg_buffer(plan, matrix_m);
    kiln_arg_buffer(plan, KILN_ROLE_Y);
    kiln_arg_epilogue(plan, s);
    kiln_image_bind(plan, s);
}

const kiln_solver kiln_solver_winograd_image = {
    .name = "winograd_image",
    .id = 1022,
    .algorithm = 3,
    .version = 1,
    .params = params,
    .nparams = PARAMS,
    .reads_argument_image = true,
    .own = plain,
    .prefer = kiln_image_prefer,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
