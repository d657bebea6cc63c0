/* A problem's tensors as storage. */
#ifndef KILN_PROBLEM_LAYOUT_H
#define KILN_PROBLEM_LAYOUT_H

#include "kiln_layout.h"

#include <stdbool.h>

bool kiln_layout_is_any(const char *layout);

/* Replaces each layout of a checked problem that is "any" by the plain one. */
void kiln_problem_close(kiln_problem *problem);

/* A tensor by its logical sizes: N or O, C or I, spatial ones. */
typedef struct kiln_extent {
    char tensor; /* 'x', 'w', 'y', 'b' */
    int rank;
    int64_t dim[KILN_MAX_DIMS];
    int64_t groups;
    kiln_type type;
} kiln_extent;

/* Makes the storage of a tensor in a layout; "any" stands for the plain layout. Returns false, with
 * the reason, where the layout does not fit. */
bool kiln_extent_storage(const kiln_extent *e, const char *layout, kiln_storage *storage,
                         char *why);
/* Makes the storage of a bias likewise. `type` 0 stands for the type that a bias has by default. */
bool kiln_bias_storage(int64_t channels, int type, const char *layout, kiln_storage *storage,
                       char *why);

/* Replaces every layout by its one spelling ("kCHW16" by "NCHW16c"). Part of kiln_problem_check().
 */
kiln_status kiln_problem_check_layouts(kiln_problem *problem, char *why);

#endif
