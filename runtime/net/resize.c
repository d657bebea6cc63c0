/* Gives a net other sizes: a new plan and new operations take the place of the old ones. */
#include "runtime/base/error.h"

#include "net.h"

#include <string.h>

/* Returns a copy of the graph with other inputs; NULL with the reason in kiln_last_error(). */
static kiln_graph *resized(const kiln_graph *g, int64_t batch,
                           const int64_t (*sizes)[KILN_MAX_RANK], kiln_status *status)
{
    int input = 0;
    kiln_graph *copy = kiln_graph_copy(g);
    *status = copy ? KILN_OK : kiln_fail(KILN_NO_MEMORY, "out of memory for a net");
    for (int i = 0; copy && i < copy->count && !*status; i++) {
        kiln_form *form = &copy->node[i].node.form;
        if (copy->node[i].node.kind == KILN_NODE_INPUT) {
            form->batch = batch ? batch : form->batch;
            if (sizes)
                memcpy(form->size, sizes[input], sizeof form->size);
            input++;
        }
        *status = kiln_graph_infer(copy, i, false);
    }
    if (!*status)
        return copy;
    kiln_graph_release(copy);
    return NULL;
}

/* A buffer that the net made itself may grow; a lent one must suffice. */
static kiln_status grow(const kiln_net *net, const char *what, int64_t bytes, kiln_buffer *buffer,
                        cl_mem *own)
{
    size_t size = 0;
    cl_int code = CL_SUCCESS;
    *own = NULL;
    if (buffer->mem)
        code = clGetMemObjectInfo(buffer->mem, CL_MEM_SIZE, sizeof size, &size, NULL);
    if (code != CL_SUCCESS)
        return kiln_fail_cl(code, "clGetMemObjectInfo");
    if ((int64_t)(size - buffer->offset) >= bytes)
        return KILN_OK;
    if (net->lent)
        return kiln_fail(KILN_INVALID,
                         "kiln_net_resize: the %s that was lent has %zu bytes; the net now needs "
                         "%lld",
                         what, size - buffer->offset, (long long)bytes);
    *own = clCreateBuffer(net->k->context, CL_MEM_READ_WRITE, (size_t)bytes, NULL, &code);
    *buffer = (kiln_buffer){*own, 0};
    return code == CL_SUCCESS ? KILN_OK : kiln_fail_cl(code, "clCreateBuffer");
}

/* What takes the place of the old parts of a net. */
typedef struct parts {
    kiln_graph *graph;
    kiln_net_build build;
    kiln_buffer arena, workspace;
    cl_mem own_arena, own_workspace; /* NULL: the old ones stay */
} parts;

static kiln_status make(const kiln_net *net, cl_command_queue queue, parts *p)
{
    kiln *k = net->k;
    kiln_status status = kiln_net_build_plan(k, p->graph, &p->build);
    if (status || !k->context)
        return status;
    p->build.pending->ready = net->options.ready;
    p->build.pending->user = net->options.user;
    status = kiln_net_build_compile(k, p->graph, &p->build, true);
    if (!status && net->has_weights)
        status = grow(net, "arena", p->build.plan.arena_size, &p->arena, &p->own_arena);
    if (!status && net->has_weights)
        status = grow(net, "workspace", p->build.workspace_size, &p->workspace, &p->own_workspace);
    if (!status && net->has_weights)
        status = kiln_net_build_pack(k, p->graph, &p->build, queue, &p->workspace);
    const kiln_status ended = kiln_finish(k, queue);
    return status ? status : ended;
}

static void swap(void *a, void *b, size_t size)
{
    unsigned char *x = a, *y = b;
    for (size_t i = 0; i < size; i++) {
        const unsigned char t = x[i];
        x[i] = y[i];
        y[i] = t;
    }
}

static void exchange(kiln_net *net, parts *p)
{
    swap(&net->graph, &p->graph, sizeof p->graph);
    swap(&net->build, &p->build, sizeof p->build);
    net->arena = p->arena;
    net->workspace = p->workspace;
    if (p->own_arena)
        swap(&net->own_arena, &p->own_arena, sizeof p->own_arena);
    if (p->own_workspace)
        swap(&net->own_workspace, &p->own_workspace, sizeof p->own_workspace);
    kiln_net_build_drop_weights(&net->build);
}

static void free_parts(parts *p)
{
    if (p->graph)
        kiln_net_build_free(p->graph, &p->build);
    kiln_graph_release(p->graph);
    if (p->own_arena)
        clReleaseMemObject(p->own_arena);
    if (p->own_workspace)
        clReleaseMemObject(p->own_workspace);
}

static kiln_status resize(kiln_net *net, cl_command_queue queue, int64_t batch,
                          const int64_t (*sizes)[KILN_MAX_RANK])
{
    kiln_status status = kiln_net_wait(net);
    parts p = {.arena = net->arena, .workspace = net->workspace};
    if (!status && net->k->context)
        status = kiln_net_check_queue(net, queue);
    if (!status)
        p.graph = resized(net->graph, batch, sizes, &status);
    if (!status)
        status = make(net, queue, &p);
    if (!status)
        exchange(net, &p);
    free_parts(&p);
    return status;
}

kiln_status kiln_net_resize(kiln_net *net, cl_command_queue queue, int64_t batch,
                            const int64_t (*sizes)[KILN_MAX_RANK])
{
    if (!net || (net->k->context && !queue))
        return kiln_fail(KILN_INVALID, "kiln_net_resize: net and queue must not be NULL");
    if (batch < 0)
        return kiln_fail(KILN_INVALID,
                         "kiln_net_resize: the batch is %lld; give at least 1, or 0 "
                         "for the present one",
                         (long long)batch);
    if (kiln_process_check(net->k))
        return KILN_INVALID;
    pthread_mutex_lock(&net->lock);
    const kiln_status status = resize(net, queue, batch, sizes);
    pthread_mutex_unlock(&net->lock);
    return status;
}
