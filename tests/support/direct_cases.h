/* Awkward shapes for the tests of the direct solvers over plain tensors. */
#ifndef DIRECT_CASES_H
#define DIRECT_CASES_H

#include "kiln_problem.h"

enum { DIRECT_SHAPES = 18, DIRECT_DIRECTIONS = 3, DIRECT_FINISHED = 4, DIRECT_EPILOGUES = 3 };

/* The parts of problem texts that come after direction and type. */
extern const char *const direct_shapes[DIRECT_SHAPES];

/* Returns the problem of a shape "n2-c5-..." in a direction (0 forward, 1 backward data, 2 backward
 * weights) and a type. */
kiln_problem direct_problem(int direction, const char *type, const char *shape);

extern const kiln_epilogue direct_epilogues[DIRECT_EPILOGUES];

/* Returns a problem with one of the epilogues, whose results are stored in several ways. */
kiln_problem direct_finished(int shape, int epilogue);

#endif
