/* Reads measured configs from a log of trials (docs/tuning.md). */
#ifndef BENCH_FIT_SAMPLES_H
#define BENCH_FIT_SAMPLES_H

#include "fit_model.h"
#include "kiln_tune.h"

typedef struct fit_log {
    fit_samples samples;
    int elsewhere; /* trials of another device or driver */
    int others;    /* trials of other solvers or versions, without a time, or of unknown problems */
} fit_log;

/* Reads the trials of the model's solvers on the device of `k`, ordered by problems. Returns false,
 * with a sentence, where the file cannot be read or memory is short. */
bool fit_log_read(fit_log *log, const fit_model *m, const kiln *k, const char *file, char *why,
                  size_t size);
void fit_log_free(fit_log *log);

#endif
