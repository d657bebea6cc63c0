/* The share of a thread that helps with a launch of one work-group; the test plays the launch. */
#include "runtime/pocl/work_sharing.h"
#include "support/suite.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The words of templates/items.cl. */
enum {
    OPEN = 0,
    UNIT = 1,
    ITEMS = 2,
    RANGES = 3,
    CODE = 4,
    SCRATCH = 16,
    MODE = 17,
    THREADS = 256,
    THREAD = 258,
    PLACES = 16,
    MOST = 20000
};

static atomic_int done[MOST];
static int order[MOST];
static atomic_int count;
static atomic_int wrong;

static _Atomic uint32_t *words(void)
{
    return (_Atomic uint32_t *)(uintptr_t)kiln_sharing_memory();
}

static _Atomic uint32_t *claims(int place)
{
    return words() + 384 + 128 * place;
}

static _Atomic uint32_t *inside(int place)
{
    return claims(place) + 1;
}

/* Has the calling thread, which must not have a place yet, find `taken` places taken. */
static void take_places(uint32_t taken)
{
    words()[THREADS] = taken;
    for (uint32_t i = 0; i < taken; i++)
        words()[THREAD + 2 * i] = 1 + i;
}

/* Runs an item: counts it, and fills the scratch memory with its number. */
static void item(int i, unsigned char *scratch, atomic_int *counts, uint64_t five, uint64_t six)
{
    const uint32_t size = words()[SCRATCH];
    if (kiln_arithmetic() != words()[MODE] || five != 5 || six != 6 || (size && !scratch))
        atomic_store(&wrong, 1);
    if (size)
        memset(scratch, i, size);
    order[atomic_fetch_add(&count, 1)] = i;
    atomic_fetch_add(&counts[i], 1);
}

static uint32_t launch_mode;

static void open_launch(int items, int unit, int ranges, uint32_t scratch)
{
    uint64_t given[4] = {0, (uint64_t)(uintptr_t)done, 5, 6};
    void (*code)(int, unsigned char *, atomic_int *, uint64_t, uint64_t) = item;
    memcpy(given, &code, sizeof code);
    memcpy((char *)words() + CODE * 4, given, sizeof given);
    for (int i = 0; i < MOST; i++)
        atomic_store(&done[i], 0);
    atomic_store(&count, 0);
    atomic_store(&wrong, 0);
    words()[UNIT] = (uint32_t)unit;
    words()[ITEMS] = (uint32_t)items;
    words()[RANGES] = (uint32_t)ranges;
    words()[SCRATCH] = scratch;
    words()[MODE] = launch_mode;
    for (int i = 0; i < PLACES; i++)
        *claims(i) = 0;
    words()[OPEN] = (uint32_t)((items + unit - 1) / unit);
}

static void check_all(int items)
{
    for (int place = 0; place < PLACES; place++)
        ck_assert_uint_eq(*inside(place), 0);
    words()[OPEN] = 0;
    ck_assert(!atomic_load(&wrong));
    int i = 0;
    while (i < MOST && atomic_load(&done[i]) == (i < items))
        i++;
    ck_assert_msg(i == MOST, "item %d of %d: %d times", i, items,
                  i < MOST ? atomic_load(&done[i]) : 0);
}

START_TEST(without_a_launch_there_is_nothing_to_help)
{
    kiln_sharing_scratch scratch = {0};
    ck_assert(!kiln_sharing_help(&scratch));
    check_all(0);
}
END_TEST

START_TEST(each_item_is_done_once)
{
    kiln_sharing_scratch scratch = {0};
    take_places(_i);
    for (int items = 1; items < 70; items++)
        for (int unit = 1; unit < 9; unit++) {
            open_launch(items, unit, 1 + (items + unit) % PLACES,
                        items % 3 ? 0 : 40000u * (uint32_t)unit);
            ck_assert(kiln_sharing_help(&scratch));
            check_all(items);
        }
    free(scratch.bytes);
}
END_TEST

/* A thread takes its own range from the beginning, then those behind it from the end; here in
 * units of two. One whose range there is not takes from the others.
 */
START_TEST(a_range_is_ones_own)
{
    static const struct {
        int place, ranges, order[9];
    } cases[] = {
        {0, 2, {0, 1, 2, 3, 8, 6, 7, 4, 5}},   {1, 2, {4, 5, 6, 7, 8, 2, 3, 0, 1}},
        {1, 3, {2, 3, 4, 5, 8, 6, 7, 0, 1}},   {3, 2, {8, 6, 7, 4, 5, 2, 3, 0, 1}},
        {15, 16, {8, 0, 1, 2, 3, 4, 5, 6, 7}},
    };
    kiln_sharing_scratch scratch = {0};
    take_places((uint32_t)cases[_i].place);
    for (int again = 0; again < 2; again++) {
        open_launch(9, 2, cases[_i].ranges, 0);
        ck_assert(kiln_sharing_help(&scratch));
        ck_assert_mem_eq(order, cases[_i].order, sizeof cases[_i].order);
        check_all(9);
    }
    ck_assert_uint_eq(words()[THREADS], cases[_i].place + 1);
}
END_TEST

