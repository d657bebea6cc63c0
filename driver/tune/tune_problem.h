/* Tunes one problem on a device, in this process. */
#ifndef KILN_TUNE_PROBLEM_H
#define KILN_TUNE_PROBLEM_H

#include "driver/conv/search.h"

#include "tune_list.h"

/* The limits of one search for a problem. */
typedef struct tune_slice {
    double seconds; /* 0: none */
    bool alone;     /* one round of several: the seconds are of this search, whatever earlier ones
                       took, and where it leaves something untried it only pauses */
    int64_t patience;
    int round; /* from 1 */
} tune_slice;

/* What became of a problem. */
typedef struct tune_result {
    kiln_status status;
    char why[512];       /* where status is not KILN_OK */
    bool interrupted;    /* the search ended early; what it found is kept */
    bool ended_late;     /* its time ended it */
    bool lost;           /* the device was lost */
    bool known;          /* an earlier run has tuned it: nothing was measured */
    bool restored;       /* its row was gone, and was written again from the log */
    kiln_trial_line end; /* of the search */
    int64_t trials, refused[KILN_TRIAL_VERDICTS];
} tune_result;

/* Settles the item's layouts, makes its tensors, searches and keeps the winner. Where the book has
 * a search with the same limits that ended, returns that instead, and sees to it that the winner
 * has its row. */
void tune_problem(const session *s, const tune_item *item, const search_settings *settings,
                  tune_result *result);

/* Makes *p the item's problem with the layouts that it is tuned for. */
kiln_status tune_problem_settle(const session *s, const tune_item *item, kiln_problem *p,
                                char *why);

#endif
