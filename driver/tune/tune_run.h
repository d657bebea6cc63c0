/* A run of `kiln tune`: what is to be done, and what has become of it. */
#ifndef KILN_TUNE_RUN_H
#define KILN_TUNE_RUN_H

#include "tune_worker.h"

/* AGAIN: a search has ended, and goes on if there is time. */
typedef enum tune_state { TUNE_WAITING = 0, TUNE_RUNNING, TUNE_AGAIN, TUNE_ENDED } tune_state;

/* How an item's searches went. */
typedef struct tune_progress {
    int rounds;      /* searches so far */
    double gain;     /* best time before the last search, or the guess, over the one after it */
    bool ended_late; /* the last search ended by time: it was still finding something */
    int claims;      /* devices that have its first programs compiled: it is to come next there */
} tune_progress;

/* Devices of one kind: they share rows, log and problems. */
typedef struct tune_kind {
    tune_device device; /* one of them */
    int devices;
    char log[4096];
    trial_book *book;
    tune_state *state;   /* of each item */
    tune_result *result; /* of each item */
    tune_progress *progress;
    size_t ended; /* items that were searched, or cannot be */
} tune_kind;

enum { TUNE_MOST_KINDS = 16, TUNE_MOST_DEVICES = 64 };

typedef struct tune_run {
    const tune_options *options;
    const tune_list *list;
    char limits[TUNE_LIMITS_TEXT];
    tune_kind kind[TUNE_MOST_KINDS];
    int kinds;
    tune_device device[TUNE_MOST_DEVICES];
    int kind_of[TUNE_MOST_DEVICES];
    int devices;
    double began;        /* s */
    double busy, waited; /* s that devices had a problem; that they waited for compilers */
    int64_t trials;      /* of this run */
    int64_t refused[KILN_TRIAL_VERDICTS];
    bool interrupted;
    bool lost;   /* a device could be opened, and later no more */
    bool unkept; /* a result cannot be written: no other one could be, and the run ends */
} tune_run;

/* Finds the devices, makes their files of rows and reads their logs. Returns the status, with a
 * sentence in `why`. */
kiln_status tune_run_open(tune_run *run, const tune_options *o, const tune_list *list, char *why);
void tune_run_close(tune_run *run);

/* Notes how a trial ended. */
void tune_run_note_trial(tune_run *run, const kiln_trial_line *line);

/* Tunes with worker processes; tune_here() in this process. */
kiln_status tune_pool(tune_run *run, char *why);
kiln_status tune_here(tune_run *run, char *why);

#endif
