/* Flags of kiln that do what oneDNN's options ask for. */
#ifndef KILN_LIST_ONEDNN_FLAGS_H
#define KILN_LIST_ONEDNN_FLAGS_H

#include "problem_list.h"

/* Sets entry->flags, note and the batch from the options. Returns LIST_SHAPE, or LIST_BAD where
 * kiln lacks the types, or an option has several values. */
list_kind onednn_finish(const list_options *o, list_entry *entry);

#endif
