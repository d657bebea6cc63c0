/* Problems and checks that the tests of the Winograd solvers for CPUs share. */
#ifndef WINOGRAD_CASES_H
#define WINOGRAD_CASES_H

#include "kiln.h"

enum { WINOGRAD_SOLVERS = 2 };

extern const char *const winograd_solvers[WINOGRAD_SOLVERS];
extern const char *const winograd_sizes[3]; /* configs by their tiles, smallest first */

/* Returns a 3x3 convolution with padding 1. */
kiln_problem winograd_problem(int64_t n, int64_t c, int64_t h, int64_t w, int64_t k);

/* Sets x and y plain or in blocks, by `which`. */
void winograd_set_layouts(kiln_problem *p, int which);

/* Fails the test unless solver and config compute the problem exactly, in its layouts, with
 * integers that small tiles keep exact. With larger tiles the bound decides, which is far below the
 * distance between results. */
void winograd_check(const kiln_problem *given, const char *solver, const char *config);

/* Returns the seconds that a test may take, with a compilation for every problem. */
double winograd_patience(void);

#endif
