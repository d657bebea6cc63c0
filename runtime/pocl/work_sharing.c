/* The memory that a launch of one work-group and the threads that help it share, and their part. */
#include "work_sharing.h"

#include "runtime/programs/template.h"

#include "affinity.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* As templates/items.cl has it. What different cores write is 512 bytes apart. */
typedef struct team {
    _Alignas(4096) atomic_uint open;    /* units, while threads may help */
    uint32_t unit, items;               /* items of a unit; of the launch */
    uint32_t second;                    /* the half of who began the launch is the second one */
    uint64_t code, given[5];            /* the function of an item, and what it is given */
    uint32_t scratch;                   /* bytes that an item works in */
    _Alignas(512) atomic_uint claims_1; /* units taken of the first half: from its begin on, and
                                           << 16 from its end */
    _Alignas(512) atomic_uint claims_2; /* of the second half */
    _Alignas(512) atomic_uint inside;   /* threads that help */
    _Alignas(512) atomic_uint busy;     /* a launch has it */
    uint64_t first;                     /* an address in the first thread's stack, or 0 */
    uint32_t asks;                      /* a launch is to tell what it does */
} team;

enum { PAGE = 4096 };

static team the_team;

_Static_assert(offsetof(team, code) == 4 * 4 && offsetof(team, scratch) == 16 * 4 &&
                   offsetof(team, claims_1) == 128 * 4 && offsetof(team, claims_2) == 256 * 4 &&
                   offsetof(team, inside) == 384 * 4 && offsetof(team, busy) == 512 * 4 &&
                   offsetof(team, first) == 514 * 4 && offsetof(team, asks) == 516 * 4,
               "templates/items.cl has other places");

uint64_t kiln_sharing_memory(void)
{
    return (uint64_t)(uintptr_t)&the_team;
}

/* Takes half of what is left of one's own half, or one from the end of the other's: from `first` on
 * so many; 0: none is left. `second`: the half to take from is the second one. */
