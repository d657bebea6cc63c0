/* Checks and completes pools, and tells the sizes of their tensors. */
#include "generator/base/activations.h"
#include "generator/base/names.h"
#include "generator/base/refuse.h"
#include "generator/base/types.h"
#include "generator/problem/problem_layout.h"

#include "pool.h"

#include <math.h>
#include <string.h>

static const int64_t largest = (int64_t)1 << 40; /* of a size, so that sums and products fit */

static void set_default(int64_t *value, int64_t usual)
{
    if (*value == 0)
        *value = usual;
}

static void set_plain(char *layout, int rank)
{
    if (!*layout)
        strcpy(layout, kiln_plain_data_layout(rank));
}

static void complete(kiln_pool *p)
{
    p->spatial_rank = p->spatial_rank ? p->spatial_rank : 2;
    p->x_type = p->x_type ? p->x_type : KILN_F32;
    p->y_type = p->y_type ? p->y_type : p->x_type;
    set_plain(p->x_layout, p->spatial_rank);
    set_plain(p->y_layout, p->spatial_rank);
    set_default(&p->x_range.of, p->channels);
    set_default(&p->y_range.of, p->channels);
    p->alpha = p->alpha == 0 ? 1 : p->alpha;
    p->beta = p->with == KILN_WITH_NOTHING ? 0 : p->beta == 0 ? 1 : p->beta;
    for (int a = 0; a < KILN_MAX_RANK; a++) {
        const bool there = a < p->spatial_rank;
        set_default(&p->window[a], !there ? 0 : p->global ? p->input[a] : 1);
        set_default(&p->stride[a], there);
        set_default(&p->dilation[a], there);
    }
    const kiln_activation_row *row = kiln_activation_facts(p->activation);
    if (row && p->param[0] == 0 && p->param[1] == 0)
        memcpy(p->param, row->usual, sizeof p->param);
}

static kiln_status check_axis(const kiln_pool *p, int a, char *why)
{
    const int64_t span = (p->window[a] - 1) * p->dilation[a] + 1;
    if (p->input[a] < 1 || p->input[a] > largest || p->window[a] < 1 || p->window[a] > largest ||
        p->stride[a] < 1 || p->dilation[a] < 1 || p->dilation[a] > largest / p->window[a])
        return kiln_refuse(why,
                           "axis %d: sizes of a pool are input %lld, window %lld, stride %lld, "
                           "dilation %lld; they must be from 1 to 2^40",
                           a, (long long)p->input[a], (long long)p->window[a],
                           (long long)p->stride[a], (long long)p->dilation[a]);
    if (p->pad_begin[a] < 0 || p->pad_end[a] < 0 || p->pad_begin[a] >= span ||
        p->pad_end[a] >= span)
        return kiln_refuse(
            why,
            "axis %d: padding %lld, %lld of a pool must be from 0 to %lld, less than "
            "its window",
            a, (long long)p->pad_begin[a], (long long)p->pad_end[a], (long long)span - 1);
    if (p->input[a] + p->pad_begin[a] + p->pad_end[a] < span)
        return kiln_refuse(why,
                           "axis %d: the window %lld of a pool is larger than the image %lld "
                           "with its padding",
                           a, (long long)span, (long long)p->input[a]);
    if (p->kind == KILN_POOL_NONE && (p->window[a] != 1 || p->stride[a] != 1))
        return kiln_refuse(why, "axis %d: window %lld and stride %lld need a kind of pool", a,
                           (long long)p->window[a], (long long)p->stride[a]);
    return KILN_OK;
}

static kiln_status check_sizes(const kiln_pool *p, char *why)
{
    if (p->batch < 1 || p->channels < 1 || p->batch > largest || p->channels > largest)
        return kiln_refuse(why, "batch %lld and channels %lld of a pool must be from 1 to 2^40",
                           (long long)p->batch, (long long)p->channels);
    const kiln_channel_range *range[2] = {&p->x_range, &p->y_range};
    for (int i = 0; i < 2; i++)
        if (range[i]->first < 0 || range[i]->of > largest ||
            range[i]->first > range[i]->of - p->channels)
            return kiln_refuse(why, "channels %lld to %lld of %c are not among its %lld",
                               (long long)range[i]->first,
                               (long long)(range[i]->first + p->channels - 1), "xy"[i],
                               (long long)range[i] -> of);
    kiln_status status = KILN_OK;
    for (int a = 0; a < p->spatial_rank && !status; a++)
        status = check_axis(p, a, why);
    return status;
}

