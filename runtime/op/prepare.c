/* Builds many problems at once, so that later creations find their programs in the cache or in a
 * bundle. */

#include "runtime/base/environment.h"

#include "bundle_rows.h"
#include "warm.h"
#include "workers.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct prepare_job {
    kiln *k;
    const kiln_problem *problems;
    size_t count;
    atomic_size_t next; /* problem */
    pthread_mutex_t lock;
    kiln_status status; /* the first failure, and its sentence */
    char error[1024];
} prepare_job;

static kiln_status prepare_one(kiln *k, const kiln_problem *p)
{
    kiln_op *op = NULL;
    kiln_status status = kiln_conv_create(k, p, NULL, &op);
    if (!status)
        status = kiln_op_launch_once(op);
    kiln_op_release(op);
    return status;
}

static void *work(void *argument)
{
    prepare_job *job = argument;
    size_t i;
    while ((i = atomic_fetch_add(&job->next, 1)) < job->count) {
        const kiln_status status = prepare_one(job->k, &job->problems[i]);
        pthread_mutex_lock(&job->lock);
        if (status && !job->status) {
            job->status = status;
            snprintf(job->error, sizeof job->error, "problem %zu: %.900s", i, kiln_last_error());
        }
        pthread_mutex_unlock(&job->lock);
    }
    return NULL;
}

enum { MOST = 64 };

static kiln_status prepare_in_threads(kiln *k, const kiln_problem *problems, size_t count,
                                      int threads)
{
    prepare_job job = {.k = k, .problems = problems, .count = count};
    pthread_mutex_init(&job.lock, NULL);
    pthread_t thread[MOST];
    int started = 0;
    while (started < threads - 1 && pthread_create(&thread[started], NULL, work, &job) == 0)
        started++;
    work(&job);
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    pthread_mutex_destroy(&job.lock);
    return job.status ? kiln_fail(job.status, "%s", job.error) : KILN_OK;
}

/* Has other processes do what they can, and does its share. Returns false where something is left
 * to do, or has failed. */
static bool prepare_in_processes(kiln *k, const kiln_problem *problems, size_t count, int processes)
{
    kiln_workers *w = kiln_workers_start(k, problems, count, processes - 1);
    kiln_problem p;
    bool done = true;
    if (!w)
        return false;
    while (kiln_workers_take(w, &p))
        done = prepare_one(k, &p) == KILN_OK && done;
    return kiln_workers_end(w) && done;
}

/* Returns how many cores this process may use: taskset, Slurm and containers give it some. */
static long count_cores(void)
{
    cpu_set_t may;
    return sched_getaffinity(0, sizeof may, &may) == 0 ? (long)CPU_COUNT(&may)
                                                       : sysconf(_SC_NPROCESSORS_ONLN);
}

/* Returns how many may work: as many as asked for, or one for each of `cores`, and none for
 * nothing.
 */
static int count_workers(int asked, long cores, size_t count)
{
    long n = asked > 0 ? asked : cores;
    n = n < 0 ? 0 : n > MOST ? MOST : n;
    return (size_t)n > count ? (int)count : (int)n;
}

static kiln_status prepare(kiln *k, const kiln_problem *problems, size_t count, int threads)
{
    const int n = count_workers(threads, count_cores(), count);
    if (!kiln_device_is_pocl(&k->facts))
        return prepare_in_threads(k, problems, count, n);
    if (n > 1 && prepare_in_processes(k, problems, count, n))
        return KILN_OK;
    return prepare_in_threads(k, problems, count, 1);
}

static kiln_status check(const kiln *k, const kiln_problem *problems, size_t count, int threads,
                         const char *function)
{
    if (!k || (count > 0 && !problems))
        return kiln_fail(KILN_INVALID, "%s: k and problems must not be NULL", function);
    if (threads < 0)
        return kiln_fail(KILN_INVALID, "%s: %d threads; give a number, or 0 for one per CPU",
                         function, threads);
    if (!k->context)
        return kiln_fail(KILN_INVALID, "this kiln was opened without a device: it can only plan");
    return kiln_process_check(k);
}

