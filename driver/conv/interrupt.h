/* The signals that end a long job early: the job stops at the next good place and keeps what it
 * has. */
#ifndef KILN_INTERRUPT_H
#define KILN_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

/* SIGINT (Ctrl-C), SIGTERM (timeout(1), a batch system), SIGHUP (the terminal was closed), SIGQUIT
 * (Ctrl-\). */
enum { INTERRUPTS = 4 };

typedef struct interrupt {
    struct sigaction before[INTERRUPTS];
} interrupt;

/* From interrupt_watch() to interrupt_leave() the first signal of each kind is only noticed; a
 * second one of the same kind does what it did before the watch. One watch at a time. */
void interrupt_watch(interrupt *watch);
void interrupt_leave(const interrupt *watch);

/* Whether a signal has come since interrupt_watch(). */
bool interrupt_came(void);

#endif
