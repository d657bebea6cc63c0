/* The weights of a network: read once, from memory or files, and packed. */
#include "runtime/base/error.h"
#include "runtime/op/images.h"

#include "build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kiln_status read_file(const kiln_graph *g, int i, const char *what, const kiln_weights *w,
                             void *data, int64_t bytes)
{
    FILE *f = fopen(w->file, "rb");
    const bool fine = f && fseeko(f, (off_t)w->offset, SEEK_SET) == 0;
    const size_t got = fine ? fread(data, 1, (size_t)bytes, f) : 0;
    kiln_status status = KILN_OK;
    if (!fine)
        status = kiln_graph_fail(g, i, KILN_FILE, "the file of its %s, %.100s: %s", what, w->file,
                                 strerror(errno));
    else if ((int64_t)got != bytes)
        status =
            kiln_graph_fail(g, i, KILN_FILE,
                            "its %s has %lld bytes; the file %.100s ends %lld bytes behind "
                            "offset %lld",
                            what, (long long)bytes, w->file, (long long)got, (long long)w->offset);
    if (f)
        fclose(f);
    return status;
}

/* Makes a buffer with weights or another constant, in place of one that was read before. */
static kiln_status load(kiln *k, const kiln_graph *g, int i, const kiln_node_constant *c,
                        kiln_net_node *n)
{
    const char *what = c->name;
    const kiln_weights *w = kiln_node_weights(&g->node[i].node, (int)(c - kiln_node_constants));
    const int64_t bytes = n->op->bytes[c->role];
    cl_mem *out = &n->constant[c - kiln_node_constants];
    void *own = NULL;
    cl_int code = CL_SUCCESS;
    if (*out)
        clReleaseMemObject(*out);
    *out = NULL;
    if (bytes == 0)
        return KILN_OK;
    if (!w->data && !w->file)
        return kiln_graph_fail(g, i, KILN_INVALID,
                               "its %s of %lld bytes is not given: set data or file", what,
                               (long long)bytes);
    if (!w->data && !(own = malloc((size_t)bytes)))
        return kiln_fail(KILN_NO_MEMORY, "out of memory for weights");
    kiln_status status = own ? read_file(g, i, what, w, own, bytes) : KILN_OK;
    if (!status)
        *out = clCreateBuffer(k->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, (size_t)bytes,
                              own ? own : (void *)w->data, &code);
    free(own);
    return code == CL_SUCCESS ? status : kiln_fail_cl(code, "clCreateBuffer");
}

static kiln_status make_packed(kiln *k, kiln_net_node *n)
{
    const kiln_plan *plan = &n->op->plan;
    const kiln_image *image = &plan->image[KILN_ROLE_PACKED];
    cl_int code = CL_SUCCESS;
    if (plan->packed_bytes == 0 || n->packed)
        return KILN_OK;
    n->packed = image->width ? kiln_image_create(k->context, image, &code)
                             : clCreateBuffer(k->context, CL_MEM_READ_WRITE,
                                              (size_t)plan->packed_bytes, NULL, &code);
    return code == CL_SUCCESS ? KILN_OK : kiln_fail_cl(code, "clCreateBuffer");
}

void kiln_net_give_constants(const kiln_net_node *n, kiln_buffers *b)
{
    for (int c = 0; c < KILN_NODE_CONSTANTS; c++)
        ((kiln_buffer *)(void *)((char *)b + kiln_node_constants[c].in_buffers))->mem =
            n->constant[c];
}

kiln_status kiln_net_node_pack(kiln_net_node *n, cl_command_queue queue,
                               const kiln_buffer *workspace)
{
    kiln_buffers b = {.packed.mem = n->packed, .workspace = *workspace};
    kiln_net_give_constants(n, &b);
    const kiln_status status = kiln_op_pack_own(n->op, queue, &b, 0, NULL, NULL);
    n->is_packed = status == KILN_OK;
    return status;
}

static bool is_compiled(const kiln_op *op)
{
    return !op->stand_in || atomic_load_explicit(&op->compiled, memory_order_acquire);
}

kiln_status kiln_net_build_pack(kiln *k, const kiln_graph *g, kiln_net_build *b,
                                cl_command_queue queue, const kiln_buffer *workspace)
{
    kiln_status status = KILN_OK;
    for (int i = 0; i < g->count && !status; i++) {
        kiln_net_node *n = &b->node[i];
        if (g->node[i].node.kind != KILN_NODE_CONV)
            continue;
        n->is_packed = false;
        for (int c = 0; c < KILN_NODE_CONSTANTS && !status; c++)
            status = load(k, g, i, &kiln_node_constants[c], n);
        if (!status)
            status = make_packed(k, n);
        if (!status && n->packed && is_compiled(n->op))
            status = kiln_net_node_pack(n, queue, workspace);
    }
    return status;
}
