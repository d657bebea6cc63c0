/* Shares work among processes whose only result is in caches on disk. */
#include "ahead.h"

#include "driver/conv/interrupt.h"
#include "tests/bench/base/cpus.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* PoCL would bind its threads to the same cores in each process. */
static void leave_threads_free(void)
{
    cpus_use_all();
    setenv("POCL_AFFINITY", "0", 1); /* session_open() would set it to 1 */
}

static void take_part(atomic_int *next, int count,
                      void (*work)(void *user, const session *s, int i), void *user)
{
    session s;
    char why[KILN_ERROR_TEXT];
    leave_threads_free();
    if (session_open(&s, "cpu", why))
        return;
    for (int i; (i = atomic_fetch_add(next, 1)) < count && !interrupt_came();)
        work(user, &s, i);
    session_close(&s);
}

void ahead_do(int count, void (*work)(void *user, const session *s, int i), void *user)
{
    atomic_int *next =
        mmap(NULL, sizeof *next, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (next == MAP_FAILED)
        return;
    atomic_init(next, 0);
    const int cores = cpus_count(), processes = cores < count ? cores : count;
    int started = 0;
    for (int i = 0; i < processes; i++) {
        pid_t child = fork();
        if (child == 0) {
            take_part(next, count, work, user);
            _exit(0);
        }
        started += child > 0;
    }
    while (started > 0) {
        started -= wait(NULL) > 0;
        if (interrupt_came()) /* the signal may have come to this process only */
            atomic_store(next, count);
    }
    munmap(next, sizeof *next);
}
