/* Writes raw tensors to files, all or none: under temporary names, which are renamed together. */
#ifndef KILN_DUMP_H
#define KILN_DUMP_H

#include "tensors.h"

enum { DUMP_MAX = 16 };

typedef struct dumps {
    int count;
    bool failed; /* a file could not be written: dump_commit() removes all */
    struct {
        char name[40], temporary[80];
    } file[DUMP_MAX];
} dumps;

/* Writes the tensors of one direction under MIOpen's names: the sources, the device's result and,
 * with `reference`, the CPU's result. */
kiln_status dump_tensors(dumps *d, const tensors *t, bool reference, char *why);

/* Gives every file its name and, unless `quiet`, prints that. After a failure removes all files.
 * dump_discard() removes them in any case. */
kiln_status dump_commit(dumps *d, bool quiet, char *why);
void dump_discard(dumps *d);

#endif
