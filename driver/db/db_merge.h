/* `kiln db` list, merge and diff. */
#ifndef KILN_DB_MERGE_H
#define KILN_DB_MERGE_H

#include "db_file.h"

typedef struct db_call {
    int nfiles;
    char **name;        /* of the files */
    db_file *files;     /* loaded, but for import and export */
    const char *out;    /* NULL: standard output */
    const char *device; /* --device of import, or NULL */
    const char *format; /* --format of export, or NULL */
    const char *sample; /* --sample of check, or NULL */
    const char *jobs;   /* --jobs of prove, or NULL */
} db_call;

/* Each prints or writes its result and returns an exit status. */
int db_list(const db_call *c);
int db_merge(const db_call *c);
int db_diff(const db_call *c);

/* Writes the pieces' texts to c->out or standard output. Prints what went wrong; returns an exit
 * status. */
int db_put(const db_call *c, db_piece *const *pieces, size_t n);

/* Reads a flag's value, a count; NULL leaves *count as it is. Prints what is wrong. */
bool db_count_flag(const char *name, const char *value, int *count);

/* Prints "out of memory" and returns the status. */
int db_no_memory(void);

#endif
