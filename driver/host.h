/* Tensors in host memory: seeded contents, element access, raw files. */
#ifndef KILN_HOST_H
#define KILN_HOST_H

#include "kiln_problem.h"

#include <stdbool.h>

/* Element i of a plain array of `type`, as double; and the reverse, rounded to nearest even
 * (saturated for integers). */
double host_get(kiln_type type, const void *data, int64_t i);
void host_set(kiln_type type, void *data, int64_t i, double value);

/* Contents. MIOPEN: the ranges of MIOpenDriver (x, dy: 0.01 * U(0,1); w: 0.01 * U(-0.5,0.5), narrower
 * for f16; i8 over the type's range). INT: small integers, so that sums of products are exact.
 * Counter-based: element i depends on (seed, tensor, i) only, so any part can be made on any number
 * of threads. */
typedef enum host_fill { HOST_FILL_MIOPEN = 0, HOST_FILL_INT, HOST_FILL_UNIFORM } host_fill;
enum { HOST_X = 0, HOST_W, HOST_Y, HOST_BIAS, HOST_RESIDUAL };

bool host_fill_named(const char *name, host_fill *fill); /* "miopen", "int", "uniform" */
const char *host_fill_name(host_fill fill);
/* `terms` is the accumulation length (kiln_shape_terms): INT keeps |sum| exactly representable. */
void host_fill_tensor(host_fill fill, uint64_t seed, int tensor, kiln_type type, int64_t terms,
                      void *data, int64_t count);

/* Poison: a NaN pattern for floats, an unlikely value for integers. */
void host_poison(kiln_type type, void *data, int64_t count);

#endif
