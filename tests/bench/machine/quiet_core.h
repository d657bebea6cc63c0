/* The core from which a launch costs the host least.
 *
 * A virtual machine shares its cores' hardware threads with other machines. A launch then takes the
 * host a third longer, on some cores and for some seconds, and with it every operation that takes
 * the device less time than that. No counter shows it, but launches of nothing do.
 */
#ifndef BENCH_QUIET_CORE_H
#define BENCH_QUIET_CORE_H

#include "driver/base/session.h"

typedef struct quiet_core {
    cl_command_queue queue; /* the session's */
    cl_program program;
    cl_kernel kernel;
    int core;        /* the one that was chosen last */
    double least_us; /* of a launch, on any core so far */
    /* What a launch took on the cores that were chosen: the number of choices, their sum and the
     * longest. */
    int choices;
    double sum_us, most_us;
} quiet_core;

/* Returns false where the device takes no such kernel. The session outlives the choice. */
bool quiet_core_open(quiet_core *q, const session *s);

/* Binds the calling thread to a core from which a launch takes about as long as the shortest so
 * far, or, where there is none, to the best of all that the bench may use. It stays as it is where
 * the system lets no thread be bound. cpus_use_all() undoes it. */
void quiet_core_choose(quiet_core *q);

/* Returns whether a launch from the chosen core still takes about as long as the shortest so far.
 */
bool quiet_core_is_quiet(quiet_core *q);

void quiet_core_close(quiet_core *q);

#endif
