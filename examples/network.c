/* A network as a program runs it: the first half of MobileNet-v2, up to 22 convolutions.
 * kiln_chain() decides the layouts, all activations share one buffer, and the program makes the
 * promises that make short operations fast on PoCL's CPU device (docs/network.md).
 *
 *     cc network.c $(pkg-config --cflags --libs kiln) -lm && ./a.out [BLOCKS]      (1 to 7)
 */
#define _GNU_SOURCE /* setenv(), clock_gettime() */
#include "common.h"

#include <kiln_chain.h>

#include <string.h>
#include <time.h>

enum { BLOCKS = 7, MOST = 3 * BLOCKS + 1, RUNS = 50 };

/* Channels of the result, how many times as wide the inside is, and the stride. */
static const struct {
    int64_t channels, wide, stride;
} blocks[BLOCKS] = {{16, 1, 1}, {24, 6, 2}, {24, 6, 1}, {32, 6, 2},
                    {32, 6, 1}, {64, 6, 2}, {64, 6, 1}};

typedef struct network {
    kiln_link link[MOST];
    int count;
    kiln_op *op[MOST];
    kiln_op *x_reformat[MOST], *residual_reformat[MOST]; /* NULL: none */
    kiln_op_info plan[MOST];
    kiln_helpers *helpers; /* compile while make_network() does */
    kiln_buffers buffers[MOST];
    cl_mem arena, workspace;
    float *x, *w[MOST], *bias[MOST];
} network;

/* ---- what the network is ---- */

static void add(network *n, int64_t c, int64_t k, int64_t side, int64_t filter, int64_t stride,
                int64_t groups)
{
    const bool same = stride == 1;
    kiln_link *l = &n->link[n->count];
    *l = (kiln_link){
        .problem = {.batch = 1,
                    .in_channels = c,
                    .out_channels = k,
                    .groups = groups,
                    .input = {side, side},
                    .filter = {filter, filter},
                    .stride = {stride, stride},
                    .pad_begin = {same ? filter / 2 : 0, same ? filter / 2 : 0},
                    .pad_end = {filter / 2, filter / 2},
                    .x_layout = "any",
                    .y_layout = "any",
                    .epilogue = {.bias = 1, .activation = KILN_CLIPPED_RELU, .param = {6}}},
        .x_back = n->count > 0};
    n->count++;
}

static void describe_network(network *n, int count)
{
    int64_t side = 112, channels = 32;
    add(n, 3, channels, 2 * side, 3, 2, 1);
    strcpy(n->link[0].problem.x_layout, "NCHW"); /* as the image comes */
    for (int i = 0; i < count; i++) {
        const int64_t wide = channels * blocks[i].wide, stride = blocks[i].stride;
        if (blocks[i].wide > 1)
            add(n, channels, wide, side, 1, 1, 1);
        add(n, wide, wide, side, 3, stride, wide);
        side /= stride;
        add(n, wide, blocks[i].channels, side, 1, 1, 1);
        kiln_link *last = &n->link[n->count - 1];
        last->problem.epilogue.activation = KILN_IDENTITY;
        last->problem.epilogue.param[0] = 0;
        if (stride == 1 && channels == blocks[i].channels) {
            last->problem.epilogue.beta = 1;
            last->residual_back = 3;
        }
        channels = blocks[i].channels;
    }
    strcpy(n->link[n->count - 1].problem.y_layout, "NCHW"); /* as the caller wants it */
}

/* ---- making it ---- */

static kiln_op *make_reformat(kiln *k, const kiln_reformat *r)
{
    kiln_op *op = NULL;
    if (*r->to)
        check(kiln_reformat_create(k, r, &op));
    return op;
}

/* Creates what was planned, without choosing again. */
static void make_link(network *n, kiln *k, const opencl *cl, int i)
{
    const kiln_op_info *plan = &n->plan[i];
    const kiln_choice choice = {
        .solver = plan->solver, .config = *plan->config ? plan->config : NULL, .packed_weights = 1};
    const kiln_link *l = &n->link[i];
    kiln_buffers *b = &n->buffers[i];
    check(kiln_conv_create(k, &l->problem, &choice, &n->op[i]));
    n->x_reformat[i] = make_reformat(k, &l->x_reformat);
    n->residual_reformat[i] = make_reformat(k, &l->residual_reformat);
    n->w[i] = make_data(plan->w_size / 4,
                        2 / sqrt((double)plan->w_size / 4 / (double)l->problem.out_channels),
                        10 + (unsigned)i);
    n->bias[i] = make_data(plan->bias_size / 4, 0.2, 50 + (unsigned)i);
    *b = (kiln_buffers){.x = {n->arena, (size_t)(l->x_back ? l->x_offset : 0)},
                        .y = {n->arena, (size_t)l->y_offset},
                        .w.mem = make_buffer(cl, plan->w_size, n->w[i]),
                        .bias.mem = make_buffer(cl, plan->bias_size, n->bias[i]),
                        .packed.mem = make_buffer(cl, plan->packed_size, NULL),
                        .workspace.mem = plan->workspace_size ? n->workspace : NULL};
    if (l->x_back == 0)
        b->x.mem = make_buffer(cl, plan->x_size, n->x);
    if (l->residual_back)
        b->residual = (kiln_buffer){n->arena, (size_t)l->residual_offset};
    if (plan->packed_size > 0)
        check(kiln_op_pack(n->op[i], cl->queue, b, 0, NULL, NULL));
}

