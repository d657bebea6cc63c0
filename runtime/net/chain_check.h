/* Whether the links of a chain fit together. */
#ifndef KILN_CHAIN_CHECK_H
#define KILN_CHAIN_CHECK_H

#include "kiln_chain.h"

/* Checks and completes all problems. Returns KILN_INVALID with a sentence that names the link. */
kiln_status kiln_chain_check(kiln_link *links, int count);

#endif
