/* What the tests of the direct solvers over plain tensors share: awkward shapes. */
#ifndef DIRECT_CASES_H
#define DIRECT_CASES_H

#include "kiln_problem.h"

enum { DIRECT_SHAPES = 18, DIRECT_DIRECTIONS = 3, DIRECT_FINISHED = 4, DIRECT_EPILOGUES = 3 };

/* Behind direction and type of a problem's text. */
extern const char *const direct_shapes[DIRECT_SHAPES];

/* "n2-c5-..." with a direction (0 forward, 1 backward data, 2 backward weights) and a type. */
kiln_problem direct_problem(int direction, const char *type, const char *shape);

extern const kiln_epilogue direct_epilogues[DIRECT_EPILOGUES];

/* A problem whose results take different ways into the destination, with one of the epilogues. */
kiln_problem direct_finished(int shape, int epilogue);

#endif
