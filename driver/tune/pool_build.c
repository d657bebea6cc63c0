/* Has programs compiled before their trials come. */
#include "tune_pool.h"
#include "tune_rounds.h"
#include "tune_show.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A helper that dies again and again is of no use. */
enum { MOST_DEATHS = 5 };

/* On a GPU more than this many compilers are seldom ahead of one device. So many of them open its
 * driver at a time: processes that do so wait for each other, and of 16 that began together none
 * could compile before all could. */
enum { GPU_HELPERS = 16, GPU_OPENING = 4 };

/* How many configs of the next problem are compiled before it begins. */
enum { FIRSTS = 6 };

static void start_helper(pool *p, pool_worker *w, pool_helper *h)
{
    const tune_job job = {.options = p->run->options, .list = p->run->list, .device = w->device};
    *h = (pool_helper){.building = -1, .deaths = h->deaths};
    if (!tune_child_start(&h->child, tune_helper_run, (void *)&job, p->memory))
        h->deaths = MOST_DEATHS;
}

static bool is_alive(const pool_helper *h)
{
    return h->child.pid > 0 && h->deaths < MOST_DEATHS;
}

/* Starts the helpers that are still wanted, as many at a time as may open the device. */
static void start_more(pool *p, pool_worker *w)
{
    int opening = 0;
    for (int i = 0; i < w->helpers; i++)
        opening += is_alive(&w->helper[i]) && !w->helper[i].ready;
    while (w->helpers < w->wanted && (w->device->cpu || opening++ < GPU_OPENING))
        start_helper(p, w, &w->helper[w->helpers++]);
}

/* Returns how many cores this process may use: taskset, Slurm and containers give it some. */
static long count_cores(void)
{
    cpu_set_t may;
    const long cores = sched_getaffinity(0, sizeof may, &may) == 0 ? (long)CPU_COUNT(&may)
                                                                   : sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores;
}

void pool_start_helpers(pool *p, pool_worker *w)
{
    const int64_t asked = p->run->options->jobs;
    const long cores = count_cores();
    if (w->wanted > 0)
        return;
    /* On a CPU nothing is measured while helpers work: each core may have one. */
    int64_t wanted = w->device->cpu ? cores : (cores - 1) / p->run->devices;
    if (!w->device->cpu && wanted > GPU_HELPERS)
        wanted = GPU_HELPERS;
    wanted = asked >= 0 ? asked : wanted < 1 ? 1 : wanted;
    w->wanted = wanted > POOL_MOST_HELPERS ? POOL_MOST_HELPERS : (int)wanted;
    start_more(p, w);
}

void pool_kill_helpers(const pool_worker *w)
{
    for (int i = 0; i < w->helpers; i++)
        tune_child_kill(&w->helper[i].child);
}

void pool_forget_built(pool_worker *w)
{
    w->built = 0;
    w->nexts = w->overtaken = 0;
    for (int i = 0; i < w->helpers; i++)
        w->helper[i].building = w->helper[i].building >= 0 ? POOL_ELSEWHERE : -1;
}

/* Returns the table's entry of a config, made if need be; NULL: out of memory. The next call may
 * move the table. */
static built *find(pool_worker *w, const tune_next *config)
{
    for (size_t i = 0; i < w->built; i++)
        if (!strcmp(w->table[i].config.config, config->config) &&
            !strcmp(w->table[i].config.solver, config->solver))
            return &w->table[i];
    if (w->built == w->built_room) {
        const size_t room = w->built_room ? w->built_room * 2 : 64;
        built *more = realloc(w->table, room * sizeof *more);
        if (!more)
            return NULL;
        w->table = more;
        w->built_room = room;
    }
    w->table[w->built] = (built){.config = *config};
    return &w->table[w->built++];
}

static int count_alive(const pool_worker *w)
{
    int n = 0;
    for (int i = 0; i < w->helpers; i++)
        n += is_alive(&w->helper[i]);
    return n;
}

/* Whether some helper can compile: opening a driver takes seconds, and a search need not wait for
 * the first of them. */
static bool any_is_ready(const pool_worker *w)
{
    for (int i = 0; i < w->helpers; i++)
        if (is_alive(&w->helper[i]) && w->helper[i].ready)
            return true;
    return false;
}

static bool is_busy(const pool_worker *w)
{
    for (int i = 0; i < w->helpers; i++)
        if (is_alive(&w->helper[i]) && w->helper[i].building != -1)
            return true;
    return false;
}

static void give(pool *p, pool_worker *w, pool_helper *h, built *b)
{
    p->m.kind = MESSAGE_BUILD;
    p->m.line = w->trial;
    p->m.next[0] = b->config;
    if (!tune_send(h->child.fd, &p->m))
        return;
    b->state = BEING_BUILT;
    h->building = (int)(b - w->table);
    h->since = p->now;
}

/* Gives each idle helper the next config, among the first `most`, that nobody has compiled. */
static void hand_out(pool *p, pool_worker *w, int most)
{
    int at = 0;
    for (int i = 0; i < w->helpers; i++) {
        pool_helper *h = &w->helper[i];
        if (!is_alive(h) || !h->ready || h->building != -1)
            continue;
        for (; at < w->nexts && at < most; at++) {
            built *b = find(w, &w->next[at]);
            if (b && b->state == NOT_BUILT) {
                give(p, w, h, b);
                break;
            }
        }
    }
}

