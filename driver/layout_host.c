/* Gathers each cell of the destination from the source, element by element. */
#include "layout_host.h"

#include "host.h"

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
        if (same) /* bits are kept: a NaN stays the NaN it is */
            memcpy((char *)target + (size_t)cell * size,
                   (const char *)source + (size_t)offset * size, size);
        else
            host_set(r->to_type, target, cell, host_get(r->from_type, source, offset));
    }
}
