/* The times that kiln predicts for the layers of the device at hand. */
#ifndef KILN_REPORT_PREDICT_H
#define KILN_REPORT_PREDICT_H

#include "driver/base/session.h"

#include "report_data.h"

/* Fills what is still unknown: the log of trials tells it, rows do not. */
void report_predict(report_data *d, const session *s);

#endif
