/* The trials of a layer as a grid: the best time for each pair of values of two parameters. */
#ifndef KILN_HEAT_GRID_H
#define KILN_HEAT_GRID_H

#include "report_data.h"

enum { HEAT_PARAMS = 16, HEAT_VALUES = 16 };

/* The trials of one solver with one layer, by their parameters. */
typedef struct heat_grid {
    const report_layer *layer;
    const char *solver;
    char name[HEAT_PARAMS][32];
    int params;
    long value[HEAT_PARAMS][HEAT_VALUES]; /* the different values, in order */
    int values[HEAT_PARAMS];              /* HEAT_VALUES + 1: too many for a picture */
} heat_grid;

typedef struct heat_cell {
    double ms; /* the best; 0: none */
    int tried;
    const report_trial *best;
} heat_cell;

/* Reads the trials of the winner's solver or, where these are few, of the solver that has most.
 * Returns false where no trial names its parameters. */
bool heat_grid_open(heat_grid *g, const report_layer *l);

/* Finds the two parameters that matter most; x has as many values as y, or more. Returns false
 * where there are no two with a few values each. */
bool heat_grid_pick(const heat_grid *g, int *x, int *y);

/* Fills cells[index of y's value][index of x's value]. */
void heat_grid_fill(const heat_grid *g, int x, int y, heat_cell cells[HEAT_VALUES][HEAT_VALUES]);

#endif
