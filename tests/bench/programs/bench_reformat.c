/* Times reformats against a plain copy of as many bytes on the same device, in turns.
 *
 *     ./dev bench reformat [ROUNDS [TIMES]]      (31, 1; TIMES as many images)
 *
 * Prints medians in ms, and the copy's time over the reformat's: at 1 the reformat is as fast as a
 * copy.
 */
#include "driver/base/session.h"
#include "tests/bench/base/stats.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 31, MOST_ROUNDS = 1001, MOST_RUNS = 50, MOST_TIMES = 64 };

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

/* What one turn of a copy or a reformat takes: a row of runs, of which the last one is waited for.
 */
static double run_ms(const session *s, kiln_op *op, const kiln_buffers *b, size_t bytes, int runs)
{
    const double start = stats_now();
    for (int i = 0; i < runs; i++) {
        if (!op)
            clEnqueueCopyBuffer(s->queue, b->x.mem, b->y.mem, 0, 0, bytes, 0, NULL, NULL);
        else if (kiln_op_enqueue(op, s->queue, b, 0, NULL, NULL))
            fail(kiln_last_error());
    }
    clFinish(s->queue);
    return (stats_now() - start) * 1e3 / runs;
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
    const kiln_buffers b = {.x = {zeros(s, bytes), 0}, .y = {zeros(s, bytes), 0}};
    /* The first launches compile on some devices. */
    run_ms(s, op, &b, bytes, 1);
    run_ms(s, NULL, &b, bytes, 1);
    const double once = run_ms(s, NULL, &b, bytes, 1);
    const int runs = once < 1.0 / MOST_RUNS ? MOST_RUNS : once < 1 ? (int)(1 / once) : 1;
    for (int i = 0; i < rounds; i++) {
        copy_ms[i] = run_ms(s, NULL, &b, bytes, runs);
        own_ms[i] = run_ms(s, op, &b, bytes, runs);
    }
    double copy = stats_median(copy_ms, rounds), own = stats_median(own_ms, rounds);
    printf("%-9s -> %-9s %-4s %3lldx%lldx%lldx%-4lld %-8s %6.1f MB  copy %8.4f ms  reformat %8.4f "
           "ms  ratio %.2f\n",
           r->from, r->to, kiln_type_name(checked.to_type), (long long)r->size[0],
           (long long)r->size[1], (long long)r->size[2], (long long)r->size[3], stage.kernel,
           (double)bytes * 1e-6, copy, own, copy / own);
    fflush(stdout);
    clReleaseMemObject(b.x.mem);
    clReleaseMemObject(b.y.mem);
    kiln_op_release(op);
}

int main(int argc, char **argv)
{
    static const char *const pairs[][2] = {
        {"NCHW", "NHWC"},      {"NCHW", "NHWC8"},       {"NCHW", "NC/4HW4"}, {"NCHW", "NC/8HW8"},
        {"NCHW", "NC/16HW16"}, {"NCHW", "NC/32HW32"},   {"NHWC", "NC/4HW4"}, {"NHWC", "NC/8HW8"},
        {"NHWC", "NC/32HW32"}, {"NC/8HW8", "NC/32HW32"}};
    static const kiln_type types[] = {KILN_F32, KILN_F16, KILN_I8};
    static const int64_t sizes[][4] = {{16, 64, 56, 56},
                                       {16, 256, 28, 28},
                                       {1, 64, 224, 224},
                                       {32, 128, 56, 56},
                                       {16, 35, 57, 57}};
    enum { PAIRS = sizeof pairs / sizeof *pairs, SIZES = sizeof sizes / sizeof *sizes };
    int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS, times = argc > 2 ? atoi(argv[2]) : 1;
    session s;
    char why[KILN_ERROR_TEXT];
    if (rounds < 1 || rounds > MOST_ROUNDS)
        fail("the number of rounds is not in 1 .. 1001");
    if (times < 1 || times > MOST_TIMES)
        fail("images are to be at 1 .. 64 times the number of the table");
    if (session_open(&s, NULL, why))
        fail(why);
    printf("%s, medians of %d\n", s.name, rounds);
    for (int i = 0; i < SIZES * 3 * PAIRS * 2; i++) {
        const char *const *pair = pairs[i / 2 % PAIRS];
        const int64_t *size = sizes[i / (3 * PAIRS * 2)];
        kiln_reformat r = {.dims = "NCHW", .from_type = types[i / (PAIRS * 2) % 3]};
        snprintf(r.from, sizeof r.from, "%s", pair[i % 2]);
        snprintf(r.to, sizeof r.to, "%s", pair[!(i % 2)]);
        memcpy(r.size, size, sizeof sizes[0]);
        r.size[0] *= times;
        time_one(&s, &r, rounds);
    }
    session_close(&s);
    return 0;
}
