/* Makes graphs and computes them by plain loops. */
#include "net_case.h"

#include "support.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t elements(const kiln_form *f)
{
    return f->batch * f->channels * f->size[0] * f->size[1];
}

static float *numbers(int64_t count, double scale, uint64_t seed)
{
    float *data = malloc((size_t)count * sizeof *data);
    for (int64_t i = 0; i < count; i++)
        data[i] = (float)(scale * ((double)(host_random(seed, 5, (uint64_t)i) % 2001) / 1000 - 1));
    return data;
}

static int add(net_case *c, kiln_node node)
{
    char name[32];
    const int i = c->count++;
    ck_assert_int_lt(i, NET_NODES);
    snprintf(name, sizeof name, "n%d", i + 1);
    node.name = name;
    if (!c->graph)
        c->graph = kiln_graph_new();
    const int number = kiln_graph_add(c->graph, &node);
    ck_assert_msg(number == i + 1, "%s", kiln_last_error());
    kiln_graph_form(c->graph, number, &c->form[i]);
    node.name = NULL;
    c->node[i] = node;
    return number;
}

int net_input(net_case *c, int64_t batch, int64_t channels, int64_t side)
{
    return add(c,
               (kiln_node){.kind = KILN_NODE_INPUT,
                           .form = {.batch = batch, .channels = channels, .size = {side, side}}});
}

static int add_conv(net_case *c, kiln_node node, int64_t terms)
{
    const kiln_problem *p = &node.problem;
    const int64_t in = c->form[node.from[0] - 1].channels, groups = p->groups ? p->groups : 1;
    const uint64_t seed = (uint64_t)c->count;
    node.w.data = c->w[c->count] =
        numbers(p->out_channels * (in / groups) * p->filter[0] * p->filter[1],
                2 / sqrt((double)terms), seed);
    node.bias.data = c->bias[c->count] = numbers(p->out_channels, 0.2, seed + 1000);
    return add(c, node);
}

int net_conv(net_case *c, int x, int residual, int64_t channels, int64_t filter, int64_t stride,
             int64_t groups, kiln_activation activation)
{
    const int64_t in = c->form[x - 1].channels;
    return add_conv(c,
                    (kiln_node){.from = {x, residual},
                                .problem = {.out_channels = channels,
                                            .groups = groups,
                                            .filter = {filter, filter},
                                            .stride = {stride, stride},
                                            .pad_begin = {filter / 2, filter / 2},
                                            .pad_end = {filter / 2, filter / 2},
                                            .epilogue = {.bias = 1,
                                                         .beta = residual ? 0.75f : 0,
                                                         .activation = activation}}},
                    in / groups * filter * filter);
}

int net_up(net_case *c, int x, int64_t channels)
{
    return add_conv(c,
                    (kiln_node){.from = {x},
                                .problem = {.transposed = 1,
                                            .out_channels = channels,
                                            .filter = {2, 2},
                                            .stride = {2, 2},
                                            .epilogue = {.bias = 1}}},
                    c->form[x - 1].channels);
}

int net_pool(net_case *c, int x, int other, kiln_pool pool)
{
    return add(c, (kiln_node){.kind = KILN_NODE_POOL, .from = {x, other}, .pool = pool});
}

int net_concat(net_case *c, int a, int b, int d)
{
    return add(c, (kiln_node){.kind = KILN_NODE_CONCAT, .from = {a, b, d}});
}

int net_split(net_case *c, int x, int64_t first, int64_t channels)
{
    return add(
        c, (kiln_node){.kind = KILN_NODE_SPLIT, .from = {x}, .first = first, .channels = channels});
}

/* Copies, and does not wait for it: what comes behind must not come before it. */
static kiln_status copy(void *user, cl_command_queue queue, const kiln_buffer *from,
                        const kiln_buffer *to)
{
    const cl_int code = clEnqueueCopyBuffer(queue, from->mem, to->mem, from->offset, to->offset,
                                            *(const size_t *)user, 0, NULL, NULL);
    return code == CL_SUCCESS ? KILN_OK : KILN_OPENCL;
}

int net_foreign(net_case *c, int x, const char *layout)
{
    static size_t bytes[NET_NODES];
    kiln_node node = {
        .kind = KILN_NODE_FOREIGN, .from = {x}, .enqueue = copy, .user = &bytes[c->count]};
    bytes[c->count] = (size_t)elements(&c->form[x - 1]) * sizeof(float);
    strcpy(node.form.layout, layout);
    strcpy(node.takes, layout);
    return add(c, node);
}

void net_keep(net_case *c, const char *layout)
{
    kiln_node *n = &c->node[c->count - 1];
    n->kept = 1;
    strcpy(n->form.layout, layout);
}

/* ---- values ---- */

static double at(const net_case *c, int node, int64_t n, int64_t ch, int64_t h, int64_t w)
{
    const kiln_form *f = &c->form[node - 1];
    return c->value[node - 1][((n * f->channels + ch) * f->size[0] + h) * f->size[1] + w];
}

