/* Captures a launch, and keeps the library with its code open: PoCL holds only the libraries of
 * some hundred kernels open. */
#include "captured_launch.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct kiln_capture {
    void *memory;     /* that the launch was given */
    atomic_int users; /* the operation, and the launch until it has ended */
    atomic_bool over; /* what is below is known */
    kiln_sharing_call call;
    void *library; /* NULL: it cannot be kept open */
};

/* Returns the library, to be closed, if the caller is the last user; else NULL. */
static void *drop(kiln_capture *c)
{
    if (atomic_fetch_sub(&c->users, 1) > 1)
        return NULL;
    void *library = c->library;
    free(c->memory);
    free(c);
    return library;
}

static kiln_capture *create(void)
{
    kiln_capture *c = calloc(1, sizeof *c);
    void *memory = c ? kiln_sharing_capture() : NULL;
    if (!memory) {
        free(c);
        return NULL;
    }
    c->memory = memory;
    atomic_store(&c->users, 1);
    return c;
}

uint64_t kiln_captured_begin(kiln_captured *c, unsigned binding, kiln_command_batch *b)
{
    if (c->capture && c->binding == binding)
        return 0;
    kiln_captured_close(c, b);
    c->capture = create();
    c->binding = binding;
    c->pending = c->capture;
    return c->capture ? (uint64_t)(uintptr_t)c->capture->memory : 0;
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

/* PoCL calls this at the launch's end, when the library is the one that it used last. */
static void CL_CALLBACK read_capture(cl_event done, cl_int state, void *user)
{
    (void)done;
    kiln_capture *c = user;
    if (state == CL_COMPLETE && kiln_sharing_captured(c->memory, &c->call)) {
        c->library = library_of(c->call.code);
        atomic_store(&c->over, c->library != NULL);
    }
    void *library = drop(c);
    if (library)
        dlclose(library);
}

void kiln_captured_enqueued(kiln_captured *c, cl_event done)
{
    if (!c->pending)
        return;
    c->pending = false;
    atomic_fetch_add(&c->capture->users, 1);
    if (clSetEventCallback(done, CL_COMPLETE, read_capture, c->capture) != CL_SUCCESS)
        atomic_fetch_sub(&c->capture->users, 1);
}

const kiln_sharing_call *kiln_captured_call(const kiln_captured *c, unsigned binding)
{
    return c->capture && c->binding == binding && atomic_load(&c->capture->over) ? &c->capture->call
                                                                                 : NULL;
}

void kiln_captured_close(kiln_captured *c, kiln_command_batch *b)
{
    void *library = c->capture ? drop(c->capture) : NULL;
    if (library)
        kiln_command_batch_unload(b, library);
    c->capture = NULL;
}
