/* Whether the machine can compile now: the folders that compilers write to are there and have room.
 */
#ifndef KILN_MEANS_H
#define KILN_MEANS_H

#include "kiln.h"

#include <stdbool.h>

/* Returns whether the compiler's folders (PoCL's cache, the temporary folder) take a file. Writes
 * what is wrong, in a sentence with the remedy, where they do not. */
bool means_are_there(char why[KILN_ERROR_TEXT]);

#endif
