/* Measures with two threads: one waits to be woken, the other wakes it after a while. */
#include "wake.h"

#include "tests/bench/base/stats.h"

#include <pthread.h>
#include <stdatomic.h>

enum { ROUNDS = 400 };

typedef struct game {
    bool spins;
    double gap; /* seconds */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    atomic_int waiting_for; /* the turn that the waiting thread wants next */
    atomic_int turn, seen;  /* the last turn that was given, and taken */
    double runs_at;
    double call[ROUNDS], until_runs[ROUNDS];
} game;

static void be_woken(game *g)
{
    for (int turn = 1; turn <= ROUNDS; turn++) {
        pthread_mutex_lock(&g->lock);
        g->waiting_for = turn;
        while (!g->spins && g->turn < turn)
            pthread_cond_wait(&g->changed, &g->lock);
        pthread_mutex_unlock(&g->lock);
        while (g->turn < turn)
            ;
        g->runs_at = stats_now();
        g->seen = turn;
    }
}

static void pass_turn(game *g, int turn)
{
    if (g->spins) {
        g->turn = turn;
        return;
    }
    pthread_mutex_lock(&g->lock);
    g->turn = turn;
    pthread_cond_signal(&g->changed);
    pthread_mutex_unlock(&g->lock);
}

static void wake_up(game *g)
{
    for (int turn = 1; turn <= ROUNDS; turn++) {
        while (g->waiting_for < turn)
            ;
        for (double since = stats_now(); stats_now() - since < g->gap;)
            ;
        double start = stats_now();
        pass_turn(g, turn);
        g->call[turn - 1] = stats_now() - start;
        while (g->seen < turn)
            ;
        g->until_runs[turn - 1] = g->runs_at - start;
    }
}

wake wake_measure(double gap_us, bool spins)
{
    static game g;
    g = (game){.spins = spins,
               .gap = gap_us * 1e-6,
               .lock = PTHREAD_MUTEX_INITIALIZER,
               .changed = PTHREAD_COND_INITIALIZER};
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        wake_up(&g);
#pragma omp section
        be_woken(&g);
    }
    return (wake){stats_median(g.call, ROUNDS) * 1e6, stats_median(g.until_runs, ROUNDS) * 1e6};
}
