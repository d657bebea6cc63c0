/* Raw tensors to files, all or none: written under temporary names, renamed together. */
#ifndef KILN_DUMP_H
#define KILN_DUMP_H

#include "tensors.h"

enum { DUMP_MAX = 16 };

typedef struct dumps {
    int count;
    bool failed; /* something could not be written: commit writes nothing */
    struct {
        char name[40], temporary[80];
    } file[DUMP_MAX];
} dumps;

/* Writes the tensors of one direction, under MIOpen's names: sources, the device's result and, if
 * `reference`, the CPU's. */
kiln_status dump_tensors(dumps *d, const tensors *t, bool reference, char *why);

/* Gives every file its name and says so on standard output unless `quiet`. After a failure it
 * removes them all. */
kiln_status dump_commit(dumps *d, bool quiet, char *why);
void dump_discard(dumps *d);

#endif
