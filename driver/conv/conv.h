/* Runs what a request asks for, direction by direction. */
#ifndef KILN_CONV_H
#define KILN_CONV_H

#include "report.h"

/* Refuses whatever can be refused without a device: flags, problems, sizes of files. Returns the
 * status, with a sentence in `why`. */
kiln_status conv_check(request *r, char *why);

/* Plans, tunes, launches, verifies and reports each direction. Returns the worst exit status, or
 * CONV_INTERRUPTED after Ctrl-C. */
int conv_run(const session *s, const request *r);

enum { CONV_INTERRUPTED = 130 };

/* Reports a request that was refused as a whole. Returns the exit status. */
int conv_refuse(const request *r, kiln_status status, const char *why);

/* Runs the word argv[0]: conv, convfp16 or another word of request.c. Returns the exit status. */
int conv_command(int argc, char **argv);

#endif
