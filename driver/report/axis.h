/* Scales of a picture: where a value lies, and lines and numbers beside it. */
#ifndef KILN_AXIS_H
#define KILN_AXIS_H

#include <stdbool.h>
#include <stdio.h>

typedef struct axis {
    bool log;
    double low, high; /* values; a log scale has positive ones */
    double from, to;  /* their places, in units of the picture */
} axis;

/* Makes a scale for values from `low` to `high`, widened to round numbers. */
axis axis_make(bool log, double low, double high, double from, double to);

/* Returns the place of a value; values outside lie at the nearer end. */
double axis_at(const axis *a, double value);

/* Draw the lines of round values across the picture, their numbers, and the axis' title. The other
 * axis tells how far lines reach. `most`: so many numbers fit. */
void axis_draw_x(FILE *to, const axis *x, const axis *y, int most, const char *title);
void axis_draw_y(FILE *to, const axis *x, const axis *y, int most, const char *title);

#endif
