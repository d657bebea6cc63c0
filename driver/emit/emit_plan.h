/* Writes what a project has of its own: kernels, the table of launches, data. */
#ifndef KILN_EMIT_PLAN_H
#define KILN_EMIT_PLAN_H

#include "kiln.h"

/* Writes the project into a folder, which is made where it is missing. Returns KILN_UNSUPPORTED for
 * what a project cannot be made of, KILN_FILE or KILN_NO_MEMORY, with a sentence in `why`. */
kiln_status emit_project(const kiln_op *op, const char *folder, char *why);

#endif
