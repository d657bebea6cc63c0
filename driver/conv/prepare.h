/* The word `prepare`: compiles the programs of many problems before they are used. */
#ifndef KILN_PREPARE_COMMAND_H
#define KILN_PREPARE_COMMAND_H

/* Runs the word; argv[0] is "prepare". Returns the exit status. */
int prepare_command(int argc, char **argv);

#endif
