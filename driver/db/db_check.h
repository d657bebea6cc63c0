/* `kiln db check`: which rows are stale on the device at hand. */
#ifndef KILN_DB_CHECK_H
#define KILN_DB_CHECK_H

#include "db_merge.h"

/* Times a sample of c->files[0]. Returns an exit status; 1: rows are stale. */
int db_check(const db_call *c);

#endif
