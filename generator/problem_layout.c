/* A problem's tensors as storage: their layouts read, checked and given one spelling. */
#include "problem_layout.h"
#include "problem_text.h"

#include <string.h>

bool kiln_layout_is_any(const char *layout)
{
    return strcmp(layout, "any") == 0;
}

/* The logical dims of a tensor. A filter layout that names M is a depthwise one. */
static const char *dims_of(const kiln_problem *p, char tensor, const char *layout)
{
    static const char *const depthwise[] = {"MIW", "MIHW", "MIDHW"};
    if (tensor != 'w')
        return kiln_plain_data_layout(p->spatial_rank);
    kiln_layout l;
    bool names_m = kiln_layout_parse(&l, layout, NULL, NULL) && strchr(l.dims, 'M');
    return names_m ? depthwise[p->spatial_rank - 1] : kiln_plain_filter_layout(p->spatial_rank);
}

static char *layout_of(kiln_problem *p, char tensor)
{
    return tensor == 'x' ? p->x_layout : tensor == 'w' ? p->w_layout : p->y_layout;
}

static void sizes_of(const kiln_problem *p, char tensor, bool depthwise, int64_t dim[KILN_MAX_DIMS])
{
    int rank = p->spatial_rank;
    dim[0] = tensor == 'w' ? (p->transposed ? p->in_channels : p->out_channels) : p->batch;
    dim[1] = tensor == 'x'   ? p->in_channels
             : tensor == 'y' ? p->out_channels
                             : (p->transposed ? p->out_channels : p->in_channels) / p->groups;
    if (depthwise) { /* M, I instead of O, I / groups */
        dim[0] /= p->groups;
        dim[1] = p->groups;
    }
    for (int i = 0; i < rank; i++)
        dim[2 + i] = tensor == 'x'   ? p->input[i]
                     : tensor == 'w' ? p->filter[i]
                                     : kiln_problem_output(p, i);
}

bool kiln_problem_storage(const kiln_problem *p, char tensor, kiln_storage *storage, char *why)
{
    const char *text = layout_of((kiln_problem *)p, tensor);
    if (kiln_layout_is_any(text))
        text = tensor == 'w' ? kiln_plain_filter_layout(p->spatial_rank)
                             : kiln_plain_data_layout(p->spatial_rank);
    const char *dims = dims_of(p, tensor, text);
    bool depthwise = dims[0] == 'M';
    kiln_layout layout;
    if (!kiln_layout_parse(&layout, text, dims, why))
        return false;
    if (depthwise && (p->groups != p->in_channels || p->groups == 1)) {
        kiln_refuse(why,
                    "filter layout %s is for depthwise convolutions, one input channel a group",
                    layout.name);
        return false;
    }
    int64_t dim[KILN_MAX_DIMS];
    sizes_of(p, tensor, depthwise, dim);
    kiln_type type = tensor == 'x' ? p->x_type : tensor == 'w' ? p->w_type : p->y_type;
    return kiln_storage_make(storage, &layout, dim, type, why);
}

int64_t kiln_problem_bytes(const kiln_problem *p, char tensor)
{
    kiln_storage storage;
    if (!kiln_problem_storage(p, tensor, &storage, NULL))
        return -1;
    kiln_type type = tensor == 'x' ? p->x_type : tensor == 'w' ? p->w_type : p->y_type;
    return storage.cells * (int64_t)kiln_type_size(type);
}

kiln_status kiln_problem_check_layouts(kiln_problem *p, char *why)
{
    for (const char *t = "xwy"; *t; t++) {
        char *text = layout_of(p, *t);
        if (kiln_layout_is_any(text))
            continue;
        kiln_storage storage;
        if (!kiln_problem_storage(p, *t, &storage, why))
            return KILN_INVALID;
        /* The spec is the one spelling, unless it holds what a problem's text cannot. */
        const kiln_layout *l = &storage.layout;
        const char *best = strchr(l->spec, '=') ? l->name : l->spec;
        memset(text, 0, KILN_LAYOUT_TEXT);
        memcpy(text, best, strnlen(best, KILN_LAYOUT_TEXT - 1));
    }
    return KILN_OK;
}
