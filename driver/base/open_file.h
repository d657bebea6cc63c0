/* Opens files, devices and pipes. A pipe without another end must not hang the command. */
#ifndef KILN_OPEN_FILE_H
#define KILN_OPEN_FILE_H

#include <stdio.h>

/* Opens to read. A pipe that somebody writes to is read to its end; one that nobody writes to has
 * nothing in it. Returns NULL with errno. */
FILE *open_file_to_read(const char *name);

/* Opens what is there to write to, as it is. A pipe that nobody reads from is an error. Returns
 * NULL with errno. */
FILE *open_file_to_write(const char *name);

#endif
