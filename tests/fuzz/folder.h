/* A folder of a fuzz target, in memory where the system has such a place, and its files. */
#ifndef KILN_FUZZ_FOLDER_H
#define KILN_FUZZ_FOLDER_H

#include "fuzz.h"

/* Returns a folder of this process, made by the first call; it goes with what is in it at exit. */
const char *fuzz_folder(void);

/* Writes the path of a file in the folder, whose parents are made. */
void fuzz_path(const char *name, char *path, size_t size);

/* Writes a whole file. */
void fuzz_write(const char *path, const void *data, size_t size);

/* Returns a whole file with a zero byte behind it, to be freed. */
char *fuzz_read(const char *path, size_t *size);

#endif