static double activated(kiln_activation a, double v)
{
    switch (a) {
    case KILN_RELU:
        return fmax(v, 0);
    case KILN_CLIPPED_RELU:
        return fmin(fmax(v, 0), 6);
    case KILN_SIGMOID:
        return 1 / (1 + exp(-v));
    case KILN_SILU:
        return v / (1 + exp(-v));
    default:
        return v;
    }
}

static double conv_at(const net_case *c, int i, int64_t n, int64_t k, int64_t h, int64_t w)
{
    const kiln_node *node = &c->node[i];
    const kiln_problem *p = &node->problem;
    const kiln_form *x = &c->form[node->from[0] - 1];
    const int64_t groups = p->groups ? p->groups : 1, inside = x->channels / groups;
    const int64_t first = k / (p->out_channels / groups) * inside, side = p->filter[0];
    double sum = c->bias[i][k];
    for (int64_t ch = 0; ch < inside; ch++)
        for (int64_t r = 0; r < side; r++)
            for (int64_t s = 0; s < side; s++) {
                int64_t y = h * p->stride[0] + r - p->pad_begin[0];
                int64_t z = w * p->stride[1] + s - p->pad_begin[1];
                const bool meets = !p->transposed || (h % 2 == r && w % 2 == s);
                if (p->transposed) {
                    y = h / 2;
                    z = w / 2;
                }
                if (!meets || y < 0 || y >= x->size[0] || z < 0 || z >= x->size[1])
                    continue;
                const int64_t o = p->transposed ? ch * p->out_channels + k : k * inside + ch;
                sum +=
                    at(c, node->from[0], n, first + ch, y, z) * c->w[i][(o * side + r) * side + s];
            }
    if (node->from[1])
        sum += p->epilogue.beta * at(c, node->from[1], n, k, h, w);
    return activated(p->epilogue.activation, sum);
}

static double pool_at(const net_case *c, int i, int64_t n, int64_t ch, int64_t h, int64_t w)
{
    const kiln_node *node = &c->node[i];
    const kiln_pool *p = &node->pool;
    const kiln_form *x = &c->form[node->from[0] - 1];
    const int64_t rows = p->global ? x->size[0] : p->window[0] ? p->window[0] : 1;
    const int64_t step = p->stride[0] ? p->stride[0] : 1;
    double all = p->kind == KILN_POOL_MAX ? -INFINITY : 0;
    int64_t seen = 0;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t s = 0; s < rows; s++) {
            const int64_t y = h * step + r - p->pad_begin[0], z = w * step + s - p->pad_begin[1];
            if (y < 0 || y >= x->size[0] || z < 0 || z >= x->size[1])
                continue;
            const double v = at(c, node->from[0], n, ch, y, z);
            all = p->kind == KILN_POOL_MAX ? fmax(all, v) : all + v;
            seen++;
        }
    if (p->kind == KILN_POOL_AVERAGE)
        all /= (double)seen;
    if (p->with) {
        const double other =
            p->other_is_one ? at(c, node->from[1], n, ch, 0, 0) : at(c, node->from[1], n, ch, h, w);
        all = p->with == KILN_WITH_SUM ? all + other : all * other;
    }
    return activated(p->activation, all);
}

static double concat_at(const net_case *c, int i, int64_t n, int64_t ch, int64_t h, int64_t w)
{
    int j = 0;
    while (ch >= c->form[c->node[i].from[j] - 1].channels)
        ch -= c->form[c->node[i].from[j++] - 1].channels;
    return at(c, c->node[i].from[j], n, ch, h, w);
}

static double element(const net_case *c, int i, int64_t n, int64_t ch, int64_t h, int64_t w)
{
    const kiln_node *node = &c->node[i];
    switch (node->kind) {
    case KILN_NODE_CONV:
        return conv_at(c, i, n, ch, h, w);
    case KILN_NODE_POOL:
        return pool_at(c, i, n, ch, h, w);
    case KILN_NODE_CONCAT:
        return concat_at(c, i, n, ch, h, w);
    case KILN_NODE_SPLIT:
        return at(c, node->from[0], n, node->first + ch, h, w);
    default:
        return at(c, node->from[0], n, ch, h, w);
    }
}

static void compute(net_case *c, int i)
{
    const kiln_form *f = &c->form[i];
    free(c->value[i]);
    double *v = c->value[i] = malloc((size_t)elements(f) * sizeof *v);
    if (c->node[i].kind == KILN_NODE_INPUT) {
        free(c->input[i]);
        c->input[i] = numbers(elements(f), 1, (uint64_t)i + 77);
        for (int64_t e = 0; e < elements(f); e++)
            v[e] = c->input[i][e];
        return;
    }
    for (int64_t n = 0; n < f->batch; n++)
        for (int64_t ch = 0; ch < f->channels; ch++)
            for (int64_t h = 0; h < f->size[0]; h++)
                for (int64_t w = 0; w < f->size[1]; w++)
                    *v++ = element(c, i, n, ch, h, w);
}

