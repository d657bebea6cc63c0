/* Reference results kept on disk (-C DIR), so that a problem is computed on the CPU once.
 *
 * The file is named as MIOpenDriver names it, with a hash of the problem and of the source tensors'
 * contents behind: another seed, fill, input file or problem is another file, and a stored result
 * is never one of other data. Damaged files count as missing.
 */
#ifndef KILN_REFERENCE_CACHE_H
#define KILN_REFERENCE_CACHE_H

#include "reference.h"

/* Makes `dir` where it is missing. KILN_FILE, naming -C, when it is no directory. */
kiln_status reference_cache_check(const char *dir, char *why);

/* As reference_sums(), from `dir` where it has them, else computed and stored there. A directory
 * that cannot be written only costs the storing. */
bool reference_cache_visit(const char *dir, const kiln_problem *problem, const reference_tensors *t,
                           contraction_visit *visit, void *user);

#endif
