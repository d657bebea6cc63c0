/* Enqueues a network: one node behind the other, each on the places that the plan gave its tensors.
 */
#include "runtime/base/error.h"
#include "runtime/op/first_use.h"
#include "runtime/op/given.h"

#include "net.h"

/* One enqueue. */
typedef struct run {
    kiln_net *net;
    cl_command_queue queue;
    const kiln_buffer *inputs, *outputs;
} run;

static kiln_buffer buffer_at(const run *r, const kiln_place *p)
{
    kiln_buffer b = p->base == KILN_IN_ARENA   ? r->net->arena
                    : p->base == KILN_IN_INPUT ? r->inputs[p->index]
                                               : r->outputs[p->index];
    b.offset += (size_t)p->offset;
    return b;
}

/* Where the tensor lies that the node before it has written, and not what became of it. */
static kiln_buffer written_at(const run *r, const kiln_source_plan *s)
{
    return buffer_at(r, &r->net->build.plan.node[s->node].place);
}

/* Runs the reformats and copies of a node. */
static kiln_status move_sources(const run *r, int i)
{
    const kiln_node_plan *n = &r->net->build.plan.node[i];
    const kiln_graph_node *g = &r->net->graph->node[i];
    kiln_status status = KILN_OK;
    for (int j = 0; j < g->sources && !status; j++) {
        const kiln_source_plan *s = &n->source[j];
        kiln_op *move = r->net->build.node[i].move[j];
        const kiln_place *to = s->way == KILN_WAY_REFORMAT ? &s->place : &n->place;
        const kiln_buffers b = {.x = written_at(r, s), .y = buffer_at(r, to)};
        if (move)
            status = kiln_op_enqueue_own(move, r->queue, &b, 0, NULL, NULL);
    }
    return status;
}

/* Runs a convolution's own program, or its stand-in until that is compiled. */
static kiln_status run_conv(const run *r, int i)
{
    const kiln_node_plan *n = &r->net->build.plan.node[i];
    kiln_net_node *own = &r->net->build.node[i];
    kiln_buffers b = {.x = buffer_at(r, &n->source[0].place), .y = buffer_at(r, &n->place)};
    kiln_net_give_constants(own, &b);
    if (r->net->graph->node[i].sources > 1)
        b.residual = buffer_at(r, &n->source[1].place);
    if (kiln_first_use_running(own->op, &b) != own->op)
        return kiln_op_enqueue_own(own->op->stand_in, r->queue, &b, 0, NULL, NULL);
    kiln_status status = KILN_OK;
    if (own->packed && !own->is_packed)
        status = kiln_net_node_pack(own, r->queue, &r->net->workspace);
    if (own->packed)
        b.w.mem = NULL;
    b.packed.mem = own->packed;
    if (kiln_plan_workspace(&own->op->plan, true) > 0)
        b.workspace = r->net->workspace;
    return status ? status : kiln_op_enqueue_own(own->op, r->queue, &b, 0, NULL, NULL);
}

static kiln_status run_pool(const run *r, int i)
{
    const kiln_node_plan *n = &r->net->build.plan.node[i];
    kiln_buffers b = {.x = buffer_at(r, &n->source[0].place), .y = buffer_at(r, &n->place)};
    if (r->net->graph->node[i].sources > 1)
        b.residual = buffer_at(r, &n->source[1].place);
    return kiln_op_enqueue_own(r->net->build.node[i].op, r->queue, &b, 0, NULL, NULL);
}

/* The program's commands come behind the operations before it, and the operations behind it come
 * behind them. */
static kiln_status run_foreign(const run *r, int i)
{
    const kiln_node_plan *n = &r->net->build.plan.node[i];
    const kiln_graph_node *g = &r->net->graph->node[i];
    kiln_buffer from[KILN_NODE_SOURCES];
    for (int j = 0; j < g->sources; j++)
        from[j] = buffer_at(r, &n->source[j].place);
    const kiln_buffer to = buffer_at(r, &n->place);
    kiln_fail(KILN_OK, "its enqueue() has failed");
    const kiln_status status = g->node.enqueue(g->node.user, r->queue, from, &to);
    return status ? status : kiln_flush(r->net->k, r->queue);
}

static kiln_status run_nothing(const run *r, int i)
{
    (void)r, (void)i;
    return KILN_OK;
}

static kiln_status (*const run_kind[])(const run *, int) = {
    [KILN_NODE_CONV] = run_conv,       [KILN_NODE_POOL] = run_pool,
    [KILN_NODE_CONCAT] = run_nothing,  [KILN_NODE_SPLIT] = run_nothing,
    [KILN_NODE_FOREIGN] = run_foreign, [KILN_NODE_INPUT] = run_nothing};

static kiln_status run_nodes(const run *r)
{
    const kiln_graph *g = r->net->graph;
    for (int i = 0; i < g->count; i++) {
        kiln_status status = move_sources(r, i);
        if (!status)
            status = run_kind[g->node[i].node.kind](r, i);
        if (status)
            return kiln_graph_fail(g, i, status, "%.200s", kiln_last_error());
    }
    return KILN_OK;
}

