/* Reformats that are a plain matrix on one side, and on the other blocks of its rows, innermost. */
#ifndef KILN_REFORMAT_MATRIX_H
#define KILN_REFORMAT_MATRIX_H

#include "device.h"
#include "kiln_layout.h"

typedef struct kiln_matrix {
    int64_t batch, rows, columns;
    int64_t block, blocks; /* of rows, padding included */
} kiln_matrix;

/* False where the two storages are no such pair. */
bool kiln_matrix_find(const kiln_storage *plain, const kiln_storage *blocked, kiln_matrix *m);

/* Tiles of a square of rows and columns, 0 for none: they are for processors with vector registers;
 * a GPU's work-items each move a cell. */
int kiln_matrix_tile(const kiln_matrix *m, const kiln_device_facts *d, kiln_type from,
                     kiln_type to);

/* Columns of one work-item. `join`: blocks become a matrix. */
int64_t kiln_matrix_span(const kiln_matrix *m, bool join, const kiln_device_facts *d);

#endif
