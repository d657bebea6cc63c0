/* Which solvers a search could not choose, and so a row says nothing about.
 *
 * Rows are kept without a problem's math mode, limits and epilogue, and a search may be of one
 * solver. What wins among few is recorded with the names of those that a search without any of that
 * would have tried.
 */
#ifndef KILN_EXCLUDED_SOLVERS_H
#define KILN_EXCLUDED_SOLVERS_H

#include "runtime/tune/candidates.h"

/* The names, with blanks between them, of the solvers that would take the problem if nothing but
 * its row's key were asked for, and are not in the list. "" if there is none. What does not fit is
 * not named. */
void kiln_excluded_solvers(kiln *k, const kiln_problem *problem, const kiln_candidates *list,
                   char names[KILN_ROW_WITHOUT]);

/* What is in both lists of names; into `names`. */
void kiln_excluded_solvers_by_both(char names[KILN_ROW_WITHOUT], const char *others);

/* Whether one of the names is that of a solver that takes the shape: a search for it might have had
 * another winner. */
bool kiln_excluded_solvers_matters(const kiln *k, const char *names, const kiln_shape *shape);

#endif
