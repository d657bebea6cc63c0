/* `kiln db` lint and prune. */
#ifndef KILN_DB_LINT_H
#define KILN_DB_LINT_H

#include "db_merge.h"

/* Each prints its result and returns an exit status. */
int db_lint(const db_call *c);
int db_prune(const db_call *c);

#endif
