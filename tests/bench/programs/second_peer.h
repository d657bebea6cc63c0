/* The second peer of bench_cpu: PyTorch, a process of its own (pytorch.py). */
#ifndef BENCH_SECOND_PEER_H
#define BENCH_SECOND_PEER_H

#include "tests/bench/peers/peer.h"
#include "tests/bench/timing/results.h"

#include "cpu_options.h"

/* Its name in a row. */
#define SECOND_PEER "PyTorch"

/* Starts the peer that BENCH_PEER names, and prints what it says of itself, or why there is none.
 */
void second_peer_start(peer *p);

/* Adds the peer's time to a row of the class, if it does the work: the best of its forms, measured
 * for `seconds` each. Returns its ratio; 0: it has none. */
double second_peer_add(peer *p, const bench_class *class, const rules *rules, double seconds,
                       row *row);

#endif
