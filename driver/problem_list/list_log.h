/* Lines of logs and shell scripts: driver commands among other text. */
#ifndef KILN_LIST_LOG_H
#define KILN_LIST_LOG_H

#include "problem_list.h"

/* Reads a line that holds a command, or that a driver or MIOpen's logging wrote. Sets entry->begin,
 * end and rest for LIST_COMMAND, entry->name for LIST_FOREIGN. Returns LIST_NOTHING for all other
 * lines. */
list_kind list_read_log(list_reader *reader, const char *line, list_entry *entry);

/* Returns the text behind the first `program`, or `program`.exe, that ends a path, a closing quote
 * and the colon of MIOpen 1.x included; NULL: the line names none. *name becomes its place. */
const char *list_find_program(const char *line, const char *program, const char **name);

/* Returns the quote that is open at `at`, 0: none. */
char list_open_quote(const char *line, const char *at);

/* Returns the end of the command that begins at `at`: where a redirection, a comment, the shell's
 * next command or `outer`, the quote around the command, begins, or variables that nobody filled
 * in. */
const char *list_command_end(const char *at, char outer);

#endif