static uint32_t take_units(team *t, uint32_t units, bool second, bool own, uint32_t *first)
{
    const uint32_t begin = second ? units / 2 : 0, half = second ? units - units / 2 : units / 2;
    atomic_uint *claims = second ? &t->claims_2 : &t->claims_1;
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

/* A function of fewer parameters leaves the last ones alone. */
static void call(uint64_t code, uint32_t item, void *scratch, const uint64_t given[5])
{
    void (*one)(int, void *, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
    memcpy(&one, &code, sizeof one);
    one((int)item, scratch, given[0], given[1], given[2], given[3], given[4]);
}

/* A thread may flush small numbers to zero, as threads do whose creator does; PoCL sees to its own.
 * The mode before. */
static unsigned usual_arithmetic(void)
{
#if defined __x86_64__ && defined __GNUC__
    const unsigned usual = 0x1f80, flags = 0x3f, mode = __builtin_ia32_stmxcsr();
    if ((mode & ~flags) != usual)
        __builtin_ia32_ldmxcsr(usual);
    return mode;
#else
    return 0;
#endif
}

static void restore_arithmetic(unsigned mode)
{
#if defined __x86_64__ && defined __GNUC__
    if (__builtin_ia32_stmxcsr() != mode)
        __builtin_ia32_ldmxcsr(mode);
#else
    (void)mode;
#endif
}

/* `second`: the second half is this thread's. */
static void do_units(team *t, uint32_t units, bool second, void *scratch)
{
    uint32_t first, taken;
    while ((taken = take_units(t, units, second, true, &first)) > 0 ||
           (taken = take_units(t, units, !second, false, &first)) > 0) {
        const uint32_t begin = first * t->unit, after = begin + taken * t->unit;
        for (uint32_t i = begin; i < (after < t->items ? after : t->items); i++)
            call(t->code, i, scratch, t->given);
    }
}

/* As much as a launch asks for, from launch to launch. False: there is no memory. */
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

/* Who is inside when the launch closes is waited for, so that what it reads stays. */
bool kiln_sharing_help(kiln_sharing_scratch *scratch)
{
    team *t = &the_team;
    if (atomic_load(&t->open) == 0)
        return false;
    atomic_fetch_add(&t->inside, 1u);
    const uint32_t units = atomic_load(&t->open);
    const bool helps = units > 0 && make_room(scratch, t->scratch);
    if (helps) {
        const unsigned mode = usual_arithmetic();
        do_units(t, units, !t->second, scratch->bytes);
        restore_arithmetic(mode);
    }
    atomic_fetch_sub(&t->inside, 1u);
    return helps;
}

/* ---- launches without PoCL ---- */

void *kiln_sharing_ask(void)
{
    team *t = aligned_alloc(_Alignof(team), sizeof *t);
    if (t) {
        memset(t, 0, sizeof *t);
        t->asks = 1;
    }
    return t;
}

bool kiln_sharing_told(const void *asked, kiln_sharing_call *call)
{
    const team *t = asked;
    if (*(const volatile uint64_t *)&t->code == 0 || atomic_load(&t->busy) != 0)
        return false;
    *call = (kiln_sharing_call){
        .code = t->code, .items = t->items, .unit = t->unit, .scratch = t->scratch};
    memcpy(call->given, t->given, sizeof call->given);
    return true;
}

/* As is_second() in templates/items.cl. */
static bool is_second(team *t)
{
    int here;
    const uint64_t mine = (uint64_t)(uintptr_t)&here, stack = 1 << 20;
    if (t->first == 0)
        t->first = mine;
    return mine - t->first + stack >= 2 * stack;
}

/* The memory is this thread's, which opens it to those that help and waits for them. */
static void share(team *t, const kiln_sharing_call *c, uint32_t units, void *scratch)
{
    const bool second = is_second(t);
    while (atomic_load(&t->inside) !=
           0) /* no launch leaves any; a kernel's is not in sight of tsan */
        kiln_cpu_relax();
    t->second = second;
    atomic_store_explicit(&t->claims_1, 0, memory_order_relaxed);
    atomic_store_explicit(&t->claims_2, 0, memory_order_relaxed);
    t->unit = c->unit;
    t->items = c->items;
    t->scratch = c->scratch;
    t->code = c->code;
    memcpy(t->given, c->given, sizeof t->given);
    atomic_store(&t->open, units);
    do_units(t, units, second, scratch);
    atomic_store(&t->open, 0u);
    while (atomic_load(&t->inside) != 0)
        kiln_cpu_relax();
    atomic_store(&t->busy, 0u);
}

void kiln_sharing_do(const kiln_sharing_call *c, void *scratch)
{
    const uint32_t units = c->items / c->unit + (c->items % c->unit > 0);
    const unsigned mode = usual_arithmetic();
    unsigned free = 0;
    if (units > 1 && atomic_compare_exchange_strong(&the_team.busy, &free, 1u))
        share(&the_team, c, units, scratch);
    else
        for (uint32_t i = 0; i < c->items; i++)
            call(c->code, i, scratch, c->given);
    restore_arithmetic(mode);
}

/* ---- whether it works ---- */

static const char probe_options[] = "-DITEMS_SHARED=1 -DITEMS_0=1 -DITEMS_1=1 -DITEMS_2=1 "
                                    "-DITEMS_UNIT=1 -cl-std=CL1.2";

typedef struct answer {
    uint64_t code;
    int32_t numbers[4];
} answer;

static cl_int ask(kiln_program *program, cl_command_queue queue, answer *a)
{
    const cl_ulong to = (uint64_t)(uintptr_t)a;
    const size_t one = 1;
    cl_int code;
    cl_kernel kernel = clCreateKernel(kiln_program_cl(program), "sharing_probe", &code);
    if (code == CL_SUCCESS)
        code = clSetKernelArg(kernel, 0, sizeof to, &to);
    if (code == CL_SUCCESS)
        code = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL);
    if (code == CL_SUCCESS)
        code = clFinish(queue);
    if (code == CL_SUCCESS)
        kiln_program_ran(program);
    if (kernel)
        clReleaseKernel(kernel);
    return code;
}

static bool is_right(const answer *a)
{
    answer mine = {0};
    if (a->code == 0 || a->numbers[3] != 4)
        return false;
    call(a->code, 2, NULL, (uint64_t[5]){(uint64_t)(uintptr_t)mine.numbers});
    return mine.numbers[2] == 3;
}

bool kiln_sharing_works(kiln_programs *programs, cl_context context, cl_device_id device)
{
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
    char *source = NULL;
    kiln_program *program = NULL;
    bool works = false;
    if (queue && sizeof(void *) == sizeof(uint64_t) &&
        !kiln_template_source(NULL, "sharing_probe.cl", &source) &&
        !kiln_program_get(programs, source, probe_options, &program)) {
        answer a = {0};
        works = ask(program, queue, &a) == CL_SUCCESS && is_right(&a);
    }
    kiln_program_release(program);
    free(source);
    if (queue)
        clReleaseCommandQueue(queue);
    return works;
}