void pool_end_claim(pool_worker *w)
{
    if (w->ahead >= 0)
        w->kind->progress[w->ahead].claims--;
    w->ahead = -1;
}

int pool_claim_next(const pool *p, pool_worker *w)
{
    const int before = w->ahead;
    pool_end_claim(w);
    w->ahead = tune_rounds_next(p->run, w->kind);
    if (w->ahead >= 0)
        w->kind->progress[w->ahead].claims++;
    if (w->ahead != before)
        w->firsts = 0;
    return w->ahead;
}

/* Gives idle helpers the first configs of the next problem, so that it need not wait for them. */
static void hand_out_firsts(pool *p, pool_worker *w)
{
    const int next = pool_claim_next(p, w);
    for (int i = 0; i < w->helpers && next >= 0 && w->firsts < FIRSTS; i++) {
        pool_helper *h = &w->helper[i];
        if (!is_alive(h) || !h->ready || h->building != -1)
            continue;
        p->m.kind = MESSAGE_BUILD_FIRST;
        p->m.item = next;
        p->m.count = w->firsts++;
        if (!tune_send(h->child.fd, &p->m))
            continue;
        h->building = POOL_ELSEWHERE;
        h->since = p->now;
    }
}

/* Lets the worker go on with the trial `now` of its next ones. */
static void let_go(pool *p, pool_worker *w, int now)
{
    w->overtaken = now > 0 ? w->overtaken + 1 : 0;
    p->m.kind = MESSAGE_GO;
    p->m.count = now;
    p->run->waited += p->now - w->trial_since;
    w->waiting = false;
    w->in_trial = true;
    w->trial_since = p->now;
    tune_send(w->child.fd, &p->m);
}

/* Returns whether one of the next trials need not wait: its programs are compiled, or there is no
 * memory to remember whether they are. */
static bool is_built(pool_worker *w, int next)
{
    const built *b = next < w->nexts ? find(w, &w->next[next]) : NULL;
    return !b || b->state == BUILT;
}

/* Returns which of the next trials can run now; -1: it has to wait. The first one is overtaken only
 * so often: the order is the search's reason for what it leaves out. */
static int find_built(pool_worker *w)
{
    enum { MOST_OVERTAKEN = 3 };
    const int most = w->overtaken < MOST_OVERTAKEN ? w->nexts : 1;
    for (int i = 0; i < most && i <= MOST_OVERTAKEN; i++)
        if (is_built(w, i))
            return i;
    return w->nexts > 0 ? -1 : 0;
}

/* A GPU measures while helpers compile. A CPU is the helpers' own device: what comes next is
 * compiled on all cores, then measured while they rest. */
void pool_feed(pool *p, pool_worker *w)
{
    const int alive = count_alive(w);
    if (w->device->cpu) {
        enum { TURNS = 2 };
        if (w->waiting && !is_built(w, 0))
            hand_out(p, w, TURNS * alive);
        if (w->waiting && (alive == 0 || (is_built(w, 0) && !is_busy(w))))
            let_go(p, w, 0);
        return;
    }
    if (w->item >= 0)
        hand_out(p, w, w->nexts);
    hand_out_firsts(p, w);
    const int now = !w->waiting ? -1 : any_is_ready(w) ? find_built(w) : 0;
    if (now >= 0)
        let_go(p, w, now);
}

/* Whatever became of it, the config need not be compiled again: its trial will tell. */
static void finish(pool_worker *w, pool_helper *h)
{
    if (h->building >= 0)
        w->table[h->building].state = BUILT;
    h->building = -1;
}

static void end_dead(pool_worker *w, pool_helper *h)
{
    char how[512], config[KILN_INFO_TEXT + 64], did[sizeof config + 16] = "compiled";
    const tune_next *n = h->building >= 0 ? &w->table[h->building].config : NULL;
    tune_child_end(&h->child, how, sizeof how);
    if (n)
        snprintf(did, sizeof did, "compiled %s",
                 search_config_text(n->config, n->solver, config, sizeof config));
    if (h->ready && *how)
        tune_show_death(w->device->name, did, how);
}

void pool_hear_helper(pool *p, pool_worker *w, pool_helper *h)
{
    if (!tune_receive(h->child.fd, &p->m, false)) {
        end_dead(w, h);
        h->deaths += h->building == -1; /* a config that crashes is the config's fault */
        finish(w, h);
        if (h->deaths < MOST_DEATHS)
            start_helper(p, w, h);
    } else if (p->m.kind == MESSAGE_READY) {
        h->ready = true;
    } else if (p->m.kind == MESSAGE_BUILT) {
        finish(w, h);
    }
    start_more(p, w);
    pool_feed(p, w);
}

bool pool_is_too_long(const pool *p, double seconds)
{
    const double limit = p->run->options->trial_limit;
    return limit > 0 && seconds > limit;
}

void pool_check_helpers(pool *p, pool_worker *w)
{
    for (int i = 0; i < w->helpers; i++) {
        pool_helper *h = &w->helper[i];
        if (is_alive(h) && h->building != -1 && pool_is_stopped(&h->child))
            h->since += p->now - h->checked;
        h->checked = p->now;
        if (!is_alive(h) || h->building == -1 || !pool_is_too_long(p, p->now - h->since))
            continue;
        tune_child_end(&h->child, NULL, 0);
        finish(w, h);
        start_helper(p, w, h);
        pool_feed(p, w);
    }
}
