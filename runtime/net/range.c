/* Compares the storage of a range with that of a tensor of its size. */
#include "range.h"

/* Whether neighbours along every axis are as far apart in both. */
static bool same_strides(const kiln_storage *a, const kiln_storage *b)
{
    for (int i = 0; i < a->layout.naxes; i++)
        if (b->extent[i] > 1 && a->stride[i] != b->stride[i])
            return false;
    return true;
}

/* The cells of the part, padding included, must be all cells of the range and no others. */
bool kiln_range_is_tensor(const kiln_form *whole, const kiln_form *part, int64_t first,
                          const char *layout, int64_t *offset)
{
    kiln_storage w, p;
    if (!kiln_form_storage(whole, layout, &w, NULL) || !kiln_form_storage(part, layout, &p, NULL) ||
        !same_strides(&w, &p))
        return false;
    int64_t at[KILN_MAX_DIMS] = {0, first}, own[KILN_MAX_DIMS] = {0};
    const int64_t begin = kiln_storage_offset(&w, at);
    for (int64_t c = 0; c < part->channels; c++) {
        at[1] = first + c;
        own[1] = c;
        if (kiln_storage_offset(&w, at) != begin + kiln_storage_offset(&p, own))
            return false;
    }
    at[1] = first + part->channels;
    const int64_t end = at[1] < whole->channels ? kiln_storage_offset(&w, at) : w.cells;
    *offset = begin * (int64_t)kiln_type_size(part->type);
    return begin + p.cells == end;
}
