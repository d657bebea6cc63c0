/* What tuning rows say of a problem. */
#ifndef KILN_CHOOSE_ROWS_H
#define KILN_CHOOSE_ROWS_H

#include "pick.h"

/* Finds the best usable row of the key, of all solvers or of solver `only`: the user's, else a
 * shipped one. Rows for any device were measured on other devices: they tell a solver's config, not
 * which solver is fastest here. Returns false when there is none. */
bool kiln_pick_from_rows(kiln *k, const char *key, const char *only, const kiln_shape *shape,
                         kiln_pick *pick);

/* Does the same, and copies the row. */
bool kiln_row_of_pick(kiln *k, const char *key, const kiln_shape *shape, kiln_pick *pick,
                      kiln_row *row);

/* Finds the best usable row of the key that the kindred device number `index` has, from 0
 * (kindred_rows.h), and writes the device's name. Returns false where it has none. */
bool kiln_pick_from_kindred(kiln *k, int index, const char *key, const kiln_shape *shape,
                            kiln_pick *pick, kiln_row *row, char device[128]);

/* Turns a row into a pick if it still holds: known solver, same version, and a config that the
 * solver can run. Returns false, with the reason in `why`, where it does not. */
bool kiln_row_usable(const kiln *k, const kiln_row *row, const kiln_shape *shape, kiln_pick *pick,
                     kiln_why *why);

/* Warns where the user's newest row of the key might have been expected to decide, and does not: it
 * is of another version, has no config of its solver, does not fit the shape, or comes from a
 * search that could not choose all solvers. Returns whether it does so. */
bool kiln_warn_of_row(kiln *k, const char *key, const char *only, const kiln_shape *shape);
/* Warns once where the named file is not there. */
void kiln_warn_of_missing_rows(kiln *k);
bool kiln_has_user_rows(kiln *k);

#endif
