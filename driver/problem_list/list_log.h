/* Lines of logs and shell scripts: driver commands among other text. */
#ifndef KILN_LIST_LOG_H
#define KILN_LIST_LOG_H

#include "problem_list.h"

/* Reads a line that holds a command, or that a driver or MIOpen's logging wrote. Sets entry->begin,
 * end and rest for LIST_COMMAND, entry->name for LIST_FOREIGN. Returns LIST_NOTHING for all other
 * lines. */
list_kind list_read_log(list_reader *reader, const char *line, list_entry *entry);

#endif
