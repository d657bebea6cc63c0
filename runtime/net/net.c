/* Creates, describes, packs and releases nets. */
#include "net.h"

#include "runtime/op/given.h"
#include "runtime/op/warm.h"

#include <stdlib.h>
#include <string.h>

kiln_status kiln_net_check_queue(const kiln_net *net, cl_command_queue queue)
{
    cl_command_queue_properties properties = 0;
    if (queue == net->queue)
        return KILN_OK;
    const kiln_status status = kiln_given_queue(net->k, queue);
    if (status)
        return status;
    const cl_int code =
        clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
    if (code != CL_SUCCESS)
        return kiln_fail_cl(code, "clGetCommandQueueInfo");
    return properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE
               ? kiln_fail(KILN_INVALID, "the queue is out of order; a net needs one in order")
               : KILN_OK;
}

kiln_status kiln_net_wait(kiln_net *net)
{
    return net->queue ? kiln_finish(net->k, net->queue) : KILN_OK;
}

/* ---- memory ---- */

static kiln_status make_one(kiln_net *net, int64_t bytes, kiln_buffer *buffer, cl_mem *own)
{
    cl_int code;
    if (buffer->mem || bytes == 0)
        return KILN_OK;
    *own = clCreateBuffer(net->k->context, CL_MEM_READ_WRITE, (size_t)bytes, NULL, &code);
    if (code != CL_SUCCESS)
        return kiln_fail_cl(code, "clCreateBuffer");
    buffer->mem = *own;
    return KILN_OK;
}

kiln_status kiln_net_make_memory(kiln_net *net)
{
    const kiln_status status =
        make_one(net, net->build.plan.arena_size, &net->arena, &net->own_arena);
    return status ? status
                  : make_one(net, net->build.workspace_size, &net->workspace, &net->own_workspace);
}

static kiln_status lend(const char *what, kiln_buffer given, int64_t bytes, kiln_buffer *buffer,
                        cl_mem *own)
{
    size_t size = 0;
    if (given.mem) {
        const cl_int code = clGetMemObjectInfo(given.mem, CL_MEM_SIZE, sizeof size, &size, NULL);
        if (code != CL_SUCCESS)
            return kiln_fail_cl(code, "clGetMemObjectInfo");
        if (given.offset > size || (int64_t)(size - given.offset) < bytes)
            return kiln_fail(KILN_INVALID,
                             "kiln_net_lend: the %s has %zu bytes behind its offset; the net needs "
                             "%lld",
                             what, given.offset > size ? 0 : size - given.offset, (long long)bytes);
        clRetainMemObject(given.mem);
    }
    if (*own)
        clReleaseMemObject(*own);
    *own = given.mem;
    *buffer = given;
    return KILN_OK;
}

kiln_status kiln_net_lend(kiln_net *net, kiln_buffer arena, kiln_buffer workspace)
{
    if (!net)
        return kiln_fail(KILN_INVALID, "kiln_net_lend: net must not be NULL");
    pthread_mutex_lock(&net->lock);
    kiln_status status =
        net->has_weights
            ? kiln_fail(KILN_INVALID, "kiln_net_lend: the net is in use; lend before "
                                      "kiln_net_pack()")
            : lend("arena", arena, net->build.plan.arena_size, &net->arena, &net->own_arena);
    if (!status)
        status = lend("workspace", workspace, net->build.workspace_size, &net->workspace,
                      &net->own_workspace);
    net->lent = net->lent || arena.mem || workspace.mem;
    pthread_mutex_unlock(&net->lock);
    return status;
}

/* ---- creating ---- */

/* Other processes begin with the last convolution. */
static kiln_status begin_helpers(kiln_net *net)
{
    size_t count = 0;
    kiln_problem *problems = calloc((size_t)net->graph->count, sizeof *problems);
    if (!problems)
        return kiln_fail(KILN_NO_MEMORY, "out of memory for a net");
    for (int i = 0; i < net->graph->count; i++)
        if (net->graph->node[i].node.kind == KILN_NODE_CONV)
            problems[count++] = net->build.plan.node[i].problem;
    const kiln_status status =
        kiln_prepare_begin(net->k, problems, count, net->options.helpers, &net->helpers);
    free(problems);
    return status;
}

static kiln_status build(kiln_net *net)
{
    kiln *k = net->k;
    kiln_status status = kiln_net_build_plan(k, net->graph, &net->build);
    if (status || !k->context)
        return status;
    net->build.pending->ready = net->options.ready;
    net->build.pending->user = net->options.user;
    if (net->options.helpers >= 0)
        status = begin_helpers(net);
    return status ? status : kiln_net_build_compile(k, net->graph, &net->build, k->first_use);
}

static kiln_status check_graph(const kiln_graph *g)
{
    bool kept = false;
    if (g->status)
        return kiln_fail(g->status, "%s", g->error);
    for (int i = 0; i < g->count; i++)
        kept = kept || g->node[i].node.kept;
    return kept ? KILN_OK
                : kiln_fail(KILN_INVALID, "kiln_net_create: no node of the graph is kept; set "
                                          "`kept` of the results");
}

