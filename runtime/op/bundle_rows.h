/* The tuning rows of a bundle. */
#ifndef KILN_BUNDLE_ROWS_H
#define KILN_BUNDLE_ROWS_H

#include "runtime/kiln/kiln_internal.h"

/* Copies the rows that `k` uses, the user's and the shipped ones for its device, into a bundle.
 * Returns KILN_FILE where one cannot be read or written. */
kiln_status kiln_bundle_rows(const kiln *k, const char *dir);

/* Writes a bundle of the programs that are in memory, each launched once by now, and of the rows.
 */
kiln_status kiln_bundle_write(kiln *k, const char *dir);

#endif
