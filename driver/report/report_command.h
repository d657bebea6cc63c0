/* `kiln report`: a page with pictures of what tuning found. */
#ifndef KILN_REPORT_COMMAND_H
#define KILN_REPORT_COMMAND_H

/* argv[0] is the word "report". Returns the exit status: 0; 2 usage; 5 a file could not be read or
 * written; 6 out of memory. */
int report_command(int argc, char **argv);

#endif
