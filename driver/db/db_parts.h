/* Parts of a list that was tuned in shards: whether files of rows are all of them. */
#ifndef KILN_DB_PARTS_H
#define KILN_DB_PARTS_H

#include "driver/base/rows_part.h"

#include "db_file.h"

typedef struct db_parts {
    const db_file *files;
    int nfiles;
    rows_part *part; /* of each file; count 0: it is no part */
} db_parts;

/* Reads the records of parts in the files, and takes them out of the pieces' texts. Returns
 * KILN_INVALID where parts of two divisions are among them. Prints what went wrong. */
kiln_status db_parts_open(db_parts *p, db_file *files, int nfiles);
void db_parts_close(db_parts *p);

/* Prints which parts are not among the files, and which problems of the parts have no row among
 * the `n` that count. Returns whether something is missing. */
bool db_parts_lack(const db_parts *p, db_piece *const *rows, size_t n);

#endif
