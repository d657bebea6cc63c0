/* Plans the stage that moves a tensor from one layout and type to another. */
#include "reformat.h"

#include "generator/base/refuse.h"
#include "generator/base/text.h"
#include "generator/base/types.h"

#include "reformat_matrix.h"
#include "reformat_turn.h"
#include "solver.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LOCAL = 64, IMAGE_LOCAL = 16 };

/* ---- checking ---- */

static bool parse(kiln_storage *s, const kiln_reformat *r, const char *name, kiln_type type,
                  char *why)
{
    kiln_layout layout;
    return kiln_layout_parse(&layout, *name ? name : r->dims, r->dims, why) &&
           kiln_storage_make(s, &layout, r->size, type, why);
}

/* The letters of dims become names in a kernel. */
static bool check_dims(kiln_reformat *r, char *why)
{
    kiln_layout layout;
    if (!*r->dims) {
        if (!*r->from)
            return kiln_deny(why,
                             "neither the dims (\"NCHW\") nor the layout they come in are given");
        if (!kiln_layout_parse(&layout, r->from, NULL, why))
            return false;
        memcpy(r->dims, layout.dims, sizeof r->dims);
    }
    for (const char *d = r->dims; *d; d++)
        if (!isupper((unsigned char)*d))
            return kiln_deny(why, "dims are capital letters, such as NCHW");
    return true;
}

kiln_status kiln_reformat_check(kiln_reformat *r, kiln_storage *from, kiln_storage *to, char *why)
{
    if (!r || !from || !to)
        return kiln_refuse(why, "kiln_reformat_check: reformat, from and to must not be NULL");
    if (r->from_type == KILN_TYPE_DEFAULT)
        r->from_type = KILN_F32;
    if (r->to_type == KILN_TYPE_DEFAULT)
        r->to_type = r->from_type;
    if (!kiln_type_size(r->from_type) || !kiln_type_size(r->to_type))
        return kiln_refuse(why, "%s is %d; it must be one of kiln_type, 0 to %d",
                           kiln_type_size(r->from_type) ? "to_type" : "from_type",
                           (int)(kiln_type_size(r->from_type) ? r->to_type : r->from_type),
                           KILN_TYPES - 1);
    if (!memchr(r->dims, 0, sizeof r->dims) || !memchr(r->from, 0, sizeof r->from) ||
        !memchr(r->to, 0, sizeof r->to))
        return kiln_refuse(why, "dims, from and to must be texts that end with a zero byte");
    bool fine = check_dims(r, why) && parse(from, r, r->from, r->from_type, why) &&
                parse(to, r, r->to, r->to_type, why);
    return fine ? KILN_OK : KILN_INVALID;
}

/* Whether the device can hold a tensor. */
static bool holds(const kiln_device_facts *d, const kiln_operand *o, char *why)
{
    const kiln_storage *s = o->storage;
    kiln_why text;
    int64_t bytes = s->cells * (int64_t)kiln_type_size(o->type);
    if (bytes > d->max_alloc && kiln_no(&text,
                                        "layout %s needs %lld bytes, but the device's "
                                        "largest allocation is %lld",
                                        s->layout.name, (long long)bytes, (long long)d->max_alloc))
        return kiln_deny(why, "%s", text.text);
    if (!s->layout.image)
        return true;
    if (!kiln_type_facts(o->type)->imaged)
        return kiln_deny(why, "images hold f32, f16, i8 and i32, not %s; take a buffer layout",
                         kiln_type_name(o->type));
    if (!d->image_width)
        return kiln_deny(why, "the device has no images; take a buffer layout");
    return kiln_storage_fits_image(s, d->image_width, d->image_height, why);
}

/* ---- what both kinds of kernel need ---- */

static void define_pad(kiln_plan *plan, kiln_type type, double value)
{
    if (type == KILN_I32) /* the only VAL_T that is no float */
        kiln_define(plan, "P_PAD",
                    isnan(value) ? 0 : (int64_t)rint(fmin(fmax(value, INT32_MIN), INT32_MAX)));
    else
        kiln_define_float(plan, "P_PAD", value);
}

