/* `kiln db prove`: times the rows of a file beside their guesses, and drops the rows that do not
 * win.
 */
#ifndef KILN_DB_PROVE_H
#define KILN_DB_PROVE_H

#include "db_merge.h"

/* Works on c->files[0] in place. Returns an exit status. */
int db_prove(const db_call *c);

#endif
