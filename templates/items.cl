/* items.cl: the items of a grid: each a work-group of its own, or all in one work-group with which
 * other threads help.
 *
 *     #define ITEM_HERE item(src, dst, ITEM(0), ITEM(1), ITEM(2))
 *     DEFINE_ITEM(ITEM_HERE, (global const SRC_T *src, global DST_T *dst))
 *
 *     kernel void name(global const SRC_T *restrict src, global DST_T *dst ITEMS_PARAM)
 *     {
 *         EACH_ITEM(ITEM_HERE, (src, dst))
 *     }
 *
 * An item that works in local memory finds it at `scratch`; its kernel says
 *
 *         local float scratch[SIZE];
 *         EACH_ITEM_WITH(scratch, ITEM_HERE, (src, dst))
 *
 * ITEM(axis) is the item's place along an axis of the grid; get_global_id() does not tell it in a
 * shared launch. All parameters are pointers to global memory, five at most.
 *
 * A launch of one group (with ITEMS_SHARED=1; see runtime/pocl/work_sharing.h) writes where an
 * item's code is, and which pointers it is given, into memory of the host. Threads of the host spin
 * on this memory and help. The items, in units of ITEMS_UNIT, are dealt in a range for each thread
 * that the memory knows. A thread owns the same range whether it begins launches or helps, so that
 * a core finds its part of the tensors in its own cache from launch to launch. A thread that is
 * done with its range takes units from the ends of the others, from the next one on. (Taking waits
 * until all earlier stores are done: a fifth of a microsecond, where lines of the destination come
 * from a second-level cache. So an owner takes half of what is left.)
 *
 *       first thread     second thread        third thread
 *     > 0 1 2 . . . 9 <  > 10 11 . . . 19 <  > 20 21 . . . 29 <
 *                            the first, when it is done
 *
 * A launch of one unit is left to the thread that begins it. What a launch writes into this memory
 * is all that the host needs to repeat the launch, sooner than PoCL can start one
 * (runtime/pocl/command_batch.h). For that, the host gives one launch a memory that nobody else
 * looks at: it captures the launch.
 *
 * The address of a function is that of an array of the same symbol, as OpenCL C has no pointers to
 * functions. (PoCL leaves out a function that its kernel does not call.) The symbol is hidden: a
 * symbol of that name in the program or in another kernel cannot take its place. What different
 * cores write is 512 bytes apart, since prefetchers bring a line's neighbours.
 *
 * Memory order: OpenCL 1.2's own atomic functions are relaxed. So the hand-over uses the compiler's
 * __atomic functions, which order memory as C11's do; docs/pocl.md has the argument. Compilers
 * other than PoCL's do not see this part.
 *
 * Grid with ITEMS_SHARED=1: (ITEMS_0 * ITEMS_1 * ITEMS_2, 1, 1), or one work-group. Else the grid
 * has the axes of the items.
 *
 * Defines: ITEMS_SHARED                 1: a launch of one work-group does all items
 *          ITEMS_0, ITEMS_1, ITEMS_2    with it: items along the axes
 *          ITEMS_UNIT                   with it: items of a unit; at most 65535 units
 *          ITEMS_PARTS                  with it: the ranges are so many parts of the first axis;
 *                                       else parts of the last axis of several items
 */
#if ITEMS_SHARED

#define ITEMS (ITEMS_0 * ITEMS_1 * ITEMS_2)
#define ITEMS_UNITS ((ITEMS + ITEMS_UNIT - 1) / ITEMS_UNIT)
#define ITEM_OF(i, axis, count)                                                                    \
    ((axis) == 0   ? (i) % (count)                                                                 \
     : (axis) == 1 ? (i) / (count) % ITEMS_1                                                       \
                   : (i) / ((count) * ITEMS_1))
#if ITEMS_PARTS
#define ITEMS_PART(i) ((((i) / (ITEMS_1 * ITEMS_2) + 1) * ITEMS_PARTS - 1) / ITEMS_0)
#define ITEMS_BEFORE(part) (ITEMS_0 * (part) / ITEMS_PARTS) /* along the first axis */
/* Parts have one of two sizes, and dividing by a constant is sooner done. */
#define ITEMS_SMALL (ITEMS_0 > ITEMS_PARTS ? ITEMS_0 / ITEMS_PARTS : 1)
#define ITEM_SIZED(i, axis, small)                                                                 \
    ((small) ? ITEM_OF(i, axis, ITEMS_SMALL) : ITEM_OF(i, axis, ITEMS_SMALL + 1))
