/* `kiln explain`: why this solver, why not that one. */
#ifndef KILN_EXPLAIN_H
#define KILN_EXPLAIN_H

/* argv[0] is the word "explain", argv[1] may be a conv word, then the flags of conv. Returns the
 * exit status; KILN_UNSUPPORTED where no solver accepts a direction. */
int explain_command(int argc, char **argv);

#endif
