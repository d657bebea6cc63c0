/* Tuning: searches for the fastest config of a problem, the files of rows that keep what they find,
 * and the log of all that they tried.
 *
 *     kiln_tune_options o = {.max_seconds = 20, .keep = 1, .verify = is_right};
 *     kiln_trial best;
 *     kiln_tune(k, &problem, queue, &b, &o, &best);   // kiln_conv_create() runs it from now on
 *
 * A program that only runs convolutions needs none of this: kiln_conv_create() reads rows by
 * itself. Errors and threads are as in kiln.h.
 */
#ifndef KILN_TUNE_H
#define KILN_TUNE_H

#include "kiln.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- searches ---------------------------------------------------------------------------------
 */

/* What came of a trial. */
typedef enum kiln_trial_verdict {
    KILN_TRIAL_OK = 0,
    KILN_TRIAL_BUILD,   /* it did not build */
    KILN_TRIAL_RUN,     /* it did not run */
    KILN_TRIAL_WRONG,   /* its result was wrong */
    KILN_TRIAL_SLOW,    /* right, but so slow that it was not timed to the end */
    KILN_TRIAL_CRASHED, /* the process that tried it ended: only callers with such processes know */
    KILN_TRIAL_TIMEOUT  /* that process was ended because it took too long */
} kiln_trial_verdict;

enum { KILN_TRIAL_VERDICTS = KILN_TRIAL_TIMEOUT + 1 };

/* "ok", "build failed", "run failed", "wrong", "slow", "crashed", "timeout". */
KILN_API const char *kiln_trial_verdict_text(kiln_trial_verdict verdict);

typedef struct kiln_trial {
    const char *solver;
    int version; /* of the solver */
    char config[KILN_INFO_TEXT];
    char hash[40];        /* of its templates */
    kiln_origin origin;   /* KILN_ORIGIN_CHOICE: of the grid */
    double expected_ms;   /* predicted */
    int64_t index, count; /* trial number from 0, and how many there may be */
    kiln_trial_verdict verdict;
    double ms, iqr;                /* as in kiln_row; 0: not measured */
    int runs;                      /* samples */
    double error;                  /* what `verify` said */
    double build_seconds, seconds; /* to make its programs; for the whole trial */
    double best_ms;                /* best verified so far; 0 if none */
    const char *best_solver;       /* NULL if none */
    char best_config[KILN_INFO_TEXT];
    double guess_ms;          /* of the config that would run without rows; 0: not measured */
    const char *guess_solver; /* its solver */
    char guess_config[KILN_INFO_TEXT];
    int turns, turns_won; /* of the best with that config, in the final rounds: as in kiln_row */
    double win_iqr;
    double second_ms;          /* the next best of the final rounds; 0 if none */
    const char *second_solver; /* NULL if none */
    char second_config[KILN_INFO_TEXT];
    int repeated; /* 1: it is one of the known trials, measured again, and none of `count` */
} kiln_trial;

typedef struct kiln_tune_options {
    const char *solver; /* only these: names or ids, with commas between them; NULL: all that
                           accept */
    int64_t max_trials; /* known ones included; 0: the whole grid */
    int64_t patience;   /* so many trials of the grids without a faster config (by 1 %) end the
                           search; 0: no limit */
    double max_seconds; /* by kiln_run_seconds(); 0: no limit; a config that is being compiled at
                           the end adds the time of that, and the first config is always tried */
    int runs;           /* samples of a promising trial; 0: 5 to 100, for some ms */
    int keep;           /* 1: record the winner in the user's rows */
    /* Trials of earlier searches for the same problem, on the same device with the same driver:
     * solver, version, config, hash, verdict, ms, iqr, runs, error and seconds count. What they
     * tried is not tried again, but for the fastest, which are measured again when everything else
     * has been tried. A search that is stopped before that may have one of them for its winner. Of
     * several trials of one config the last counts. */
    const kiln_trial *known;
    size_t nknown;
    /* Called before each trial, with that trial and the trials that will follow it, as things
     * stand: whoever can, compiles their programs meanwhile, in another process and into a cache on
     * disk. The search waits for the call to return. Returns which of them is to be tried now, such
     * as the first one that is compiled; 0, and a number that is none of theirs, mean the first.
     * Optional. */
    size_t (*upcoming)(void *user, const kiln_trial *trials, size_t count);
    /* Called after every trial; a non-zero return stops the search and keeps the best so far.
     * Optional. */
    int (*progress)(void *user, const kiln_trial *trial);
    /* Called where a trial did not build or run, before it is judged. A non-zero return says that
     * the machine lacks the means for it now, such as space for the compiler's files: the search
     * ends with KILN_FILE, and the config is not judged. With the means, the config gets a second
     * try. Optional. */
    int (*lacks_means)(void *user);
    /* Judges the contents of the destination after a trial's first run; returns non-zero: wrong.
     * May set *error, which is 0, to the largest error over its bound. Required: a config that
     * nobody verified never wins. The queue is idle during the call. */
    int (*verify)(void *user, const kiln_op *op, double *error);
    void *user;
} kiln_tune_options;

