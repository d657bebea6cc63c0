/* One convolution: planned, created, its weights packed once, run, checked.
 *
 *     cc one.c $(pkg-config --cflags --libs kiln) -lm && ./a.out
 */
#include "common.h"

int main(void)
{
    opencl cl = open_opencl();
    kiln *k;
    check(kiln_open(&k, cl.context, cl.device, NULL));

    /* Fields that are left out have defaults: stride 1, no padding, one group, NCHW, f32. */
    const kiln_problem problem = {
        .batch = 1, .in_channels = 192, .out_channels = 64, .input = {28, 28}, .filter = {1, 1}};

    /* A plan tells what kiln will do, and how large everything is, without compiling. */
    const kiln_choice choice = {.packed_weights = 1};
    kiln_op_info info;
    check(kiln_conv_plan(k, &problem, &choice, &info));
    printf("solver %s, config %s, %.3f ms predicted; x %lld, w %lld, y %lld, packed %lld, "
           "workspace %lld bytes\n",
           info.solver, info.config, info.predicted_ms, (long long)info.x_size,
           (long long)info.w_size, (long long)info.y_size, (long long)info.packed_size,
           (long long)info.workspace_size);

    float *x = make_data(info.x_size / 4, 1, 1), *w = make_data(info.w_size / 4, 1, 2);
    float *y = malloc((size_t)info.y_size);
    kiln_buffers b = {.x.mem = make_buffer(&cl, info.x_size, x),
                      .w.mem = make_buffer(&cl, info.w_size, w),
                      .y.mem = make_buffer(&cl, info.y_size, NULL),
                      .packed.mem = make_buffer(&cl, info.packed_size, NULL),
                      .workspace.mem = make_buffer(&cl, info.workspace_size, NULL)};

    kiln_op *op;
    check(kiln_conv_create(k, &problem, &choice, &op));
    if (info.packed_size > 0)
        check(kiln_op_pack(op, cl.queue, &b, 0, NULL, NULL));
    check(kiln_op_enqueue(op, cl.queue, &b, 0, NULL, NULL));
    check_cl(
        clEnqueueReadBuffer(cl.queue, b.y.mem, CL_TRUE, 0, (size_t)info.y_size, y, 0, NULL, NULL),
        "clEnqueueReadBuffer");

    float *expected = reference(&info.problem, x, w, NULL, NULL);
    check_result("one convolution", y, expected, info.y_size / 4);

    kiln_op_release(op);
    kiln_close(k);
    cl_mem all[] = {b.x.mem, b.w.mem, b.y.mem, b.packed.mem, b.workspace.mem};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        release_buffer(all[i]);
    float *arrays[] = {x, w, y, expected};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    close_opencl(&cl);
    return 0;
}
