/* Tells whoever listens what the library did, and when: a trace is made of it. */
#ifndef KILN_SPAN_H
#define KILN_SPAN_H

#include "error.h"

#include <stdint.h>

/* Returns the moment in ns, for kiln_span_end(); 0 where nobody listens. */
int64_t kiln_span_begin(const kiln_logger *logger);

/* Tells that what began then has ended. `detail` may be "". */
void kiln_span_end(const kiln_logger *logger, int64_t begin, const char *what, const char *detail);

#endif
