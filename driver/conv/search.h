/* Tunes on the command line: verifies every trial, shows progress, can be interrupted. */
#ifndef KILN_SEARCH_H
#define KILN_SEARCH_H

#include "report.h"
#include "tensors.h"

/* Searches on the tensors, fills *best with the best config and keeps that in the user's rows. Sets
 * *interrupted where a signal ended the search early. On failure returns the status with a sentence
 * in `why`. */
kiln_status search_run(const session *s, const request *r, tensors *t, bool quiet, kiln_trial *best,
                       bool *interrupted, char *why, size_t why_size);

#endif
