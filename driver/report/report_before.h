/* Layers of a report beside the same layers in older files. */
#ifndef KILN_REPORT_BEFORE_H
#define KILN_REPORT_BEFORE_H

#include "report_data.h"

/* Finds the layers of `d` in `before`, by device, name and row; both are finished, and `before`
 * must live as long as `d`. Returns how many were found. */
size_t report_before_find(report_data *d, const report_data *before);

/* Returns how many times as long a layer took before; 0: unknown. */
double report_before_ratio(const report_layer *l);

/* Returns whether the two times differ by more than 2 % and than the spread of their samples. */
bool report_before_differs(const report_layer *l);

#endif
