/* Whether everything of a net is compiled, and compiling it now, for this process or for others. */
#include "runtime/op/bundle_rows.h"
#include "runtime/op/first_use.h"
#include "runtime/op/warm.h"

#include "net.h"

static kiln_status ask(const kiln_net *net, int *ready)
{
    *ready = 1;
    for (int i = 0; i < net->build.plan.count; i++) {
        const kiln_op *op = net->build.node[i].op;
        if (!op || !op->stand_in || atomic_load_explicit(&op->compiled, memory_order_acquire))
            continue;
        *ready = 0;
        if (atomic_load_explicit(&op->failed, memory_order_acquire))
            return kiln_graph_fail(net->graph, i, KILN_OPENCL, "%.200s", op->own_error);
    }
    return KILN_OK;
}

kiln_status kiln_net_ready(const kiln_net *net, int *ready)
{
    if (!net || !ready)
        return kiln_fail(KILN_INVALID, "kiln_net_ready: net and ready must not be NULL");
    pthread_mutex_t *lock = (pthread_mutex_t *)&net->lock;
    pthread_mutex_lock(lock);
    const kiln_status status = ask(net, ready);
    pthread_mutex_unlock(lock);
    return status;
}

static kiln_status warm_node(kiln_net *net, int i)
{
    kiln_status status = KILN_OK;
    const kiln_net_node *n = &net->build.node[i];
    for (int j = 0; j < net->graph->node[i].sources && !status; j++)
        if (n->move[j])
            status = kiln_op_warm(n->move[j]);
    if (!status && n->op)
        status = kiln_op_warm(n->op);
    return status ? kiln_graph_fail(net->graph, i, status, "%.200s", kiln_last_error()) : KILN_OK;
}

static kiln_status warm(kiln_net *net)
{
    kiln_status status = KILN_OK;
    for (int i = 0; i < net->build.plan.count && !status; i++)
        status = warm_node(net, i);
    kiln_prepare_end(net->helpers);
    net->helpers = NULL;
    return status;
}

static kiln_status check(const kiln_net *net, const char *function)
{
    if (!net)
        return kiln_fail(KILN_INVALID, "%s: net must not be NULL", function);
    if (!net->k->context)
        return kiln_fail(KILN_INVALID, "this kiln was opened without a device: it can only plan");
    return kiln_process_check(net->k);
}

kiln_status kiln_net_warm(kiln_net *net)
{
    kiln_status status = check(net, "kiln_net_warm");
    if (status)
        return status;
    pthread_mutex_lock(&net->lock);
    status = warm(net);
    pthread_mutex_unlock(&net->lock);
    return status;
}

kiln_status kiln_net_bundle(kiln_net *net, const char *dir)
{
    kiln_status status = check(net, "kiln_net_bundle");
    if (!status && (!dir || !*dir))
        status = kiln_fail(KILN_INVALID, "kiln_net_bundle: dir must not be NULL or empty");
    if (status)
        return status;
    pthread_mutex_lock(&net->lock);
    status = warm(net);
    pthread_mutex_unlock(&net->lock);
    return status ? status : kiln_bundle_write(net->k, dir);
}
