/* How the time of a run is shared among its problems (--total-time).
 *
 * The first round gives each problem its share of one half, and ends a search early that finds
 * nothing more. The time that is left goes to further rounds, in which searches go on: first the
 * searches that were still finding something, and of these first the ones that gained most.
 */
#ifndef KILN_TUNE_ROUNDS_H
#define KILN_TUNE_ROUNDS_H

#include "tune_run.h"

/* Returns the item that comes next, one that no device claims if there is one; -1: there is none,
 * or no time for it. */
int tune_rounds_next(const tune_run *run, const tune_kind *kind);

/* Returns the limits of an item's next search. */
tune_slice tune_rounds_slice(const tune_run *run, const tune_kind *kind, int item);

/* Takes an item's result; the item may get another round. */
void tune_rounds_note(tune_run *run, tune_kind *kind, int item, const tune_result *result);

/* Writes into the logs that searches which only paused have ended, when the time is used up: the
 * same command then has nothing left to do. Returns KILN_FILE with kiln_last_error(). */
kiln_status tune_rounds_end(tune_run *run);

#endif
