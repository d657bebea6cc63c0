/* Names that every part spells alike: types, directions, activations, plain layouts. What
 * kiln_problem.h declares of them is here, too. */
#ifndef KILN_NAMES_H
#define KILN_NAMES_H

#include "kiln_problem.h"

/* The layouts that text leaves out: "NCHW" and "OIHW" with spatial rank 2. */
const char *kiln_plain_data_layout(int rank);
const char *kiln_plain_filter_layout(int rank);
extern const char kiln_plain_bias_layout[];

#endif
