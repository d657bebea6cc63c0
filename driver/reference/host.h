/* Tensors in host memory: element access, seeded contents, poison. */
#ifndef KILN_HOST_H
#define KILN_HOST_H

#include "kiln_problem.h"

#include <stdbool.h>

/* Read and write element i of a plain array of `type`. Writing rounds to nearest even; integers and
 * 8-bit floats saturate, and a NaN becomes 0 in an integer. */
double host_get(kiln_type type, const void *data, int64_t i);
void host_set(kiln_type type, void *data, int64_t i, double value);
/* Returns the value that is read after `value` was written as `type`. */
double host_round(kiln_type type, double value);
/* Converts a whole array, exactly for every type but i32. */
void host_to_float(kiln_type type, const void *data, int64_t count, float *out);

/* Contents. MIOPEN: the ranges of MIOpenDriver (x, dy: 0.01 * U(0,1); w: 0.01 * U(-0.5,0.5), for
 * f16 0.01 * U(-1/3,0.5), for 8-bit floats a hundred times as much; bias: index mod 8 + U(0,1); i8
 * over the type's range). INT: small
 * integers, so that sums of products are exact. UNIFORM: U(-1,1), for i8 over the type's range.
 * Element i depends on (seed, tensor, i) only, so that any number of threads makes the same data.
 */
typedef enum host_fill { HOST_FILL_MIOPEN = 0, HOST_FILL_INT, HOST_FILL_UNIFORM } host_fill;
enum { HOST_X = 0, HOST_W, HOST_Y, HOST_BIAS, HOST_RESIDUAL };

/* Returns "miopen", "int" or "uniform". */
const char *host_fill_name(host_fill fill);
/* Fills an array. `terms` is the number of products in a sum (reference_terms()): INT makes long
 * sums sparse, so that every sum is exact in the destination too. */
void host_fill_tensor(host_fill fill, uint64_t seed, int tensor, kiln_type type, int64_t terms,
                      void *data, int64_t count);
/* Returns 64 random bits that depend on the three arguments only. */
uint64_t host_random(uint64_t seed, uint64_t stream, uint64_t i);

/* Fill an array with poison, and tell whether an element holds it: a NaN pattern for floats, an
 * unlikely value for integers. */
void host_poison(kiln_type type, void *data, int64_t count);
bool host_is_poison(kiln_type type, const void *data, int64_t i);

#endif
