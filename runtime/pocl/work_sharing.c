/* The memory that a launch of one work-group shares with the threads that help it, and their part.
 */
#include "work_sharing.h"

#include "affinity.h"
#include "probe.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, MOST_THREADS = 16 };

/* What belongs to one of the threads that share launches. */
typedef struct place {
    _Alignas(512) atomic_uint claims; /* units taken of its range: from the begin on, and << 16 from
                                         the end */
    atomic_uint inside;               /* 1: it helps */
} place;

/* In the order that templates/items.cl knows. What different cores write is 512 bytes apart. */
typedef struct sharing {
    _Alignas(PAGE) atomic_uint open;          /* units of work, while threads may help; else 0 */
    uint32_t unit, items;                     /* items of a unit; items of the launch */
    uint32_t ranges;                          /* the first so many threads own a range each */
    uint64_t code, given[KILN_ITEM_POINTERS]; /* the function of an item, and its pointers */
    uint32_t scratch;                         /* bytes of scratch memory of an item */
    uint32_t mode;                            /* kiln_arithmetic() of the launch's thread */
    _Alignas(512) atomic_uint busy;           /* 1: a launch has this memory */
    uint32_t captures;                        /* 1: a launch is to write what it does */
    _Alignas(512) atomic_uint threads;        /* that have had or have asked for a place */
    atomic_ullong thread[MOST_THREADS];       /* kiln_this_thread() of each */
    place at[MOST_THREADS];
} sharing;

static sharing shared;

_Static_assert(offsetof(sharing, code) == 4 * 4 && offsetof(sharing, scratch) == 16 * 4 &&
                   offsetof(sharing, mode) == 17 * 4 && offsetof(sharing, busy) == 128 * 4 &&
                   offsetof(sharing, captures) == 129 * 4 &&
                   offsetof(sharing, threads) == 256 * 4 && offsetof(sharing, thread) == 258 * 4 &&
                   offsetof(sharing, at) == 384 * 4 && sizeof(place) == 128 * 4 &&
                   offsetof(place, inside) == 4,
               "templates/items.cl has other places");

uint64_t kiln_sharing_memory(void)
{
    return (uint64_t)(uintptr_t)&shared;
}

static uint32_t known_threads(sharing *s)
{
    const uint32_t threads = atomic_load(&s->threads);
    return threads < MOST_THREADS ? threads : MOST_THREADS;
}

/* Returns the calling thread's place, a new one where it has none; MOST_THREADS: all are taken. The
 * same as own_place() in templates/items.cl. */
static uint32_t own_place(sharing *s)
{
    const uint64_t me = kiln_this_thread();
    const uint32_t known = known_threads(s);
    for (uint32_t i = 0; i < known; i++)
        if (atomic_load_explicit(&s->thread[i], memory_order_relaxed) == me)
            return i;
    const uint32_t i = known < MOST_THREADS ? atomic_fetch_add(&s->threads, 1u) : MOST_THREADS;
    if (i >= MOST_THREADS)
        return MOST_THREADS;
    atomic_store_explicit(&s->thread[i], me, memory_order_relaxed);
    return i;
}

/* Takes half of what is left of the thread's own range, or one unit from the end of another's.
 * Returns how many units were taken, from `first` on; 0: none is left. */
static uint32_t take_units(sharing *s, uint32_t units, uint32_t range, bool own, uint32_t *first)
{
    const uint32_t begin = units * range / s->ranges;
    const uint32_t all = units * (range + 1) / s->ranges - begin;
    atomic_uint *claims = &s->at[range].claims;
    const uint32_t seen = atomic_load(claims), gone = (seen & 0xffff) + (seen >> 16);
    const uint32_t wanted = own && gone < all ? (all - gone + 1) / 2 : 1;
    if (gone >= all)
        return 0;
    const uint32_t taken = atomic_fetch_add(claims, own ? wanted : UINT32_C(1) << 16);
    const uint32_t from_begin = taken & 0xffff, from_end = taken >> 16;
    if (from_begin + from_end >= all)
        return 0;
    *first = begin + (own ? from_begin : all - 1 - from_end);
    const uint32_t left = all - from_begin - from_end;
    return wanted < left ? wanted : left;
}

/* `own`: the calling thread's place. Its own range comes first, then those behind it, in a circle.
 */
static void do_units(sharing *s, uint32_t units, uint32_t own, void *scratch)
{
    for (uint32_t passed = 0; passed < s->ranges; passed++) {
        const uint32_t range = (own + passed) % s->ranges;
        uint32_t first, taken;
        while ((taken = take_units(s, units, range, range == own, &first)) > 0) {
            const uint32_t begin = first * s->unit, after = begin + taken * s->unit;
            for (uint32_t i = begin; i < (after < s->items ? after : s->items); i++)
                kiln_item_call(s->code, i, scratch, s->given);
        }
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
    const uint32_t own = atomic_load(&s->open) ? own_place(s) : MOST_THREADS;
    if (own == MOST_THREADS)
        return false;
    atomic_store(&s->at[own].inside, 1u);
    const uint32_t units = atomic_load(&s->open);
    const bool helps = units > 0 && make_room(scratch, s->scratch);
    if (helps) {
        const uint32_t usual = kiln_arithmetic(), mode = s->mode;
        change_arithmetic(usual, mode);
        do_units(s, units, own, scratch->bytes);
        change_arithmetic(mode, usual);
    }
    atomic_store_explicit(&s->at[own].inside, 0u, memory_order_release);
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

/* Waits until no thread helps. */
static void wait_for_helpers(sharing *s)
{
    for (uint32_t i = 0; i < known_threads(s); i++)
        while (atomic_load(&s->at[i].inside) != 0)
            kiln_cpu_relax();
}

/* The memory is the calling thread's, which opens it to the threads that help and waits for them.
 * `own`: its place. */
static void share(sharing *s, const kiln_sharing_call *c, uint32_t units, uint32_t own,
                  void *scratch)
{
    /* No launch leaves a thread inside; but ThreadSanitizer does not see a kernel wait. */
    wait_for_helpers(s);
    s->ranges = known_threads(s);
    for (uint32_t i = 0; i < s->ranges; i++)
        atomic_store_explicit(&s->at[i].claims, 0, memory_order_relaxed);
    s->unit = c->unit;
    s->items = c->items;
    s->scratch = c->scratch;
    s->mode = c->mode;
    s->code = c->code;
    memcpy(s->given, c->given, sizeof s->given);
    atomic_store(&s->open, units);
    do_units(s, units, own, scratch);
    atomic_store(&s->open, 0u);
    wait_for_helpers(s);
    atomic_store(&s->busy, 0u);
}

void kiln_sharing_do(const kiln_sharing_call *c, void *scratch)
{
    const uint32_t units = c->items / c->unit + (c->items % c->unit > 0);
    const uint32_t own = kiln_arithmetic();
    const uint32_t place = units > 1 ? own_place(&shared) : MOST_THREADS;
    unsigned free = 0;
    change_arithmetic(own, c->mode);
    if (place < MOST_THREADS && atomic_compare_exchange_strong(&shared.busy, &free, 1u))
        share(&shared, c, units, place, scratch);
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
