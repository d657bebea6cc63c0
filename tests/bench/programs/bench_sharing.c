/* What it brings that kiln's threads share a launch of one work-group, layer by layer.
 *
 * Each layer is timed in three ways: launched as work-groups, which PoCL's scheduler deals out;
 * shared; and shared in command batches, which is what a program gets that lets kiln place threads
 * and promises that queues are flushed. Times are medians of an operation in a row of operations,
 * of one that is waited for, and of one that is waited for after a millisecond of sleep. The ways
 * take turns, and their results are compared byte by byte.
 */
#include "runtime/kiln/kiln_internal.h"
#include "tests/bench/base/stats.h"
#include "tests/bench/machine/machine.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WAYS = 3, MODES = 3, ROUNDS = 9, ROW = 100, ONES = 40, GAPS = 10 };

static const char *const problems[] = {
    "fwd-f32-n1-c256-k64-i56x56-f1x1-l:NCHW16c.OIHW.NCHW16c",
    "fwd-f32-n1-c512-k128-i28x28-f1x1-l:NCHW16c.OIHW.NCHW16c",
    "fwd-f32-n1-c128-k128-i28x28-f3x3-p1x1-l:NCHW16c.OIHW.NCHW16c",
    "fwd-f32-n1-c1024-k256-i14x14-f1x1-l:NCHW16c.OIHW.NCHW16c",
    "fwd-f32-n1-c256-k256-i14x14-f3x3-p1x1-l:NCHW16c.OIHW.NCHW16c",
    "fwd-f32-n1-c32-k192-i28x28-f1x1-l:NCHW16c.OIHW.NCHW16c",
    "fwd-f32-n1-c192-k192-i28x28-f3x3-p1x1-g192-l:NCHW16c.OIHW.NCHW16c",
    "fwd-f32-n1-c64-k384-i14x14-f1x1-l:NCHW16c.OIHW.NCHW16c",
    "fwd-f32-n1-c384-k384-i14x14-f3x3-p1x1-g384-l:NCHW16c.OIHW.NCHW16c",
    "fwd-f32-n1-c512-k512-i7x7-f3x3-p1x1-l:NCHW16c.OIHW.NCHW16c",
};
enum { LAYERS = sizeof problems / sizeof *problems };

typedef struct layer {
    kiln_op *op[WAYS];
    kiln_buffers buffers[WAYS];
    size_t bytes;
} layer;

static session s; /* its kiln has command batches */
static kiln *shared, *spread;
static layer layers[LAYERS];

static kiln *kiln_of(int way)
{
    return way == 0 ? spread : way == 1 ? shared : s.kiln;
}

static cl_mem buffer(size_t bytes)
{
    cl_mem m = clCreateBuffer(s.context, CL_MEM_READ_WRITE, bytes, NULL, NULL);
    float *f = clEnqueueMapBuffer(s.queue, m, CL_TRUE, CL_MAP_WRITE, 0, bytes, 0, NULL, NULL, NULL);
    for (size_t i = 0; i < bytes / 4; i++)
        f[i] = (float)(i * 37 % 101) / 50 - 1;
    clEnqueueUnmapMemObject(s.queue, m, f, 0, NULL, NULL);
    clFinish(s.queue);
    return m;
}

static void enqueue(layer *l, int way)
{
    if (kiln_op_enqueue(l->op[way], s.queue, &l->buffers[way], 0, NULL, NULL))
        fprintf(stderr, "%s\n", kiln_last_error()), exit(1);
}

static void make(layer *l, const char *text)
{
    char why[KILN_ERROR_TEXT];
    kiln_problem p;
    kiln_op_info info;
    if (kiln_problem_parse(&p, text, why))
        fprintf(stderr, "%s\n", why), exit(1);
    cl_mem x = buffer((size_t)kiln_problem_bytes(&p, 'x', NULL));
    cl_mem w = buffer((size_t)kiln_problem_bytes(&p, 'w', NULL));
    l->bytes = (size_t)kiln_problem_bytes(&p, 'y', NULL);
    for (int way = 0; way < WAYS; way++) {
        const kiln_choice choice = {.packed_weights = 1};
        if (kiln_conv_create(kiln_of(way), &p, &choice, &l->op[way]))
            fprintf(stderr, "%s\n", kiln_last_error()), exit(1);
        kiln_op_describe(l->op[way], &info);
        l->buffers[way] = (kiln_buffers){.x = {x, 0}, .w = {w, 0}, .y = {buffer(l->bytes), 0}};
        if (info.workspace_size)
            l->buffers[way].workspace.mem = buffer((size_t)info.workspace_size);
        if (info.packed_size) {
            l->buffers[way].packed.mem = buffer((size_t)info.packed_size);
            kiln_op_pack(l->op[way], s.queue, &l->buffers[way], 0, NULL, NULL);
        }
        for (int i = 0; i < 3; i++) {
            enqueue(l, way);
            clFinish(s.queue);
        }
    }
}

