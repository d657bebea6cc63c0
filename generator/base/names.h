/* Names that every part spells alike: directions, plain layouts. names.c also defines the functions
 * for names of directions that kiln_problem.h declares. */
#ifndef KILN_NAMES_H
#define KILN_NAMES_H

#include "kiln_problem.h"

/* Return the layouts that text leaves out: "NCHW" and "OIHW" with spatial rank 2. */
const char *kiln_plain_data_layout(int rank);
const char *kiln_plain_filter_layout(int rank);
extern const char kiln_plain_bias_layout[];

#endif
