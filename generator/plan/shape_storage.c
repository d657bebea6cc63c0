/* The storage of a shape's tensors. */
#include "generator/problem/problem_layout.h"

#include "shape.h"

bool kiln_shape_storage(const kiln_shape *s, char tensor, const char *layout, kiln_storage *storage,
                        char *why)
{
    const kiln_type type = tensor == 'x'   ? s->x_type
                           : tensor == 'w' ? s->w_type
                           : tensor == 'b' ? (kiln_type)kiln_shape_epilogue(s)->bias
                                           : s->y_type;
    return kiln_shape_storage_as(s, tensor, type, layout, storage, why);
}

bool kiln_shape_storage_as(const kiln_shape *s, char tensor, kiln_type type, const char *layout,
                           kiln_storage *storage, char *why)
{
    if (tensor == 'b')
        return kiln_bias_storage(s->mirrored ? s->c : s->k, (int)type, layout, storage, why);
    bool x = tensor == 'x', w = tensor == 'w';
    kiln_extent e = {
        .tensor = tensor,
        .rank = s->rank,
        .dim = {w ? s->k : s->n, x   ? s->c
                                 : w ? s->c / s->g
                                     : s->k},
        .groups = s->g,
        .type = type,
    };
    const int64_t *spatial = x ? s->in : w ? s->filter : s->out;
    for (int i = 0; i < e.rank; i++)
        e.dim[2 + i] = spatial[3 - e.rank + i];
    return kiln_extent_storage(&e, layout, storage, why);
}
