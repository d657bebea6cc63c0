/* The texts that the command prints about itself. */
#ifndef KILN_HELP_H
#define KILN_HELP_H

#include <stdio.h>

/* Prints words, flags, examples, exit statuses and environment variables. */
void help_print(FILE *to);
/* Prints the usage in a few lines. */
void help_usage(FILE *to);

/* `kiln env`: prints every variable, its value and the source of that. Returns the exit status. */
int env_command(int argc, char **argv);
/* Prints the variables and what they are for. */
void env_help(FILE *to);

#endif