/* Measures configs for `problem` on the given buffers (queue as for kiln_op_time) and reports the
 * best in *best. The tuner allocates workspace itself; buffers->workspace and packed are ignored.
 *
 * The search first tries the configs that each solver would run with now, fastest prediction
 * first; these need no search. Under a limit of time, guesses that are predicted to take ten times
 * as long as the fastest one are left out. Then come the grids. Under a limit of trials or seconds
 * the most promising configs of the grids come first, by the predictions and by how the first
 * trials bore them out, a little shuffled. Whenever a config is the fastest so far, its neighbours,
 * with one parameter a step up or down, come next.
 *
 * Before a config's first run the destination is filled with NaN (i8: 0x8f, i32: 0x8badf00d), so
 * that elements that a config leaves unwritten show. Weights are packed once, then `runs` samples
 * are taken unless the first are far from the best: launches, or means of up to 64 launches in a
 * row where one takes less than half a millisecond. The best config that needs no search is timed
 * again before and after each trial. Where both times differ from its own trial, the machine's
 * speed has changed, and the trial's `ms` is what it would have been at the earlier speed. Up to
 * four of the fastest, at least one that needs no search among them, are timed again in turns. The
 * best median of those rounds wins, unless a config that needs no search comes within 2 %. A config
 * that does not build or run is a trial like another; but for want of memory, or where the device
 * takes and gives no bytes any more, it is not judged, and the search ends, with KILN_FILE or with
 * KILN_OPENCL, after the best so far was kept.
 *
 * With `keep`, new times also replace the user's rows of other solvers for this problem. Returns
 * KILN_UNSUPPORTED when no candidate ran and verified; KILN_FILE, before anything is measured, when
 * the winner could not be kept. Where keeping it fails all the same, *best has the winner. */
KILN_API kiln_status kiln_tune(kiln *k, const kiln_problem *problem, cl_command_queue queue,
                               const kiln_buffers *buffers, const kiln_tune_options *options,
                               kiln_trial *best);

/* Returns for how many seconds this process has run since some moment: all limits of searches count
 * this time. While the process is stopped (SIGSTOP, `scontrol suspend`, a closed lid) it stands. Of
 * more than 3 s between two calls it counts 3 s, unless a search runs in the process meanwhile. */
KILN_API double kiln_run_seconds(void);

/* Measures a GPU's memory and launches, as the first search on it does: some tenths of a second,
 * for later starts (kiln_device_measured()). Does nothing, and returns KILN_OK, where that was done
 * before, on other devices, and without a program cache. */
KILN_API kiln_status kiln_device_measure(kiln *k);

/* ---- tuning rows --------------------------------------------------------------------------- */

enum { KILN_ROW_WITHOUT = 256 };

/* What a sweep learned about one problem. */
typedef struct kiln_row {
    char key[KILN_KEY_TEXT]; /* kiln_problem_row_key() */
    char solver[48];
    int version; /* of the solver */
    char config[KILN_INFO_TEXT];
    /* The median of the samples, and their robust spread: (upper - lower quartile) / median. 0: not
     * measured here; an iqr of 0 may also be unknown. */
    double ms, iqr;
    int runs;     /* samples */
    double error; /* largest error over its bound when verified */
    /* "8,1 of direct": the config that runs without rows, and its median in the same turns, in
     * which both were timed one after the other. "", 0: not compared; the row's own config: the
     * guess is the fastest. */
    char guess[KILN_INFO_TEXT + 48];
    double guess_ms;
    int turns, turns_won; /* how many turns, and in how many of them the row's config was faster */
    double win_iqr;       /* the robust spread of the turns' ratios, row's time / guess's time */
    /* "naive" or "8,1 of direct": the next best config of the search, and its time. "", 0: none */
    char second[KILN_INFO_TEXT + 48];
    double second_ms;
    char hash[40];    /* of the solver's templates */
    char driver[128]; /* of the device */
    char date[16];    /* 2026-01-31 */
    /* Names of solvers that take the problem, but that the search was not to choose:
     * "winograd_fused winograd_staged" of one for plain sums. The row decides alone where none of
     * them is allowed; elsewhere it stands beside their predictions. */
    char without[KILN_ROW_WITHOUT];
    /* "x86 6-207": the CPU it was measured on, where a device's name does not tell. It is used on
     * no other. "NVIDIA 9.0": a GPU's compute capability. "": on any that has the name. */
    char core[24];
} kiln_row;

