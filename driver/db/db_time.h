/* Times a row's config in turns with the guess. */
#ifndef KILN_DB_TIME_H
#define KILN_DB_TIME_H

#include "driver/base/session.h"

#include "kiln_tune.h"

/* Does what kiln_tune_row() does, on tensors of its own, unless the row's config is the guess: then
 * the row only says so. Writes why it failed, if it did. Sets *lacks_means where the machine has no
 * room for the compiler's files. */
kiln_status db_time_row(const session *s, kiln_row *row, kiln_trial_verdict *verdict,
                        bool *lacks_means, char why[KILN_ERROR_TEXT]);

#endif
