/* Tuning from the command line: every trial verified, progress shown, interruptible. */
#ifndef KILN_SEARCH_H
#define KILN_SEARCH_H

#include "report.h"
#include "tensors.h"

/* Searches on the tensors and fills *choice with the best config, whose texts live in *best. The
 * winner is kept in the user's rows. `interrupted` tells whether a signal ended it early. */
kiln_status search_run(const session *s, const request *r, tensors *t, bool quiet, kiln_trial *best,
                       bool *interrupted, char *why, size_t why_size);

#endif
