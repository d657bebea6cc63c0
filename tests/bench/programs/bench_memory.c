/* The peak memory of `kiln conv` for a problem, beyond its tensors and workspace.
 *
 * Each problem runs twice, each time in a process of its own: the first run compiles, and the
 * memory of the compiler does not belong to the problem. The memory of a process without any
 * problem (OpenCL's libraries) is measured with `kiln --list-devices` and subtracted.
 */
#include "tests/bench/base/stats.h"
#include "tests/bench/work/work.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const double mib = 1048576;

static char kiln[] = "build/release/kiln";

static const double most_mib = 64; /* the limit on memory beyond tensors and workspace */

/* Runs the command with its output in `text`. Returns its peak memory in bytes; negative: it
 * failed. */
static double peak_of(char *const *command, char *text, size_t size)
{
    int out[2], status = 0;
    struct rusage usage;
    if (pipe(out))
        return -1;
    pid_t child = fork();
    if (child == 0) {
        dup2(out[1], STDOUT_FILENO);
        close(out[0]);
        execv(command[0], command);
        _exit(127);
    }
    close(out[1]);
    size_t used = 0;
    for (ssize_t got = 1; got > 0; used += got > 0 ? (size_t)got : 0)
        got = read(out[0], text + used, size - 1 - used);
    text[used] = 0;
    close(out[0]);
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0)
        return -1;
    return (double)usage.ru_maxrss * 1024;
}

/* Returns the bytes beyond tensors and workspace; NAN: a run failed. */
static double excess_of(const char *name, double base)
{
    char text[8192], *const command[] = {kiln, "conv",   "--problem", (char *)name, "-V",
                                         "0",  "--json", "-i",        "1",          NULL};
    kiln_problem p;
    char why[KILN_ERROR_TEXT];
    if (peak_of(command, text, sizeof text) < 0)
        return NAN;
    double peak = peak_of(command, text, sizeof text);
    const char *workspace = strstr(text, "\"workspace\":");
    if (peak < 0 || !workspace || kiln_problem_parse(&p, name, why))
        return NAN;
    double announced = strtod(strchr(workspace, ':') + 1, NULL);
    for (int i = 0; i < 3; i++)
        announced += (double)kiln_problem_bytes(&p, "xwy"[i], NULL);
    printf("%-58s %9.1f %9.1f %9.1f\n", name, announced / mib, (peak - base) / mib,
           (peak - base - announced) / mib);
    fflush(stdout);
    return peak - base - announced;
}

int main(int argc, char **argv)
{
    const char *list = argc > 1 ? argv[1] : "quick";
    const int64_t batches[] = {1, 16};
    char text[8192];
    layers l = {0};
    if (!layers_read(&l, list, batches, 2))
        return 2;
    char *const nothing[] = {kiln, "--list-devices", NULL};
    double base = peak_of(nothing, text, sizeof text), worst = -INFINITY;
    int failed = 0;
    printf("process without a problem %.1f MiB\n%-58s %9s %9s %9s MiB\n", base / mib, "problem",
           "announced", "taken", "excess");
    for (int i = 0; i < l.count; i++)
        for (int d = KILN_FORWARD; d <= KILN_BACKWARD_WEIGHTS; d++) {
            char name[KILN_KEY_TEXT];
            kiln_problem p = l.at[i].problem;
            p.direction = (kiln_direction)d;
            kiln_problem_text(&p, name, sizeof name);
            double excess = excess_of(name, base);
            failed += isnan(excess) != 0;
            worst = fmax(worst, excess);
        }
    bool within = worst <= most_mib * mib;
    printf("most beyond tensors and workspace: %.1f MiB, %s the limit of %g MiB; %d failed\n",
           worst / mib, within ? "within" : "ABOVE", most_mib, failed);
    layers_free(&l);
    return failed > 0 || !within;
}
