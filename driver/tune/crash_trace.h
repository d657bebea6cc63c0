/* Where a process crashed: its stack, which the handler of a deadly signal writes to a file. */
#ifndef KILN_CRASH_TRACE_H
#define KILN_CRASH_TRACE_H

/* Has this process write its stack to `fd` when a signal of a crash ends it. A handler that is
 * there already, a sanitizer's, stays. */
void crash_trace_to(int fd);

/* Writes the stack in `fd` as one line, the innermost call first; "" where there is none. */
void crash_trace_read(int fd, char *text, unsigned size);

#endif
