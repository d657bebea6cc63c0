/* The words of `kiln db` that look at files of rows or put them together. */
#ifndef KILN_DB_MERGE_H
#define KILN_DB_MERGE_H

#include "db_file.h"

typedef struct db_call {
    int nfiles;
    db_file *files;  /* loaded */
    const char *out; /* NULL: standard output */
} db_call;

/* Each returns an exit status. */
int db_list(const db_call *c);
int db_merge(const db_call *c);
int db_diff(const db_call *c);

/* Says so, and returns the status. */
int db_no_memory(void);

#endif
