/* `kiln tune`: searches for the fastest configs of many problems. */
#ifndef KILN_TUNE_COMMAND_H
#define KILN_TUNE_COMMAND_H

/* argv[0] is the word "tune". Returns the exit status: as of conv; 130 after Ctrl-C. */
int tune_command(int argc, char **argv);

#endif