#define ITEM_OF_PART(i, axis, before, after)                                                       \
    (ITEM_SIZED((i) - (before) * ITEMS_1 * ITEMS_2, axis, (after) - (before) == ITEMS_SMALL) +     \
     ((axis) == 0 ? (before) : 0))
#define ITEM(axis)                                                                                 \
    ITEM_OF_PART(item_i, axis, ITEMS_BEFORE(ITEMS_PART(item_i)),                                   \
                 ITEMS_BEFORE(ITEMS_PART(item_i) + 1))
#else
#define ITEM(axis) ITEM_OF(item_i, axis, ITEMS_0)
#endif

#ifndef __x86_64__
#error "ITEMS_SHARED=1 is for x86-64 only: the host cannot call an item elsewhere"
#endif
#define ITEMS_SYMBOL __asm__("kiln_item") __attribute__((visibility("hidden")))
/* Compilers that take vectors of 512 bits for slow halve them, unless a function asks for them. */
#define ITEMS_WIDE
#if defined __AVX512F__ && defined __has_attribute
#if __has_attribute(min_vector_width)
#undef ITEMS_WIDE
#define ITEMS_WIDE __attribute__((min_vector_width(512)))
#endif
#endif
/* Removes the brackets around a list. (OpenCL C has no macros with any number of arguments, and
 * some compilers refuse them; PoCL's takes them.) */
#define ITEMS_LIST(...) __VA_ARGS__
#define DEFINE_ITEM(call, parameters)                                                              \
    void one_item(const int item_i, local void *scratch, ITEMS_LIST parameters) ITEMS_SYMBOL;      \
    __attribute__((used, noinline)) ITEMS_WIDE void one_item(                                      \
        const int item_i, local void *scratch, ITEMS_LIST parameters)                              \
    {                                                                                              \
        call;                                                                                      \
    }
extern constant uint items_code[] ITEMS_SYMBOL;

#define ITEMS_PARAM , const ulong items_memory
#define EACH_ITEM(call, given) DO_ITEMS(0, 0, given)
#define EACH_ITEM_WITH(scratch, call, given) DO_ITEMS(scratch, sizeof scratch, given)
#define DO_ITEMS(scratch, bytes, given)                                                            \
    global const void *const items_given[] = {ITEMS_LIST given};                                   \
    items_left items =                                                                             \
        begin_items(items_memory, bytes, items_given, sizeof items_given / sizeof *items_given);   \
    while (next_item(&items))                                                                      \
        one_item(items.next, scratch, ITEMS_LIST given);

/* The memory, in words; see struct sharing in work_sharing.c. */
#define SHARING_OPEN 0      /* units of work, while threads may help; else 0 */
#define SHARING_UNIT 1      /* items of a unit */
#define SHARING_ITEMS 2     /* items of the launch */
#define SHARING_RANGES 3    /* the first so many threads own a range each */
#define SHARING_CODE 4      /* two words, and so is each of the five pointers behind it */
#define SHARING_SCRATCH 16  /* bytes of scratch memory of an item */
#define SHARING_MODE 17     /* MXCSR of the launch's thread, without flags */
#define SHARING_BUSY 128    /* 1: a launch has the memory */
#define SHARING_CAPTURE 129 /* 1: the launch is to write what it does */
#define SHARING_THREADS 256 /* that have had or have asked for a place */
#define SHARING_THREAD 258  /* the thread of each place, two words each */
#define SHARING_MOST 16     /* places */
#define SHARING_PLACE(i) (384 + 128 * (i))
/* In a place: */
#define SHARING_CLAIMS 0    /* units taken of its range: from its begin, and << 16 from its end */
#define SHARING_INSIDE 1    /* 1: its thread helps */

/* What is called once a launch, or once for many items: a program with these functions inlined
 * takes the compiler a tenth longer. */
#define ITEMS_ONCE static __attribute__((noinline))

typedef struct items_left {
    global volatile uint *memory; /* 0: no other thread helps */
    uint own, ranges;             /* this thread's place; ranges of the launch */
    uint passed;                  /* ranges, from its own on, of which no unit is left */
    int next, end;
} items_left;

static inline uint known_threads(global volatile uint *words)
{
    return min(__atomic_load_n(words + SHARING_THREADS, __ATOMIC_SEQ_CST), (uint)SHARING_MOST);
}

/* This thread's place, a new one where it has none; SHARING_MOST: all are taken. A thread is known
 * by its thread pointer. */
