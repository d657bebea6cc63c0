/* Types and layouts that the tests of several solvers go through. */
#ifndef KINDS_H
#define KINDS_H

#include "kiln_problem.h"

typedef struct support_types {
    kiln_type source, destination;
} support_types;

enum { SUPPORT_FLOATS = 4, SUPPORT_TYPES = 7, SUPPORT_ALL = 11 };

/* Every pair of source and destination types but f32 and f32: the pairs of floats, the only ones
 * that backward weights may have; i8; and from SUPPORT_TYPES on 8-bit floats, which few solvers
 * take. */
extern const support_types support_types_of[SUPPORT_ALL];

/* Sets the types by the problem's direction, which must be set before. */
void support_set_types(kiln_problem *p, support_types types);

void support_set_layouts(kiln_problem *p, const char *x, const char *y);

#endif
