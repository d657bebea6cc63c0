/* One start of a program that uses libkiln: a network of 22 convolutions like MobileNet-v2's
 * beginning, or one 1x1 convolution, from opening the device to the first result and to the end.
 *
 * Prints the time of each step, by the clock and of all CPUs: a compiler that runs in another
 * process, as PoCL's linker does, counts as well. startup.sh puts the caches into their states and
 * calls this program.
 */
#include "driver/base/session.h"
#include "runtime/base/clock.h"
#include "tests/bench/base/options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST_LAYERS = 32, RUNS = 200 };

/* One convolution of the network; all have a bias. */
typedef struct row {
    int k, filter, stride, depthwise, clipped,
        from; /* from: layer of the residual, from 1; 0: none */
} row;

static const row mobile[] = {
    {32, 3, 2, 0, 1, 0},  {32, 3, 1, 1, 1, 0},  {16, 1, 1, 0, 0, 0},  {96, 1, 1, 0, 1, 0},
    {96, 3, 2, 1, 1, 0},  {24, 1, 1, 0, 0, 0},  {144, 1, 1, 0, 1, 0}, {144, 3, 1, 1, 1, 0},
    {24, 1, 1, 0, 0, 6},  {144, 1, 1, 0, 1, 0}, {144, 3, 2, 1, 1, 0}, {32, 1, 1, 0, 0, 0},
    {192, 1, 1, 0, 1, 0}, {192, 3, 1, 1, 1, 0}, {32, 1, 1, 0, 0, 12}, {192, 1, 1, 0, 1, 0},
    {192, 3, 2, 1, 1, 0}, {64, 1, 1, 0, 0, 0},  {384, 1, 1, 0, 1, 0}, {384, 3, 1, 1, 1, 0},
    {64, 1, 1, 0, 0, 18}, {320, 1, 1, 0, 1, 0},
};

static const row single[] = {{64, 1, 1, 0, 0, 0}};

typedef struct layer {
    kiln_op *op;
    kiln_op_info info;
    kiln_buffers b;
} layer;

typedef struct start {
    session s;
    const row *rows;
    int count, in_channels, size;
    layer at[MOST_LAYERS];
    cl_mem input;
    kiln_helpers *helpers;
} start;

/* ---- time ---- */

typedef struct moment {
    double wall, cpu;
} moment;

