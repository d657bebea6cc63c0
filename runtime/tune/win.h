/* What turns say of one config beside another: both are timed in each, one after the other. */
#ifndef KILN_WIN_H
#define KILN_WIN_H

#include "bench.h"

typedef struct kiln_win {
    int turns, won; /* turns, and those in which the config was faster; turns 0: none were taken */
    double iqr;     /* the robust spread of the turns' ratios: kiln_row */
} kiln_win;

/* Compares the times of two configs in the same turns: `ms` and `guess_ms` have `turns` each. */
kiln_win kiln_win_of(const double *ms, const double *guess_ms, int turns);

/* Returns whether the row names its own config as the guess. */
bool kiln_row_is_guess(const kiln_row *row);

#endif
