/* Files of tuning rows in memory, piece by piece, and writing them. */
#ifndef KILN_DB_FILE_H
#define KILN_DB_FILE_H

#include "kiln.h"

#include <stdbool.h>

enum { DB_WHY = 160 };

/* A copy of kiln_rows_piece. */
typedef struct db_piece {
    int kind; /* KILN_ROWS_HEAD, ... */
    int64_t line;
    char *text; /* terminated */
    size_t length;
    kiln_row *row; /* ROW */
    char why[DB_WHY];
    int file, order; /* where it came from, for sorting */
    bool dropped;    /* db_write() leaves it out */
} db_piece;

typedef struct db_file {
    const char *name;
    char device[128];
    db_piece *piece;
    size_t count, room;
    bool no_memory;
} db_file;

/* Prints what went wrong. The number becomes the `file` of its pieces. */
kiln_status db_load(db_file *f, const char *name, int number);
void db_free(db_file *f);

/* Order by key, solver and version, then as the rows stand in their files. */
int db_compare(const db_piece *a, const db_piece *b);
/* The same problem, solver and version: of two such rows only the later counts. */
bool db_same(const kiln_row *a, const kiln_row *b);
/* The rows of some files that count, sorted; *n of them. NULL: out of memory. */
db_piece **db_current(const db_file *files, int nfiles, size_t *n);

/* Replaces `name`, by temporary name and rename, by the texts of the pieces that are not dropped.
 */
kiln_status db_write(const char *name, db_piece *const *pieces, size_t n);
/* True when the file is no longer what was read: somebody appended to it. */
bool db_changed(const db_file *f);

#endif