static moment now(void)
{
    moment m = {.wall = (double)kiln_clock_ns() * 1e-9};
    const int who[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
    for (int i = 0; i < 2; i++) {
        struct rusage u;
        getrusage(who[i], &u);
        m.cpu += (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
                 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
    }
    return m;
}

static moment between(moment since, moment until)
{
    return (moment){until.wall - since.wall, until.cpu - since.cpu};
}

static moment sum_of(moment a, moment b)
{
    return (moment){a.wall + b.wall, a.cpu + b.cpu};
}

static void tell(const char *step, moment since, moment until)
{
    printf("%-8s %9.4f %9.4f\n", step, until.wall - since.wall, until.cpu - since.cpu);
    fflush(stdout);
}

/* ---- the network ---- */

static kiln_problem problem_of(const start *n, int i)
{
    const row *r = &n->rows[i];
    const kiln_problem *before = i ? &n->at[i - 1].info.problem : NULL;
    const int64_t c = before ? before->out_channels : n->in_channels;
    kiln_problem p = {.batch = 1,
                      .in_channels = c,
                      .out_channels = r->k,
                      .groups = r->depthwise ? c : 1,
                      .epilogue = {.bias = 1, .beta = r->from ? 1 : 0},
                      .y_layout = "any"};
    for (int a = 0; a < 2; a++) {
        p.input[a] = before ? kiln_problem_output(before, a) : n->size;
        p.filter[a] = r->filter;
        p.stride[a] = r->stride;
        p.pad_begin[a] = p.pad_end[a] = r->filter / 2;
    }
    if (r->clipped) {
        p.epilogue.activation = KILN_CLIPPED_RELU;
        p.epilogue.param[0] = 6;
    }
    if (before)
        memcpy(p.x_layout, before->y_layout, sizeof p.x_layout);
    if (r->from)
        memcpy(p.y_layout, n->at[r->from - 1].info.problem.y_layout, sizeof p.y_layout);
    return p;
}

/* Chooses everything, which compiles nothing. */
static bool plan(start *n)
{
    for (int i = 0; i < n->count; i++) {
        const kiln_problem p = problem_of(n, i);
        if (kiln_conv_plan(n->s.kiln, &p, NULL, &n->at[i].info))
            return false;
    }
    return true;
}

/* Has processes compile from the end of the network while this one begins at its beginning. */
static bool begin(start *n)
{
    kiln_problem problem[MOST_LAYERS];
    for (int i = 0; i < n->count; i++)
        problem[i] = n->at[i].info.problem;
    return kiln_prepare_begin(n->s.kiln, problem, (size_t)n->count, 0, &n->helpers) == KILN_OK;
}

/* Creates the operations as they are planned, if they are. */
static bool create(start *n, bool planned)
{
    for (int i = 0; i < n->count; i++) {
        const kiln_problem p = problem_of(n, i);
        const kiln_op_info *info = &n->at[i].info;
        const kiln_choice choice = {.solver = info->solver,
                                    .config = *info->config ? info->config : NULL};
        if (kiln_conv_create(n->s.kiln, &p, planned ? &choice : NULL, &n->at[i].op))
            return false;
        kiln_op_describe(n->at[i].op, &n->at[i].info);
    }
    return true;
}

/* Makes a buffer of small values that depend on `seed`. */
static cl_mem filled(const start *n, int64_t bytes, unsigned seed, double scale)
{
    float *data = malloc((size_t)bytes);
    cl_int code = CL_SUCCESS;
    for (int64_t i = 0; data && i < bytes / 4; i++) {
        seed = seed * 1664525U + 1013904223U;
        data[i] = (float)(scale * ((double)(seed >> 8) / 8388608.0 - 1));
    }
    cl_mem mem = data ? clCreateBuffer(n->s.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                       (size_t)bytes, data, &code)
                      : NULL;
    free(data);
    return mem;
}

static cl_mem space(const start *n, int64_t bytes)
{
    cl_int code;
    return bytes ? clCreateBuffer(n->s.context, CL_MEM_READ_WRITE, (size_t)bytes, NULL, &code)
                 : NULL;
}

static void make_buffers(start *n)
{
    n->input = filled(n, n->at[0].info.x_size, 1, 1);
    for (int i = 0; i < n->count; i++) {
        layer *l = &n->at[i];
        const kiln_problem *p = &l->info.problem;
        const int64_t terms = kiln_problem_count(p, 'w') / p->out_channels;
        l->b.x.mem = i ? n->at[i - 1].b.y.mem : n->input;
        l->b.w.mem = filled(n, l->info.w_size, 2U + (unsigned)i, sqrt(3 / (double)terms));
        l->b.y.mem = space(n, l->info.y_size);
        l->b.bias.mem = filled(n, l->info.bias_size, 100U + (unsigned)i, 0.1);
        l->b.workspace.mem = space(n, l->info.workspace_size);
        if (n->rows[i].from)
            l->b.residual = n->at[n->rows[i].from - 1].b.y;
    }
}

static bool pack(start *n)
{
    for (int i = 0; i < n->count; i++) {
        layer *l = &n->at[i];
        if (l->info.packed_size == 0 || l->info.packed_width)
            continue;
        l->b.packed.mem = space(n, l->info.packed_size);
        if (kiln_op_pack(l->op, n->s.queue, &l->b, 0, NULL, NULL))
            return false;
    }
    return clFinish(n->s.queue) == CL_SUCCESS;
}

static bool run(start *n)
{
    for (int i = 0; i < n->count; i++)
        if (kiln_op_enqueue(n->at[i].op, n->s.queue, &n->at[i].b, 0, NULL, NULL))
            return false;
    return kiln_finish(n->s.kiln, n->s.queue) == KILN_OK;
}

/* Sums up the result: an equal sum on every way to start says that no kernel was another one's. */
static double sum(const start *n)
{
    const layer *l = &n->at[n->count - 1];
    const size_t bytes = (size_t)l->info.y_size;
    float *y = malloc(bytes);
    double total = NAN;
    if (y && clEnqueueReadBuffer(n->s.queue, l->b.y.mem, CL_TRUE, 0, bytes, y, 0, NULL, NULL) ==
                 CL_SUCCESS) {
        total = 0;
        for (size_t i = 0; i < bytes / 4; i++)
            total += fabs((double)y[i]);
    }
    free(y);
    return total;
}

/* ---- the steps ---- */

static bool steady(start *n)
{
    const moment since = now();
    bool fine = true;
    for (int i = 0; i < RUNS && fine; i++)
        fine = run(n);
    printf("%-8s %9.4f ms\n", "steady", 1e3 * (now().wall - since.wall) / RUNS);
    return fine;
}

static void release(start *n)
{
    for (int i = 0; i < n->count; i++)
        kiln_op_release(n->at[i].op);
}

typedef struct options {
    int dies; /* milliseconds after the first result; negative: it ends in order */
    bool quick, alone, verbose, names;
} options;

static void print_layers(const start *n, bool solvers)
{
    for (int i = 0; i < n->count; i++) {
        char text[KILN_KEY_TEXT];
        kiln_problem_text(&n->at[i].info.problem, text, sizeof text);
        if (solvers)
            printf("%-20s %-24s ", n->at[i].info.solver, n->at[i].info.config);
        printf("%s\n", text);
    }
}

/* Prints the problems with the layouts that were chosen. */
static bool names(start *n)
{
    char why[KILN_ERROR_TEXT];
    bool fine = session_open(&n->s, NULL, why) == KILN_OK && create(n, false);
    if (fine)
        print_layers(n, false);
    release(n);
    session_close(&n->s);
    return fine;
}

/* Opens another kiln, that of the session has the command's settings. */
static bool open_quick(start *n)
{
    const kiln_settings settings = {.buffers_stay = 1, .first_use = KILN_FIRST_QUICK};
    kiln_close(n->s.kiln);
    n->s.kiln = NULL;
    return kiln_open(&n->s.kiln, n->s.context, n->s.device, &settings) == KILN_OK;
}

static bool steps(start *n, const options *o)
{
    moment t[8];
    char why[KILN_ERROR_TEXT];
    t[0] = now();
    if (session_open(&n->s, NULL, why)) {
        fprintf(stderr, "bench: %s\n", why);
        return false;
    }
    if (o->quick && !open_quick(n))
        return false;
    tell("open", t[0], t[1] = now());
    const bool alone = o->alone || o->quick; /* whose own programs are not to be compiled first */
    bool fine = alone || (plan(n) && begin(n));
    fine = fine && create(n, !alone);
    tell("create", t[1], t[2] = now());
    if (!fine)
        return false;
    make_buffers(n);
    t[3] = now();
    fine = o->quick || pack(n);
    tell("pack", t[3], t[4] = now());
    fine = fine && run(n);
    tell("run", t[4], t[5] = now());
    tell("first", t[0], t[5]);
    tell("shape", (moment){0, 0}, sum_of(between(t[1], t[2]), between(t[3], t[5])));
    if (fine && o->quick) {
        printf("sum      %.9g\n", sum(n));
        fine = pack(n) && run(n);
        tell("own", t[0], now());
    }
    if (!fine)
        return false;
    printf("sum      %.9g\n", sum(n));
    kiln_prepare_end(n->helpers);
    if (o->dies >= 0) {
        usleep((unsigned)o->dies * 1000U);
        _exit(0);
    }
    fine = steady(n);
    t[6] = now();
    release(n);
    tell("release", t[6], t[7] = now());
    session_close(&n->s);
    tell("close", t[7], t[6] = now());
    return fine;
}

/* ---- the command ---- */

static void help(void)
{
    printf("usage: bench_startup [OPTIONS] network|1x1\n"
           "\n"
           "Prints each step with its seconds by the clock and of all CPUs. ./dev bench startup\n"
           "puts the caches into their states first.\n"
           "\n"
           "  --dies MS       end without releasing anything, so long after the first result\n"
           "  --quick         settings.first_use is KILN_FIRST_QUICK\n"
           "  --names         print the layers' problems only\n"
           "  --alone         without kiln_prepare_begin(), by which a process compiles as well\n"
           "  --verbose       print each layer's solver\n");
}

static bool read_options(options *o, start *n, int argc, char **argv)
{
    static const struct option known[] = {{"dies", required_argument, NULL, 'd'},
                                          {"quick", no_argument, NULL, 'q'},
                                          {"alone", no_argument, NULL, 'a'},
                                          {"names", no_argument, NULL, 'n'},
                                          {"verbose", no_argument, NULL, 'v'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    int c;
    bool fine = true;
    while (fine && (c = options_next(argc, argv, known, help)) != -1) {
        if (c == 'd')
            fine = options_number("--dies", optarg, 0, 600000, &o->dies);
        else if (c == 'q')
            o->quick = true;
        else if (c == 'a')
            o->alone = true;
        else if (c == 'n')
            o->names = true;
        else if (c == 'v')
            o->verbose = true;
        else
            fine = false;
    }
    if (!fine || optind != argc - 1)
        return false;
    if (strcmp(argv[optind], "network") == 0)
        *n = (start){
            .rows = mobile, .count = sizeof mobile / sizeof *mobile, .in_channels = 3, .size = 224};
    else
        *n = (start){.rows = single, .count = 1, .in_channels = 192, .size = 28};
    return true;
}

int main(int argc, char **argv)
{
    static start n;
    options o = {.dies = -1};
    if (!read_options(&o, &n, argc, argv)) {
        help();
        return 2;
    }
    if (!(o.names ? names(&n) : steps(&n, &o))) {
        fprintf(stderr, "bench: %s\n", kiln_last_error());
        return 1;
    }
    if (o.verbose)
        print_layers(&n, true);
    return 0;
}
