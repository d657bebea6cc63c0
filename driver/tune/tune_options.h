/* The options of `kiln tune`, beside the flags of conv. */
#ifndef KILN_TUNE_OPTIONS_H
#define KILN_TUNE_OPTIONS_H

#include "driver/conv/request.h"

enum { TUNE_LIMITS_TEXT = 256 };

typedef struct tune_options {
    double seconds;    /* a problem; 0: no limit */
    double total_time; /* all problems together; 0: no limit */
    int64_t trials, patience;
    const char *solvers, *types;      /* "": all; the line's own */
    const char *device;               /* "": one; "all", or names with commas between them */
    const char *shard;                /* "": Slurm's, else all */
    int64_t shard_index, shard_count; /* from 0; of so many */
    int64_t shard_by;                 /* SHARD_BY_COST, SHARD_BY_KEY */
    int64_t isolate, fresh, profile, dry_run;
    int64_t jobs;       /* processes that compile ahead, for each device; -1: by the device */
    double trial_limit; /* seconds */
    int64_t memory;     /* MiB that a process may use; 0: three quarters of the machine's */
    int64_t help;
    bool seconds_given;
    bool shard_of_slurm; /* the array job says the shard */
} tune_options;

enum { SHARD_BY_COST = 0, SHARD_BY_KEY };

/* Reads the words after argv[0]: options into *o, flags of conv into defaults->flags, names of
 * files into `files` (room for argc), *nfiles. Reads SLURM's variables where no --shard is given.
 * Returns KILN_OK, or KILN_INVALID with a sentence in `why`. */
kiln_status tune_options_parse(tune_options *o, request *defaults, const char **files, int *nfiles,
                               int argc, char **argv, char *why);

/* Writes what limits a search, for the log: searches with other limits are not the same. */
void tune_options_limits(const tune_options *o, char text[TUNE_LIMITS_TEXT]);

/* Prints what `kiln tune --help` does. */
void tune_options_help(FILE *to);

#endif
