/* `kiln layout`: lists, shows and documents layouts, converts tensors. */
#ifndef KILN_LAYOUT_COMMAND_H
#define KILN_LAYOUT_COMMAND_H

/* argv[0] is the word "layout". Returns the exit status. */
int layout_command(int argc, char **argv);

#endif
