/* The limits of the devices of a report, from the best source there is. */
#ifndef KILN_REPORT_LIMITS_H
#define KILN_REPORT_LIMITS_H

#include "driver/base/session.h"

#include "report_data.h"

/* Sets limits that the user gave (0: none) for all devices: of each type, and of memory. */
void report_limits_give(report_data *d, const double gflops[KILN_TYPES], double gbs);

/* Returns the device that the session has open, and notes its driver; NULL: the report has nothing
 * of it. */
report_device *report_limits_device(report_data *d, const session *s);

/* Sets the limits that are still unknown of the device that the session has open, if the report has
 * that device: multiply-adds of floats and copies by measuring, unless `counted`; the others as
 * kiln counts them. */
void report_limits_find(report_data *d, const session *s, bool counted);

enum { REPORT_ORIGIN = 128 };

/* Writes "measured for this page: ..." and the like. Returns `text`. */
const char *report_limit_origin(const report_limit *limit, char text[REPORT_ORIGIN]);

#endif
