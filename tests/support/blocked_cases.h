/* Problems and checks for the tests of the blocked direct solvers; the solvers over images take the
 * shapes too. */
#ifndef BLOCKED_CASES_H
#define BLOCKED_CASES_H

#include "kiln_problem.h"

enum { BLOCKED_SHAPES = 20, BLOCKED_DILATED = 9, BLOCKED_EPILOGUES = 19 };

/* Shapes of all ranks. [BLOCKED_DILATED] has dilation and unequal padding. */
extern const kiln_problem blocked_shapes[BLOCKED_SHAPES];
extern const kiln_epilogue blocked_epilogues[BLOCKED_EPILOGUES];

/* Two pixels of a row are in two tiles; part of the last vector is padding. */
extern const kiln_problem blocked_small;
extern const char blocked_small_tile[];

/* Returns a config with several small tiles in a long row. The compiler takes seconds for the large
 * tiles of the guess, which few tests need. */
const char *blocked_tile(const kiln_problem *p);

/* Returns a layout like NCHW16c. */
const char *blocked_layout(int rank, int block);

/* Returns the name of the blocked direct solver that takes the problem's layouts: nhwc_direct from
 * NHWC to NHWC. */
const char *blocked_solver(const kiln_problem *p);

/* Calls support_check() with small integers, x and y in blocks of `block` channels. */
void blocked_check(kiln_problem p, int block, const char *config);

#endif
