/* What a result may be where numbers leave the range of f32: NaNs, infinities, overflow. */
#ifndef KILN_NONFINITE_H
#define KILN_NONFINITE_H

#include "reference.h"

#include <stdbool.h>

/* Sets of values that are not finite. */
enum { NONFINITE_PLUS = 1, NONFINITE_MINUS = 2, NONFINITE_NAN = 4, NONFINITE_ANY = 7 };

/* Where an algorithm may compute a NaN or an infinity although the plain sum is finite. */
typedef struct nonfinite {
    const kiln_problem *problem;
    const reference_tensors *tensors;
    bool in_data;   /* a source holds a NaN or an infinity */
    double largest; /* no sum of finite products is larger */
    /* For an algorithm that mixes neighbours (Winograd): */
    bool mixes;
    unsigned char *point; /* of each image and group of the grid that is read, plane after plane */
    unsigned char *channel; /* of the channels that are written, or of the weights' pairs */
} nonfinite;

/* Looks through both sources. Returns false without memory. nonfinite_free() releases the rest. */
bool nonfinite_new(nonfinite *n, const kiln_problem *problem, const reference_tensors *t,
                   double amplification);
void nonfinite_free(nonfinite *n);

/* Returns the values that a sum in f32 may have besides one near `sum`: the class of `sum`, and
 * what an overflow on the way makes of it. `magnitude` is at least the sum of the absolute values
 * of the `terms` products, `largest` as in nonfinite. */
int nonfinite_sum(double sum, double magnitude, double terms, double largest);
/* Returns the same for the epilogue's argument = alpha * sum + what is added, before the
 * activation. `added` is the sum of the finite absolute values that are added. */
int nonfinite_argument(int of_sum, double sum, double magnitude, double alpha, double added,
                       double argument);
/* Returns the values that element `index` may have because of its algorithm: because padding is
 * multiplied as stored zeros, or because a tile holds a value that is not finite. */
int nonfinite_beyond(const nonfinite *n, int64_t index);

#endif
