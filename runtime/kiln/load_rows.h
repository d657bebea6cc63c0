/* The tuning rows of a kiln. */
#ifndef KILN_LOAD_ROWS_H
#define KILN_LOAD_ROWS_H

#include "kiln_internal.h"

/* Loads the files at the kiln's places. Returns KILN_FILE where a file that somebody named is of no
 * use, KILN_NO_MEMORY. */
kiln_status kiln_load_rows(kiln *k, const kiln_settings *s);

/* Reads the user's rows again, after a row was appended. */
void kiln_reload_rows(kiln *k);

#endif
