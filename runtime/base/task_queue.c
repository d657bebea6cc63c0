/* One thread that does tasks in the order in which they were added. */
#include "task_queue.h"

#include <pthread.h>
#include <stdlib.h>

struct kiln_task_queue {
    pthread_mutex_t lock; /* guards everything here, and the tasks */
    pthread_cond_t changed;
    pthread_t thread;
    bool started, ends;
    kiln_task *first;
};

kiln_task_queue *kiln_task_queue_open(void)
{
    kiln_task_queue *q = calloc(1, sizeof *q);
    if (!q)
        return NULL;
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->changed, NULL);
    return q;
}

void kiln_task_queue_close(kiln_task_queue *q)
{
    if (!q)
        return;
    pthread_mutex_lock(&q->lock);
    q->ends = true;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
    if (q->started)
        pthread_join(q->thread, NULL);
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->lock);
    free(q);
}

/* Does a task that is in no queue any more. The caller holds the lock. */
static void run(kiln_task_queue *q, kiln_task *task)
{
    task->state = KILN_TASK_RUNS;
    pthread_mutex_unlock(&q->lock);
    task->work(task);
    pthread_mutex_lock(&q->lock);
    task->state = KILN_TASK_DONE;
    pthread_cond_broadcast(&q->changed);
}

static void *work(void *argument)
{
    kiln_task_queue *q = argument;
    pthread_mutex_lock(&q->lock);
    while (q->first || !q->ends) {
        kiln_task *task = q->first;
        if (task) {
            q->first = task->next;
            run(q, task);
        } else {
            pthread_cond_wait(&q->changed, &q->lock);
        }
    }
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

void kiln_task_add(kiln_task_queue *q, kiln_task *task)
{
    pthread_mutex_lock(&q->lock);
    if (task->state == KILN_TASK_IDLE) {
        q->started = q->started || pthread_create(&q->thread, NULL, work, q) == 0;
        if (q->started) {
            kiln_task **last = &q->first;
            while (*last)
                last = &(*last)->next;
            *last = task;
            task->next = NULL;
            task->state = KILN_TASK_WAITS;
            pthread_cond_broadcast(&q->changed);
        } else {
            run(q, task);
        }
    }
    pthread_mutex_unlock(&q->lock);
}

/* The caller holds the lock. */
static void wait_for(kiln_task_queue *q, const kiln_task *task)
{
    while (task->state == KILN_TASK_WAITS || task->state == KILN_TASK_RUNS)
        pthread_cond_wait(&q->changed, &q->lock);
}

void kiln_task_wait(kiln_task_queue *q, kiln_task *task)
{
    pthread_mutex_lock(&q->lock);
    wait_for(q, task);
    pthread_mutex_unlock(&q->lock);
}

void kiln_task_cancel(kiln_task_queue *q, kiln_task *task)
{
    pthread_mutex_lock(&q->lock);
    if (task->state == KILN_TASK_WAITS) {
        kiln_task **at = &q->first;
        while (*at != task)
            at = &(*at)->next;
        *at = task->next;
        task->state = KILN_TASK_DONE;
    }
    wait_for(q, task);
    pthread_mutex_unlock(&q->lock);
}
