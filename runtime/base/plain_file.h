/* Opens plain files to read. */
#ifndef KILN_PLAIN_FILE_H
#define KILN_PLAIN_FILE_H

#include <stdio.h>
#include <sys/types.h>

/* Returns a descriptor, and the file's size in *size. Returns -1 with errno where it cannot;
 * EINVAL: the path is of something else, such as a pipe, which must not hang the reader. */
int kiln_plain_file_open(const char *path, off_t *size);

/* The same as a stream; NULL with errno. */
FILE *kiln_plain_file_stream(const char *path);

/* Returns what errno says of such a failure, in text[128] or in a text that stays. */
const char *kiln_plain_file_reason(int code, char text[128]);

#endif