void net_compute(net_case *c, int64_t batch, int64_t side)
{
    kiln_graph_release(c->graph);
    c->graph = kiln_graph_new();
    for (int i = 0; i < c->count; i++) {
        kiln_node node = c->node[i];
        const bool input = node.kind == KILN_NODE_INPUT;
        if (input && batch)
            node.form.batch = batch;
        if (input && side)
            node.form.size[0] = node.form.size[1] = side;
        node.kept = node.kept || (c->keep_all && !input);
        ck_assert_msg(kiln_graph_add(c->graph, &node) == i + 1, "%s", kiln_last_error());
        kiln_graph_form(c->graph, i + 1, &c->form[i]);
        if (node.kind == KILN_NODE_FOREIGN)
            *(size_t *)node.user = (size_t)elements(&c->form[i]) * sizeof(float);
        compute(c, i);
    }
}

void net_free(net_case *c)
{
    kiln_graph_release(c->graph);
    for (int i = 0; i < c->count; i++) {
        free(c->w[i]);
        free(c->bias[i]);
        free(c->input[i]);
        free(c->value[i]);
    }
}

/* ---- whole graphs ---- */

static int block(net_case *c, int x, int64_t wide, int64_t channels, int64_t stride)
{
    const int64_t in = c->form[x - 1].channels;
    int y = net_conv(c, x, 0, wide, 1, 1, 1, KILN_CLIPPED_RELU);
    y = net_conv(c, y, 0, wide, 3, stride, wide, KILN_CLIPPED_RELU);
    return net_conv(c, y, stride == 1 && in == channels ? x : 0, channels, 1, 1, 1, KILN_IDENTITY);
}

void net_mobile(net_case *c)
{
    int x = net_input(c, 1, 3, 32);
    x = net_conv(c, x, 0, 16, 3, 2, 1, KILN_CLIPPED_RELU);
    x = block(c, x, 48, 24, 2);
    x = block(c, x, 72, 24, 1);
    x = block(c, x, 72, 24, 1);
    x = block(c, x, 72, 40, 2);
    x = net_pool(c, x, 0, (kiln_pool){.kind = KILN_POOL_AVERAGE, .global = 1});
    net_conv(c, x, 0, 10, 1, 1, 1, KILN_IDENTITY);
    net_keep(c, "");
}

void net_u(net_case *c)
{
    const kiln_pool half = {.kind = KILN_POOL_MAX, .window = {2, 2}, .stride = {2, 2}};
    int x = net_input(c, 1, 3, 16);
    const int a = x = net_conv(c, x, 0, 16, 3, 1, 1, KILN_RELU);
    x = net_pool(c, x, 0, half);
    const int b = x = net_conv(c, x, 0, 32, 3, 1, 1, KILN_RELU);
    x = net_pool(c, x, 0, half);
    x = net_conv(c, x, 0, 48, 3, 1, 1, KILN_RELU);
    x = net_up(c, x, 32);
    x = net_concat(c, b, x, 0);
    x = net_conv(c, x, 0, 32, 3, 1, 1, KILN_RELU);
    net_keep(c, "NHWC");
    x = net_up(c, x, 16);
    x = net_concat(c, a, x, 0);
    x = net_conv(c, x, 0, 5, 3, 1, 1, KILN_SIGMOID);
    net_keep(c, "");
}

void net_branches(net_case *c)
{
    const kiln_pool same = {
        .kind = KILN_POOL_MAX, .window = {3, 3}, .pad_begin = {1, 1}, .pad_end = {1, 1}};
    int x = net_input(c, 1, 20, 8);
    const int p = net_conv(c, x, 0, 32, 1, 1, 1, KILN_RELU);
    const int q = net_conv(c, x, 0, 17, 3, 1, 1, KILN_RELU);
    const int r = net_pool(c, x, 0, same);
    x = net_concat(c, p, q, r);
    const int left = net_split(c, x, 0, 32), right = net_split(c, x, 32, 37);
    const int l = net_conv(c, left, 0, 32, 1, 1, 1, KILN_SILU);
    const int m = net_foreign(c, right, "NCHW");
    x = net_concat(c, m, l, 0);
    int squeezed = net_pool(c, x, 0, (kiln_pool){.kind = KILN_POOL_AVERAGE, .global = 1});
    squeezed = net_conv(c, squeezed, 0, 69, 1, 1, 1, KILN_SIGMOID);
    x = net_pool(c, x, squeezed, (kiln_pool){.with = KILN_WITH_PRODUCT, .other_is_one = 1});
    const int y = net_conv(c, x, 0, 69, 1, 1, 1, KILN_RELU);
    net_pool(c, x, y, (kiln_pool){.with = KILN_WITH_SUM, .activation = KILN_RELU});
    net_keep(c, "any");
}
