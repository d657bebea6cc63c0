/* Compiles the kernels of a bench before it measures. */
#ifndef BENCH_AHEAD_H
#define BENCH_AHEAD_H

#include "driver/base/session.h"

/* Calls work(user, s, i) once for each i below `count`, shared among a process for each core,
 * each with a session of its own: PoCL compiles one program at a time in a context, and all
 * processes find the result in its cache. Ignores failures, which the measurement will report. Call
 * this before opening a session or starting threads. */
void ahead_do(int count, void (*work)(void *user, const session *s, int i), void *user);

#endif
