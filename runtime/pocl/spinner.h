/* A spinner: a native kernel that spins on one of PoCL's threads, slice by slice (keepalive.c). */
#ifndef KILN_SPINNER_H
#define KILN_SPINNER_H

#include "affinity.h"
#include "in_flight.h"
#include "keepalive.h"
#include "work_sharing.h"

#include <pthread.h>

enum {
    KILN_CACHE_LINE = 64,    /* bytes */
    KILN_MOST_SPINNERS = 16, /* devices of more threads were not measured */
    KILN_AWAY_NS = 100000 /* a slice beside short operations; nothing waits longer for a thread */
};

typedef struct kiln_spinner {
    _Alignas(KILN_CACHE_LINE) kiln_keepalive *all;
    cl_command_queue queue; /* in order: never more than one command of it runs */
    bool alive;             /* a command is enqueued */
    atomic_int core;        /* where it spun last */
    kiln_sharing_scratch scratch;
    bool busy;       /* an operation was in flight when its slice began */
    unsigned noted;  /* how many operations had been noted then */
    int64_t spun_ns; /* since either changed */
} kiln_spinner;

struct kiln_keepalive {
    kiln_in_flight flight;
    _Alignas(KILN_CACHE_LINE) int64_t slice_ns, stay_ns;
    bool moves_threads;
    atomic_llong distance_ns; /* between cores; 0: not yet known */
    pthread_mutex_t lock;     /* guards all below, and what in_flight.h says */
    bool closing;
    kiln_affinity_samples samples;
    kiln_spinner *spare;     /* whose thread takes commands while anything is in flight */
    kiln_affinity_pair pair; /* PoCL's threads, if there are two */
    int spinners;
    kiln_spinner spinner[KILN_MOST_SPINNERS];
};

/* The kiln_keepalive that an operation was noted for last: only its threads stay awake. */
extern _Atomic(const kiln_keepalive *) kiln_keepalive_latest;

/* Whether the spinner is on the caller's core. */
static inline bool kiln_spinner_is_here(const kiln_spinner *s)
{
    return s->core == atomic_load(&s->all->flight.core);
}

/* Enqueues the next slice, behind an event unless that is NULL. Returns false when PoCL refuses. */
bool kiln_spinner_enqueue(kiln_spinner *s, cl_event event);

/* Enqueues the spinners that are not enqueued: the spare one if nothing is in flight (`idle`), else
 * all others. With the lock. */
void kiln_spinners_enqueue(kiln_keepalive *a, bool idle);

#endif
