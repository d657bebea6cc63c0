/* `kiln db`: what files of tuning rows hold, and what is wrong with them. */
#ifndef KILN_DB_COMMAND_H
#define KILN_DB_COMMAND_H

/* argv[0] is the word "db". Returns the exit status: 0, 2 usage, 5 a file that cannot be read or in
 * which something is wrong. */
int db_command(int argc, char **argv);

#endif
