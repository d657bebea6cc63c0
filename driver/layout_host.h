/* Reformatting in host memory: the check of what devices do, and the way without one. */
#ifndef KILN_DRIVER_LAYOUT_HOST_H
#define KILN_DRIVER_LAYOUT_HOST_H

#include "kiln_layout.h"

/* Writes every cell of `to` from `from`; the storages and types are those of a checked reformat. */
void layout_host_convert(const kiln_reformat *reformat, const kiln_storage *from,
                         const kiln_storage *to, const void *source, void *target);

#endif
