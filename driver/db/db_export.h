/* `kiln db export`: rows, or a log of trials, for other programs. */
#ifndef KILN_DB_EXPORT_H
#define KILN_DB_EXPORT_H

#include "db_merge.h"

/* Prints c->name[0], a file of rows or a log of trials (*.jsonl), as c->format says. Returns an
 * exit status. */
int db_export(const db_call *c);

#endif