kiln_status kiln_prepare(kiln *k, const kiln_problem *problems, size_t count, int threads)
{
    kiln_status status = check(k, problems, count, threads, "kiln_prepare");
    return status ? status : prepare(k, problems, count, threads);
}

struct kiln_helpers {
    kiln *k;               /* held */
    kiln_workers *workers; /* NULL: none have started */
    kiln_problem *problems;
    size_t count;
    int processes;
};

static void start_helpers(void *user)
{
    kiln_helpers *h = user;
    h->workers = kiln_workers_start_behind(h->k, h->problems, h->count, h->processes);
}

static kiln_helpers *make_helpers(kiln *k, const kiln_problem *problems, size_t count,
                                  int processes)
{
    kiln_helpers *h = malloc(sizeof *h);
    kiln_problem *copy = malloc(count * sizeof *copy);
    if (!h || !copy) {
        free(h);
        free(copy);
        return NULL;
    }
    memcpy(copy, problems, count * sizeof *copy);
    *h = (kiln_helpers){.k = k, .problems = copy, .count = count, .processes = processes};
    return h;
}

kiln_status kiln_prepare_begin(kiln *k, const kiln_problem *problems, size_t count, int processes,
                               kiln_helpers **out)
{
    if (!out)
        return kiln_fail(KILN_INVALID, "kiln_prepare_begin: out must not be NULL");
    *out = NULL;
    const kiln_status status = check(k, problems, count, processes, "kiln_prepare_begin");
    if (status)
        return status;
    const int n = count_workers(processes, count_cores() - 1, count);
    if (n == 0 || !kiln_device_is_pocl(&k->facts) || *k->bundle_programs)
        return KILN_OK;
    kiln_helpers *h = make_helpers(k, problems, count, n);
    if (!h)
        return kiln_fail(KILN_NO_MEMORY, "kiln_prepare_begin: out of memory");
    kiln_hold(k);
    if (!kiln_programs_await(k->programs, start_helpers, h))
        start_helpers(h);
    *out = h;
    return KILN_OK;
}

void kiln_prepare_end(kiln_helpers *helpers)
{
    if (!helpers)
        return;
    if (kiln_is_here(helpers->k))
        kiln_programs_forget(helpers->k->programs, helpers);
    if (helpers->workers)
        kiln_workers_stop(helpers->workers);
    kiln_unhold(helpers->k);
    free(helpers->problems);
    free(helpers);
}

kiln_status kiln_bundle_write(kiln *k, const char *dir)
{
    char programs[PATH_MAX];
    if (snprintf(programs, sizeof programs, "%s/" KILN_BUNDLE_PROGRAMS, dir) >=
        (int)sizeof programs)
        return kiln_fail(KILN_INVALID, "kiln_bundle: the path %.60s... is too long", dir);
    const kiln_status status = kiln_programs_store(k->programs, programs);
    return status ? status : kiln_bundle_rows(k, dir);
}

kiln_status kiln_bundle(kiln *k, const kiln_problem *problems, size_t count, int threads,
                        const char *dir)
{
    if (!dir || !*dir)
        return kiln_fail(KILN_INVALID, "kiln_bundle: dir must not be NULL or empty");
    kiln_status status = check(k, problems, count, threads, "kiln_bundle");
    if (status)
        return status;
    status = prepare(k, problems, count, threads);
    /* What processes have compiled comes from PoCL's cache now. No other process may compile a
     * program whose binary PoCL 3.1 is asked for: PoCL crashes when a file of it disappears. */
    if (!status && kiln_device_is_pocl(&k->facts))
        status = prepare(k, problems, count, 1);
    const kiln_status stored = kiln_bundle_write(k, dir);
    return status ? status : stored;
}
