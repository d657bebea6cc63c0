/* `kiln db`: listing, checking, merging, comparing and tidying files of tuning rows. */
#ifndef KILN_DB_COMMAND_H
#define KILN_DB_COMMAND_H

/* argv[0] is the word "db". Returns the exit status: 0, 1 the files of diff differ, 2 usage, 5
 * files (or, of lint, faults in them), 6 out of memory. */
int db_command(int argc, char **argv);

#endif
