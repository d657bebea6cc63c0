/* Reads the benches' command lines. Errors go to standard error. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include "kiln_problem.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

/* Returns the letter of the next option, with its value in `optarg`; -1 after the last one, '?' for
 * a wrong one. -h and --help print help() and exit. */
int options_next(int argc, char **argv, const struct option *known, void (*help)(void));

/* Reads the value of an option: a number in a range. */
bool options_number(const char *option, const char *text, int least, int most, int *value);

/* Read the values of --direction, "fwd", and --type, "f16". */
bool options_direction(const char *text, kiln_direction *direction);
bool options_type(const char *text, kiln_type *type);

/* Checks the value of an option that is the layout of tensor 'x', 'w' or 'y'; "any" is one of 'x'
 * and 'y'. */
bool options_layout(const char *option, const char *text, char tensor);

/* Reads the value of --batch, up to `most` numbers. Returns how many there are; 0: it is wrong. */
int options_batches(const char *text, int64_t *batch, int most);

#endif
