/* What the tests of the Winograd solvers for CPUs share. */
#ifndef WINOGRAD_CASES_H
#define WINOGRAD_CASES_H

#include "kiln.h"

enum { WINOGRAD_SOLVERS = 2 };

extern const char *const winograd_solvers[WINOGRAD_SOLVERS];
extern const char *const winograd_sizes[3]; /* configs by their tiles, smallest first */

/* A 3x3 convolution with padding 1. */
kiln_problem winograd_problem(int64_t n, int64_t c, int64_t h, int64_t w, int64_t k);

/* Plain and in blocks, on either side. */
void winograd_set_layouts(kiln_problem *p, int which);

/* Fails the test unless solver and config compute it exactly, in the problem's own layouts, over
 * integers that small tiles keep exact; with larger tiles the bound decides: far less than what is
 * between results. */
void winograd_check(const kiln_problem *given, const char *solver, const char *config);

/* Seconds that a test may take: every problem is compiled for. */
double winograd_patience(void);

#endif
