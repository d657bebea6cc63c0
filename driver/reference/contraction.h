/* Sums of products over index spaces: the arithmetic of the reference, without any notion of
 * convolution.
 *
 *     dst[row, col] = sum over s of  matrix[row, s] * grid[position(col) + position(s)]
 *
 * Both `col` and `s` run over an outer index and three spatial ones. The grid is a stack of 3-D
 * boxes; a position outside the box contributes nothing, not even where the matrix holds a NaN.
 * Sums are in double: products of any two storage types but i32 are exact there, and so are sums of
 * i8 products.
 */
#ifndef KILN_CONTRACTION_H
#define KILN_CONTRACTION_H

#include "kiln_problem.h"

#include <stdbool.h>

/* One index space: the effect of a step along each of its indices. */
typedef struct contraction_space {
    int64_t outer, outer_grid, outer_linear; /* count; steps in the grid and in dst or matrix */
    int64_t count[3];
    int64_t first[3], step[3]; /* position = first + index * step, along each axis */
    int64_t linear[3];         /* steps in dst (for columns) or matrix (for sums) */
} contraction_space;

typedef struct contraction {
    kiln_type type; /* of matrix and grid */
    const void *matrix, *grid;
    int64_t matrix_first, grid_first, dst_first;         /* element offsets */
    int64_t groups, matrix_group, grid_group, dst_group; /* independent parts: count; steps */
    int64_t rows, matrix_row, dst_row;                   /* of each group: count; steps */
    contraction_space columns, sums;
    int64_t box[3], box_step[3]; /* the grid's extent, and steps in it */
} contraction;

/* Some elements of the destination: their linear indices, sums and magnitudes. The magnitude is an
 * upper bound of the sum of |products| by Cauchy and Schwarz, |row| * |column|, which costs next to
 * nothing; for random data it is about a third above that sum. */
typedef struct contraction_part {
    int count;
    const int64_t *index;
    const double *sum, *magnitude;
} contraction_part;

/* Called by many threads at once, `thread` below omp_get_max_threads(). */
typedef void contraction_visit(void *user, int thread, const contraction_part *part);

/* Memory of contraction_all() for all threads; free() releases it. NULL: out of memory. */
typedef struct contraction_scratch contraction_scratch;
contraction_scratch *contraction_scratch_new(void);

/* Visits the whole destination, each element once. The type must be f32. */
void contraction_all(const contraction *c, contraction_scratch *scratch, contraction_visit *visit,
                     void *user);

/* Returns the sum of one element, and its exact magnitude. `column` counts with outer as the
 * slowest index, then the three axes. */
double contraction_one(const contraction *c, int64_t group, int64_t row, int64_t column,
                       double *magnitude);

/* Returns whether the element has a term outside the box whose matrix element is not finite: a sum
 * that takes such a position for a zero is NaN. */
bool contraction_pads(const contraction *c, int64_t group, int64_t row, int64_t column);

#endif
