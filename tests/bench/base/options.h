/* Reads the benches' command lines. Errors go to standard error. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

/* Returns the letter of the next option, with its value in `optarg`; -1 after the last one, '?' for
 * a wrong one. -h and --help print help() and exit. */
int options_next(int argc, char **argv, const struct option *known, void (*help)(void));

/* Read the value of an option: a number in a range, or the index of a word in a list that ends with
 * NULL. */
bool options_number(const char *option, const char *text, int least, int most, int *value);
bool options_word(const char *option, const char *text, const char *const *words, int *value);

/* Reads the value of --batch, up to `most` numbers. Returns how many there are; 0: it is wrong. */
int options_batches(const char *text, int64_t *batch, int most);

#endif
