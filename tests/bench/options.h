/* What the benches' command lines have in common. Whatever is wrong is said on standard error. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>

/* The letter of the next option, its value in `optarg`; -1 after the last, '?' for a wrong one.
 * -h and --help print help() and exit. */
int options_next(int argc, char **argv, const struct option *known, void (*help)(void));

/* The value of an option: a number of that range; the position among words that end with NULL. */
bool options_number(const char *option, const char *text, int least, int most, int *value);
bool options_word(const char *option, const char *text, const char *const *words, int *value);

#endif
