/* `kiln doctor`: runs a table of checks. */
#include "doctor_command.h"

#include "driver/base/pocl_cache.h"
#include "kiln.h"

#include "guard.h"
#include "told.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_OK = 0, EXIT_BAD = 1, LIMIT_S = 120, LIMIT_MOST_S = 86400, DEVICES_MOST = 128 };

static const char help[] =
    "usage: kiln doctor [--json] [--limit SECONDS]\n"
    "\n"
    "Tells what this machine has and lacks for kiln: OpenCL's loader, the drivers that its .icd\n"
    "files name, permissions of GPUs' nodes, devices and their known traps, caches, tuning rows,\n"
    "and a small convolution of each type on each device, verified. A line each: ok, warning or\n"
    "bad, what was found, and the remedy. A paragraph to paste into a bug report follows.\n"
    "What is printed has no user's name; ~ stands for the home folder.\n"
    "\n"
    "  --json             print a JSON object a line (check, device, verdict, value, remedy), and\n"
    "                     no paragraph\n"
    "  --limit SECONDS    give each check so long [120]; one that takes longer is bad\n"
    "  --help             print this text\n"
    "\n"
    "Exit status: 0 nothing is bad, whatever the warnings; 1 something is bad: no device, one "
    "that\n"
    "does not open, a wrong convolution, a driver that hangs or dies; 2 the command line makes no\n"
    "sense; 6 out of memory.\n";

/* In the order in which one needs the other. The first row that finds devices gives them to the
 * rows that are for each. */
static const check checks[] = {
    {"system", check_system, NULL, false},
    {"settings", check_settings, NULL, false},
    {"loader", check_loader, "apt install ocl-icd-libopencl1", false},
    {"icd", check_icds,
     "install an OpenCL driver (CPU: apt install pocl-opencl-icd), or correct "
     "the .icd file",
     false},
    {"nvidia", check_nvidia,
     "apt install nvidia-opencl-icd, or write libnvidia-opencl.so.1 into "
     "/etc/OpenCL/vendors/nvidia.icd",
     false},
    {"nodes", check_nodes, NULL, false},
    {"cache", check_cache,
     "set KILN_CACHE_DIR to a folder that you may write to; until then each "
     "process compiles anew",
     false},
    {"pocl-cache", check_pocl_cache, "set POCL_CACHE_DIR to a folder that you may write to", false},
    {"devices", check_devices,
     "see the lines icd and nodes; a driver for any CPU: apt install "
     "pocl-opencl-icd",
     false},
    {"device", check_device, "see whether clinfo opens it; install another version of the driver",
     true},
    {"rows", check_rows, "kiln db lint FILE names the rows that are of no use", true},
    {"conv", check_convolution, NULL, true},
    {"convfp16", check_convolution, NULL, true},
    {"convbfp16", check_convolution, NULL, true},
    {"convint8", check_convolution, NULL, true},
    {"convfp8", check_convolution, NULL, true},
    {"convbfp8", check_convolution, NULL, true},
};

typedef struct examination {
    bool json, no_memory;
    int limit;
    verdict worst;
    finding *finding;
    size_t count, room;
} examination;

static void keep(examination *e, const finding *f)
{
    if (e->count == e->room) {
        const size_t room = e->room ? 2 * e->room : 64;
        finding *more = realloc(e->finding, room * sizeof *more);
        if (!more) {
            e->no_memory = true;
            return;
        }
        e->finding = more;
        e->room = room;
    }
    e->finding[e->count++] = *f;
}

static void found(void *user, const finding *told)
{
    examination *e = user;
    finding f = *told;
    told_privately(f.value, sizeof f.value);
    if (f.verdict > e->worst)
        e->worst = f.verdict;
    (e->json ? told_json : told_line)(&f);
    keep(e, &f);
}

static void examine(examination *e)
{
    char device[DEVICES_MOST][sizeof e->finding->device];
    int devices = 0;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        const size_t before = e->count;
        if (!checks[i].each_device)
            guard_run(&checks[i], "", e->limit, found, e);
        for (int d = 0; checks[i].each_device && d < devices; d++)
            guard_run(&checks[i], device[d], e->limit, found, e);
        for (size_t f = before; checks[i].run == check_devices && f < e->count; f++)
            if (*e->finding[f].device && devices < DEVICES_MOST)
                memcpy(device[devices++], e->finding[f].device, sizeof *device);
    }
}

static int run(examination *e)
{
    /* The folder's check is about the one that the drivers' processes will get; a temporary one
     * goes when this process ends. */
    pocl_cache_prepare();
    examine(e);
    if (!e->json)
        told_paragraph(e->finding, e->count);
    free(e->finding);
    if (e->no_memory)
        fputs("kiln doctor: out of memory\n", stderr);
    return e->worst == FOUND_BAD ? EXIT_BAD : e->no_memory ? KILN_NO_MEMORY : EXIT_OK;
}

static int usage(const char *what, const char *word)
{
    fprintf(stderr, "kiln doctor: %s '%.200s' (--help explains)\n", what, word);
    return KILN_INVALID;
}

int doctor_command(int argc, char **argv)
{
    static const struct option flags[] = {{"json", no_argument, NULL, 'j'},
                                          {"limit", required_argument, NULL, 'l'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    examination e = {.limit = LIMIT_S};
    char *end;
    optind = 0; /* glibc: start afresh after another parse */
    opterr = 0;
    for (int flag; (flag = getopt_long(argc, argv, "+h", flags, NULL)) != -1;)
        switch (flag) {
        case 'j':
            e.json = true;
            break;
        case 'l': {
            const long limit = strtol(optarg, &end, 10);
            if (*end || end == optarg || limit < 1 || limit > LIMIT_MOST_S)
                return usage("--limit must be a whole number of seconds from 1 to 86400, not",
                             optarg);
            e.limit = (int)limit;
            break;
        }
        case 'h':
            fputs(help, stdout);
            return EXIT_OK;
        default:
            return usage("unknown flag, or one without its value:", argv[optind - 1]);
        }
    if (optind < argc)
        return usage("takes no words, but got", argv[optind]);
    return run(&e);
}
