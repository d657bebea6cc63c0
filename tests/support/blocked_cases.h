/* What the tests of the blocked direct solvers share; the solvers over images take its shapes too.
 */
#ifndef BLOCKED_CASES_H
#define BLOCKED_CASES_H

#include "kiln_problem.h"

enum { BLOCKED_SHAPES = 20, BLOCKED_DILATED = 9, BLOCKED_EPILOGUES = 11 };

/* Of all ranks. [BLOCKED_DILATED] has dilation and unequal padding. */
extern const kiln_problem blocked_shapes[BLOCKED_SHAPES];
extern const kiln_epilogue blocked_epilogues[BLOCKED_EPILOGUES];

/* Two pixels of a row are in two tiles, the last vector is in part padding. */
extern const kiln_problem blocked_small;
extern const char blocked_small_tile[];

/* A config for rows as long as the problem's. What the compiler makes of the guess's large tiles
 * takes it seconds, and few tests need those: long rows are cut into small tiles, of which there
 * are several. */
const char *blocked_tile(const kiln_problem *p);

/* NCHW16c and its kin. */
const char *blocked_layout(int rank, int block);

/* Which of the blocked direct solvers takes these layouts: nhwc_direct that of whole pixels, from
 * whole pixels. */
const char *blocked_solver(const kiln_problem *p);

/* support_check() over small integers, x and y in such blocks. */
void blocked_check(kiln_problem p, int block, const char *config);

#endif