/* Then a launch that finds no place does its items alone. */
START_TEST(a_thread_without_a_place_does_not_help)
{
    kiln_sharing_scratch scratch = {0};
    kiln_sharing_call call = {
        .items = 9, .unit = 2, .given = {(uint64_t)(uintptr_t)done, 5, 6}, .mode = launch_mode};
    void (*code)(int, unsigned char *, atomic_int *, uint64_t, uint64_t) = item;
    memcpy(&call.code, &code, sizeof code);
    take_places(PLACES);
    open_launch(9, 2, PLACES, 0);
    ck_assert(!kiln_sharing_help(&scratch));
    ck_assert_int_eq(atomic_load(&count), 0);
    words()[OPEN] = 0;
    kiln_sharing_do(&call, NULL);
    check_all(9);
    ck_assert_uint_eq(words()[THREADS], PLACES);
}
END_TEST

/* Items run in the mode of arithmetic of the launch; the helping thread gets its own mode back. */
START_TEST(arithmetic_is_that_of_the_launch)
{
    static const uint32_t usual = 0x1f80, flushes = 0x9fc0, rounds_up = 0x5f80;
    const uint32_t modes[][2] = {{usual, flushes}, {flushes, usual}, {usual, rounds_up}};
    kiln_sharing_scratch scratch = {0};
    for (int i = 0; i < 3; i++) {
        const uint32_t before = kiln_arithmetic();
        launch_mode = modes[i][0];
        kiln_arithmetic_set(modes[i][1]);
        open_launch(10, 1, 2, 0);
        const bool helped = kiln_sharing_help(&scratch);
        const uint32_t after = kiln_arithmetic();
        kiln_arithmetic_set(before);
        ck_assert(helped);
        ck_assert_uint_eq(after, modes[i][1]);
        check_all(10);
    }
}
END_TEST

/* The same for a launch that kiln repeats without PoCL, alone or shared. */
START_TEST(a_repeated_launch_does_each_item_once)
{
    kiln_sharing_call call = {.given = {(uint64_t)(uintptr_t)done, 5, 6}, .mode = 0x9fc0};
    void (*code)(int, unsigned char *, atomic_int *, uint64_t, uint64_t) = item;
    memcpy(&call.code, &code, sizeof code);
    for (call.items = 1; call.items < 70; call.items++)
        for (call.unit = 1; call.unit < 9; call.unit++) {
            launch_mode = call.mode;
            open_launch((int)call.items, (int)call.unit, 1, 0);
            words()[OPEN] = 0;
            kiln_sharing_do(&call, NULL);
            check_all((int)call.items);
        }
}
END_TEST

static void *help(void *unused)
{
    kiln_sharing_scratch scratch = {0};
    while (words()[OPEN] == 0)
        sched_yield();
    kiln_sharing_help(&scratch);
    free(scratch.bytes);
    return unused;
}

START_TEST(threads_share_the_items)
{
    enum { THREADS_HERE = 3, ITEMS_HERE = 19997 };
    for (int round = 0; round < 20; round++) {
        pthread_t thread[THREADS_HERE];
        for (int i = 0; i < THREADS_HERE; i++)
            ck_assert_int_eq(pthread_create(&thread[i], NULL, help, NULL), 0);
        open_launch(ITEMS_HERE, 1 + round % 3, 1 + round % (THREADS_HERE + 1), 64);
        for (int i = 0; i < THREADS_HERE; i++)
            pthread_join(thread[i], NULL);
        check_all(ITEMS_HERE);
    }
}
END_TEST

int main(void)
{
    if (!KILN_ITEM_CALLS) {
        puts("skipped: launches are shared on x86-64 only");
        return 77;
    }
    launch_mode = kiln_arithmetic();
    Suite *suite = suite_create("work_sharing");
    TCase *tests = tcase_create("work_sharing");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, without_a_launch_there_is_nothing_to_help);
    tcase_add_loop_test(tests, each_item_is_done_once, 0, 3);
    tcase_add_loop_test(tests, a_range_is_ones_own, 0, 5);
    tcase_add_test(tests, a_thread_without_a_place_does_not_help);
    tcase_add_test(tests, arithmetic_is_that_of_the_launch);
    tcase_add_test(tests, a_repeated_launch_does_each_item_once);
    tcase_add_test(tests, threads_share_the_items);
    suite_add_tcase(suite, tests);
    return support_run_apart(suite);
}
