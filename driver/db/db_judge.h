/* Judges tuning rows as this version of kiln reads them. */
#ifndef KILN_DB_JUDGE_H
#define KILN_DB_JUDGE_H

#include "kiln_tune.h"

#include <stdbool.h>

/* Opens a kiln without a device that has no rows of its own. Prints what went wrong. */
kiln_status db_judge_open(kiln **k);

/* Returns the version of the row's solver; 0: there is no such solver. */
int db_solver_version(kiln *k, const kiln_row *row);

/* Returns whether the row's solver takes its problem, with some config; else writes a
 * sentence. */
bool db_solver_takes(kiln *k, const kiln_row *row, char why[KILN_ERROR_TEXT]);

/* Returns whether this version of kiln uses the row for no problem and on no device: it has no such
 * solver, or another version of it, or the solver has no such config. */
bool db_is_useless(kiln *k, const kiln_row *row);

/* Returns whether the row is stale by what it says of itself, on a device with that driver: of
 * another version of its solver, of other templates, or of another driver. Writes why. */
bool db_is_stale(kiln *k, const char *driver, const kiln_row *row, char why[KILN_ERROR_TEXT]);

typedef enum db_verdict {
    DB_GOOD = 0,
    DB_NOTE, /* something to know; the row does no harm */
    DB_ERROR
} db_verdict;

/* Judges a row of a file for `device`. Writes a sentence unless the verdict is DB_GOOD. */
db_verdict db_judge(kiln *k, const kiln_row *row, const char *device, char why[KILN_ERROR_TEXT]);

#endif
