/* Reference results kept on disk (-C DIR), so that a problem is computed on the CPU once.
 *
 * The name of a file is MIOpenDriver's, with a hash of the problem and of the source tensors'
 * contents at its end: another seed, fill, input file or problem has another file. A damaged file
 * counts as missing.
 */
#ifndef KILN_REFERENCE_CACHE_H
#define KILN_REFERENCE_CACHE_H

#include "reference.h"

/* Makes `dir` where it is missing. Returns KILN_FILE, with a sentence about -C in `why`, where
 * `dir` is no directory. */
kiln_status reference_cache_check(const char *dir, char *why);

/* Does what reference_sums() does, from a file in `dir`; without one, computes the sums and stores
 * them. Goes on without storing where `dir` cannot be written. */
bool reference_cache_visit(const char *dir, const kiln_problem *problem, const reference_tensors *t,
                           contraction_visit *visit, void *user);

#endif
