/* `kiln db import`: rows of MIOpen's text perf-db become tuning rows. */
#ifndef KILN_DB_IMPORT_H
#define KILN_DB_IMPORT_H

#include "db_merge.h"

/* Reads the perf-db c->name[0], writes a file of rows to c->out or standard output, and prints what
 * it left out and why to standard error. Returns an exit status. */
int db_import(const db_call *c);

#endif
