/* Lines of a problem list that are benchdnn's convolution descriptors. */
#ifndef KILN_LIST_DESCRIPTOR_H
#define KILN_LIST_DESCRIPTOR_H

#include "problem_list.h"

/* Returns true for a line of one word, and for a longer one that starts with keys of a descriptor.
 */
bool list_is_descriptor(const char *line);

/* Returns true where the first word starts with a descriptor's key and a number. */
bool list_starts_as_descriptor(const char *line);

/* `transposed`: of a deconvolution, whose output may be larger than its input. */
list_kind list_read_descriptor(const char *line, bool transposed, list_entry *entry);

#endif