/* ---- around the nodes ---- */

/* Has `queue` wait for what another queue still does with the net's memory. */
static kiln_status change_queue(kiln_net *net, cl_command_queue queue)
{
    cl_event before = NULL;
    cl_int code = CL_SUCCESS;
    if (net->queue == queue)
        return KILN_OK;
    if (net->queue) {
        const kiln_status status = kiln_flush(net->k, net->queue);
        if (status)
            return status;
        code = clEnqueueMarkerWithWaitList(net->queue, 0, NULL, &before);
        if (code == CL_SUCCESS)
            code = clFlush(net->queue);
        if (code == CL_SUCCESS)
            code = clEnqueueBarrierWithWaitList(queue, 1, &before, NULL);
        if (before)
            clReleaseEvent(before);
        if (code != CL_SUCCESS)
            return kiln_fail_cl(code, "clEnqueueBarrierWithWaitList");
        clReleaseCommandQueue(net->queue);
    }
    clRetainCommandQueue(queue);
    net->queue = queue;
    return KILN_OK;
}

/* What the caller has put into the queue comes before the net. */
static kiln_status begin(kiln_net *net, cl_command_queue queue, cl_uint n_wait,
                         const cl_event *wait)
{
    kiln_status status = change_queue(net, queue);
    cl_int code = CL_SUCCESS;
    if (!status && n_wait > 0)
        code = clEnqueueBarrierWithWaitList(queue, n_wait, wait, NULL);
    if (code != CL_SUCCESS)
        return kiln_fail_cl(code, "clEnqueueBarrierWithWaitList");
    return status ? status : kiln_flush(net->k, queue);
}

static kiln_status end(kiln_net *net, cl_command_queue queue, cl_event *done)
{
    const kiln_status status = kiln_flush(net->k, queue);
    if (status || !done)
        return status;
    const cl_int code = clEnqueueMarkerWithWaitList(queue, 0, NULL, done);
    return code == CL_SUCCESS ? KILN_OK : kiln_fail_cl(code, "clEnqueueMarkerWithWaitList");
}

/* Helpers that compile have nothing left to do once everything has run. */
static void end_helpers(kiln_net *net)
{
    if (net->runs < 2 && ++net->runs < 2)
        return;
    kiln_prepare_end(net->helpers);
    net->helpers = NULL;
}

static kiln_status check_given(const kiln_net *net, const kiln_buffer *inputs,
                               const kiln_buffer *outputs)
{
    for (int i = 0; i < net->build.plan.count; i++) {
        const kiln_place *p = &net->build.plan.node[i].place;
        const bool input = p->base == KILN_IN_INPUT;
        if (p->base != KILN_IN_ARENA && !(input ? inputs : outputs)[p->index].mem)
            return kiln_graph_fail(net->graph, i, KILN_INVALID, "its buffer, %s %d, is NULL",
                                   input ? "input" : "output", p->index);
    }
    return KILN_OK;
}

static kiln_status enqueue(kiln_net *net, cl_command_queue queue, const kiln_buffer *inputs,
                           const kiln_buffer *outputs, cl_uint n_wait, const cl_event *wait,
                           cl_event *done)
{
    const run r = {net, queue, inputs, outputs};
    if (!net->has_weights)
        return kiln_fail(KILN_INVALID, "kiln_net_enqueue: the net has no weights yet; call "
                                       "kiln_net_pack() first");
    kiln_status status = check_given(net, inputs, outputs);
    if (!status)
        status = kiln_net_check_queue(net, queue);
    if (!status)
        status = kiln_given_events(net->k, n_wait, wait);
    if (!status)
        status = begin(net, queue, n_wait, wait);
    if (!status)
        status = run_nodes(&r);
    if (!status)
        status = end(net, queue, done);
    end_helpers(net);
    return status;
}

kiln_status kiln_net_enqueue(kiln_net *net, cl_command_queue queue, const kiln_buffer *inputs,
                             const kiln_buffer *outputs, cl_uint n_wait, const cl_event *wait,
                             cl_event *done)
{
    if (!net || !queue || !inputs || !outputs)
        return kiln_fail(KILN_INVALID,
                         "kiln_net_enqueue: net, queue, inputs and outputs must not be NULL");
    if (n_wait > 0 && !wait)
        return kiln_fail(KILN_INVALID, "%u events to wait for, but wait is NULL", n_wait);
    if (kiln_process_check(net->k))
        return KILN_INVALID;
    if (!net->k->context)
        return kiln_fail(KILN_INVALID, "this kiln was opened without a device: it can only plan");
    pthread_mutex_lock(&net->lock);
    const kiln_status status = enqueue(net, queue, inputs, outputs, n_wait, wait, done);
    pthread_mutex_unlock(&net->lock);
    return status;
}
