/* Calls the code of one item from a thread of the host.
 *
 * PoCL compiles a kernel to machine code of the host, in which an item (templates/items.cl) is a
 * function of its own:
 *
 *     void one_item(int item, local void *scratch, global T *...)   with up to five pointers
 *
 * The host calls it by a prototype with all five, as integers. C does not define such a call; the
 * calling convention of x86-64 System V does. There, pointers and 64-bit integers are passed alike,
 * the first six arguments in registers that the callee may ignore, the seventh on the stack, which
 * the caller cleans up. So the call is compiled for this convention only, and named in the type.
 * Elsewhere KILN_ITEM_CALLS is 0, and no launch is shared. */
#ifndef KILN_ITEM_CALL_H
#define KILN_ITEM_CALL_H

#include <stdint.h>
#include <string.h>

enum { KILN_ITEM_POINTERS = 5 };

#if defined __x86_64__ && defined __LP64__ && defined __ELF__ && defined __GNUC__

enum { KILN_ITEM_CALLS = 1 };

typedef __attribute__((sysv_abi)) void kiln_item_code(int, void *, uint64_t, uint64_t, uint64_t,
                                                      uint64_t, uint64_t);

static inline void kiln_item_call(uint64_t code, uint32_t item, void *scratch,
                                  const uint64_t given[KILN_ITEM_POINTERS])
{
    kiln_item_code *one_item;
    memcpy(&one_item, &code, sizeof one_item);
    one_item((int)item, scratch, given[0], given[1], given[2], given[3], given[4]);
}

/* How a thread rounds, what it does with denormal numbers, and which exceptions it masks: MXCSR
 * without the flags of exceptions that have occurred. */
static inline uint32_t kiln_arithmetic(void)
{
    const uint32_t flags = 0x3f;
    return __builtin_ia32_stmxcsr() & ~flags;
}

static inline void kiln_arithmetic_set(uint32_t mode)
{
    __builtin_ia32_ldmxcsr(mode);
}

/* Returns a number of the calling thread's own: its thread pointer, which the convention keeps at
 * %fs:0. */
static inline uint64_t kiln_this_thread(void)
{
    uint64_t thread;
    __asm__("mov %%fs:0, %0" : "=r"(thread));
    return thread;
}

#else

enum { KILN_ITEM_CALLS = 0 };

static inline void kiln_item_call(uint64_t code, uint32_t item, void *scratch,
                                  const uint64_t given[KILN_ITEM_POINTERS])
{
    (void)code, (void)item, (void)scratch, (void)given;
}

static inline uint32_t kiln_arithmetic(void)
{
    return 0;
}

static inline void kiln_arithmetic_set(uint32_t mode)
{
    (void)mode;
}

static inline uint64_t kiln_this_thread(void)
{
    return 0;
}

#endif
#endif
