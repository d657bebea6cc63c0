/* One thread that does tasks in the order in which they were added. */
#ifndef KILN_TASK_QUEUE_H
#define KILN_TASK_QUEUE_H

#include <stdbool.h>

typedef struct kiln_task_queue kiln_task_queue;

/* A task is part of what it works on, which outlives it. */
typedef struct kiln_task {
    void (*work)(struct kiln_task *task);
    struct kiln_task *next;
    enum { KILN_TASK_IDLE = 0, KILN_TASK_WAITS, KILN_TASK_RUNS, KILN_TASK_DONE } state;
} kiln_task;

/* Returns NULL when out of memory. The thread starts with the first task. */
kiln_task_queue *kiln_task_queue_open(void);
/* Ends the thread; no task may be waiting. NULL is fine. */
void kiln_task_queue_close(kiln_task_queue *q);

/* Adds a task that is idle; others are left alone. Without a thread the task is done here. */
void kiln_task_add(kiln_task_queue *q, kiln_task *task);
/* Waits until a task that was added is done. */
void kiln_task_wait(kiln_task_queue *q, kiln_task *task);
/* Takes a task that waits out of the queue, or waits until it is done. */
void kiln_task_cancel(kiln_task_queue *q, kiln_task *task);

#endif
