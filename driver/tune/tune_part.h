/* The files of one part of a list. */
#ifndef KILN_TUNE_PART_H
#define KILN_TUNE_PART_H

#include "tune_list.h"

/* Gives each shard files of its own: no two processes on two machines write to one. */
void tune_part_name(const tune_options *o, char file[4096]);

/* Refuses, where the array job says the shard, a file beside that is a part of another division:
 * the array is then a part that runs again. Returns the status, with a sentence in `why`. */
kiln_status tune_part_check(const tune_options *o, const char *file, char *why);

/* Writes the shard's problems into its file of rows, so that a merge can tell what is missing. */
kiln_status tune_part_record(const tune_options *o, const tune_list *list, const char *file,
                             char *why);

#endif
