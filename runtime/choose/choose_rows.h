/* What tuning rows say of a problem. */
#ifndef KILN_CHOOSE_ROWS_H
#define KILN_CHOOSE_ROWS_H

#include "guess.h"

/* The best usable row of the key, of all solvers or `only` one: the user's, else one shipped. Rows
 * for any device were measured on others: they tell a solver's config, not which solver is fastest
 * here. */
bool kiln_pick_from_rows(kiln *k, const char *key, const char *only, const kiln_shape *shape,
                         kiln_pick *pick);

/* Warns where the user's rows might have been expected to decide, and could not: the file that was
 * named is not there, or its row of the key is of another version, no config of its solver, or
 * found by a search that could not choose all. */
void kiln_warn_of_rows(kiln *k, const char *key, const char *only);

#endif
