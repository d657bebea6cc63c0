/* Reads the files of a report. */
#ifndef KILN_REPORT_READ_H
#define KILN_REPORT_READ_H

#include "report_data.h"
#include "report_filter.h"

#include <stdio.h>

/* What was read of a file. */
typedef struct report_file {
    const char *name;
    const char *kind; /* "tuning rows", "log of trials", "results" */
    int64_t count;    /* of rows, trials or results that the report uses */
    int64_t skipped;  /* lines that cannot be read */
} report_file;

/* Adds what a file has: tuning rows, a log of trials, or what conv or tune printed with --json.
 * Problems that the filter does not take are left out. Returns KILN_FILE or KILN_NO_MEMORY with a
 * sentence in `why`. */
kiln_status report_read(report_data *d, const char *name, const report_filter *filter,
                        report_file *file, char *why);

#endif
