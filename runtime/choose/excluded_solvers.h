/* Solvers that a search could not choose, and about which its row says nothing.
 *
 * Rows are kept without a problem's math mode, limits and epilogue, and a search may be of one
 * solver. So the winner is recorded with the names of the solvers that a search without any such
 * restriction would have tried.
 */
#ifndef KILN_EXCLUDED_SOLVERS_H
#define KILN_EXCLUDED_SOLVERS_H

#include "runtime/kiln/kiln_internal.h"

/* Writes the names, with blanks between them, of the solvers that would take the problem if nothing
 * but its row's key were asked for, and are not among the `n` solvers of `tried`. Writes "" if
 * there is none. A name that does not fit is left out. */
void kiln_excluded_solvers(const kiln *k, const kiln_problem *problem,
                           const kiln_solver *const *tried, size_t n, char names[KILN_ROW_WITHOUT]);

/* Keeps those names that are in `others`, too. */
void kiln_excluded_solvers_by_both(char names[KILN_ROW_WITHOUT], const char *others);

/* Returns whether one of the names is that of a solver that takes the shape: a search that tried
 * this solver might have had another winner. */
bool kiln_excluded_solvers_matters(const kiln *k, const char *names, const kiln_shape *shape);

#endif