enum { KILN_ROW_TURNS = 8 };

/* Returns 1 where the row's win over the guess is beyond its spread:
 *
 *     turns >= KILN_ROW_TURNS, turns_won >= 3/4 turns, and 1 - ms / guess_ms > win_iqr
 *
 * Else 0, and writes the reason into `why`, of KILN_ERROR_TEXT bytes, unless that is NULL. */
KILN_API int kiln_row_wins(const kiln_row *row, char *why);

/* Says what a row is to be compared with: its problem, and the config that would run without rows,
 * the guess. Where the row's `without` names the guess's solver, the guess is that of plain sums
 * (`problem` then has that math mode), and else that of the row's own solver. */
KILN_API kiln_status kiln_row_guess(kiln *k, const kiln_row *row, kiln_problem *problem,
                                    kiln_op_info *guess);

/* Times a row's config and the guess in turns, on queue and buffers as for kiln_tune(), each
 * verified before, and writes into the row what was measured, when, and with which templates and
 * driver; a second best of an earlier search goes. Of the options, runs (samples in each turn),
 * verify, lacks_means and user count. *verdict is KILN_TRIAL_OK, or what is wrong with the row's
 * config, with the reason in kiln_last_error(); the row then stays as it is, as it does where the
 * status is not KILN_OK: KILN_UNSUPPORTED says that this version does not use the row, or that
 * the guess did not run. A row whose config is the guess is not timed, and says that it is. */
KILN_API kiln_status kiln_tune_row(kiln *k, kiln_row *row, cl_command_queue queue,
                                   const kiln_buffers *buffers, const kiln_tune_options *options,
                                   kiln_trial_verdict *verdict);

/* Writes the row as a file has it, a line with its newline. Returns its length without the 0 at its
 * end; 0, and "", where it does not fit into `size` bytes. */
KILN_API size_t kiln_row_text(const kiln_row *row, char *text, size_t size);

/* What came of a row of the problem. */
typedef struct kiln_row_verdict {
    kiln_row row;
    kiln_origin origin; /* KILN_ORIGIN_USER_ROW, KILN_ORIGIN_SHIPPED_ROW */
    int any_device;     /* 1: shipped for devices of all kinds */
    int taken;          /* 1: kiln_conv_create() would run this config, because of this row */
    char why[KILN_ERROR_TEXT]; /* if not taken */
    char device[128];          /* another device with the same core that it is of; "": none */
} kiln_row_verdict;

/* Calls `row` for each row of the problem, of each file the newest first, and says why it is taken
 * or not. Where layouts are "any", these are the rows of the layouts that solvers would choose.
 * Where no row decides, the rows follow with which a search would begin: of the same problem on
 * another device with the same core, or with another batch. */
KILN_API kiln_status kiln_explain_rows(kiln *k, const kiln_problem *problem,
                                       void (*row)(void *user, const kiln_row_verdict *verdict),
                                       void *user);

typedef enum kiln_rows_kind {
    KILN_ROWS_HEAD = 0, /* up to and including the line "rows:" */
    KILN_ROWS_NOTE,     /* comments and blank lines */
    KILN_ROWS_ROW,
    KILN_ROWS_BAD /* what readers skip */
} kiln_rows_kind;

/* A stretch of a file of rows, as it stands there. All pieces in their order are the whole file. */
typedef struct kiln_rows_piece {
    kiln_rows_kind kind;
    int64_t line;     /* its first, counted from 1 */
    const char *text; /* not terminated; valid during the call */
    size_t length;
    const char *device;  /* HEAD: whose rows these are, "" if it does not say */
    int shipped;         /* HEAD: 1: each row must show that it beats the guess */
    const kiln_row *row; /* ROW */
    const char *why;     /* BAD: what is wrong with it; HEAD: the same, NULL where nothing is */
} kiln_rows_piece;

