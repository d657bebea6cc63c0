/* `kiln db` list, merge and diff. */
#ifndef KILN_DB_MERGE_H
#define KILN_DB_MERGE_H

#include "db_file.h"

typedef struct db_call {
    int nfiles;
    db_file *files;  /* loaded */
    const char *out; /* NULL: standard output */
} db_call;

/* Each prints or writes its result and returns an exit status. */
int db_list(const db_call *c);
int db_merge(const db_call *c);
int db_diff(const db_call *c);

/* Prints "out of memory" and returns the status. */
int db_no_memory(void);

#endif
