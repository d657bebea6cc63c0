/* The log of trials in memory: what earlier searches tried of a problem, and how they ended. */
#ifndef KILN_TRIAL_BOOK_H
#define KILN_TRIAL_BOOK_H

#include "kiln_tune.h"

#include <stdbool.h>

typedef struct trial_book trial_book;

/* Reads a log; with `problem` not NULL, the lines of that problem. A missing log is empty. Returns
 * the status with a sentence in `why`. Free with trial_book_free(). */
kiln_status trial_book_load(trial_book **book, const char *file, const char *problem, char *why);
void trial_book_free(trial_book *book); /* NULL is fine */

/* Adds a line that was appended to the log meanwhile. Returns false when out of memory. */
bool trial_book_add(trial_book *book, const kiln_trial_line *line);

/* Returns the moment in which the problem was last restarted: what the book had before does not
 * count. 0: never. */
size_t trial_book_restart_of(const trial_book *book, const kiln_trial_line *of);

/* What earlier searches tried of the problem on the device with the driver that `of` names. */
typedef struct trial_book_known {
    kiln_trial *trial; /* whose texts the book holds; free() the array */
    size_t count;
    double seconds; /* that those trials took */
} trial_book_known;

/* Lists what counts since the moment `since`, and since the last search that ended (`finished`:
 * also what comes before that); trials that crashed or timed out count since they were restarted. A
 * trial of an earlier run that did not build, run or end gets one more try. Returns false when out
 * of memory. */
bool trial_book_known_of(const trial_book *book, const kiln_trial_line *of, size_t since,
                         bool finished, trial_book_known *known);

/* Returns how the last search for that problem ended since then, on the same device, driver and
 * CPU; NULL: none has. */
const kiln_trial_line *trial_book_end_of(const trial_book *book, const kiln_trial_line *of,
                                         size_t since);

#endif
