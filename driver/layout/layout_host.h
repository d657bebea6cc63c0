/* Reformats in host memory, to check devices and to work without one. */
#ifndef KILN_DRIVER_LAYOUT_HOST_H
#define KILN_DRIVER_LAYOUT_HOST_H

#include "kiln_layout.h"

/* Writes every cell of `target`. The storages and types are those of a checked reformat. */
void layout_host_convert(const kiln_reformat *reformat, const kiln_storage *from,
                         const kiln_storage *to, const void *source, void *target);

/* The driver fills, computes and compares tensors in plain order, the device works on layouts.
 * These functions go between the two. */

/* Returns true where the layout is the plain order: no element has to move. */
bool layout_host_is_plain(const kiln_storage *storage);
/* Writes every cell: elements from the plain array, zero into padding. */
void layout_host_store(const kiln_storage *storage, kiln_type type, const void *plain, void *cells);
/* Reads the elements into the plain array. Returns the number of cells of padding that are not
 * zero, as they must be. */
int64_t layout_host_load(const kiln_storage *storage, kiln_type type, const void *cells,
                         void *plain);

#endif
