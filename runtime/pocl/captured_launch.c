/* Asks a launch what it does, and keeps the library that has its code from being closed: PoCL holds
 * those of some hundred kernels open. */
#include "captured_launch.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct kiln_telling {
    void *memory;     /* that the launch was given */
    atomic_int users; /* the operation, and the launch until it has ended */
    atomic_bool over; /* what is below is known */
    kiln_sharing_call call;
    void *library; /* NULL: it cannot be kept */
};

/* The last one has the library. */
static void *drop(kiln_telling *t)
{
    if (atomic_fetch_sub(&t->users, 1) > 1)
        return NULL;
    void *library = t->library;
    free(t->memory);
    free(t);
    return library;
}

static kiln_telling *create(void)
{
    kiln_telling *t = calloc(1, sizeof *t);
    void *memory = t ? kiln_sharing_ask() : NULL;
    if (!memory) {
        free(t);
        return NULL;
    }
    t->memory = memory;
    atomic_store(&t->users, 1);
    return t;
}

uint64_t kiln_captured_ask(kiln_captured *n, unsigned bound, kiln_command_batch *f)
{
    if (n->telling && n->bound == bound)
        return 0;
    kiln_captured_close(n, f);
    n->telling = create();
    n->bound = bound;
    n->given = n->telling;
    return n->telling ? (uint64_t)(uintptr_t)n->telling->memory : 0;
}

/* The library that `code` is in, opened once more. */
static void *library_of(uint64_t code)
{
    void *address;
    Dl_info info;
    memcpy(&address, &code, sizeof address);
    return dladdr(address, &info) && info.dli_fname ? dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD)
                                                    : NULL;
}

/* At its end, when the library is the one that PoCL used last. */
static void CL_CALLBACK hear(cl_event done, cl_int state, void *user)
{
    (void)done;
    kiln_telling *t = user;
    if (state == CL_COMPLETE && kiln_sharing_told(t->memory, &t->call)) {
        t->library = library_of(t->call.code);
        atomic_store(&t->over, t->library != NULL);
    }
    void *library = drop(t);
    if (library)
        dlclose(library);
}

void kiln_captured_asked(kiln_captured *n, cl_event done)
{
    if (!n->given)
        return;
    n->given = false;
    atomic_fetch_add(&n->telling->users, 1);
    if (clSetEventCallback(done, CL_COMPLETE, hear, n->telling) != CL_SUCCESS)
        atomic_fetch_sub(&n->telling->users, 1);
}

const kiln_sharing_call *kiln_captured_call(const kiln_captured *n, unsigned bound)
{
    return n->telling && n->bound == bound && atomic_load(&n->telling->over) ? &n->telling->call
                                                                             : NULL;
}

void kiln_captured_close(kiln_captured *n, kiln_command_batch *f)
{
    void *library = n->telling ? drop(n->telling) : NULL;
    if (library)
        kiln_command_batch_unload(f, library);
    n->telling = NULL;
}
