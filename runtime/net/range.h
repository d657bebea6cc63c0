/* Ranges of channels of a larger tensor that are tensors of their own. Pure. */
#ifndef KILN_NET_RANGE_H
#define KILN_NET_RANGE_H

#include "graph.h"

/* Returns whether channels from `first` on of a tensor `whole` are, in this layout, a tensor `part`
 * in the same layout, cells of padding included. *offset receives the bytes before it. */
bool kiln_range_is_tensor(const kiln_form *whole, const kiln_form *part, int64_t first,
                          const char *layout, int64_t *offset);

#endif
