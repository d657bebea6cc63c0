/* What the files of backward weights by Winograd share: parameters, what a config makes of a shape,
 * and the predicted time. */
#ifndef KILN_WINOGRAD_WEIGHTS_H
#define KILN_WINOGRAD_WEIGHTS_H

#include "generator/plan/solver.h"

/* Positions in the parameter table. */
enum { GRADIENT_K, GRADIENT_CV, GRADIENT_ROWS, GRADIENT_PARTS, GRADIENT_PARAMS };

/* Products of a tile, one for each of its elements. */
enum { GRADIENT_ELEMENTS = 36 };

typedef struct kiln_gradient {
    int block;
    int64_t c_blocks, k_blocks;
    int64_t tiles[2]; /* of an image: rows, columns */
    int64_t all;      /* tiles of all images */
} kiln_gradient;

kiln_gradient kiln_gradient_of(const kiln_shape *s, const kiln_device_facts *d);

/* Returns the copies of the matrices that are multiplied: each part has its own. */
int kiln_gradient_copies(const kiln_config *c);
/* Return the rows of tiles in all images, and of one part. */
int64_t kiln_gradient_rows(const kiln_shape *s, const kiln_gradient *g);
int64_t kiln_gradient_part(const kiln_shape *s, const kiln_gradient *g, const kiln_config *c);
/* Returns the tiles that the matrices have room for. */
int64_t kiln_gradient_room(const kiln_gradient *g, const kiln_config *c);
/* Return the elements of one of the matrices that are multiplied, and of one of their products. */
int64_t kiln_gradient_plane(const kiln_gradient *g, int64_t blocks, const kiln_config *c);
int64_t kiln_gradient_products(const kiln_gradient *g);
/* Returns the items of one product. */
int64_t kiln_gradient_items(const kiln_gradient *g, const kiln_config *c);

double kiln_gradient_ms(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                        const kiln_config *c);

#endif
