/* A file that is written under another name and takes its own when it is whole. */
#ifndef KILN_REPLACED_FILE_H
#define KILN_REPLACED_FILE_H

#include "kiln_problem.h"

#include <stdio.h>

typedef struct replaced_file {
    FILE *to;
    char name[4096], temporary[4096];
} replaced_file;

/* Makes the temporary file, beside the file that it will replace. "-" is standard output. Returns
 * KILN_FILE, with a sentence in why[KILN_ERROR_TEXT]. */
kiln_status replaced_file_open(replaced_file *f, const char *name, char *why);

/* Gives the file its name. Where anything was not written, removes it, and returns KILN_FILE with a
 * sentence. */
kiln_status replaced_file_close(replaced_file *f, char *why);

/* Removes the file. */
void replaced_file_discard(replaced_file *f);

#endif
