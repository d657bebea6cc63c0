/* The activations as the reference computes them, and the errors of a device's. */
#ifndef KILN_ACTIVATION_H
#define KILN_ACTIVATION_H

#include "kiln_problem.h"

#include <stdbool.h>

/* The error of a device's activation. The steepest slope near it multiplies the error of the
 * argument; the activation's own error is a multiple of the unit roundoff u times the result, plus
 * one of u times the argument. */
typedef struct activation_error {
    double slope, of_result, of_argument;
} activation_error;

/* Returns the epilogue's activation of `v`. */
double activation_value(const kiln_epilogue *e, double v);
/* Returns the error about the result `y` of an argument that is `d` off. */
activation_error activation_error_of(const kiln_epilogue *e, double y, double d);
/* Whether the activation only compares and so rounds nothing. */
bool activation_compares(const kiln_epilogue *e);
/* Whether the activation at most multiplies, by its parameter a. */
bool activation_multiplies(const kiln_epilogue *e);

#endif
