/* A thread that another one sends to a core keeps its own set of cores to run on. */
#include "runtime/base/clock.h"
#include "runtime/pocl/affinity.h"
#include "support/suite.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

typedef struct guest {
    kiln_affinity_pair *pair;
    bool pinned;
    atomic_int stage; /* 1: joined; 2: look at the current core; 3: leave */
    atomic_bool seen; /* on the core that it was sent to */
    int core;
    cpu_set_t may;
} guest;

/* Returns the first or the last core that this process may use. */
static int core_of(bool last)
{
    cpu_set_t may;
    int found = -1;
    ck_assert_int_eq(sched_getaffinity(0, sizeof may, &may), 0);
    for (int i = 0; i < CPU_SETSIZE && (found < 0 || last); i++)
        if (CPU_ISSET((size_t)i, &may))
            found = i;
    return found;
}

static void *visit(void *argument)
{
    guest *g = argument;
    if (g->pinned) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET((size_t)core_of(false), &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    kiln_affinity_join(g->pair);
    kiln_affinity_join(g->pair);
    g->stage = 1;
    while (g->stage < 3)
        if (g->stage == 2 && sched_getcpu() == g->core)
            g->seen = true;
    sched_getaffinity(0, sizeof g->may, &g->may);
    return NULL;
}

/* Sends the guest to the core until it was there, for at most 30 rounds of some milliseconds. */
static bool send_and_see(guest *g, int core)
{
    pthread_t thread;
    g->core = core;
    ck_assert_int_eq(pthread_create(&thread, NULL, visit, g), 0);
    while (g->stage < 1)
        sched_yield();
    g->stage = 2;
    for (int round = 0; round < 30 && !g->seen; round++) {
        const int64_t begin = kiln_clock_ns();
        kiln_affinity_move_other(g->pair, core);
        while (!g->seen && kiln_clock_ns() - begin < 5000000)
            sched_yield();
    }
    g->stage = 3;
    pthread_join(thread, NULL);
    return g->seen;
}

START_TEST(who_is_sent_is_not_bound)
{
    for (int last = 0; last < 2; last++) {
        kiln_affinity_pair pair = {0};
        guest g = {.pair = &pair};
        cpu_set_t may;
        kiln_affinity_join(&pair);
        ck_assert(send_and_see(&g, core_of(last)));
        ck_assert_int_eq(sched_getaffinity(0, sizeof may, &may), 0);
        ck_assert(CPU_EQUAL(&may, &g.may));
    }
}
END_TEST

START_TEST(who_is_bound_stays_so)
{
    kiln_affinity_pair pair = {0};
    guest g = {.pair = &pair, .pinned = true};
    if (core_of(false) == core_of(true))
        return;
    kiln_affinity_join(&pair);
    ck_assert(!send_and_see(&g, core_of(true)));
    ck_assert_int_eq(CPU_COUNT(&g.may), 1);
    ck_assert(CPU_ISSET((size_t)core_of(false), &g.may));
}
END_TEST

START_TEST(nobody_is_sent_alone)
{
    kiln_affinity_pair pair = {0};
    kiln_affinity_move_other(&pair, core_of(true));
    kiln_affinity_join(&pair);
    kiln_affinity_move_other(&pair, core_of(true));
    kiln_affinity_move_other(&pair, -1);
    ck_assert_int_eq(pair.moved_ns, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("affinity");
    TCase *tests = tcase_create("affinity");
    tcase_add_test(tests, who_is_sent_is_not_bound);
    tcase_add_test(tests, who_is_bound_stays_so);
    tcase_add_test(tests, nobody_is_sent_alone);
    suite_add_tcase(suite, tests);
    return support_run_apart(suite);
}
