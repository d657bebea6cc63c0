/* oneDNN's log and benchdnn's command lines. */
#ifndef KILN_LIST_ONEDNN_H
#define KILN_LIST_ONEDNN_H

#include "problem_list.h"

/* Reads a line of oneDNN's log or of benchdnn's options; returns false for all other lines. Sets
 * *kind, and entry->problem, flags and note for LIST_SHAPE, entry->name for LIST_FOREIGN. Options
 * in a line of their own give LIST_NOTHING and hold for the descriptors below. */
bool list_read_onednn(list_reader *reader, const char *line, list_entry *entry, list_kind *kind);

/* Gives a descriptor's entry the options of lines above. Returns LIST_SHAPE or LIST_BAD. */
list_kind list_apply_options(const list_reader *reader, list_entry *entry);

#endif
