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

/* Makes a buffer with weights or a bias. */
static kiln_status load(kiln *k, const kiln_graph *g, int i, const char *what,
                        const kiln_weights *w, int64_t bytes, cl_mem *out)
{
    void *own = NULL;
    cl_int code = CL_SUCCESS;
    if (bytes == 0 || *out)
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

kiln_status kiln_net_node_pack(kiln_net_node *n, cl_command_queue queue,
                               const kiln_buffer *workspace)
{
    const kiln_buffers b = {.w.mem = n->w, .packed.mem = n->packed, .workspace = *workspace};
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
        const kiln_graph_node *from = &g->node[i];
        kiln_net_node *n = &b->node[i];
        if (from->node.kind != KILN_NODE_CONV)
            continue;
        n->is_packed = false;
        status = load(k, g, i, "w", &from->node.w, n->op->bytes[KILN_ROLE_W], &n->w);
        if (!status && n->bias) { /* it may have changed */
            clReleaseMemObject(n->bias);
            n->bias = NULL;
        }
        if (!status)
            status =
                load(k, g, i, "bias", &from->node.bias, n->op->bytes[KILN_ROLE_BIAS], &n->bias);
        if (!status)
            status = make_packed(k, n);
        if (!status && n->packed && is_compiled(n->op))
            status = kiln_net_node_pack(n, queue, workspace);
    }
    return status;
}
