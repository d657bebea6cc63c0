/* Files of tuning rows in memory, piece by piece. */
#ifndef KILN_DB_FILE_H
#define KILN_DB_FILE_H

#include "kiln_tune.h"

#include <stdbool.h>

enum { DB_WHY = 160 };

/* A copy of kiln_rows_piece. */
typedef struct db_piece {
    int kind; /* KILN_ROWS_HEAD, ... */
    int64_t line;
    char *text; /* terminated */
    size_t length;
    char *instead; /* the text that db_rewrite() and db_write() write; NULL: `text` */
    kiln_row *row; /* of KILN_ROWS_ROW, else NULL */
    char why[DB_WHY];
    int file, order; /* its file and its place there, for sorting */
    bool dropped;    /* db_write() leaves it out */
} db_piece;

typedef struct db_file {
    const char *name;
    char device[128];
    bool shipped; /* its head wants rows that show why they are believed */
    db_piece *piece;
    size_t count, room;
    bool no_memory;
} db_file;

/* Loads a file; `number` becomes the `file` of its pieces. Prints what went wrong. */
kiln_status db_load(db_file *f, const char *name, int number);
void db_free(db_file *f);

/* Orders rows by key, solver and version, then by file and place there. */
int db_compare(const db_piece *a, const db_piece *b);
/* Orders by key, solver, core and version alone. */
int db_compare_rows(const kiln_row *a, const kiln_row *b);
/* Whether two rows have the same problem, solver and version: only the later one counts then. */
bool db_same(const kiln_row *a, const kiln_row *b);
/* Returns the *n rows that count, sorted; the caller frees the array. NULL: out of memory. */
db_piece **db_current(const db_file *files, int nfiles, size_t *n);

/* Replaces the file with the texts of the pieces that are not dropped; writes a temporary file and
 * renames it. Prints what went wrong. */
kiln_status db_write(const char *name, db_piece *const *pieces, size_t n);
/* Replaces the file that was loaded with its pieces that are not dropped and what other processes
 * have appended since; whoever appends waits meanwhile. The pieces are then those of the file, and
 * the dropped ones are empty. Returns KILN_FILE where it was changed in another way. Prints what
 * went wrong. */
kiln_status db_rewrite(db_file *f);

#endif
