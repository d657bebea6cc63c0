/* A network: the first half of MobileNet-v2, 224x224. The program says which nodes there are; kiln
 * decides layouts and places, packs the weights once, and enqueues all of it by one call.
 *
 *     cc network.c $(pkg-config --cflags --libs kiln) -lm && ./a.out
 */
#define _GNU_SOURCE /* clock_gettime() */
#include "common.h"

#include <kiln_net.h>

#include <time.h>

enum { BLOCKS = 7, RUNS = 50, SIDE = 224 };

/* Channels of the result, how many times as wide the inside is, and the stride. */
static const struct {
    int64_t channels, wide, stride;
} blocks[BLOCKS] = {{16, 1, 1}, {24, 6, 2}, {24, 6, 1}, {32, 6, 2},
                    {32, 6, 1}, {64, 6, 2}, {64, 6, 1}};

static float *numbers[128]; /* weights and biases, until the net has packed them */
static int made;

static int conv(kiln_graph *g, int x, int residual, int64_t channels, int64_t filter,
                int64_t stride, int64_t groups, kiln_activation activation)
{
    const int64_t pad = filter / 2;
    kiln_form in;
    check(kiln_graph_form(g, x, &in));
    float *w = make_data(channels * (in.channels / groups) * filter * filter, 0.1, 1);
    float *bias = make_data(channels, 0.2, 2);
    numbers[made++] = w;
    numbers[made++] = bias;
    return kiln_graph_add(g, &(kiln_node){.from = {x, residual},
                                          .w.data = w,
                                          .bias.data = bias,
                                          .problem = {.out_channels = channels,
                                                      .groups = groups,
                                                      .filter = {filter, filter},
                                                      .stride = {stride, stride},
                                                      .pad_begin = {pad, pad},
                                                      .pad_end = {pad, pad},
                                                      .epilogue = {.bias = 1,
                                                                   .beta = residual ? 1 : 0,
                                                                   .activation = activation}}});
}

static int describe(kiln_graph *g)
{
    int64_t channels = 32;
    int x =
        kiln_graph_add(g, &(kiln_node){.name = "image",
                                       .kind = KILN_NODE_INPUT,
                                       .form = {.batch = 1, .channels = 3, .size = {SIDE, SIDE}}});
    x = conv(g, x, 0, channels, 3, 2, 1, KILN_CLIPPED_RELU);
    for (int i = 0; i < BLOCKS; i++) {
        const int64_t wide = channels * blocks[i].wide, to = blocks[i].channels;
        const int residual = blocks[i].stride == 1 && channels == to ? x : 0;
        if (blocks[i].wide > 1)
            x = conv(g, x, 0, wide, 1, 1, 1, KILN_CLIPPED_RELU);
        x = conv(g, x, 0, wide, 3, blocks[i].stride, wide, KILN_CLIPPED_RELU);
        x = conv(g, x, residual, channels = to, 1, 1, 1, KILN_IDENTITY);
    }
    return kiln_graph_add(g, &(kiln_node){.name = "average",
                                          .kind = KILN_NODE_POOL,
                                          .from = {x},
                                          .pool = {.kind = KILN_POOL_AVERAGE, .global = 1},
                                          .kept = 1});
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

int main(void)
{
    check(kiln_threads(0, 1)); /* before the first call of OpenCL */
    opencl cl = open_opencl();
    kiln *k;
    kiln_net *net;
    kiln_net_info info;
    kiln_form result;
    double start = now_ms();
    check(kiln_open(&k, cl.context, cl.device, NULL));
    kiln_graph *g = kiln_graph_new();
    const int last = describe(g);
    check(kiln_net_create(k, g, NULL, &net));
    check(kiln_net_pack(net, cl.queue));
    check(kiln_net_describe(net, &info));
    check(kiln_net_tensor(net, last, &result, NULL));
    printf("%d convolutions, %d reformats, %.3f ms predicted; activations in %.1f MiB\n",
           info.convolutions, info.reformats, info.predicted_ms,
           (double)info.arena_size / (1 << 20));

    float *image = make_data(3 * SIDE * SIDE, 1, 3), *y = make_data(result.channels, 1, 4);
    const kiln_buffer in = {make_buffer(&cl, 3 * SIDE * SIDE * 4, image), 0};
    const kiln_buffer out = {make_buffer(&cl, result.channels * 4, NULL), 0};
    for (int i = 0; i <= RUNS; i++) {
        check(kiln_net_enqueue(net, cl.queue, &in, &out, 0, NULL, NULL));
        check(kiln_finish(k, cl.queue)); /* looks for the end before it sleeps */
        if (i == 0)
            printf("%.2f s to the first result\n", 1e-3 * (now_ms() - start));
        start = i == 0 ? now_ms() : start;
    }
    printf("%.3f ms an inference\n", (now_ms() - start) / RUNS);
    check_cl(clEnqueueReadBuffer(cl.queue, out.mem, CL_TRUE, 0, (size_t)result.channels * 4, y, 0,
                                 NULL, NULL),
             "clEnqueueReadBuffer");
    printf("y[0] = %g\n", (double)y[0]);

    kiln_net_release(net);
    kiln_graph_release(g);
    release_buffer(in.mem);
    release_buffer(out.mem);
    while (made > 0)
        free(numbers[--made]);
    free(image);
    free(y);
    kiln_close(k);
    close_opencl(&cl);
    return 0;
}
