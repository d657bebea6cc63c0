/* `kiln db`: lists, checks, merges, compares and prunes files of tuning rows. */
#ifndef KILN_DB_COMMAND_H
#define KILN_DB_COMMAND_H

/* argv[0] is the word "db". Returns the exit status, which --help lists. */
int db_command(int argc, char **argv);

#endif
