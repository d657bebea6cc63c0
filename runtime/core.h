/* What threads that look for work know of cores: how far it is from one to another, and when to
 * give theirs to others. */
#ifndef KILN_CORE_H
#define KILN_CORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

int64_t kiln_core_clock(void); /* ns, since some time */

enum { KILN_CORE_LOOKS = 16 };

/* How long the last looks at a line of another core's cache took, in turn. */
typedef struct kiln_core_looks {
    int64_t took[KILN_CORE_LOOKS];
    unsigned count;
} kiln_core_looks;

/* Adds one, in ns with what the clock takes. The way between the cores, or 0 after few looks. */
int64_t kiln_core_way(kiln_core_looks *looks, int64_t took);

/* A moment in which a hardware thread beside this one has the core. */
static inline void kiln_core_relax(void)
{
#if defined __x86_64__ && defined __GNUC__
    __builtin_ia32_pause();
#endif
}

/* Gives the core to other threads, or sleeps for a moment, to be put on another one. `busy`: some
 * operation is in flight; `noted`: how many were so far. */
void kiln_core_yield(bool busy, const atomic_uint *noted);

/* Two threads, once they have joined. All zero at first. */
typedef struct kiln_core_pair {
    atomic_int thread[2]; /* 0: not yet known */
    atomic_llong sent_ns; /* when the last one was */
} kiln_core_pair;

/* The calling thread is one of the two; from the third on nothing happens. */
void kiln_core_join(kiln_core_pair *pair);

/* Puts the other one of the two on a core, if it may run there and on another one; the system may
 * move it again. Does so at most once a millisecond. */
void kiln_core_send_other(kiln_core_pair *pair, int core);

#endif
