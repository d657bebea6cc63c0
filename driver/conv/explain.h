/* `kiln explain`: which solvers take a problem, and why the others do not. */
#ifndef KILN_EXPLAIN_H
#define KILN_EXPLAIN_H

/* argv[0] is the word "explain", argv[1] may be a conv word; the flags of conv follow. Returns the
 * exit status: KILN_UNSUPPORTED where no solver accepts a direction. */
int explain_command(int argc, char **argv);

#endif
