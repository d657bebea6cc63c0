/* kiln and its peer in turns on one card.
 *
 * kiln's time is that of one run in a row of runs that only the last one is waited for: the median
 * of seven rows a turn. Operations that take about as long as their launch are enqueued from a core
 * where a launch costs little (quiet_core.h); a turn during which that changes is repeated.
 */
#ifndef BENCH_GPU_TURNS_H
#define BENCH_GPU_TURNS_H

#include "tests/bench/machine/quiet_core.h"
#include "tests/bench/peers/contender_kiln.h"
#include "tests/bench/peers/peer.h"
#include "tests/bench/timing/device_row.h"

#include "gpu_options.h"

/* What the times are taken with. */
typedef struct gpu_turns {
    cl_command_queue profiled; /* the session's queue is not */
    device_row row;
    quiet_core core;
} gpu_turns;

typedef struct gpu_sides {
    contender *kiln, *other; /* other: NULL where the peer takes the other turns */
    peer *peer;
    const char *problem; /* for the peer */
} gpu_sides;

typedef struct gpu_times {
    double kiln_ms, peer_ms; /* medians; peer_ms negative: the peer does not do it */
    double device_ms;        /* kiln's, without launches */
    double event_ms;         /* of one run of kiln's that is waited for, by the device's clock */
    char format[200];        /* the peer's, or why it does not do the layer */
} gpu_times;

/* Returns false, having printed why, where the device lacks something. The session outlives it. */
bool gpu_turns_open(gpu_turns *t, const session *s);
/* Gives each side so many turns, at most GPU_ROUNDS. Returns false where a run of kiln's failed. */
bool gpu_turns_take(gpu_turns *t, const gpu_sides *sides, int rounds, gpu_times *times);
void gpu_turns_close(gpu_turns *t);

#endif