static void finish(int way)
{
    kiln_finish(kiln_of(way), s.queue);
}

/* Microseconds of an operation. */
static double row(layer *l, int n, int way)
{
    const double start = stats_now();
    for (int i = 0; i < ROW; i++)
        enqueue(l + i % n, way);
    finish(way);
    return (stats_now() - start) / ROW * 1e6;
}

static double one_by_one(layer *l, int n, int way)
{
    const double start = stats_now();
    for (int i = 0; i < ONES; i++) {
        enqueue(l + i % n, way);
        finish(way);
    }
    return (stats_now() - start) / ONES * 1e6;
}

static double with_gaps(layer *l, int n, int way)
{
    double us[GAPS];
    for (int i = 0; i < GAPS; i++) {
        usleep(1000);
        const double start = stats_now();
        enqueue(l + i % n, way);
        finish(way);
        us[i] = (stats_now() - start) * 1e6;
    }
    return stats_median(us, GAPS);
}

static int differing(layer *l)
{
    int count = 0;
    unsigned char *y[WAYS];
    for (int way = 0; way < WAYS; way++) {
        y[way] = malloc(l->bytes);
        clEnqueueReadBuffer(s.queue, l->buffers[way].y.mem, CL_TRUE, 0, l->bytes, y[way], 0, NULL,
                            NULL);
        count += memcmp(y[0], y[way], l->bytes) != 0;
    }
    for (int way = 0; way < WAYS; way++)
        free(y[way]);
    return count;
}

static void measure(layer *l, int n, const char *name)
{
    static double (*const by[MODES])(layer *, int, int) = {row, one_by_one, with_gaps};
    static double us[MODES][WAYS][ROUNDS];
    for (int r = -1; r < ROUNDS; r++)
        for (int mode = 0; mode < MODES; mode++)
            for (int way = 0; way < WAYS; way++)
                us[mode][way][r < 0 ? 0 : r] = by[mode](l, n, way);
    printf("%-44.44s", name);
    for (int mode = 0; mode < MODES; mode++) {
        for (int way = 0; way < WAYS; way++)
            printf(" %6.1f", stats_median(us[mode][way], ROUNDS));
        printf(" |");
    }
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += differing(l + i);
    printf("%s\n", wrong ? " DIFFER" : "");
    fflush(stdout);
}

/* Opens a kiln without command batches. */
static kiln *open_plain(void)
{
    const kiln_settings settings = {.buffers_stay = 1, .place_threads = 1};
    kiln *k = NULL;
    if (kiln_open(&k, s.context, s.device, &settings))
        fprintf(stderr, "%s\n", kiln_last_error()), exit(1);
    return k;
}

/* Has the device asked whether threads can share work, then denies it. */
static void deny_sharing(kiln *k)
{
    char why[KILN_ERROR_TEXT];
    kiln_problem p;
    kiln_op *op;
    if (kiln_problem_parse(&p, problems[0], why) || kiln_conv_create(k, &p, NULL, &op))
        fprintf(stderr, "%s\n", kiln_last_error()), exit(1);
    kiln_op_release(op);
    k->facts.shares_work = false;
}

/* Leaves all programs in PoCL's cache with `compile`. */
int main(int argc, char **argv)
{
    static machine m;
    if (!machine_open(&m, &s, "cpu") || !machine_forgo_profiling(&s))
        return 1;
    shared = open_plain();
    spread = open_plain();
    deny_sharing(spread);
    printf("%d threads, %s; us: work-groups, shared, shared in batches\n%-44s %21s| %21s| %21s|\n",
           m.threads, m.opencl, "layer", "in a row", "one by one", "after 1 ms");
    for (int i = 0; i < LAYERS; i++)
        make(&layers[i], problems[i]);
    if (argc > 1 && strcmp(argv[1], "compile") == 0)
        return 0;
    for (int i = 0; i < LAYERS; i++) {
        kiln_op_info info;
        char name[100];
        kiln_op_describe(layers[i].op[1], &info);
        snprintf(name, sizeof name, "%.*s %s", (int)(strstr(problems[i], "-l:") - problems[i] - 8),
                 problems[i] + 8, info.solver);
        measure(&layers[i], 1, name);
    }
    measure(layers, LAYERS, "all in turn");
    return 0;
}
