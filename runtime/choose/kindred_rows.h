/* Rows of other devices with the same core: of a CPU that another version of PoCL gives another
 * name, of another board with a GPU of the same compute capability. */
#ifndef KILN_KINDRED_ROWS_H
#define KILN_KINDRED_ROWS_H

#include "runtime/kiln/kiln_internal.h"

/* Loads these rows from the folder of shipped rows, and from that of the user's where it is the
 * default one, unless they are loaded: they are of use only to searches. The caller holds k->lock.
 */
void kiln_kindred_load(kiln *k);

#endif
