/* Three convolutions in a row, as in a residual block: wide, 3x3, narrow with the input added. The
 * tensors between them are in blocks of 16 channels; bias, residual and activation are part of the
 * convolutions.
 *
 *     cc chain.c $(pkg-config --cflags --libs kiln) -lm && ./a.out
 */
#include "common.h"

enum { LINKS = 3, NARROW = 32, WIDE = 64, SIDE = 14 };

/* Blocked layouts by name; "any" would let kiln choose, and kiln_chain() chooses for all. */
#define BLOCKED .x_layout = "NCHW16c", .y_layout = "NCHW16c"

static const kiln_problem problems[LINKS] = {
    {.batch = 1,
     .in_channels = NARROW,
     .out_channels = WIDE,
     .input = {SIDE, SIDE},
     .filter = {1, 1},
     BLOCKED,
     .epilogue = {.bias = 1, .activation = KILN_RELU}},
    {.batch = 1,
     .in_channels = WIDE,
     .out_channels = WIDE,
     .input = {SIDE, SIDE},
     .filter = {3, 3},
     .pad_begin = {1, 1},
     .pad_end = {1, 1},
     BLOCKED,
     .epilogue = {.bias = 1, .activation = KILN_RELU},
     .math = KILN_MATH_EXACT},
    {.batch = 1,
     .in_channels = WIDE,
     .out_channels = NARROW,
     .input = {SIDE, SIDE},
     .filter = {1, 1},
     BLOCKED,
     .epilogue = {.bias = 1, .beta = 1, .activation = KILN_CLIPPED_RELU, .param = {6}}},
};

/* Moves a tensor between NCHW and blocks on the device. */
static void reformat(kiln *k, const opencl *cl, const char *from, const char *to, cl_mem x,
                     cl_mem y)
{
    const kiln_reformat r = {.dims = "NCHW", .size = {1, NARROW, SIDE, SIDE}};
    kiln_reformat named = r;
    snprintf(named.from, sizeof named.from, "%s", from);
    snprintf(named.to, sizeof named.to, "%s", to);
    kiln_op *op;
    check(kiln_reformat_create(k, &named, &op));
    const kiln_buffers b = {.x.mem = x, .y.mem = y};
    check(kiln_op_enqueue(op, cl->queue, &b, 0, NULL, NULL));
    kiln_op_release(op); /* what was enqueued runs nevertheless */
}

int main(void)
{
    opencl cl = open_opencl();
    kiln *k;
    check(kiln_open(&k, cl.context, cl.device, NULL));
    const int64_t count = (int64_t)NARROW * SIDE * SIDE;
    float *x = make_data(count, 1, 1), *w[LINKS], *bias[LINKS];
    cl_mem plain = make_buffer(&cl, count * 4, x), blocked = make_buffer(&cl, count * 4, NULL);
    reformat(k, &cl, "NCHW", "NCHW16c", plain, blocked);

    kiln_op *op[LINKS];
    kiln_buffers b[LINKS];
    for (int i = 0; i < LINKS; i++) {
        const kiln_choice choice = {.packed_weights = 1};
        kiln_op_info info;
        check(kiln_conv_create(k, &problems[i], &choice, &op[i]));
        kiln_op_describe(op[i], &info);
        printf("link %d: %s, %s\n", i, info.solver, info.config);
        w[i] = make_data(info.w_size / 4, 0.2, 10 + (unsigned)i);
        bias[i] = make_data(info.bias_size / 4, 0.2, 20 + (unsigned)i);
        b[i] = (kiln_buffers){.x.mem = i ? b[i - 1].y.mem : blocked,
                              .w.mem = make_buffer(&cl, info.w_size, w[i]),
                              .bias.mem = make_buffer(&cl, info.bias_size, bias[i]),
                              .y.mem = make_buffer(&cl, info.y_size, NULL),
                              .packed.mem = make_buffer(&cl, info.packed_size, NULL),
                              .workspace.mem = make_buffer(&cl, info.workspace_size, NULL)};
        if (info.residual_size > 0)
            b[i].residual.mem = blocked; /* the block's input */
        if (info.packed_size > 0)
            check(kiln_op_pack(op[i], cl.queue, &b[i], 0, NULL, NULL));
    }

    /* An in-order queue runs them one after the other: no events are needed. */
    for (int i = 0; i < LINKS; i++)
        check(kiln_op_enqueue(op[i], cl.queue, &b[i], 0, NULL, NULL));
    reformat(k, &cl, "NCHW16c", "NCHW", b[LINKS - 1].y.mem, plain);
    float *y = malloc((size_t)count * 4), *expected = x;
    check_cl(clEnqueueReadBuffer(cl.queue, plain, CL_TRUE, 0, (size_t)count * 4, y, 0, NULL, NULL),
             "clEnqueueReadBuffer");

    for (int i = 0; i < LINKS; i++) {
        kiln_problem p = problems[i];
        check(kiln_problem_check(&p, NULL));
        float *next = reference(&p, expected, w[i], bias[i], i == LINKS - 1 ? x : NULL);
        if (expected != x)
            free(expected);
        expected = next;
    }
    check_result("three convolutions", y, expected, count);

    for (int i = 0; i < LINKS; i++) {
        cl_mem own[] = {b[i].w.mem, b[i].bias.mem, b[i].y.mem, b[i].packed.mem, b[i].workspace.mem};
        for (size_t j = 0; j < sizeof own / sizeof *own; j++)
            release_buffer(own[j]);
        kiln_op_release(op[i]);
        free(w[i]);
        free(bias[i]);
    }
    release_buffer(plain);
    release_buffer(blocked);
    kiln_close(k);
    free(x);
    free(y);
    free(expected);
    close_opencl(&cl);
    return 0;
}
