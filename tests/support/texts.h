/* Problems for tests of their rules and texts. Call these inside Check tests. */
#ifndef TEXTS_H
#define TEXTS_H

#include "kiln_problem.h"

/* Returns a legal problem, not yet checked. */
kiln_problem texts_seed_problem(void);
/* Parses a text; fails the test where it is no problem. */
kiln_problem texts_parsed(const char *text);
/* Returns the text of a problem, valid until the next call. */
const char *texts_of(const kiln_problem *p);
/* Fails the test unless text, row key and MIOpen's key of a checked problem have the returned
 * lengths and read back as that problem. */
void texts_check_round_trip(const kiln_problem *p);

/* Random numbers from a seed: integers in [0, below); floats of any bits, or of moderate size. */
void texts_seed(uint64_t seed);
int64_t texts_pick(int64_t below);
float texts_random_float(void);
/* Returns a random problem, which is mostly legal. (problems.h has legal ones for computing.) */
kiln_problem texts_random_problem(void);

#endif
