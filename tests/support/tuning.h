/* A small problem with its tensors and an empty file of rows, for tests that search. */
#ifndef TUNING_H
#define TUNING_H

#include "runtime/kiln/kiln_internal.h"

enum { TUNING_RESULTS = 32 * 8 * 8 }; /* elements of the problem's y */

extern const kiln_problem tuning_problem;

typedef struct tuning_bed {
    cl_context context;
    cl_device_id device;
    cl_command_queue queue;
    kiln_buffers buffers;                 /* with contents */
    char folder[64];                      /* of the two files, which do not exist at first */
    char rows_file[128], types_file[128]; /* types_file replaces types.cl where a test makes it */
    kiln *kiln;                           /* with those rows */
} tuning_bed;

extern tuning_bed tuning;

/* Fixtures of each test. */
void tuning_set_up(void);
void tuning_tear_down(void);

/* Opens another kiln on the device, without caches. */
kiln *tuning_open(const char *rows, const char *templates);

/* What the callbacks have seen, and what they answer. */
typedef struct tuning_record {
    const char *accept; /* the only config that verifies; NULL: every right one */
    int64_t stop_after; /* trials; 0: never */
    int64_t trials, verified, poison, upcoming;
    int64_t verdicts[KILN_TRIAL_VERDICTS];
    char configs[64][KILN_INFO_TEXT], solvers[64][48];
} tuning_record;

/* Returns options that note each trial in the record and keep the winner. */
kiln_tune_options tuning_options(tuning_record *r, int64_t max_trials);

/* Calls kiln_tune() for the problem. */
kiln_status tuning_run(kiln *k, const kiln_tune_options *o, kiln_trial *best);

/* Fails the test unless a program that did not search gets the search's winner when it asks for
 * `solver` (NULL: for none). */
void tuning_check_used(kiln *opened, const char *solver, const kiln_trial *best);

#endif