static kiln_status check_terms(const kiln_pool *p, char *why)
{
    if (!kiln_activation_facts(p->activation))
        return kiln_refuse(why, "activation %d of a pool is none of kiln_activation",
                           (int)p->activation);
    if (!isfinite(p->alpha) || !isfinite(p->beta) || !isfinite(p->param[0]) ||
        !isfinite(p->param[1]))
        return kiln_refuse(why,
                           "alpha, beta and the activation's parameters of a pool must be finite");
    const kiln_status status = kiln_activation_check(p->activation, p->param, why);
    if (status)
        return status;
    if (p->other_is_one && p->with == KILN_WITH_NOTHING)
        return kiln_refuse(why,
                           "other_is_one is set, but the pool has no other tensor; set `with`");
    return KILN_OK;
}

static kiln_status check_enums(const kiln_pool *p, char *why)
{
    if (p->kind < KILN_POOL_NONE || p->kind > KILN_POOL_AVERAGE_PADDED ||
        p->with < KILN_WITH_NOTHING || p->with > KILN_WITH_PRODUCT)
        return kiln_refuse(why, "kind %d or with %d of a pool is no value of its enum",
                           (int)p->kind, (int)p->with);
    if (p->spatial_rank < 0 || p->spatial_rank > KILN_MAX_RANK)
        return kiln_refuse(why, "spatial_rank of a pool is %d; it must be 1, 2 or 3",
                           p->spatial_rank);
    const kiln_type type[2] = {p->x_type, p->y_type};
    for (int i = 0; i < 2; i++)
        if (type[i] && (!kiln_type_is_known(type[i]) || type[i] == KILN_I32))
            return kiln_refuse(why, "%c_type of a pool is %s; it must be a float type or i8",
                               "xy"[i], kiln_type_name(type[i]));
    return KILN_OK;
}

bool kiln_pool_storage(const kiln_pool *p, char tensor, kiln_storage *storage, char *why)
{
    const bool x = tensor == 'x', one = tensor == 'r' && p->other_is_one;
    kiln_extent e = {.tensor = tensor == 'r' ? 'y' : tensor,
                     .rank = p->spatial_rank,
                     .dim = {p->batch, x               ? p->x_range.of
                                       : tensor == 'r' ? p->channels
                                                       : p->y_range.of},
                     .groups = 1,
                     .type = x ? p->x_type : p->y_type};
    for (int a = 0; a < p->spatial_rank; a++)
        e.dim[2 + a] = one ? 1 : x ? p->input[a] : kiln_pool_output(p, a);
    return kiln_extent_storage(&e, x ? p->x_layout : p->y_layout, storage, why);
}

/* Gives each layout its one spelling. */
static kiln_status check_layouts(kiln_pool *p, char *why)
{
    char *layout[2] = {p->x_layout, p->y_layout};
    for (int i = 0; i < 2; i++) {
        kiln_storage s;
        if (!memchr(layout[i], 0, KILN_LAYOUT_TEXT))
            return kiln_refuse(why,
                               "the layouts of a pool must be texts that end with a zero byte");
        if (kiln_layout_is_any(layout[i]))
            return kiln_refuse(why, "the layout of %c of a pool is \"any\"; name it", "xy"[i]);
        if (!kiln_pool_storage(p, "xy"[i], &s, why))
            return KILN_INVALID;
        if (s.layout.image)
            return kiln_refuse(why, "the layout %s of %c is an image; a pool has buffers",
                               s.layout.name, "xy"[i]);
        memset(layout[i], 0, KILN_LAYOUT_TEXT);
        memcpy(layout[i], s.layout.name, strnlen(s.layout.name, KILN_LAYOUT_TEXT - 1));
    }
    kiln_storage other;
    return p->with == KILN_WITH_NOTHING || kiln_pool_storage(p, 'r', &other, why) ? KILN_OK
                                                                                  : KILN_INVALID;
}

kiln_status kiln_pool_check(kiln_pool *pool, char *why)
{
    if (!pool)
        return kiln_refuse(why, "kiln_pool_check: pool must not be NULL");
    kiln_pool p = *pool;
    kiln_status status = check_enums(&p, why);
    if (status)
        return status;
    complete(&p);
    status = check_sizes(&p, why);
    if (!status)
        status = check_terms(&p, why);
    if (!status)
        status = check_layouts(&p, why);
    if (!status)
        *pool = p;
    return status;
}

int64_t kiln_pool_output(const kiln_pool *p, int a)
{
    if (!p || a < 0 || a >= p->spatial_rank || p->stride[a] < 1)
        return 0;
    const int64_t span = (p->window[a] - 1) * p->dilation[a] + 1;
    return (p->input[a] + p->pad_begin[a] + p->pad_end[a] - span) / p->stride[a] + 1;
}

int64_t kiln_pool_bytes(const kiln_pool *p, char tensor)
{
    kiln_storage s;
    const bool there = p && p->spatial_rank > 0 && strchr("xyr", tensor) && tensor &&
                       (tensor != 'r' || p->with != KILN_WITH_NOTHING);
    return there && kiln_pool_storage(p, tensor, &s, NULL)
               ? s.cells * (int64_t)kiln_type_size(tensor == 'x' ? p->x_type : p->y_type)
               : 0;
}
