/* One line of a file of problems as a request. */
#ifndef KILN_REQUEST_LINE_H
#define KILN_REQUEST_LINE_H

#include "driver/problem_list/problem_list.h"

#include "request.h"

/* Makes *r of what list_read() found, on top of the defaults. `text` is the command of LIST_COMMAND
 * or entry->flags; it is changed, and the request points into it. */
kiln_status request_line_parse(const request *defaults, list_kind kind, const list_entry *entry,
                               char *text, request *r, char *why);

/* Whether the line, or the name of one of the request's problems, contains `match` ("": always). */
bool request_line_matches(const request *r, const char *line, const char *match);

#endif
