/* Lines of a problem list that are rows of columns, and the comments that belong to them. */
#ifndef KILN_LIST_COLUMNS_H
#define KILN_LIST_COLUMNS_H

#include "problem_list.h"

/* Reads a row by the header that `reader` keeps, or by its number of words. */
list_kind list_read_columns(list_reader *reader, const char *line, list_entry *entry);

/* Reads a comment, which may be a header or a row with unequal padding; `line` starts after the
 * '#'. */
list_kind list_read_comment(list_reader *reader, const char *line, list_entry *entry);

#endif
