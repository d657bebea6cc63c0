/* The signals that end a long job early: it stops at the next good place and keeps what it has. */
#ifndef KILN_ENDS_H
#define KILN_ENDS_H

#include <signal.h>
#include <stdbool.h>

/* Ctrl-C, timeout(1) or a batch system, a terminal that is closed. */
enum { ENDS = 3 };

typedef struct ends {
    struct sigaction before[ENDS];
} ends;

/* From here to ends_leave() each of the signals is noticed once; a second one of its kind ends the
 * process. One watch at a time. */
void ends_watch(ends *e);
void ends_leave(const ends *e);

/* Whether one came since ends_watch(). */
bool ends_came(void);

#endif
