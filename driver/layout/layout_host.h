/* Reformatting in host memory: the check of what devices do, and the way without one. */
#ifndef KILN_DRIVER_LAYOUT_HOST_H
#define KILN_DRIVER_LAYOUT_HOST_H

#include "kiln_layout.h"

/* Writes every cell of `to` from `from`; the storages and types are those of a checked reformat. */
void layout_host_convert(const kiln_reformat *reformat, const kiln_storage *from,
                         const kiln_storage *to, const void *source, void *target);

/* Between the plain order, in which the driver fills, computes and compares, and the layout that
 * the device works on. */

/* True where the layout is the plain order, so that nothing is to be moved. */
bool layout_host_is_plain(const kiln_storage *storage);
/* Writes every cell: the elements of the plain array, zero in padding. */
void layout_host_store(const kiln_storage *storage, kiln_type type, const void *plain, void *cells);
/* The reverse. Returns how many cells of padding do not hold zero, as they must. */
int64_t layout_host_load(const kiln_storage *storage, kiln_type type, const void *cells,
                         void *plain);

#endif
