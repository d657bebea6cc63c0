/* The time that OpenCL takes to start a kernel on all cores, which every layer pays.
 *
 * A kernel that touches no memory is cut into parts of equal time. Its time on all cores, less an
 * even share of its time on one core, is the cost of the launch. The table has that cost for
 * kernels in a row in a queue and for one at a time with a wait after each; without and with
 * threads that kiln keeps awake; with a caller that does not sleep either; and for OpenMP, which
 * oneDNN uses. A second table has the cause: the time to wake a thread that sleeps.
 */
#include "runtime/kiln/kiln_internal.h"
#include "runtime/pocl/pocl_internal.h"
#include "tests/bench/base/stats.h"
#include "tests/bench/machine/machine.h"
#include "tests/bench/machine/wake.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 64, ROUNDS = 41, IN_A_ROW = 50, STEPS_A_US = 925 /* about */ };

typedef struct launch {
    session session;
    machine machine;
    cl_kernel kernel;
    cl_mem result;
    cl_int steps; /* in one part */
    unsigned sum;
} launch;

/* A chain that no compiler shortens: each step needs the one before. */
#define CHAIN                                                                                      \
    "kernel void chain(global uint *result, int steps)\n"                                          \
    "{\n"                                                                                          \
    "    uint x = get_group_id(0);\n"                                                              \
    "    for (int i = 0; i < steps; i++)\n"                                                        \
    "        x = x * 1664525u + 1013904223u;\n"                                                    \
    "    result[get_group_id(0)] = x;\n"                                                           \
    "}\n"

static bool make(launch *l)
{
    const char *text = CHAIN;
    cl_int code;
    cl_program program = clCreateProgramWithSource(l->session.context, 1, &text, NULL, &code);
    if (code || clBuildProgram(program, 1, &l->session.device, "", NULL, NULL))
        return false;
    l->kernel = clCreateKernel(program, "chain", &code);
    clReleaseProgram(program);
    l->result =
        clCreateBuffer(l->session.context, CL_MEM_READ_WRITE, PARTS * sizeof(cl_uint), NULL, NULL);
    return !code && clSetKernelArg(l->kernel, 0, sizeof l->result, &l->result) == CL_SUCCESS;
}

typedef struct way {
    bool one_by_one; /* wait for each kernel */
    bool awake;      /* kiln keeps the threads awake */
    bool looks;      /* wait with kiln_finish() */
} way;

static void wait_for_all(const session *s, const way *way)
{
    if (way->looks)
        kiln_finish(s->kiln, s->queue);
    else
        clFinish(s->queue);
}

/* Each returns the microseconds that `parts` parts take. */
static double by_opencl(launch *l, int parts, const way *way)
{
    const size_t global = (size_t)parts, local = 1;
    clSetKernelArg(l->kernel, 1, sizeof l->steps, &l->steps);
    double start = stats_now();
    for (int i = 0; i < IN_A_ROW; i++) {
        cl_event done = NULL;
        clEnqueueNDRangeKernel(l->session.queue, l->kernel, 1, NULL, &global, &local, 0, NULL,
                               &done);
        if (done && way->awake && l->session.kiln->pocl)
            kiln_keepalive_note(l->session.kiln->pocl->keepalive, done, 0);
        if (done)
            clReleaseEvent(done);
        if (way->one_by_one)
            wait_for_all(&l->session, way);
    }
    wait_for_all(&l->session, way);
    return (stats_now() - start) / IN_A_ROW * 1e6;
}

static double by_openmp(launch *l, int parts, const way *none)
{
    (void)none;
    double start = stats_now();
    for (int n = 0; n < IN_A_ROW; n++) {
        unsigned sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(static) if (parts > 1)
        for (int part = 0; part < parts; part++) {
            unsigned x = (unsigned)part;
            for (int i = 0; i < l->steps; i++)
                x = x * 1664525u + 1013904223u;
            sum += x;
        }
        l->sum += sum;
    }
    return (stats_now() - start) / IN_A_ROW * 1e6;
}

static double median_of(launch *l, double (*by)(launch *, int, const way *), const way *way,
                        int parts)
{
    static double us[ROUNDS];
    by(l, parts, way);
    for (int r = 0; r < ROUNDS; r++)
        us[r] = by(l, parts, way);
    return stats_median(us, ROUNDS);
}

/* Prints a row: the time of the parts less an even share of the time that one core takes for them.
 */
static void row(launch *l, int share_us)
{
    static const way ways[] = {{false, false, false},
                               {false, true, false},
                               {true, false, false},
                               {true, true, false},
                               {true, true, true}};
    l->steps = share_us * l->machine.threads * STEPS_A_US;
    double alone = median_of(l, by_openmp, NULL, 1) / l->machine.threads;
    l->steps /= PARTS;
    printf("%11.1f", alone);
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
        printf("  %10.1f", median_of(l, by_opencl, &ways[w], PARTS) - alone);
    printf("  %10.1f\n", median_of(l, by_openmp, NULL, PARTS) - alone);
    fflush(stdout);
}

static void print_wake(const char *state, int gap_us, bool spins)
{
    const wake w = wake_measure(gap_us, spins);
    printf("%-9sfor %4d  %13.1f  %13.1f\n", state, gap_us, w.call, w.until_runs);
}

static void print_wakes(void)
{
    static const int gaps_us[] = {2, 10, 50, 200};
    printf("\nmicroseconds to wake a thread on another core\n"
           "it has waited     for the waker  until it runs\n");
    for (size_t i = 0; i < sizeof gaps_us / sizeof *gaps_us; i++)
        print_wake("asleep", gaps_us[i], false);
    print_wake("spinning", gaps_us[0], true);
}

int main(int argc, char **argv)
{
    static launch l;
    static const int shares_us[] = {0, 10, 20, 50, 100, 200, 500};
    if (argc > 1) {
        bool help = strcmp(argv[1], "--help") == 0;
        fprintf(help ? stdout : stderr, "usage: ./dev bench launch; it has no options\n");
        return help ? 0 : 2;
    }
    if (!machine_open(&l.machine, &l.session, "cpu"))
        return 1;
    if (!make(&l)) {
        fprintf(stderr, "bench: OpenCL refused the kernel\n");
        return 1;
    }
    machine_print(&l.machine, stdout);
    printf("microseconds; the share is what one core takes for all of it, divided by %d\n"
           "   a core's  above it: OpenCL,        kept     OpenCL,        kept  with kiln_      "
           "OpenMP\n"
           "      share    in a row       awake  one by one       awake    finish()    (oneDNN)\n",
           l.machine.threads);
    for (size_t i = 0; i < sizeof shares_us / sizeof *shares_us; i++)
        row(&l, shares_us[i]);
    if (l.machine.threads > 1)
        print_wakes();
    clReleaseKernel(l.kernel);
    clReleaseMemObject(l.result);
    session_close(&l.session);
    return 0;
}
