/* Problems for tests of their rules and texts. Call these inside Check tests. */
#ifndef TEXTS_H
#define TEXTS_H

#include "kiln_problem.h"

/* A legal one, not yet checked. */
kiln_problem texts_seed_problem(void);
/* The one that the text is of; fails the test where it is of none. */
kiln_problem texts_parsed(const char *text);
/* Its text, until the next call. */
const char *texts_of(const kiln_problem *p);
/* Fails the test unless text, row key and MIOpen's key of a checked problem are as long as they
 * say, and are read as that problem. */
void texts_check_round_trip(const kiln_problem *p);

/* Random numbers from a seed: from 0 up to below `below`; of all floats' bits, or tame ones. */
void texts_seed(uint64_t seed);
int64_t texts_pick(int64_t below);
float texts_random_float(void);
/* Mostly legal; the check decides. (problems.h has legal ones for computing.) */
kiln_problem texts_random_problem(void);

#endif
