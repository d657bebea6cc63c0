/* Judges tuning rows as this version of kiln reads them. */
#ifndef KILN_DB_JUDGE_H
#define KILN_DB_JUDGE_H

#include "kiln_tune.h"

/* Opens a kiln without a device that has no rows of its own. Prints what went wrong. */
kiln_status db_judge_open(kiln **k);

/* Returns the version of the row's solver; 0 when there is no such solver or it refuses the row's
 * problem. */
int db_solver_version(kiln *k, const kiln_row *row);

typedef enum db_verdict {
    DB_GOOD = 0,
    DB_NOTE, /* something to know; the row does no harm */
    DB_ERROR
} db_verdict;

/* Judges a row of a file for `device`. Writes a sentence unless the verdict is DB_GOOD. */
db_verdict db_judge(kiln *k, const kiln_row *row, const char *device, char why[KILN_ERROR_TEXT]);

#endif
