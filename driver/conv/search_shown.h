/* The search of `kiln conv -s 1`: one problem, with a line of progress and a line at the end. */
#ifndef KILN_SEARCH_SHOWN_H
#define KILN_SEARCH_SHOWN_H

#include "search.h"

/* Searches within --limit-ms and fills *best with the best config, which is kept in the user's
 * rows. Sets *interrupted where a signal ended the search early. On failure returns the status with
 * a sentence in `why`. */
kiln_status search_shown(const session *s, const request *r, tensors *t, bool quiet,
                         kiln_trial *best, bool *interrupted, char *why, size_t why_size);

#endif
