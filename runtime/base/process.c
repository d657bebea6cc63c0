/* Which process opened a kiln. Threads that other threads wait for, and locks that these threads
 * held, are not what they were in a child of fork(): whatever uses them would hang. */
#include "process.h"

#include "run_clock.h"

#include <pthread.h>
#include <stdlib.h>

atomic_uint kiln_process_forks;

static atomic_bool uses_opencl, inherits_opencl;
static bool listens;

static void note_fork(void)
{
    atomic_fetch_add(&kiln_process_forks, 1);
    kiln_run_clock_forget();
    if (atomic_load(&uses_opencl))
        atomic_store(&inherits_opencl, true);
}

static void listen_for_forks(void)
{
    listens = pthread_atfork(NULL, NULL, note_fork) == 0;
}

kiln_status kiln_process_open(bool with_device)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, listen_for_forks);
    if (!listens)
        return kiln_fail(KILN_NO_MEMORY, "kiln_open: out of memory for pthread_atfork()");
    if (!with_device)
        return KILN_OK;
    if (atomic_load(&inherits_opencl))
        return kiln_fail(KILN_INVALID,
                         "kiln_open: OpenCL was in use before fork(), and its threads are not in "
                         "this process; use OpenCL after fork() only, or call exec()");
    atomic_store(&uses_opencl, true);
    return KILN_OK;
}
