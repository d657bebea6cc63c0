/* What the tests of several solvers go through, and set up in one way. */
#ifndef KINDS_H
#define KINDS_H

#include "kiln_problem.h"

typedef struct support_types {
    kiln_type source, destination;
} support_types;

enum { SUPPORT_FLOATS = 4, SUPPORT_TYPES = 7 };

/* Every pair but f32 and f32: first the floats, which are all that backward weights may have. */
extern const support_types support_types_of[SUPPORT_TYPES];

/* By the problem's direction, which it must have before. */
void support_set_types(kiln_problem *p, support_types types);

void support_set_layouts(kiln_problem *p, const char *x, const char *y);

#endif
