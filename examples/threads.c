/* Two threads on one kiln: each has its own queue and buffers and runs the one operation, with one
 * copy of packed weights. The main thread closes its handle before they begin.
 *
 *     cc threads.c $(pkg-config --cflags --libs kiln) -lm -lpthread && ./a.out
 */
#include "common.h"

#include <pthread.h>

enum { THREADS = 2, ROUNDS = 20 };

static const kiln_problem problem = {
    .batch = 1, .in_channels = 192, .out_channels = 64, .input = {28, 28}, .filter = {1, 1}};

typedef struct worker {
    const opencl *cl;
    kiln_op *op;
    kiln_op_info info;
    cl_mem packed, weights; /* packed NULL: the solver takes them as they are */
    const float *w;
    unsigned seed;
} worker;

static void *work(void *argument)
{
    const worker *me = argument;
    const kiln_op_info *info = &me->info;
    cl_int code;
    cl_command_queue queue = clCreateCommandQueue(me->cl->context, me->cl->device, 0, &code);
    check_cl(code, "clCreateCommandQueue");
    float *x = make_data(info->x_size / 4, 1, me->seed), *y = malloc((size_t)info->y_size);
    /* An operation's calls may overlap where each has a workspace of its own. */
    const kiln_buffers b = {.x.mem = make_buffer(me->cl, info->x_size, x),
                            .y.mem = make_buffer(me->cl, info->y_size, NULL),
                            .w.mem = me->weights,
                            .packed.mem = me->packed,
                            .workspace.mem = make_buffer(me->cl, info->workspace_size, NULL)};
    for (int i = 0; i < ROUNDS; i++)
        check(kiln_op_enqueue(me->op, queue, &b, 0, NULL, NULL));
    check_cl(
        clEnqueueReadBuffer(queue, b.y.mem, CL_TRUE, 0, (size_t)info->y_size, y, 0, NULL, NULL),
        "clEnqueueReadBuffer");
    float *expected = reference(&info->problem, x, me->w, NULL, NULL);
    check_result("a thread", y, expected, info->y_size / 4);
    release_buffer(b.x.mem);
    release_buffer(b.y.mem);
    release_buffer(b.workspace.mem);
    clReleaseCommandQueue(queue);
    free(x);
    free(y);
    free(expected);
    return NULL;
}

int main(void)
{
    opencl cl = open_opencl();
    kiln *k;
    kiln_op *op;
    kiln_op_info info;
    const kiln_choice choice = {.packed_weights = 1};
    check(kiln_open(&k, cl.context, cl.device, NULL));
    check(kiln_conv_create(k, &problem, &choice, &op));
    kiln_op_describe(op, &info);
    kiln_close(k); /* the operation holds what it needs */

    float *w = make_data(info.w_size / 4, 1, 7);
    const kiln_buffers b = {.w.mem = make_buffer(&cl, info.w_size, w),
                            .packed.mem = make_buffer(&cl, info.packed_size, NULL),
                            .workspace.mem = make_buffer(&cl, info.workspace_size, NULL)};
    if (info.packed_size > 0)
        check(kiln_op_pack(op, cl.queue, &b, 0, NULL, NULL));
    check_cl(clFinish(cl.queue), "clFinish"); /* other queues do not wait for this one */

    pthread_t thread[THREADS];
    worker workers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){&cl, op, info, b.packed.mem, b.w.mem, w, 1 + (unsigned)i};
        if (pthread_create(&thread[i], NULL, work, &workers[i]) != 0)
            return 1;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    kiln_op_release(op);
    release_buffer(b.w.mem);
    release_buffer(b.packed.mem);
    release_buffer(b.workspace.mem);
    free(w);
    close_opencl(&cl);
    return 0;
}
