/* The word `layout`: list, show, convert, docs. */
#ifndef KILN_LAYOUT_COMMAND_H
#define KILN_LAYOUT_COMMAND_H

int layout_command(int argc, char **argv); /* argv[0] is the word; returns an exit status */

#endif
