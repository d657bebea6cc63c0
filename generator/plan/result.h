/* The stages around a solver whose sums become results in a stage of their own: of a split shape
 * (kiln_shape.split), whose types or scales and zero points no solver need know.
 *
 *     x' = x, or of u8 x - 128         w'
 *     sums = solver(x', w')            in i32 modulo 2^32, or in f32
 *     y = result(sums, ...)            templates/result.cl
 *
 * A zero point of x, 128 added by the way, costs the solver nothing: zero * (sum of the weights at
 * the taps that meet x), a number for each channel and each way in which borders cut taps off, is
 * subtracted by the result stage. Those sums are packed behind the weights. A zero point of w is
 * multiplied by the sum of x - x_zero under each filter, which a stage before the result makes.
 */
#ifndef KILN_RESULT_H
#define KILN_RESULT_H

#include "plan.h"
#include "shape.h"

/* Which buffers the stages work on. */
typedef struct kiln_result_roles {
    int source, weights; /* what the solver reads, in the shape's layouts */
    int sums;            /* what it writes, likewise */
    int destination, residual, bias;
} kiln_result_roles;

/* Adds the stages that follow the solver's. Returns false, with the reason. */
bool kiln_result_emit(const kiln_shape *s, const kiln_device_facts *d, const kiln_result_roles *r,
                      kiln_plan *plan, char *why);

/* Returns the expected time of those stages, in ms. */
double kiln_result_ms(const kiln_shape *s, const kiln_device_facts *d);

/* Along one axis of a destination, places 0 .. low - 1 and the last `high` ones meet taps of their
 * own; those between repeat with a period. */
typedef struct kiln_result_axis {
    int64_t size, low, period, high;
} kiln_result_axis;

kiln_result_axis kiln_result_axis_of(const kiln_shape *s, int axis);

#endif
