/* What a report shows: devices, their layers, and the trials of each layer. */
#ifndef KILN_REPORT_DATA_H
#define KILN_REPORT_DATA_H

#include "kiln_tune.h"

#include <stdbool.h>
#include <stdio.h>

enum { REPORT_CONFIG = KILN_INFO_TEXT + 48 };

typedef struct report_trial {
    char *solver, *config, *params; /* params may be "" */
    double ms;                      /* 0: not measured */
    double seconds;
    double at; /* when it ended, in seconds of UTC; 0: unknown */
    int run;   /* of the search, which may be stopped and go on another day; counted here */
    kiln_trial_verdict verdict;
    bool guessed; /* its config needed no search */
    char *why;    /* of a failure; NULL: unknown */
} report_trial;

/* Where the best time of a layer is from, the best source last. */
typedef enum report_source { FROM_NOWHERE = 0, FROM_RESULT, FROM_ROW, FROM_SEARCH } report_source;

/* A best time, and what was measured with it, in the same search: what another day says of the
 * guess is no part of it. */
typedef struct report_best {
    double ms, iqr;       /* 0: none; unknown */
    double guess_ms;      /* of the config that would run without rows; 0: unknown */
    int turns, turns_won; /* in which both were timed, and the best was faster; 0: none */
    double win_iqr;       /* the robust spread of their ratios */
    char date[16];        /* "2026-01-31"; "": unknown */
    char driver[64];      /* "": unknown */
    int version;          /* of the solver; 0: unknown */
    double predicted_ms;  /* 0: unknown */
    char solver[48], config[KILN_INFO_TEXT];
} report_best;

/* A problem on a device. */
typedef struct report_layer {
    char name[KILN_KEY_TEXT], key[KILN_KEY_TEXT]; /* of the problem; of its row */
    int device;
    bool known; /* `problem` is read, and the numbers behind it are counted */
    kiln_problem problem;
    double flops, bytes; /* of plain sums; of x, w and y, once each */
    report_source source;
    report_best best;
    double seconds;                    /* of searches */
    bool ended;                        /* a search has ended: its trials count up to here */
    bool run_ended;                    /* the next trial is one of another run */
    bool listed;                       /* it has a row in the page's table */
    const struct report_layer *before; /* the same layer in older files; NULL: it is not there */
    report_trial *trial;
    size_t trials, trials_room;
} report_layer;

typedef struct report_limit {
    double value;   /* 0: unknown */
    double least;   /* of a measured one: the lowest of its rounds, of which the highest counts */
    int rounds;     /* 0: not measured in rounds */
    double seconds; /* from the first round to the last one */
    enum { LIMIT_UNKNOWN = 0, LIMIT_GIVEN, LIMIT_MEASURED, LIMIT_COUNTED } origin;
} report_limit;

typedef struct report_device {
    char name[200], core[24]; /* core: "" where nobody says */
    report_limit gflops[KILN_TYPES], gbs;
    size_t gone;     /* layers that only the older files have */
    char driver[64]; /* as the device has it now; "": it is not here */
    char doubt[256]; /* why measured limits may be too low; "": nothing says so */
} report_device;

enum { REPORT_DEVICES = 16, REPORT_ROWS = 5000 };

typedef struct report_data {
    report_device device[REPORT_DEVICES];
    int devices;
    report_layer *layer;
    size_t layers, layers_room;
    size_t *slot; /* of a hash of name and device: index of the layer plus 1; 0: none */
    size_t slots;
    bool no_memory, too_many_devices;
} report_data;

void report_data_free(report_data *d);

/* Returns the index of a device, added where it is missing; an empty core is that of any device of
 * the name. -1: there are too many. */
int report_data_device(report_data *d, const char *name, const char *core);

/* Returns a time that a file tells in ms; 0 where no device can take it. */
double report_time(double ms);

/* Returns the layer of a problem's name on a device, made where it is missing; NULL: out of memory,
 * or `device` is -1. */
report_layer *report_data_layer(report_data *d, int device, const char *name);

/* Adds a copy of a trial. */
void report_data_trial(report_data *d, report_layer *l, const report_trial *trial);
/* Forgets the trials of a layer, after a restart. */
void report_data_forget(report_layer *l);

/* Takes a best time, with all that was measured with it, unless a better source has given one. A
 * guess that was not timed in turns with it is no part of it. */
void report_data_best(report_layer *l, report_source source, const report_best *best);

/* Finishes layers whose search did not end, puts layers into the order of the page, by device, then
 * by name, and lists REPORT_ROWS of each device: a page with many more could not be opened. */
void report_data_finish(report_data *d);

/* Return what a layer reaches, and may reach at most by the limits of its device; 0: unknown. */
double report_gflops(const report_layer *l);
double report_gbs(const report_layer *l);
double report_roof(const report_data *d, const report_layer *l);
/* Returns how many times as long the guess took as the best, in one measurement; 0: unknown. */
double report_gain(const report_layer *l);
/* Returns whether the win over the guess is beyond the spread of their turns. */
bool report_wins(const report_layer *l);

#endif