static void make_network(network *n, kiln *k, const opencl *cl)
{
    const kiln_choice choice = {.packed_weights = 1};
    kiln_chain_info info;
    kiln_problem problem[MOST];
    int64_t workspace = 0;
    check(kiln_chain(k, n->link, (size_t)n->count, &info));
    for (int i = 0; i < n->count; i++) {
        check(kiln_conv_plan(k, &n->link[i].problem, &choice, &n->plan[i]));
        if (n->plan[i].workspace_size > workspace)
            workspace = n->plan[i].workspace_size;
        problem[i] = n->link[i].problem;
    }
    check(kiln_prepare_begin(k, problem, (size_t)n->count, 0, &n->helpers));
    printf("%d convolutions, %d reformats, %.3f ms predicted; activations in %.1f MiB\n", n->count,
           info.reformats, info.predicted_ms, (double)info.arena_size / (1 << 20));
    n->arena = make_buffer(cl, info.arena_size, NULL);
    n->workspace = make_buffer(cl, workspace, NULL);
    n->x = make_data(kiln_problem_bytes(&n->link[0].problem, 'x', NULL) / 4, 1, 1);
    for (int i = 0; i < n->count; i++)
        make_link(n, k, cl, i);
    check(kiln_finish(k, cl->queue));
}

/* ---- running it ---- */

/* One operation behind the other in an in-order queue, without events: they may share commands. */
static void run(const network *n, const opencl *cl)
{
    for (int i = 0; i < n->count; i++) {
        const kiln_link *l = &n->link[i];
        const kiln_buffers *b = &n->buffers[i];
        if (n->x_reformat[i]) {
            const kiln_buffers r = {.x = n->buffers[i - l->x_back].y, .y = b->x};
            check(kiln_op_enqueue(n->x_reformat[i], cl->queue, &r, 0, NULL, NULL));
        }
        if (n->residual_reformat[i]) {
            const kiln_buffers r = {.x = n->buffers[i - l->residual_back].y, .y = b->residual};
            check(kiln_op_enqueue(n->residual_reformat[i], cl->queue, &r, 0, NULL, NULL));
        }
        check(kiln_op_enqueue(n->op[i], cl->queue, b, 0, NULL, NULL));
    }
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* PoCL compiles kernels when they first run: helpers have something to do until then. */
static void run_first(const network *n, kiln *k, const opencl *cl)
{
    run(n, cl);
    check(kiln_finish(k, cl->queue));
    kiln_prepare_end(n->helpers);
}

/* kiln_finish() looks for the end before it sleeps, which clFinish() does not. */
static void time_runs(const network *n, kiln *k, const opencl *cl)
{
    double ms[RUNS];
    for (int i = 0; i < RUNS; i++) {
        const double start = now_ms();
        run(n, cl);
        check(kiln_finish(k, cl->queue));
        ms[i] = now_ms() - start;
    }
    qsort(ms, RUNS, sizeof *ms, by_value);
    printf("%.3f ms an inference (median of %d)\n", ms[RUNS / 2], RUNS);
}

static void check_network(const network *n, const opencl *cl)
{
    const kiln_buffer *y = &n->buffers[n->count - 1].y;
    const int64_t count = kiln_problem_count(&n->link[n->count - 1].problem, 'y');
    float *got = malloc((size_t)count * 4), *expected[MOST];
    check_cl(clEnqueueReadBuffer(cl->queue, y->mem, CL_TRUE, y->offset, (size_t)count * 4, got, 0,
                                 NULL, NULL),
             "clEnqueueReadBuffer");
    for (int i = 0; i < n->count; i++) {
        const kiln_link *l = &n->link[i];
        expected[i] =
            reference(&l->problem, l->x_back ? expected[i - l->x_back] : n->x, n->w[i], n->bias[i],
                      l->residual_back ? expected[i - l->residual_back] : NULL);
    }
    check_result("the network", got, expected[n->count - 1], count);
    for (int i = 0; i < n->count; i++)
        free(expected[i]);
    free(got);
}

static void release_network(network *n)
{
    for (int i = 0; i < n->count; i++) {
        const kiln_buffers *b = &n->buffers[i];
        cl_mem own[] = {b->w.mem, b->bias.mem, b->packed.mem, n->link[i].x_back ? NULL : b->x.mem};
        for (size_t j = 0; j < sizeof own / sizeof *own; j++)
            release_buffer(own[j]);
        kiln_op_release(n->op[i]);
        kiln_op_release(n->x_reformat[i]);
        kiln_op_release(n->residual_reformat[i]);
        free(n->w[i]);
        free(n->bias[i]);
    }
    release_buffer(n->arena);
    release_buffer(n->workspace);
    free(n->x);
}

int main(int argc, char **argv)
{
    static network n;
    const int count = argc > 1 ? atoi(argv[1]) : BLOCKS;
    if (count < 1 || count > BLOCKS)
        return fprintf(stderr, "usage: %s [BLOCKS]     (1 to %d)\n", argv[0], BLOCKS), 2;
    setenv("POCL_AFFINITY", "1", 0); /* before the first call of OpenCL */
    opencl cl = open_opencl();
    const kiln_settings settings = {.buffers_stay = 1, .queues_flushed = 1};
    kiln *k;
    const double start = now_ms();
    check(kiln_open(&k, cl.context, cl.device, &settings));
    describe_network(&n, count);
    make_network(&n, k, &cl);
    run_first(&n, k, &cl);
    printf("%.2f s to the first result\n", 1e-3 * (now_ms() - start));
    time_runs(&n, k, &cl);
    check_network(&n, &cl);
    release_network(&n);
    kiln_close(k);
    close_opencl(&cl);
    return 0;
}
