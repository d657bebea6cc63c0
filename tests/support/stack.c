/* Measures the use of a stack by a pattern in memory that a thread has as its stack. */
#include "stack.h"

#include <check.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

enum { ROOM = 16 << 20, PATTERN = 0xa5 };

typedef struct work {
    void (*call)(void *user);
    void *user;
} work;

static void *run(void *user)
{
    const work *w = user;
    w->call(w->user);
    return NULL;
}

size_t support_stack_of(void (*call)(void *user), void *user)
{
    unsigned char *stack =
        mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    work w = {call, user};
    pthread_t thread;
    pthread_attr_t attributes;
    size_t untouched = 0;
    ck_assert_ptr_ne(stack, MAP_FAILED);
    memset(stack, PATTERN, ROOM);
    ck_assert_int_eq(pthread_attr_init(&attributes), 0);
    ck_assert_int_eq(pthread_attr_setstack(&attributes, stack, ROOM), 0);
    ck_assert_int_eq(pthread_create(&thread, &attributes, run, &w), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    while (untouched < ROOM && stack[untouched] == PATTERN)
        untouched++;
    munmap(stack, ROOM);
    return ROOM - untouched;
}

size_t support_stack_limit(void)
{
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    return 512 << 10;
#elif defined __OPTIMIZE__
    return 64 << 10;
#else
    return 128 << 10;
#endif
}
