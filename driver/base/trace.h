/* --trace: a file of spans in the format that chrome://tracing and Perfetto open.
 *
 * There is one trace a process, which its children take part in: each adds lines of its own, so
 * that what a child did until it crashed is there. The file takes its name when the trace is
 * closed.
 * Named "-", the trace has standard output to itself: what else is printed goes to standard error.
 */
#ifndef KILN_TRACE_H
#define KILN_TRACE_H

#include "kiln_problem.h"

#include <stdint.h>

/* Begins a trace; without a name ("") there is none, and the functions below do nothing. Returns
 * KILN_FILE with a sentence in `why`. Children that are to take part are forked afterwards. */
kiln_status trace_open(const char *name, char *why);
/* Ends it, in the process that began it. Returns KILN_FILE with a sentence in `why`. */
kiln_status trace_close(char *why);

/* Names the calling process; each has a name of its own in the picture. */
void trace_name_process(const char *name);

/* Returns the moment in ns, for trace_end(); 0: there is no trace. */
int64_t trace_begin(void);
/* Adds what began then and ends now, in the calling thread. */
void trace_end(int64_t begin, const char *what, const char *detail);

/* The same for kiln_settings.span; NULL where there is no trace. */
typedef void trace_listener(void *user, const char *what, const char *detail, int64_t begin,
                            int64_t end);
trace_listener *trace_of_library(void);

#endif
