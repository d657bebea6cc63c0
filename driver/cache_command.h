/* `kiln cache`: lists or empties the program cache. */
#ifndef KILN_CACHE_COMMAND_H
#define KILN_CACHE_COMMAND_H

/* argv[0] is the word "cache". Returns the exit status: 0, 2 usage, 4 out of memory, 5 files. */
int cache_command(int argc, char **argv);

#endif
