/* On which cores PoCL's threads run: how far one core is from another, when a thread gives its core
 * to others, and how one thread is moved to another core. */
#ifndef KILN_AFFINITY_H
#define KILN_AFFINITY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { KILN_AFFINITY_SAMPLES = 16 };

/* How long the last reads of a cache line that another core had written took, oldest overwritten
 * first. All zero at first. */
typedef struct kiln_affinity_samples {
    int64_t ns[KILN_AFFINITY_SAMPLES];
    unsigned count;
} kiln_affinity_samples;

/* Adds the time of one read, in ns, the clock's own time included. Returns the distance between the
 * cores in ns, or 0 while there are too few samples. One thread at a time. */
int64_t kiln_affinity_distance(kiln_affinity_samples *samples, int64_t ns);

/* Lets the other hardware thread of this core run for a moment. */
static inline void kiln_cpu_relax(void)
{
#if defined __x86_64__ && defined __GNUC__
    __builtin_ia32_pause();
#endif
}

/* Gives the calling thread's core to other threads. Sleeps for a moment where the thread has waited
 * long for its core, so that Linux wakes it on an idle one. `busy`: an operation is in flight;
 * `noted`: counts the operations that were. */
void kiln_affinity_yield(bool busy, const atomic_uint *noted);

/* Two threads, once both have joined. All zero at first. */
typedef struct kiln_affinity_pair {
    atomic_int thread[2];  /* Linux thread ids; 0: not yet known */
    atomic_llong moved_ns; /* when a thread was moved last */
} kiln_affinity_pair;

/* Makes the calling thread one of the two; a third thread is ignored. */
void kiln_affinity_join(kiln_affinity_pair *pair);

/* Moves the other thread of the pair to `core`, if it may run there and on another core as well.
 * Linux may move it again: the set of cores that the thread may run on is the same afterwards as it
 * was before. Between these two moments the set has one core only, so a change that the program
 * makes at that moment is lost. Does nothing within a millisecond of the last move. */
void kiln_affinity_move_other(kiln_affinity_pair *pair, int core);

#endif