static void start(kiln_plan *plan, const char *template_file, const char *kernel,
                  const kiln_operand *from, const kiln_operand *to, double pad_value)
{
    kiln_plan_stage(plan, template_file, kernel);
    bool images = from->storage->layout.image || to->storage->layout.image;
    kiln_define_type(plan, "SRC_TYPE", from->type);
    kiln_define_type(plan, "DST_TYPE", to->type);
    if (from->storage->cells > INT32_MAX - LOCAL || to->storage->cells > INT32_MAX - LOCAL)
        kiln_define(plan, "P_WIDE", 1);
    if (from->type == to->type && !images)
        kiln_define(plan, "P_RAW", 1);
    define_pad(plan, to->type, pad_value);
}

static void add_arguments(kiln_plan *plan, const kiln_operand *from, const kiln_operand *to)
{
    const kiln_operand *both[2] = {from, to};
    for (int i = 0; i < 2; i++) {
        const kiln_storage *s = both[i]->storage;
        kiln_arg_buffer(plan, both[i]->role);
        if (!s->layout.image)
            continue;
        if (both[i]->role < KILN_ROLE_TEMP)
            plan->image[both[i]->role] = (kiln_image){s->width, s->height, both[i]->type};
    }
}

/* ---- a plain matrix to blocks of its rows, or back ---- */

static bool tiles(kiln_plan *plan, const kiln_operand *from, const kiln_operand *to,
                  double pad_value, const kiln_device_facts *d)
{
    kiln_matrix m, back;
    bool split = kiln_matrix_find(from->storage, to->storage, &m);
    bool join = kiln_matrix_find(to->storage, from->storage, &back);
    if (!split && !join)
        return false;
    if (join && (!split || back.block < m.block)) { /* shorter blocks stay in caches */
        split = false;
        m = back;
    }
    int tile = kiln_matrix_tile(&m, d, from->type, to->type);
    if (!tile)
        return false;
    int64_t span = kiln_matrix_span(&m, !split, d);
    start(plan, "reformat.cl", split ? "split" : "join", from, to, pad_value);
    kiln_define(plan, "P_ROWS", m.rows);
    kiln_define(plan, "P_COLUMNS", m.columns);
    kiln_define(plan, "D_BLOCK", m.block);
    kiln_define(plan, "D_BLOCKS", m.blocks);
    kiln_define(plan, "D_SPAN", span);
    kiln_define(plan, "D_SPANS", m.columns / span);
    kiln_define(plan, "T_TILE", tile);
    kiln_grid(plan, 1, 1, 1, m.columns / span, m.batch * m.blocks, 1);
    return true;
}

/* ---- rows across runs, or blocks of another length, on a GPU ---- */

static bool turns(kiln_plan *plan, const kiln_operand *from, const kiln_operand *to,
                  double pad_value, const kiln_device_facts *d)
{
    const bool same = from->type == to->type;
    const int64_t size = same ? (int64_t)kiln_type_size(to->type) : (int64_t)sizeof(float);
    kiln_turn turn;
    if (!kiln_turn_find(from->storage, to->storage, size, same, d, &turn))
        return false;
    start(plan, "reformat_turn.cl", "turn", from, to, pad_value);
    kiln_turn_define(&turn, plan);
    return true;
}

/* ---- any layout to any other ---- */

static bool is_padded(const kiln_storage *s, int dim)
{
    int64_t size = 1;
    for (int a = 0; a < s->layout.naxes; a++)
        if (s->layout.axis[a].dim == dim)
            size *= s->extent[a];
    return size != s->dim[dim];
}

void kiln_define_element(kiln_plan *plan, const kiln_storage *to)
{
    char coords[KILN_EXPRESSION_TEXT * 2], inside[KILN_EXPRESSION_TEXT];
    kiln_sink coord = kiln_sink_open(coords, sizeof coords);
    kiln_sink in = kiln_sink_open(inside, sizeof inside);
    for (int i = 0; i < to->layout.ndims; i++) {
        char text[KILN_EXPRESSION_TEXT];
        const char name[2] = {(char)tolower((unsigned char)to->layout.dims[i]), '\0'};
        kiln_storage_inverse(to, i, text, sizeof text);
        kiln_put(&coord, i ? "," : "");
        kiln_put(&coord, name);
        kiln_put(&coord, "=");
        kiln_put(&coord, text);
        if (!is_padded(to, i))
            continue;
        kiln_put(&in, in.length ? "&&" : "");
        kiln_put(&in, name);
        kiln_put(&in, "<");
        kiln_put_int(&in, to->dim[i]);
    }
    plan->broken = plan->broken || coord.length >= sizeof coords || in.length >= sizeof inside;
    kiln_define_text(plan, "D_COORDS", coords);
    kiln_define_text(plan, "D_INSIDE", in.length ? inside : "1");
}

