/* Reformats on the host: gathers the destination from the source, cell by cell. */
#include "layout_host.h"

#include "driver/reference/host.h"

#include <string.h>

void layout_host_convert(const kiln_reformat *r, const kiln_storage *from, const kiln_storage *to,
                         const void *source, void *target)
{
    const size_t size = kiln_type_size(r->to_type);
    const bool same = r->from_type == r->to_type;
#pragma omp parallel for schedule(static) if (to->cells > 10000)
    for (int64_t cell = 0; cell < to->cells; cell++) {
        int64_t at[KILN_MAX_DIMS];
        if (!kiln_storage_coordinate(to, cell, at)) {
            host_set(r->to_type, target, cell, r->pad_value);
            continue;
        }
        int64_t offset = kiln_storage_offset(from, at);
        if (same) /* copy bits, so that a NaN keeps its payload */
            memcpy((char *)target + (size_t)cell * size,
                   (const char *)source + (size_t)offset * size, size);
        else
            host_set(r->to_type, target, cell, host_get(r->from_type, source, offset));
    }
}

bool layout_host_is_plain(const kiln_storage *s)
{
    return strcmp(s->layout.spec, s->layout.dims) == 0 && s->layout.dims[0] != 'M';
}

/* Returns the index of an element in plain order. That of a depthwise filter is [I][M][...]: the
 * output channels of input 0 come first. */
static int64_t plain_index(const kiln_storage *s, const int64_t *at)
{
    bool swap = s->layout.dims[0] == 'M';
    int64_t index = 0;
    for (int i = 0; i < s->layout.ndims; i++) {
        int d = swap && i < 2 ? 1 - i : i;
        index = index * s->dim[d] + at[d];
    }
    return index;
}

void layout_host_store(const kiln_storage *s, kiln_type type, const void *plain, void *cells)
{
    const size_t size = kiln_type_size(type);
#pragma omp parallel for schedule(static) if (s->cells > 10000)
    for (int64_t cell = 0; cell < s->cells; cell++) {
        int64_t at[KILN_MAX_DIMS];
        char *to = (char *)cells + (size_t)cell * size;
        if (kiln_storage_coordinate(s, cell, at))
            memcpy(to, (const char *)plain + (size_t)plain_index(s, at) * size, size);
        else
            memset(to, 0, size);
    }
}

int64_t layout_host_load(const kiln_storage *s, kiln_type type, const void *cells, void *plain)
{
    const size_t size = kiln_type_size(type);
    int64_t dirty = 0;
#pragma omp parallel for schedule(static) reduction(+ : dirty) if (s->cells > 10000)
    for (int64_t cell = 0; cell < s->cells; cell++) {
        int64_t at[KILN_MAX_DIMS];
        if (kiln_storage_coordinate(s, cell, at))
            memcpy((char *)plain + (size_t)plain_index(s, at) * size,
                   (const char *)cells + (size_t)cell * size, size);
        else
            dirty += host_get(type, cells, cell) != 0;
    }
    return dirty;
}
