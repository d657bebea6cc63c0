/* Runs checks in processes of their own: a driver that hangs or dies takes no other check along. */
#ifndef KILN_GUARD_H
#define KILN_GUARD_H

#include "finding.h"

/* Runs a check for a device ("": for none) and calls `found` for what it finds. Where the check
 * dies, or takes longer than `seconds`, that is a bad finding. The process must not have called
 * OpenCL. */
void guard_run(const check *check, const char *device, int seconds,
               void (*found)(void *user, const finding *f), void *user);

#endif
