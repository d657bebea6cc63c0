/* What the command says about itself. */
#ifndef KILN_HELP_H
#define KILN_HELP_H

#include <stdio.h>

/* The whole text: words, flags, examples, exit status, environment. */
void help_print(FILE *to);
/* A few lines. */
void help_usage(FILE *to);

/* `kiln env`: every variable with its value and where that came from. */
int env_command(int argc, char **argv);
/* The variables and what they are for. */
void env_help(FILE *to);

#endif
