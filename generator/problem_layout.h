/* A problem's tensors as storage. */
#ifndef KILN_PROBLEM_LAYOUT_H
#define KILN_PROBLEM_LAYOUT_H

#include "kiln_layout.h"
#include "shape.h"

bool kiln_layout_is_any(const char *layout);

/* As kiln_problem_storage(), for a shape's tensor in a layout of its own. */
bool kiln_shape_storage(const kiln_shape *s, char tensor, const char *layout, kiln_storage *storage,
                        char *why);

/* Replaces every layout by its one spelling ("kCHW16" by "NCHW16c"). Part of kiln_problem_check().
 */
kiln_status kiln_problem_check_layouts(kiln_problem *problem, char *why);

#endif
