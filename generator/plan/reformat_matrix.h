/* Reformats between a plain matrix on one side and blocks of its rows, innermost, on the other. */
#ifndef KILN_REFORMAT_MATRIX_H
#define KILN_REFORMAT_MATRIX_H

#include "device.h"
#include "kiln_layout.h"

typedef struct kiln_matrix {
    int64_t batch, rows, columns;
    int64_t block, blocks; /* of rows, padding included */
} kiln_matrix;

/* Describes the matrix. Returns false where the two storages are no such pair. */
bool kiln_matrix_find(const kiln_storage *plain, const kiln_storage *blocked, kiln_matrix *m);

/* Returns the side of the square tiles of rows and columns, 0 for none: such tiles are for
 * processors with vector registers; GPUs have those of reformat_turn.h. */
int kiln_matrix_tile(const kiln_matrix *m, const kiln_device_facts *d, kiln_type from,
                     kiln_type to);

/* Returns the columns of one work-item. `join`: blocks become a matrix. */
int64_t kiln_matrix_span(const kiln_matrix *m, bool join, const kiln_device_facts *d);

#endif
