/* Fits the numbers of a solver's predictions to measured configs: prints the problems to measure,
 * or reads a log of trials and prints the fit as its header has it. docs/fitting.md has the steps.
 */
#include "runtime/kiln/probes.h"
#include "tests/bench/base/options.h"
#include "tests/bench/fit/fit_samples.h"
#include "tests/bench/machine/machine.h"
#include "tests/bench/work/work.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct bench_fit {
    const char *solvers;
    const char *log; /* NULL: print the problems */
    layers layers;
    kiln_direction direction;
    kiln_type type;
    const char *layout;
    int64_t batch; /* 0: each list's own */
    int every;
    session session;
    machine machine;
} bench_fit;

/* ---- the problems ---- */

static int print_problems(const bench_fit *b)
{
    for (int i = 0; i < b->layers.count; i += b->every) {
        kiln_problem p = b->layers.at[i].problem;
        char name[KILN_KEY_TEXT];
        p.direction = b->direction;
        p.x_type = p.w_type = b->type;
        p.y_type = b->type == KILN_I8 ? KILN_I32 : b->type;
        p.math = b->type == KILN_F32 && strstr(b->solvers, "mma") ? KILN_MATH_REDUCED : p.math;
        snprintf(p.x_layout, sizeof p.x_layout, "%s", b->layout);
        snprintf(p.y_layout, sizeof p.y_layout, "%s", b->layout);
        if (kiln_problem_check(&p, NULL) == KILN_OK &&
            kiln_problem_text(&p, name, sizeof name) < sizeof name)
            printf("%s\n", name);
    }
    return 0;
}

/* ---- the report ---- */

static void print_worth(const fit_model *m, const fit_samples *s, const char *what, fit_part part)
{
    const fit_worth w = fit_model_worth(m, s, part);
    if (w.configs == 0)
        return;
    char config[KILN_CONFIG_TEXT];
    const kiln_solver *solver = &m->solver[w.worst_sample->solver];
    kiln_config_text(solver, &w.worst_sample->config, config, sizeof config);
    printf("  %-30s %7.3f %8.1f %% %7.2f %8.3f %7.3f  %s %s (%.4f ms)\n", what, w.mean,
           100 * w.deviation, w.worst, w.choice, w.worst_choice, solver->name, config,
           w.worst_sample->ms);
}

/* Prints a text of C, in lines of the width that the header has. */
static void print_text(const char *member, const char *text)
{
    printf("    .%s = \"%s\",\n", member, text);
}

static void print_fit(const fit_model *m, const fit_samples *s, int fit)
{
    const kiln_fit *f = &m->fit[fit];
    const char *command = getenv("BENCH_COMMAND");
    const fit_worth w = fit_model_worth(m, s, FIT_TAKEN), out = fit_model_worth(m, s, FIT_LEFT_OUT);
    char date[16], error[200];
    const time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    int n = snprintf(error, sizeof error, "%.0f %% (root mean square)", 100 * w.deviation);
    if (out.configs)
        snprintf(error + n, sizeof error - (size_t)n, ", %.0f %% of problems that were left out",
                 100 * out.deviation);
    printf("\n");
    print_text("name", f->name);
    print_text("device", s->device->name);
    print_text("driver", s->device->driver);
    print_text("date", date);
    print_text("command", command ? command : KILN_NOT_RECORDED);
    printf("    .configs = %d,\n    .problems = %d,\n", w.configs, w.problems);
    print_text("error", error);
    if (f->ghz > 0)
        printf("    .ghz = %g,\n    .told_ghz = %g,\n", f->ghz, f->told_ghz);
    printf("    KILN_FIT_NUMBERS(%s", f->type);
    for (int i = 0; i < f->count; i++)
        printf(",\n                     .%s = %g", f->is[i].name, m->now[fit][i]);
    printf("),\n\n  what the measurements say of each number:\n");
    for (int i = 0; i < f->count; i++) {
        const double old = ((const double *)m->from[fit]->numbers)[i];
        printf("  %-14s %10g, was %-10g %s  %s\n", f->is[i].name, m->now[fit][i], old,
               old == 0            ? "not used"
               : !m->shown[fit][i] ? "not told"
                                   : "told    ",
               f->is[i].meaning);
    }
}

