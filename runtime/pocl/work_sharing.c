/* The memory that a launch of one work-group shares with the threads that help it, and their part.
 */
#include "work_sharing.h"

#include "affinity.h"
#include "probe.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* In the order that templates/items.cl knows. What different cores write is 512 bytes apart. */
typedef struct sharing {
    _Alignas(4096) atomic_uint open;          /* units of work, while threads may help; else 0 */
    uint32_t unit, items;                     /* items of a unit; items of the launch */
    uint32_t second;                          /* 1: the launch's thread owns the second half */
    uint64_t code, given[KILN_ITEM_POINTERS]; /* the function of an item, and its pointers */
    uint32_t scratch;                         /* bytes of scratch memory of an item */
    uint32_t mode;                            /* kiln_arithmetic() of the launch's thread */
    _Alignas(512) atomic_uint claims_1; /* units taken of the first half: from its begin on, and
                                           << 16 from its end */
    _Alignas(512) atomic_uint claims_2; /* of the second half */
    _Alignas(512) atomic_uint inside;   /* threads that help */
    _Alignas(512) atomic_uint busy;     /* 1: a launch has this memory */
    uint64_t first;                     /* an address in the first thread's stack, or 0 */
    uint32_t captures;                  /* 1: a launch is to write what it does */
} sharing;

enum { PAGE = 4096 };

static sharing shared;

_Static_assert(offsetof(sharing, code) == 4 * 4 && offsetof(sharing, scratch) == 16 * 4 &&
                   offsetof(sharing, mode) == 17 * 4 && offsetof(sharing, claims_1) == 128 * 4 &&
                   offsetof(sharing, claims_2) == 256 * 4 && offsetof(sharing, inside) == 384 * 4 &&
                   offsetof(sharing, busy) == 512 * 4 && offsetof(sharing, first) == 514 * 4 &&
                   offsetof(sharing, captures) == 516 * 4,
               "templates/items.cl has other places");

uint64_t kiln_sharing_memory(void)
{
    return (uint64_t)(uintptr_t)&shared;
}

/* Takes half of what is left of the thread's own half, or one unit from the end of the other half.
 * Returns how many units were taken, from `first` on; 0: none is left. `second`: take from the
 * second half. */
static uint32_t take_units(sharing *s, uint32_t units, bool second, bool own, uint32_t *first)
{
    const uint32_t begin = second ? units / 2 : 0, half = second ? units - units / 2 : units / 2;
    atomic_uint *claims = second ? &s->claims_2 : &s->claims_1;
    const uint32_t seen = atomic_load(claims), gone = (seen & 0xffff) + (seen >> 16);
    const uint32_t wanted = own && gone < half ? (half - gone + 1) / 2 : 1;
    if (gone >= half)
        return 0;
    const uint32_t taken = atomic_fetch_add(claims, own ? wanted : UINT32_C(1) << 16);
    const uint32_t from_begin = taken & 0xffff, from_end = taken >> 16;
    if (from_begin + from_end >= half)
        return 0;
    *first = begin + (own ? from_begin : half - 1 - from_end);
    const uint32_t left = half - from_begin - from_end;
    return wanted < left ? wanted : left;
}

/* `second`: the calling thread owns the second half. */
static void do_units(sharing *s, uint32_t units, bool second, void *scratch)
{
    uint32_t first, taken;
    while ((taken = take_units(s, units, second, true, &first)) > 0 ||
           (taken = take_units(s, units, !second, false, &first)) > 0) {
        const uint32_t begin = first * s->unit, after = begin + taken * s->unit;
        for (uint32_t i = begin; i < (after < s->items ? after : s->items); i++)
            kiln_item_call(s->code, i, scratch, s->given);
    }
}

/* They are mostly equal, and setting them waits for all arithmetic before. */
static void change_arithmetic(uint32_t from, uint32_t to)
{
    if (from != to)
        kiln_arithmetic_set(to);
}

/* Grows the scratch memory to what a launch asks for. Returns false when there is no memory. */
static bool make_room(kiln_sharing_scratch *scratch, size_t size)
{
    if (size <= scratch->size)
        return true;
    free(scratch->bytes);
    size = (size + PAGE - 1) / PAGE * PAGE;
    scratch->bytes = aligned_alloc(PAGE, size);
    scratch->size = scratch->bytes ? size : 0;
    return scratch->bytes;
}

