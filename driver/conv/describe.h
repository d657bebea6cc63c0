/* What a plan is, in lines for people. */
#ifndef KILN_DESCRIBE_H
#define KILN_DESCRIBE_H

#include "report.h"

/* The block of --printconv 1: problem, derived numbers, compile options and launch sizes. */
void describe_plan(const outcome *o, const kiln_op *op);

/* "config ... from the user's tuning rows FILE". */
void describe_origin(const outcome *o, const kiln *k);

/* The solvers that accept the problem, in the lines of MIOpen's immediate mode. */
void describe_solutions(kiln *k, const kiln_problem *p);

/* "28x28": `count` sizes joined by x. */
const char *sizes_text(const size_t *sizes, int count, char *text, size_t size);

#endif
