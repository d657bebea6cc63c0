/* Times reformats against a plain copy of as many bytes on the same device, in turns.
 *
 *     ./dev bench reformat [ROUNDS]      (31)
 *
 * Prints medians in ms, and the copy's time over the reformat's: at 1 the reformat is as fast as a
 * copy.
 */
#include "driver/base/session.h"
#include "tests/bench/base/stats.h"

#include <stdlib.h>

enum { ROUNDS = 31, MOST_ROUNDS = 1001 };

static void fail(const char *what)
{
    fprintf(stderr, "bench_reformat: %s\n", what);
    exit(4);
}

static cl_mem zeros(const session *s, size_t bytes)
{
    const cl_uint zero = 0;
    cl_int code;
    cl_mem mem = clCreateBuffer(s->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    if (code != CL_SUCCESS)
        fail("no memory on the device");
    clEnqueueFillBuffer(s->queue, mem, &zero, sizeof zero, 0, bytes, 0, NULL, NULL);
    return mem;
}

static void time_one(const session *s, const kiln_reformat *r, int rounds)
{
    static double copy_ms[MOST_ROUNDS], own_ms[MOST_ROUNDS];
    kiln_reformat checked = *r;
    kiln_storage from, to;
    char why[KILN_ERROR_TEXT];
    kiln_op *op;
    kiln_stage_info stage;
    if (kiln_reformat_check(&checked, &from, &to, why))
        fail(why);
    if (kiln_reformat_create(s->kiln, r, &op) || kiln_op_stage(op, 0, &stage))
        fail(kiln_last_error());
    size_t size = kiln_type_size(checked.to_type);
    size_t bytes = (size_t)(from.cells > to.cells ? from.cells : to.cells) * size;
    cl_mem x = zeros(s, bytes), y = zeros(s, bytes), z = zeros(s, bytes);
    const kiln_buffers b = {.x = {x, 0}, .y = {y, 0}};
    for (int i = -1; i < rounds; i++) { /* the first launch compiles on some devices */
        double start = stats_now();
        clEnqueueCopyBuffer(s->queue, x, z, 0, 0, bytes, 0, NULL, NULL);
        clFinish(s->queue);
        double middle = stats_now();
        if (kiln_op_enqueue(op, s->queue, &b, 0, NULL, NULL))
            fail(kiln_last_error());
        clFinish(s->queue);
        double end = stats_now();
        copy_ms[i < 0 ? 0 : i] = (middle - start) * 1e3;
        own_ms[i < 0 ? 0 : i] = (end - middle) * 1e3;
    }
    double copy = stats_median(copy_ms, rounds), own = stats_median(own_ms, rounds);
    printf("%-9s -> %-9s %3lldx%lldx%lldx%-4lld %-8s %6.1f MB  copy %7.3f ms  reformat %7.3f ms  "
           "ratio %.2f\n",
           r->from, r->to, (long long)r->size[0], (long long)r->size[1], (long long)r->size[2],
           (long long)r->size[3], stage.kernel, (double)bytes * 1e-6, copy, own, copy / own);
    clReleaseMemObject(x);
    clReleaseMemObject(y);
    clReleaseMemObject(z);
    kiln_op_release(op);
}

int main(int argc, char **argv)
{
    static const char *const layouts[] = {"NHWC", "NC/8HW8", "NC/16HW16", "NC/32HW32"};
    static const int64_t sizes[][4] = {{16, 64, 56, 56},
                                       {16, 256, 28, 28},
                                       {1, 64, 224, 224},
                                       {32, 128, 56, 56},
                                       {16, 35, 57, 57}};
    int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
    session s;
    char why[KILN_ERROR_TEXT];
    if (rounds < 1 || rounds > MOST_ROUNDS)
        fail("the number of rounds is not in 1 .. 1001");
    if (session_open(&s, NULL, why))
        fail(why);
    printf("%s, medians of %d\n", s.name, rounds);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof layouts / sizeof *layouts; j++)
            for (int back = 0; back < 2; back++) {
                kiln_reformat r = {.dims = "NCHW"};
                snprintf(r.from, sizeof r.from, "%s", back ? layouts[j] : "NCHW");
                snprintf(r.to, sizeof r.to, "%s", back ? "NCHW" : layouts[j]);
                for (int d = 0; d < 4; d++)
                    r.size[d] = sizes[i][d];
                time_one(&s, &r, rounds);
            }
    session_close(&s);
    return 0;
}
