/* Which compilers of `kiln tune` get which config, and when a trial goes on. No process is started:
 * the test speaks at the other ends of the sockets. */
#include "driver/tune/tune_pool.h"
#include "support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FULL = 64 }; /* a table's first size */

static tune_options options;
static tune_list list;
static tune_run run;
static tune_kind kind;
static tune_device device;
static pool p;
static pool_worker w;
static int far[3]; /* the worker's other end, and those of two helpers */

/* A child that lives; its socket's other end. */
static tune_child child(int *end)
{
    int ends[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    *end = ends[1];
    return (tune_child){.pid = getpid(), .fd = ends[0]};
}

static tune_next config(int number)
{
    tune_next n = {.solver = "naive"};
    snprintf(n.config, sizeof n.config, "%d", number);
    return n;
}

/* A CPU whose table is full: config 0 comes next and is being compiled by helper 0, config FULL
 * follows and is new; helper 1 has nothing to do. */
static void setup(void)
{
    options = (tune_options){.trial_limit = 60};
    list = (tune_list){.count = 0};
    run = (tune_run){.options = &options, .list = &list};
    device = (tune_device){.cpu = true};
    p = (pool){.run = &run, .worker = &w, .workers = 1};
    kind = (tune_kind){.devices = 1};
    w = (pool_worker){
        .kind = &kind, .device = &device, .item = 0, .ahead = -1, .waiting = true, .helpers = 2};
    w.child = child(&far[0]);
    for (int i = 0; i < 2; i++)
        w.helper[i] = (pool_helper){.child = child(&far[1 + i]), .ready = true, .building = -1};
    w.table = calloc(FULL, sizeof *w.table);
    ck_assert_ptr_nonnull(w.table);
    for (int i = 0; i < FULL; i++)
        w.table[i] = (built){config(i), i == 0 ? BEING_BUILT : BUILT};
    w.built = w.built_room = FULL;
    w.helper[0].building = 0;
    w.next[0] = config(0);
    w.next[1] = config(FULL);
    w.nexts = 2;
}

static void teardown(void)
{
    free(w.table);
    close(w.child.fd);
    for (int i = 0; i < 2; i++)
        close(w.helper[i].child.fd);
    for (int i = 0; i < 3; i++)
        close(far[i]);
}

/* The kind of the message that waits there; -1: none. */
static int heard(int end)
{
    return tune_receive(end, &p.m, true) ? (int)p.m.kind : -1;
}

static void say(int end, tune_message_kind kind_of)
{
    p.m.kind = kind_of;
    ck_assert(tune_send(end, &p.m));
}

START_TEST(a_table_that_moves_keeps_its_trial_waiting)
{
    pool_feed(&p, &w);
    ck_assert_uint_gt(w.built_room, FULL);
    ck_assert_int_eq(heard(far[2]), MESSAGE_BUILD);
    ck_assert_str_eq(p.m.next[0].config, w.next[1].config);
    ck_assert_int_eq(heard(far[0]), -1);
    ck_assert(w.waiting);
}
END_TEST

START_TEST(a_cpu_measures_when_its_compilers_rest)
{
    pool_feed(&p, &w);
    say(far[1], MESSAGE_BUILT);
    pool_hear_helper(&p, &w, &w.helper[0]);
    ck_assert_int_eq(heard(far[0]), -1); /* helper 1 still compiles */
    say(far[2], MESSAGE_BUILT);
    pool_hear_helper(&p, &w, &w.helper[1]);
    ck_assert_int_eq(heard(far[0]), MESSAGE_GO);
    ck_assert(!w.waiting && w.in_trial);
}
END_TEST

START_TEST(a_trial_without_compilers_compiles_itself)
{
    w.helpers = 0;
    pool_feed(&p, &w);
    ck_assert_int_eq(heard(far[0]), MESSAGE_GO);
    w.helpers = 2;
}
END_TEST

/* Opening a driver takes seconds. */
START_TEST(a_gpu_does_not_wait_for_compilers_that_are_not_ready)
{
    device.cpu = false;
    w.helper[0] = (pool_helper){.child = w.helper[0].child, .building = -1};
    w.helper[1].ready = false;
    w.table[0].state = NOT_BUILT;
    pool_feed(&p, &w);
    ck_assert_int_eq(heard(far[0]), MESSAGE_GO);
    ck_assert_int_eq(heard(far[1]), -1);
}
END_TEST

/* Each has the first programs of its own next item compiled; an item that another worker claims is
 * taken where there is no other. */
START_TEST(two_workers_claim_two_items)
{
    static tune_item items[3];
    tune_state states[3] = {TUNE_WAITING, TUNE_WAITING, TUNE_ENDED};
    tune_progress progress[3] = {{0}};
    pool_worker second = {.kind = &kind, .ahead = -1};
    items[1].cost = 1;
    list = (tune_list){.item = items, .count = 3};
    kind = (tune_kind){.devices = 2, .state = states, .progress = progress};
    w.ahead = -1;
    ck_assert_int_eq(pool_claim_next(&p, &w), 1);
    ck_assert_int_eq(pool_claim_next(&p, &second), 0);
    w.firsts = 2;
    ck_assert_int_eq(pool_claim_next(&p, &w), 1);
    ck_assert_int_eq(w.firsts, 2);
    states[0] = TUNE_RUNNING;
    pool_end_claim(&second);
    ck_assert_int_eq(pool_claim_next(&p, &second), 1);
    states[1] = TUNE_RUNNING;
    pool_end_claim(&second);
    ck_assert_int_eq(pool_claim_next(&p, &w), -1);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(progress[i].claims, 0);
}
END_TEST

START_TEST(without_a_limit_no_trial_is_too_long)
{
    ck_assert(!pool_is_too_long(&p, 60) && pool_is_too_long(&p, 61));
    options.trial_limit = 0;
    ck_assert(!pool_is_too_long(&p, 1e9));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pool_build");
    TCase *all = tcase_create("pool_build");
    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_test(all, a_table_that_moves_keeps_its_trial_waiting);
    tcase_add_test(all, a_cpu_measures_when_its_compilers_rest);
    tcase_add_test(all, a_trial_without_compilers_compiles_itself);
    tcase_add_test(all, a_gpu_does_not_wait_for_compilers_that_are_not_ready);
    tcase_add_test(all, two_workers_claim_two_items);
    tcase_add_test(all, without_a_limit_no_trial_is_too_long);
    suite_add_tcase(suite, all);
    return support_run_apart(suite);
}