ITEMS_ONCE uint own_place(global volatile uint *words)
{
    ulong me;
    __asm__("mov %%fs:0, %0" : "=r"(me));
    global volatile ulong *const thread = (global volatile ulong *)(words + SHARING_THREAD);
    const uint known = known_threads(words);
    for (uint i = 0; i < known; i++)
        if (thread[i] == me)
            return i;
    if (known == SHARING_MOST)
        return SHARING_MOST;
    const uint i = __atomic_fetch_add(words + SHARING_THREADS, 1u, __ATOMIC_SEQ_CST);
    if (i >= SHARING_MOST)
        return SHARING_MOST;
    thread[i] = me;
    return i;
}

/* How this thread rounds, and what it does with denormal numbers; see item_call.h. */
static inline uint items_mode(void)
{
    uint mode;
    __asm__ volatile("stmxcsr %0" : "=m"(mode));
    return mode & ~0x3fu;
}

ITEMS_ONCE items_left begin_items(const ulong memory, const uint scratch,
                                     global const void *const *given, const int count)
{
    const int group = get_group_id(0);
    items_left items = {0, 0, 0, 0, group - 1, group + 1};
    if (get_num_groups(0) > 1)
        return items;
    items.next = -1;
    items.end = ITEMS;
    global volatile uint *const words = (global volatile uint *)memory;
    uint free = 0;
    if (ITEMS_UNITS == 1 && words[SHARING_CAPTURE] == 0)
        return items;
    const uint own = own_place(words);
    if (own == SHARING_MOST ||
        !__atomic_compare_exchange_n(words + SHARING_BUSY, &free, 1u, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST))
        return items;
    items.memory = words;
    items.own = own;
    items.ranges = words[SHARING_RANGES] = known_threads(words);
    items.end = 0;
    for (uint i = 0; i < items.ranges; i++)
        words[SHARING_PLACE(i) + SHARING_CLAIMS] = 0;
    words[SHARING_UNIT] = ITEMS_UNIT;
    words[SHARING_ITEMS] = ITEMS;
    words[SHARING_SCRATCH] = scratch;
    words[SHARING_MODE] = items_mode();
    global volatile ulong *const code = (global volatile ulong *)(words + SHARING_CODE);
    code[0] = (ulong)items_code;
    for (int i = 0; i < count; i++)
        code[i + 1] = (ulong)given[i];
    __atomic_store_n(words + SHARING_OPEN, (uint)ITEMS_UNITS, __ATOMIC_SEQ_CST);
    return items;
}

/* Takes half of what is left of this thread's own range, or one unit from the end of another's. */
ITEMS_ONCE bool take_units(items_left *items)
{
    const uint range = (items->own + items->passed) % items->ranges;
    const bool own = items->passed == 0;
    const uint first = ITEMS_UNITS * range / items->ranges;
    const uint units = ITEMS_UNITS * (range + 1) / items->ranges - first;
    global volatile uint *const claims = items->memory + SHARING_PLACE(range) + SHARING_CLAIMS;
    const uint seen = *claims, left = units - min(units, (seen & 0xffff) + (seen >> 16));
    const uint wanted = own ? (left + 1) / 2 : 1;
    if (left == 0)
        return false;
    const uint taken = __atomic_fetch_add(claims, own ? wanted : 1u << 16, __ATOMIC_SEQ_CST);
    const uint from_begin = taken & 0xffff, from_end = taken >> 16;
    if (from_begin + from_end >= units)
        return false;
    const uint unit = first + (own ? from_begin : units - 1 - from_end);
    items->next = unit * ITEMS_UNIT;
    items->end =
        min((int)(unit + min(wanted, units - from_begin - from_end)) * ITEMS_UNIT, ITEMS);
    return true;
}

/* A thread that helps leaves when no unit is left to take, so all items are done when no thread is
 * inside any more. */
ITEMS_ONCE void end_items(global volatile uint *memory)
{
    __atomic_store_n(memory + SHARING_OPEN, 0u, __ATOMIC_SEQ_CST);
    for (uint i = 0; i < known_threads(memory); i++)
        while (__atomic_load_n(memory + SHARING_PLACE(i) + SHARING_INSIDE, __ATOMIC_SEQ_CST) != 0)
            ;
    __atomic_store_n(memory + SHARING_BUSY, 0u, __ATOMIC_RELEASE);
}

static inline bool next_item(items_left *items)
{
    if (++items->next < items->end)
        return true;
    if (!items->memory)
        return false;
    for (; items->passed < items->ranges; items->passed++)
        if (take_units(items))
            return true;
    end_items(items->memory);
    return false;
}

#else
#define ITEM(axis) get_global_id(axis)
#define DEFINE_ITEM(call, parameters)
#define ITEMS_PARAM
#define EACH_ITEM(call, given) call;
#define EACH_ITEM_WITH(scratch, call, given) call;
#endif
