/* What a person sees of a run: progress, and the table at its end. */
#ifndef KILN_TUNE_SHOW_H
#define KILN_TUNE_SHOW_H

#include "tune_run.h"

/* Tell that a trial, or a problem, has ended. The best time so far and the guess's are 0 where they
 * are not known. */
void tune_show_trial(const tune_run *run, const tune_kind *kind, int item,
                     const kiln_trial_line *line, double best_ms, double guess_ms);
void tune_show_item(const tune_run *run, const tune_kind *kind, int item);

/* Tells how a process has ended that searched or compiled on a device, and was in no trial. */
void tune_show_death(const char *device, const char *did, const char *how);

/* Renews the line on a terminal; elsewhere prints a line a minute. */
void tune_show_tick(const tune_run *run);

/* Prints the table, or JSON or CSV as `format` says, and the sums. Returns the exit status. */
int tune_show_end(const tune_run *run, report_format format);

#endif
