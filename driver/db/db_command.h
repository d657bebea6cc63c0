/* `kiln db`: lists, checks, merges, compares and prunes files of tuning rows. */
#ifndef KILN_DB_COMMAND_H
#define KILN_DB_COMMAND_H

/* argv[0] is the word "db". Returns the exit status: 0; 1 diff found differences; 2 usage; 5 a file
 * failed, or lint found errors; 6 out of memory. */
int db_command(int argc, char **argv);

#endif
