/* Compiling what a bench will run before it measures. */
#ifndef BENCH_AHEAD_H
#define BENCH_AHEAD_H

#include "driver/session.h"

/* Calls work(user, s, i) once for each i below `count`, in `processes` processes that share them
 * and each have a session of their own: PoCL compiles one program at a time in a context, and a
 * program once compiled is in its cache for all. What fails here will fail again where it is told.
 * To be called before the caller opens a session or starts threads. */
void ahead_do(int processes, int count, void (*work)(void *user, const session *s, int i),
              void *user);

#endif
