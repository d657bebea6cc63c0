/* `kiln completion`, and the question that its scripts ask. */
#ifndef KILN_COMPLETION_COMMAND_H
#define KILN_COMPLETION_COMMAND_H

#include "word.h"

/* Prints a shell's script. */
int completion_command(int argc, char **argv);

/* `kiln __complete WORDS...`: prints what the last word may become, which may be "": a line each,
 * with a tab before its help. Prints nothing where files or free text are wanted.
 * `words` lists the words of the command. */
int complete_command(const driver_word *words, int argc, char **argv);

#endif
