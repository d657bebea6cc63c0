/* The time in which this process runs; kiln_run_seconds() is in kiln_tune.h. */
#ifndef KILN_RUN_CLOCK_H
#define KILN_RUN_CLOCK_H

/* While somebody holds the clock, a thread looks at it, so that long work counts in full. */
void kiln_run_clock_hold(void);
void kiln_run_clock_release(void);

/* In a child of fork(), where that thread is not. */
void kiln_run_clock_forget(void);

#endif
