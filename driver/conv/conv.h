/* Runs what a request asks for, direction by direction. */
#ifndef KILN_CONV_H
#define KILN_CONV_H

#include "report.h"

/* Everything that can be refused without a device: flags, problems, sizes of files. */
kiln_status conv_check(request *r, char *why);

/* Plans, tunes, launches, verifies and reports each direction. Returns the worst exit status, or
 * CONV_INTERRUPTED after Ctrl-C. */
int conv_run(const session *s, const request *r);

enum { CONV_INTERRUPTED = 130 };

/* Reports a request that was refused as a whole. Returns the exit status. */
int conv_refuse(const request *r, kiln_status status, const char *why);

/* The words conv, convfp16, ...: argv[0] is the word. */
int conv_command(int argc, char **argv);

#endif