/* The launch waits for threads that are inside when it closes, so that what they read stays. */
bool kiln_sharing_help(kiln_sharing_scratch *scratch)
{
    sharing *s = &shared;
    if (atomic_load(&s->open) == 0)
        return false;
    atomic_fetch_add(&s->inside, 1u);
    const uint32_t units = atomic_load(&s->open);
    const bool helps = units > 0 && make_room(scratch, s->scratch);
    if (helps) {
        const uint32_t own = kiln_arithmetic(), mode = s->mode;
        change_arithmetic(own, mode);
        do_units(s, units, !s->second, scratch->bytes);
        change_arithmetic(mode, own);
    }
    atomic_fetch_sub(&s->inside, 1u);
    return helps;
}

/* ---- launches without PoCL ---- */

void *kiln_sharing_capture(void)
{
    sharing *s = aligned_alloc(_Alignof(sharing), sizeof *s);
    if (s) {
        memset(s, 0, sizeof *s);
        s->captures = 1;
    }
    return s;
}

bool kiln_sharing_captured(const void *memory, kiln_sharing_call *call)
{
    const sharing *s = memory;
    if (*(const volatile uint64_t *)&s->code == 0 || atomic_load(&s->busy) != 0)
        return false;
    *call = (kiln_sharing_call){.code = s->code,
                                .items = s->items,
                                .unit = s->unit,
                                .scratch = s->scratch,
                                .mode = s->mode};
    memcpy(call->given, s->given, sizeof call->given);
    return true;
}

/* The same as owns_second() in templates/items.cl. */
static bool owns_second(sharing *s)
{
    int here;
    const uint64_t mine = (uint64_t)(uintptr_t)&here, stack = 1 << 20;
    if (s->first == 0)
        s->first = mine;
    return mine - s->first + stack >= 2 * stack;
}

/* The memory is the calling thread's, which opens it to the threads that help and waits for them.
 */
static void share(sharing *s, const kiln_sharing_call *c, uint32_t units, void *scratch)
{
    const bool second = owns_second(s);
    /* No launch leaves a thread inside; but ThreadSanitizer does not see a kernel wait. */
    while (atomic_load(&s->inside) != 0)
        kiln_cpu_relax();
    s->second = second;
    atomic_store_explicit(&s->claims_1, 0, memory_order_relaxed);
    atomic_store_explicit(&s->claims_2, 0, memory_order_relaxed);
    s->unit = c->unit;
    s->items = c->items;
    s->scratch = c->scratch;
    s->mode = c->mode;
    s->code = c->code;
    memcpy(s->given, c->given, sizeof s->given);
    atomic_store(&s->open, units);
    do_units(s, units, second, scratch);
    atomic_store(&s->open, 0u);
    while (atomic_load(&s->inside) != 0)
        kiln_cpu_relax();
    atomic_store(&s->busy, 0u);
}

void kiln_sharing_do(const kiln_sharing_call *c, void *scratch)
{
    const uint32_t units = c->items / c->unit + (c->items % c->unit > 0);
    const uint32_t own = kiln_arithmetic();
    unsigned free = 0;
    change_arithmetic(own, c->mode);
    if (units > 1 && atomic_compare_exchange_strong(&shared.busy, &free, 1u))
        share(&shared, c, units, scratch);
    else
        for (uint32_t i = 0; i < c->items; i++)
            kiln_item_call(c->code, i, scratch, c->given);
    change_arithmetic(c->mode, own);
}

/* ---- whether it works ---- */

typedef struct answer {
    uint64_t code;
    int32_t numbers[4];
} answer;

static bool run_probe(const kiln_probe *probe, cl_command_queue queue, answer *a)
{
    return kiln_probe_enqueue(probe, queue, (uint64_t)(uintptr_t)a) == CL_SUCCESS &&
           clFinish(queue) == CL_SUCCESS;
}

static bool is_right(const answer *a)
{
    answer mine = {0};
    if (a->code == 0 || a->numbers[3] != 4)
        return false;
    kiln_item_call(a->code, 2, NULL, (uint64_t[5]){(uint64_t)(uintptr_t)mine.numbers});
    return mine.numbers[2] == 3;
}

bool kiln_sharing_works(kiln_programs *programs, cl_context context, cl_device_id device)
{
    if (!KILN_ITEM_CALLS) {
        kiln_fail(KILN_UNSUPPORTED, "kernels are called from the host on x86-64 only");
        return false;
    }
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
    kiln_probe probe;
    answer a = {0};
    const bool works =
        kiln_probe_open(&probe, programs) && queue && run_probe(&probe, queue, &a) && is_right(&a);
    kiln_probe_close(&probe);
    if (queue)
        clReleaseCommandQueue(queue);
    return works;
}
