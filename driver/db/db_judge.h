/* What this version of kiln makes of a tuning row. */
#ifndef KILN_DB_JUDGE_H
#define KILN_DB_JUDGE_H

#include "kiln.h"

/* Opens a kiln without a device that has no rows of its own. Prints what went wrong. */
kiln_status db_judge_open(kiln **k);

/* The version of the row's solver; 0 when there is no such solver or it does not take the row's
 * problem. */
int db_solver_version(kiln *k, const kiln_row *row);

typedef enum db_verdict {
    DB_GOOD = 0,
    DB_NOTE, /* worth knowing; the row does no harm */
    DB_ERROR
} db_verdict;

/* Judges a row of a file for `device`. Writes a sentence unless the verdict is DB_GOOD. */
db_verdict db_judge(kiln *k, const kiln_row *row, const char *device, char why[KILN_ERROR_TEXT]);

#endif