static void report(fit_model *m, const fit_log *log)
{
    const fit_samples *s = &log->samples;
    printf("%d configs of %d problems; %d trials of another device or driver and %d others left "
           "out\n",
           s->count, s->problems, log->elsewhere, log->others);
    printf("  %-30s %7s %10s %7s %8s %7s  %s\n", "predicted / measured", "mean", "deviation",
           "worst", "choice", "worst", "config of the worst prediction");
    print_worth(m, s, "numbers as they are", FIT_TAKEN);
    print_worth(m, s, "the same, problems left out", FIT_LEFT_OUT);
    fit_model_descend(m, s);
    print_worth(m, s, "fitted", FIT_TAKEN);
    print_worth(m, s, "the same, problems left out", FIT_LEFT_OUT);
    for (int i = 0; i < m->fits; i++)
        print_fit(m, s, i);
}

static int fit_log_of(bench_fit *b)
{
    static fit_model m;
    char why[KILN_ERROR_TEXT];
    fit_log log = {0};
    if (!fit_model_open(&m, b->solvers, why, sizeof why)) {
        fprintf(stderr, "bench: %s\n", why);
        return 2;
    }
    if (!machine_open(&b->machine, &b->session, getenv("KILN_DEVICE") ? NULL : "cpu"))
        return 1;
    machine_print(&b->machine, stdout);
    kiln_probe_for(b->session.kiln, NULL);
    bool fine = fit_log_read(&log, &m, b->session.kiln, b->log, why, sizeof why);
    if (fine && log.samples.count == 0) {
        fine = false;
        snprintf(why, sizeof why, "%.200s has no timed trial of these solvers here", b->log);
    }
    if (fine)
        report(&m, &log);
    else
        fprintf(stderr, "bench: %s\n", why);
    fit_log_free(&log);
    session_close(&b->session);
    return fine ? 0 : 1;
}

/* ---- the command line ---- */

static void help(void)
{
    printf(
        "usage: ./dev bench fit SOLVER[,SOLVER...] [LIST...] [OPTIONS]     (quick)\n\n"
        "  --type T        f32, f16, bf16 or i8  (f32)\n"
        "  --direction D   fwd, bwd or wrw  (fwd)\n"
        "  --layout NAME   of activations  (NHWC)\n"
        "  --batch N       instead of each list's own; 0: its own  (64)\n"
        "  --every N       one of so many layers  (1)\n"
        "  --log FILE      fit to the trials of this log; measure nothing\n\n"
        "In the environment: TRIALS (40) of each problem, KEEP=DIR for the log, OPTIONS of kiln\n"
        "tune, KILN_DEVICE for another device than the CPU. docs/fitting.md has the steps.\n");
}

static bool read_option(bench_fit *b, int letter, const char *value)
{
    int number = 0;
    bool fine = true;
    switch (letter) {
    case 'd':
        return options_direction(value, &b->direction);
    case 'T':
        return options_type(value, &b->type);
    case 'b':
        fine = options_number("--batch", value, 0, 1 << 20, &number);
        b->batch = number;
        return fine;
    case 'e':
        return options_number("--every", value, 1, 1 << 20, &b->every);
    case 'l':
        b->layout = value;
        return true;
    case 'L':
        b->log = value;
        return true;
    default:
        return false;
    }
}

static bool read_options(bench_fit *b, int argc, char **argv)
{
    static const struct option known[] = {{"direction", required_argument, NULL, 'd'},
                                          {"type", required_argument, NULL, 'T'},
                                          {"batch", required_argument, NULL, 'b'},
                                          {"every", required_argument, NULL, 'e'},
                                          {"layout", required_argument, NULL, 'l'},
                                          {"log", required_argument, NULL, 'L'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    for (int letter; (letter = options_next(argc, argv, known, help)) != -1;)
        if (letter == '?' || !read_option(b, letter, optarg))
            return false;
    if (optind == argc) {
        fprintf(stderr,
                "bench: name the solvers whose predictions are to be fitted, with commas\n");
        return false;
    }
    b->solvers = argv[optind++];
    static char *const usual[] = {"quick", NULL};
    return b->log || layers_read_all(&b->layers, argv + optind, usual, &b->batch, 1);
}

int main(int argc, char **argv)
{
    static bench_fit b = {.type = KILN_F32, .batch = 64, .every = 1, .layout = "NHWC"};
    if (!read_options(&b, argc, argv))
        return 2;
    const int status = b.log ? fit_log_of(&b) : print_problems(&b);
    layers_free(&b.layers);
    return status;
}
