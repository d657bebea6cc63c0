/* Adds the rows of a file to a report. */
#ifndef KILN_REPORT_ROWS_H
#define KILN_REPORT_ROWS_H

#include "report_data.h"
#include "report_filter.h"

/* Adds the rows that have a time and would be used: of each solver the newest, of these the
 * fastest. Where the log of trials has the problem already, the row is for that layer. Returns
 * KILN_FILE with a sentence in `why` where the file cannot be read, or does not begin like one of
 * rows. */
kiln_status report_rows_read(report_data *d, const char *name, const report_filter *filter,
                             int64_t *count, int64_t *skipped, char *why);

#endif
