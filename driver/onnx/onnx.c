/* Opens a model: checks its bytes, unpacks them, walks the graph, and keeps what was met. */
#include "onnx.h"

#include "driver/base/utf8.h"

#include "walk.h"
#include "wire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NODES = 300000 }; /* that are walked, bodies and functions repeated */

/* What unpacking may take: fields of two bytes become structures of a hundred. */
typedef struct purse {
    size_t left;
    bool empty;
} purse;

static void *take(void *user, size_t size)
{
    purse *p = user;
    if (size > p->left) {
        p->empty = true;
        return NULL;
    }
    p->left -= size;
    return malloc(size ? size : 1);
}

static void give_back(void *user, void *pointer)
{
    (void)user;
    free(pointer);
}

/* A model while it is read. */
typedef struct opening {
    purse purse;
    ProtobufCAllocator allocator;
    Onnx__ModelProto *model;
    arena *arena;
} opening;

static kiln_status unpack(opening *o, const void *bytes, size_t size, char *why)
{
    if (!wire_check(&onnx__model_proto__descriptor, bytes, size, why, ONNX_WHY))
        return KILN_INVALID;
    o->purse.left = ((size_t)256 << 20) + 4 * size;
    o->allocator = (ProtobufCAllocator){take, give_back, &o->purse};
    o->model = onnx__model_proto__unpack(&o->allocator, size, bytes);
    if (o->model)
        return KILN_OK;
    snprintf(why, ONNX_WHY, "%s",
             o->purse.empty ? "the file unpacks to more memory than a model of its size needs"
                            : "the file is no ONNX model, or damaged");
    return o->purse.empty ? KILN_UNSUPPORTED : KILN_INVALID;
}

/* Replaces characters that a reader does not see, or that would steer a terminal. */
static void make_visible(char *text)
{
    while (*text) {
        uint32_t value;
        const size_t bytes = utf8_read(text, &value);
        if (utf8_is_hidden(value) || value == UTF8_REPLACEMENT)
            memset(text, '?', bytes);
        text += bytes;
    }
}

static const char *shown(arena *a, const char *text)
{
    char *copy = arena_text(a, "%s", text_of(text));
    make_visible(copy);
    return copy;
}

static void keep(walk *w, onnx_model *m)
{
    m->layer = arena_array(w->arena, w->count + 1, sizeof *m->layer);
    for (const met *at = w->first; at; at = at->next) {
        onnx_layer *l = &m->layer[m->layers++];
        *l = at->layer;
        l->name = shown(w->arena, l->name);
        l->epilogue = shown(w->arena, l->epilogue);
        l->note = shown(w->arena, l->note);
        l->why = shown(w->arena, l->why);
    }
    m->opset = w->opset;
    m->producer = shown(w->arena, w->model->producer_name);
}

/* Walks the unpacked model. All that it allocates is the arena's; whatever ends the walk early
 * comes back here. */
static kiln_status read_model(opening *o, const char *folder, const onnx_given *given,
                              onnx_model *m, char *why)
{
    jmp_buf end;
    walk w = {.arena = o->arena,
              .model = o->model,
              .given = given,
              .folder = folder,
              .budget = NODES,
              .times = 1,
              .path = "",
              .why = why,
              .end = &end};
    w.last = &w.first;
    o->arena->full = &end;
    snprintf(why, ONNX_WHY, "the model needs more memory than there is, or than 1 GiB");
    const int status = setjmp(end);
    if (!status) {
        walk_model(&w);
        keep(&w, m);
        *why = '\0';
    }
    return (kiln_status)status;
}

kiln_status onnx_open_bytes(onnx_model **model, const void *bytes, size_t size, const char *folder,
                            const onnx_given *given, char *why)
{
    static const onnx_given nothing;
    opening o = {.model = NULL};
    *model = NULL;
    kiln_status status = unpack(&o, bytes, size, why);
    if (status)
        return status;
    onnx_model *m = calloc(1, sizeof *m);
    o.arena = calloc(1, sizeof *o.arena);
    snprintf(why, ONNX_WHY, "out of memory for the model");
    status =
        m && o.arena ? read_model(&o, folder, given ? given : &nothing, m, why) : KILN_NO_MEMORY;
    onnx__model_proto__free_unpacked(o.model, &o.allocator);
    if (status && o.arena)
        arena_free(o.arena);
    if (status) {
        free(o.arena);
        free(m);
        make_visible(why);
        return status;
    }
    m->memory = o.arena;
    *model = m;
    return KILN_OK;
}

void onnx_close(onnx_model *model)
{
    if (!model)
        return;
    arena_free(model->memory);
    free(model->memory);
    free(model);
}

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
}

static kiln_status failed(const char *what, char *why)
{
    snprintf(why, ONNX_WHY, "%s", what);
    return KILN_FILE;
}

/* Maps the file rather than reading it: weights, its largest part, are looked at once. */
static kiln_status open_file(onnx_model **model, int file, const char *folder,
                             const onnx_given *given, char *why)
{
    struct stat facts;
    if (fstat(file, &facts) != 0)
        return failed(strerror(errno), why);
    if (!S_ISREG(facts.st_mode))
        return failed("it is no regular file", why);
    if (facts.st_size == 0 || facts.st_size > INT32_MAX) {
        snprintf(why, ONNX_WHY, "%s",
                 facts.st_size ? "it has more than 2 GiB; a larger model has its weights in a file "
                                 "beside it (external data)"
                               : "the file is empty");
        return KILN_INVALID;
    }
    const size_t size = (size_t)facts.st_size;
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes == MAP_FAILED)
        return failed(strerror(errno), why);
    const kiln_status status = onnx_open_bytes(model, bytes, size, folder, given, why);
    munmap(bytes, size);
    return status;
}

kiln_status onnx_open(onnx_model **model, const char *path, const onnx_given *given, char *why)
{
    *model = NULL;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return failed(strerror(errno), why);
    char *folder = folder_of(path);
    const kiln_status status =
        folder ? open_file(model, file, folder, given, why) : failed("out of memory", why);
    free(folder);
    close(file);
    return status;
}
