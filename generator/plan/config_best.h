/* Finds the config with the least predicted time among all that some ranges of values make, for
 * guess(). */
#ifndef KILN_CONFIG_BEST_H
#define KILN_CONFIG_BEST_H

#include "solver.h"

/* Values of one parameter, in the order in which a guess tries them. */
typedef struct kiln_range {
    int param; /* position in the solver's table */
    const int *value;
    int nvalues;           /* of a list, 0: none */
    int first, last, step; /* behind the list; step 0: each value is double the one before */
} kiln_range;

static inline kiln_range kiln_stepped(int param, int first, int last, int step)
{
    return (kiln_range){.param = param, .first = first, .last = last, .step = step};
}

static inline kiln_range kiln_each(int param, int first, int last)
{
    return kiln_stepped(param, first, last, 1);
}

static inline kiln_range kiln_doubled(int param, int first, int last)
{
    return kiln_stepped(param, first, last, 0);
}

static inline kiln_range kiln_listed(int param, const int *value, int nvalues)
{
    return (kiln_range){.param = param, .first = 1, .last = 0, .value = value, .nvalues = nvalues};
}

/* The values that a search tries. */
static inline kiln_range kiln_searched(const kiln_param *params, int param)
{
    return kiln_listed(param, params[param].value, params[param].nvalues);
}

typedef struct kiln_guess {
    const kiln_solver *self;
    const kiln_shape *s;
    const kiln_device_facts *d;
    void *own; /* further input of ms() */
    /* Returns the predicted time of a config, after setting parameters that follow from the values
     * tried. Returns INFINITY for a config that the guess must not take; cheap checks come first.
     */
    double (*ms)(const struct kiln_guess *g, kiln_config *c);
    kiln_config best; /* of all tried so far; at the beginning, one that is always legal */
    double best_ms;   /* of `best`; INFINITY: the first config that ms() accepts replaces `best` */
} kiln_guess;

/* For ms(): returns what the solver predicts, or INFINITY where the config is illegal. */
double kiln_legal_ms(const kiln_guess *g, kiln_config *c);

/* Tries every combination of the ranges' values in a copy of *start, the last range's values
 * fastest. A config replaces g->best where it is predicted to take less time. */
void kiln_config_best(kiln_guess *g, const kiln_config *start, const kiln_range *range,
                      int nranges);

#endif
