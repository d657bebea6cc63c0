/* The time in which this process runs. A stop (SIGSTOP, `scontrol suspend`) shows as a gap between
 * two looks at the clock that are close together otherwise: of a gap only a moment counts. */
#include "run_clock.h"

#include "clock.h"
#include "kiln_tune.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

/* The thread looks so often, in ns; and what a busy machine may make of it. */
static const int64_t tick = 500000000, longest_tick = 3000000000;

/* Both in ns. Plain atomics: a lock might be held by another thread when the process forks. */
static atomic_llong ticked, counted;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t released = PTHREAD_COND_INITIALIZER;
static int holders;
static bool ticks;
static pthread_t ticker;

static int64_t look(void)
{
    const long long now = kiln_clock_ns();
    long long before = atomic_load(&ticked);
    if (before == 0) {
        atomic_compare_exchange_strong(&ticked, &before, now);
    } else if (now > before && atomic_compare_exchange_strong(&ticked, &before, now)) {
        const long long passed = now - before;
        atomic_fetch_add(&counted, passed < longest_tick ? passed : longest_tick);
    }
    return atomic_load(&counted);
}

double kiln_run_seconds(void)
{
    return 1e-9 * (double)look();
}

static void *run(void *unused)
{
    pthread_mutex_lock(&lock);
    while (holders > 0) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        const int64_t ns = until.tv_nsec + tick;
        until.tv_sec += (time_t)(ns / 1000000000);
        until.tv_nsec = (long)(ns % 1000000000);
        look();
        pthread_cond_timedwait(&released, &lock, &until);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

/* The application's signals are none of the thread's business. */
static bool start_ticker(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(&ticker, NULL, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

void kiln_run_clock_forget(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&released, NULL);
    holders = 0;
}

void kiln_run_clock_hold(void)
{
    pthread_mutex_lock(&lock);
    look();
    if (holders++ == 0)
        ticks = start_ticker();
    pthread_mutex_unlock(&lock);
}

void kiln_run_clock_release(void)
{
    pthread_mutex_lock(&lock);
    const bool last = --holders == 0 && ticks;
    const pthread_t ended = ticker;
    if (last)
        pthread_cond_signal(&released);
    pthread_mutex_unlock(&lock);
    if (last)
        pthread_join(ended, NULL);
}
