/* How much of its stack a call needs. */
#ifndef STACK_H
#define STACK_H

#include <stddef.h>

/* Calls `call` in a thread of its own and returns the bytes of the thread's stack that were written
 * to, with what the C library keeps there for each thread. Fails the test where there is no thread.
 * Call it once before with the same work where a first call loads code. */
size_t support_stack_of(void (*call)(void *user), void *user);

/* Returns the bytes that calls of kiln's may need of a stack, which a thread with 64 KiB has.
 * Builds without optimisation or with a sanitizer have larger frames. */
size_t support_stack_limit(void);

#endif
