/* The solutions of a problem: one config of each solver that takes it. */
#ifndef KILN_SOLUTIONS_H
#define KILN_SOLUTIONS_H

#include "runtime/choose/choose.h"

#include "kiln_find.h"

typedef struct kiln_solutions_list {
    kiln_solution *at; /* free() it */
    size_t count;
} kiln_solutions_list;

/* Lists the solutions in kiln_solutions()'s order; `problem` is checked and completed. Returns
 * KILN_UNSUPPORTED when there is none. */
kiln_status kiln_solutions_make(kiln *k, const kiln_problem *problem, kiln_solutions_list *out);

/* Sorts the part of the list from `from` on by time. */
void kiln_solutions_sort(kiln_solutions_list *list, size_t from);

/* Hands the first `room` to the caller, and frees the list. */
void kiln_solutions_give(kiln_solutions_list *list, kiln_solution *to, size_t room, size_t *count);

#endif