kiln_status kiln_net_create(kiln *k, const kiln_graph *graph, const kiln_net_options *options,
                            kiln_net **out)
{
    if (!k || !graph || !out)
        return kiln_fail(KILN_INVALID, "kiln_net_create: k, graph and out must not be NULL");
    *out = NULL;
    kiln_status status = kiln_process_check(k);
    if (!status)
        status = check_graph(graph);
    if (status)
        return status;
    kiln_net *net = calloc(1, sizeof *net);
    if (!net)
        return kiln_fail(KILN_NO_MEMORY, "out of memory for a net");
    pthread_mutex_init(&net->lock, NULL);
    net->k = k;
    kiln_hold(k);
    if (options)
        net->options = *options;
    net->graph = kiln_graph_copy(graph);
    status = net->graph ? build(net) : kiln_fail(KILN_NO_MEMORY, "out of memory for a net");
    if (status)
        kiln_net_release(net);
    else
        *out = net;
    return status;
}

void kiln_net_release(kiln_net *net)
{
    if (!net || !kiln_is_here(net->k))
        return;
    kiln_net_wait(net);
    kiln_prepare_end(net->helpers);
    if (net->graph)
        kiln_net_build_free(net->graph, &net->build);
    kiln_graph_release(net->graph);
    if (net->own_arena)
        clReleaseMemObject(net->own_arena);
    if (net->own_workspace)
        clReleaseMemObject(net->own_workspace);
    if (net->queue)
        clReleaseCommandQueue(net->queue);
    pthread_mutex_destroy(&net->lock);
    kiln *k = net->k;
    free(net);
    kiln_unhold(k);
}

/* ---- weights ---- */

static kiln_status pack(kiln_net *net, cl_command_queue queue)
{
    kiln_status status = kiln_net_check_queue(net, queue);
    if (!status)
        status = kiln_net_wait(net);
    if (!status)
        status = kiln_net_make_memory(net);
    if (!status)
        status = kiln_net_build_pack(net->k, net->graph, &net->build, queue, &net->workspace);
    const kiln_status ended = kiln_finish(net->k, queue);
    kiln_net_build_drop_weights(&net->build);
    net->has_weights = !status && !ended;
    return status ? status : ended;
}

kiln_status kiln_net_pack(kiln_net *net, cl_command_queue queue)
{
    if (!net || !queue)
        return kiln_fail(KILN_INVALID, "kiln_net_pack: net and queue must not be NULL");
    if (!net->k->context)
        return kiln_fail(KILN_INVALID, "this kiln was opened without a device: it can only plan");
    if (kiln_process_check(net->k))
        return KILN_INVALID;
    pthread_mutex_lock(&net->lock);
    const kiln_status status = pack(net, queue);
    pthread_mutex_unlock(&net->lock);
    return status;
}

/* ---- questions ---- */

kiln_status kiln_net_describe(const kiln_net *net, kiln_net_info *info)
{
    if (!net || !info)
        return kiln_fail(KILN_INVALID, "kiln_net_describe: net and info must not be NULL");
    pthread_mutex_t *lock = (pthread_mutex_t *)&net->lock;
    pthread_mutex_lock(lock);
    const kiln_net_plan *plan = &net->build.plan;
    *info = (kiln_net_info){.nodes = plan->count,
                            .inputs = plan->inputs,
                            .outputs = plan->outputs,
                            .reformats = plan->reformats,
                            .copies = plan->copies,
                            .exact = plan->exact,
                            .predicted_ms = plan->predicted_ms,
                            .arena_size = plan->arena_size,
                            .workspace_size = net->build.workspace_size,
                            .packed_size = net->build.packed_size};
    for (int i = 0; i < plan->count; i++)
        info->convolutions += net->graph->node[i].node.kind == KILN_NODE_CONV;
    pthread_mutex_unlock(lock);
    return KILN_OK;
}

kiln_status kiln_net_tensor(const kiln_net *net, int node, kiln_form *form, kiln_op_info *op)
{
    if (!net || !form)
        return kiln_fail(KILN_INVALID, "kiln_net_tensor: net and form must not be NULL");
    if (node < 1 || node > net->graph->count)
        return kiln_fail(KILN_INVALID, "the net has nodes 1 to %d, no number %d", net->graph->count,
                         node);
    pthread_mutex_t *lock = (pthread_mutex_t *)&net->lock;
    pthread_mutex_lock(lock);
    *form = net->build.plan.node[node - 1].form;
    if (op) {
        *op = (kiln_op_info){.solver = "", .ran = ""};
        if (net->graph->node[node - 1].node.kind == KILN_NODE_CONV)
            kiln_op_describe(net->build.node[node - 1].op, op);
    }
    pthread_mutex_unlock(lock);
    return KILN_OK;
}