static void define_place(kiln_plan *plan, const char *name, const kiln_storage *from, char part)
{
    char text[KILN_EXPRESSION_TEXT];
    if (kiln_storage_expression(from, part, text, sizeof text) >= sizeof text)
        plan->broken = true;
    kiln_define_text(plan, name, text);
}

static void gather(kiln_plan *plan, const kiln_operand *from, const kiln_operand *to,
                   double pad_value, const kiln_device_facts *d)
{
    const kiln_storage *s = from->storage, *t = to->storage;
    start(plan, "reformat.cl", "reformat", from, to, pad_value);
    if (s->layout.image) {
        kiln_define(plan, "P_FROM_IMAGE", 1);
        define_place(plan, "D_FROM_X", s, 'x');
        define_place(plan, "D_FROM_Y", s, 'y');
        define_place(plan, "D_FROM_LANE", s, 'l');
    } else {
        define_place(plan, "D_FROM", s, 'o');
    }
    kiln_define_element(plan, t);
    if (t->layout.image) {
        kiln_define(plan, "P_TO_IMAGE", 1);
        kiln_define(plan, "P_WIDTH", t->width);
        kiln_define(plan, "P_HEIGHT", t->height);
        kiln_grid(plan, kiln_device_group(d, IMAGE_LOCAL), 1, 1, t->width, t->height, 1);
    } else {
        kiln_define(plan, "P_CELLS", t->cells);
        kiln_grid(plan, kiln_device_group(d, LOCAL), 1, 1, t->cells, 1, 1);
    }
}

double kiln_reformat_ms(const kiln_device_facts *d, double bytes)
{
    /* On a CPU a short launch hardly costs anything behind another one. */
    const double launch_ms = d->kind == KILN_DEVICE_GPU ? kiln_device_next_launch_ms(d) : 0;
    return bytes / (d->bandwidth_gbs * 1e6) + launch_ms;
}

/* Notes a move of a tensor of the caller's to another layout. */
static void note_move(kiln_plan *plan, const kiln_operand *from, const kiln_operand *to,
                      const kiln_device_facts *d)
{
    const bool in = from->role < KILN_ROLE_PACKED, out = to->role < KILN_ROLE_PACKED;
    const double bytes = (double)from->storage->cells * (double)kiln_type_size(from->type) +
                         (double)to->storage->cells * (double)kiln_type_size(to->type);
    const bool moves = strcmp(from->storage->layout.spec, to->storage->layout.spec) != 0;
    if (moves && (in || out))
        kiln_plan_moved(plan, in ? from->role : to->role, from->storage, to->storage,
                        kiln_reformat_ms(d, bytes));
}

bool kiln_reformat_stage(kiln_plan *plan, const kiln_operand *from, const kiln_operand *to,
                         double pad_value, const kiln_device_facts *d, char *why)
{
    if (!holds(d, from, why) || !holds(d, to, why))
        return false;
    if (!tiles(plan, from, to, pad_value, d) && !turns(plan, from, to, pad_value, d))
        gather(plan, from, to, pad_value, d);
    add_arguments(plan, from, to);
    note_move(plan, from, to, d);
    if (pad_value == 0 && to->role >= KILN_ROLE_PACKED)
        kiln_plan_wrote(plan, to->role, to->storage, to->type);
    return !plan->broken || kiln_deny(why, "the layouts' expressions are too long");
}

bool kiln_reformat_plan(const kiln_reformat *r, const kiln_storage *from, const kiln_storage *to,
                        const kiln_device_facts *d, kiln_plan *plan, char *why)
{
    const kiln_operand source = {from, r->from_type, KILN_ROLE_X};
    const kiln_operand target = {to, r->to_type, KILN_ROLE_Y};
    kiln_plan_start(plan);
    if (!kiln_reformat_stage(plan, &source, &target, r->pad_value, d, why))
        return false;
    if (r->pad_value == 0)
        kiln_plan_wrote(plan, KILN_ROLE_Y, to, r->to_type);
    return true;
}