/* Calls `piece` for each piece of `file`. Returns KILN_FILE when the file cannot be read. */
KILN_API kiln_status kiln_rows_read(const char *file,
                                    void (*piece)(void *user, const kiln_rows_piece *p),
                                    void *user);

/* Makes a file of tuning rows for a device, and its folders, where it is missing. Returns
 * KILN_FILE, naming the file, where rows of that device cannot be appended to it: a long sweep
 * learns at its start whether it can keep its winners. */
KILN_API kiln_status kiln_rows_make(const char *file, const char *device);

/* ---- the log of trials ------------------------------------------------------------------------
 *
 * A text file of JSON objects, one a line, beside the file of rows: what searches tried, also what
 * did not work, and how each search ended. docs/tuning.md has the fields.
 */

typedef enum kiln_line_kind {
    KILN_LINE_TRIAL = 0, /* one config */
    KILN_LINE_SEARCH     /* the end of a search: the winner, and what it was compared with */
} kiln_line_kind;

typedef struct kiln_trial_line {
    kiln_line_kind kind;
    char time[24];               /* "2026-01-31T12:59:59Z" */
    char problem[KILN_KEY_TEXT]; /* whole, kiln_problem_text() */
    char key[KILN_KEY_TEXT];     /* of its row */
    char solver[48];             /* of the trial; of the winner, "" if there is none */
    int version;
    char config[KILN_INFO_TEXT];
    char params[KILN_INFO_TEXT]; /* names of the config's values, with commas between them */
    char origin[16];             /* "grid", "guess", "user row", "shipped row" */
    int index, count;            /* TRIAL: as in kiln_trial. SEARCH: trials, and of how many */
    char verdict[16];            /* TRIAL: kiln_trial_verdict_text(). SEARCH: "done" */
    double ms, iqr;
    int runs;
    double error, expected_ms, build_seconds, seconds;
    char hash[40], driver[128], device[128], core[24];
    char why[512]; /* a failure in a sentence */
    /* SEARCH */
    double guess_ms, second_ms;
    char guess[KILN_INFO_TEXT + 48], second[KILN_INFO_TEXT + 48]; /* "8,1 of direct" */
    int turns, turns_won;                                         /* as in kiln_row */
    double win_iqr;
    char limits[256]; /* what the search was limited to, as its caller puts it */
} kiln_trial_line;

/* Fills what the kiln and the problem say: time, problem, key, device, driver, core, and with
 * `trial` that trial. */
KILN_API void kiln_trial_line_fill(kiln_trial_line *line, const kiln *k,
                                   const kiln_problem *problem, const kiln_trial *trial);

/* Writes the name of the log that belongs to a file of rows: "DIR/NAME.yaml" has
 * "DIR/NAME.trials.jsonl". */
KILN_API void kiln_trials_file(const char *rows_file, char *file, size_t size);

/* Sees to it that the winner of an earlier search, whose end is this line of the log, has its row
 * among the user's: where none of its solver is there and usable, the row is appended as the line
 * has it, and *restored is 1. `solvers` are those of that search, as in kiln_tune_options. Returns
 * KILN_UNSUPPORTED where the winner does not hold any more: its solver or templates have changed.
 */
KILN_API kiln_status kiln_tune_restore(kiln *k, const kiln_problem *problem, const char *solvers,
                                       const kiln_trial_line *end, int *restored);

/* Appends one line in a single write(), which several processes may do at once; makes the file and
 * its folders where they are missing. Returns KILN_INVALID where problem, key, verdict or the
 * solver of a trial is "", KILN_FILE when the line cannot be written. */
KILN_API kiln_status kiln_trials_append(const char *file, const kiln_trial_line *line);

/* Calls `visit` for each line, in their order; with `problem` not NULL, for those lines only that
 * have it as their problem. *skipped (if not NULL) counts lines that cannot be read, or that
 * kiln_trials_append() would refuse. A missing file has no lines. Returns KILN_FILE when the file
 * cannot be read. */
KILN_API kiln_status kiln_trials_read(const char *file, const char *problem,
                                      void (*visit)(void *user, const kiln_trial_line *line),
                                      void *user, int64_t *skipped);

#ifdef __cplusplus
}
#endif

#endif
