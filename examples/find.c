/* All solutions of a problem: listed as kiln ranks them, measured, and the fastest that needs no
 * workspace run and checked.
 *
 *     cc find.c $(pkg-config --cflags --libs kiln) -lm && ./a.out
 */
#include "common.h"

#include <kiln_find.h>

enum { ROOM = 64 };

static void print(const char *title, const kiln_solution *list, size_t count)
{
    static const char *const accuracy[] = {"exact", "sums", "amplified"};
    printf("%s: %zu solutions\n", title, count);
    for (size_t i = 0; i < count && i < ROOM; i++)
        printf("%10.5f ms %s  %-20s %8lld bytes of workspace, %s\n", list[i].ms,
               list[i].measured ? "measured " : "predicted", list[i].solver,
               (long long)list[i].workspace_size, accuracy[list[i].accuracy]);
}

int main(void)
{
    opencl cl = open_opencl();
    cl_int code;
    cl_command_queue timed =
        clCreateCommandQueue(cl.context, cl.device, CL_QUEUE_PROFILING_ENABLE, &code);
    check_cl(code, "clCreateCommandQueue");
    kiln *k;
    check(kiln_open(&k, cl.context, cl.device, NULL));

    kiln_problem problem = {.batch = 1,
                            .in_channels = 32,
                            .out_channels = 32,
                            .input = {14, 14},
                            .filter = {3, 3},
                            .pad_begin = {1, 1},
                            .pad_end = {1, 1}};
    static kiln_solution list[ROOM];
    size_t count;
    check(kiln_solutions(k, &problem, list, ROOM, &count));
    print("ranked", list, count);
    problem = list[0].problem; /* complete */

    const int64_t bytes = kiln_problem_bytes(&problem, 'y', NULL);
    float *x = make_data(kiln_problem_count(&problem, 'x'), 1, 1);
    float *w = make_data(kiln_problem_count(&problem, 'w'), 1, 2), *y = malloc((size_t)bytes);
    kiln_buffers b = {.x.mem = make_buffer(&cl, kiln_problem_bytes(&problem, 'x', NULL), x),
                      .w.mem = make_buffer(&cl, kiln_problem_bytes(&problem, 'w', NULL), w),
                      .y.mem = make_buffer(&cl, bytes, NULL)};
    check(kiln_find(k, &problem, timed, &b, NULL, list, ROOM, &count));
    print("measured", list, count);

    /* The list has one that needs none: "naive". */
    size_t best = 0;
    while (best + 1 < count && list[best].workspace_size > 0)
        best++;
    kiln_op *op;
    check(kiln_solution_create(k, &list[best], &op));
    b.workspace.mem = make_buffer(&cl, list[best].workspace_size, NULL);
    check(kiln_op_enqueue(op, cl.queue, &b, 0, NULL, NULL));
    check_cl(clEnqueueReadBuffer(cl.queue, b.y.mem, CL_TRUE, 0, (size_t)bytes, y, 0, NULL, NULL),
             "clEnqueueReadBuffer");
    float *expected = reference(&problem, x, w, NULL, NULL);
    check_result(list[best].solver, y, expected, bytes / 4);

    kiln_op_release(op);
    kiln_close(k);
    cl_mem all[] = {b.x.mem, b.w.mem, b.y.mem, b.workspace.mem};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        release_buffer(all[i]);
    float *arrays[] = {x, w, y, expected};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    clReleaseCommandQueue(timed);
    close_opencl(&cl);
    return 0;
}
