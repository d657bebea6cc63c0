/* What threads that look for work know of cores: how far it is from one to another, and when to
 * give theirs to others. */
#ifndef KILN_AFFINITY_H
#define KILN_AFFINITY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

int64_t kiln_clock_ns(void); /* ns, since some time */

enum { KILN_AFFINITY_LOOKS = 16 };

/* How long the last looks at a line of another core's cache took, in turn. */
typedef struct kiln_affinity_looks {
    int64_t took[KILN_AFFINITY_LOOKS];
    unsigned count;
} kiln_affinity_looks;

/* Adds one, in ns with what the clock takes. The way between the cores, or 0 after few looks. */
int64_t kiln_affinity_way(kiln_affinity_looks *looks, int64_t took);

/* A moment in which a hardware thread beside this one has the core. */
static inline void kiln_cpu_relax(void)
{
#if defined __x86_64__ && defined __GNUC__
    __builtin_ia32_pause();
#endif
}

/* Gives the core to other threads, or sleeps for a moment, to be put on another one. `busy`: some
 * operation is in flight; `noted`: how many were so far. */
void kiln_affinity_yield(bool busy, const atomic_uint *noted);

/* Two threads, once they have joined. All zero at first. */
typedef struct kiln_affinity_pair {
    atomic_int thread[2]; /* 0: not yet known */
    atomic_llong sent_ns; /* when the last one was */
} kiln_affinity_pair;

/* The calling thread is one of the two; from the third on nothing happens. */
void kiln_affinity_join(kiln_affinity_pair *pair);

/* Puts the other one of the two on a core, if it may run there and on another one; the system may
 * move it again. Does so at most once a millisecond. */
void kiln_affinity_send_other(kiln_affinity_pair *pair, int core);

#endif
