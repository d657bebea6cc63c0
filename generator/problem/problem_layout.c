/* A problem's tensors as storage: their layouts read, checked and given one spelling. */
#include "problem_layout.h"

#include "problem_text.h"

#include <ctype.h>
#include <string.h>

bool kiln_layout_is_any(const char *layout)
{
    return strcmp(layout, "any") == 0;
}

static const char *plain_of(char tensor, int rank)
{
    return tensor == 'b'   ? kiln_plain_bias_layout
           : tensor == 'w' ? kiln_plain_filter_layout(rank)
                           : kiln_plain_data_layout(rank);
}

/* The logical dims of a tensor. A filter layout that names M is a depthwise one. */
static const char *dims_of(const kiln_extent *e, const char *layout)
{
    static const char *const depthwise[] = {"MIW", "MIHW", "MIDHW"};
    if (e->tensor == 'b')
        return kiln_plain_bias_layout;
    if (e->tensor != 'w')
        return kiln_plain_data_layout(e->rank);
    kiln_layout l;
    bool names_m = kiln_layout_parse(&l, layout, NULL, NULL) && strchr(l.dims, 'M');
    return names_m ? depthwise[e->rank - 1] : kiln_plain_filter_layout(e->rank);
}

bool kiln_extent_storage(const kiln_extent *e, const char *text, kiln_storage *storage, char *why)
{
    if (kiln_layout_is_any(text))
        text = plain_of(e->tensor, e->rank);
    const char *dims = dims_of(e, text);
    kiln_layout layout;
    if (!kiln_layout_parse(&layout, text, dims, why))
        return false;
    int64_t dim[KILN_MAX_DIMS];
    memcpy(dim, e->dim, sizeof dim);
    if (dims[0] == 'M') {
        if (e->groups == 1 || e->dim[1] != 1)
            return kiln_deny(why,
                             "filter layout %s is for depthwise convolutions, whose filters have "
                             "one channel; these have %lld in %lld groups",
                             layout.name, (long long)e->dim[1], (long long)e->groups);
        dim[0] /= e->groups;
        dim[1] = e->groups;
    }
    return kiln_storage_make(storage, &layout, dim, e->type, why);
}

static char *layout_of(kiln_problem *p, char tensor)
{
    return tensor == 'x'   ? p->x_layout
           : tensor == 'w' ? p->w_layout
           : tensor == 'b' ? p->bias_layout
                           : p->y_layout;
}

bool kiln_bias_storage(int64_t channels, int type, const char *layout, kiln_storage *storage,
                       char *why)
{
    /* The storage that a bias would have, where there is none. */
    const kiln_extent e = {
        .tensor = 'b', .rank = 1, .dim = {channels}, .type = type ? (kiln_type)type : KILN_F32};
    return kiln_extent_storage(&e, layout, storage, why);
}

void kiln_problem_close(kiln_problem *p)
{
    for (const char *t = "xwyb"; *t; t++) {
        char *layout = layout_of(p, *t);
        if (!kiln_layout_is_any(layout))
            continue;
        memset(layout, 0, KILN_LAYOUT_TEXT);
        strcpy(layout, plain_of(*t, p->spatial_rank));
    }
}

/* Why the problem has no such storage; false: it may have one. */
static bool lacks_storage(const kiln_problem *p, char tensor, char *why)
{
    if (!kiln_problem_is_complete(p))
        return !kiln_deny(why, "the problem is not checked; pass it to kiln_problem_check() first");
    if (!tensor || !strchr("xwyb", tensor))
        return !kiln_deny(why, "tensor is the character %d; it must be 'x', 'w', 'y' or 'b'",
                          tensor);
    if (kiln_layout_is_any(layout_of((kiln_problem *)p, tensor)))
        return !kiln_deny(
            why,
            "the layout of %s is \"any\", so its size is not known before a solver is "
            "chosen; kiln_conv_plan() and kiln_op_describe() tell it",
            tensor == 'b' ? "bias" : (const char[]){tensor, '\0'});
    return false;
}

bool kiln_problem_storage(const kiln_problem *p, char tensor, kiln_storage *storage, char *why)
{
    if (!p || !storage)
        return kiln_deny(why, "kiln_problem_storage: problem and storage must not be NULL");
    if (lacks_storage(p, tensor, why))
        return false;
    if (tensor == 'b')
        return kiln_bias_storage(p->out_channels, p->epilogue.bias, p->bias_layout, storage, why);
    bool x = tensor == 'x', w = tensor == 'w';
    kiln_extent e = {
        .tensor = tensor,
        .rank = p->spatial_rank,
        .groups = p->groups,
        .type = x   ? p->x_type
                : w ? p->w_type
                    : p->y_type,
    };
    e.dim[0] = w ? (p->transposed ? p->in_channels : p->out_channels) : p->batch;
    e.dim[1] = x   ? p->in_channels
               : w ? (p->transposed ? p->out_channels : p->in_channels) / p->groups
                   : p->out_channels;
    for (int i = 0; i < e.rank; i++)
        e.dim[2 + i] = x ? p->input[i] : w ? p->filter[i] : kiln_problem_output(p, i);
    return kiln_extent_storage(&e, layout_of((kiln_problem *)p, tensor), storage, why);
}

int64_t kiln_problem_bytes(const kiln_problem *p, char tensor, char *why)
{
    kiln_storage storage;
    if (!p)
        return (int64_t)kiln_deny(why, "kiln_problem_bytes: problem must not be NULL");
    if (!kiln_problem_storage(p, tensor, &storage, why))
        return 0;
    kiln_type type = tensor == 'x'   ? p->x_type
                     : tensor == 'w' ? p->w_type
                     : tensor == 'b' ? (kiln_type)p->epilogue.bias
                                     : p->y_type;
    return storage.cells * (int64_t)kiln_type_size(type);
}

static bool is_any_in_capitals(const char *text)
{
    const char *any = "any";
    while (*any && tolower((unsigned char)*text) == *any)
        text++, any++;
    return !*any && !*text;
}

kiln_status kiln_problem_check_layouts(kiln_problem *p, char *why)
{
    for (const char *t = "xwyb"; *t; t++) {
        char *text = layout_of(p, *t);
        if (kiln_layout_is_any(text))
            continue;
        if (is_any_in_capitals(text))
            return kiln_refuse(
                why,
                "the layout of %s is \"%s\"; \"any\", which lets the library choose, "
                "is written in small letters",
                *t == 'b' ? "bias" : (const char[]){*t, '\0'}, text);
        kiln_storage storage;
        if (!kiln_problem_storage(p, *t, &storage, why))
            return KILN_INVALID;
        /* The spec is the one spelling, unless the spec holds a character that the text of a
         * problem cannot. */
        const kiln_layout *l = &storage.layout;
        const char *best = strchr(l->spec, '=') ? l->name : l->spec;
        memset(text, 0, KILN_LAYOUT_TEXT);
        memcpy(text, best, strnlen(best, KILN_LAYOUT_TEXT - 1));
    }
    return KILN_OK;
}
