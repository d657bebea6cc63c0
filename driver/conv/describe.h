/* Plans, configs and solvers, in lines for people. */
#ifndef KILN_DESCRIBE_H
#define KILN_DESCRIBE_H

#include "report.h"

/* Prints the block of --printconv 1: problem, derived numbers, compile options and launch sizes. */
void describe_plan(const outcome *o, const kiln_op *op);

/* Prints where the config comes from: "config ... from the user's tuning rows FILE". */
void describe_origin(const outcome *o, const kiln *k);

/* Prints the solvers that accept the problem, in the lines of MIOpen's immediate mode. */
void describe_solutions(kiln *k, const kiln_problem *p);

/* Writes `count` sizes joined by x, as in "28x28". Returns text. */
const char *sizes_text(const size_t *sizes, int count, char *text, size_t size);

#endif
