/* The classes that bench_cpu compares in, and its command line. */
#ifndef BENCH_CPU_OPTIONS_H
#define BENCH_CPU_OPTIONS_H

#include "tests/bench/peers/contender.h"

typedef struct bench_class {
    const char *name;
    kiln_direction direction;
    kiln_type type;
    rules rules;
    bool latency;
    bool (*takes)(const kiln_problem *p);
    bool brief; /* --quick takes it */
} bench_class;

enum { CPU_CLASSES = 13, CPU_BATCHES = 8 };
extern const bench_class cpu_classes[CPU_CLASSES];

typedef struct cpu_options {
    layers layers;
    bool quick, bare;
    const char *json;
    const char *layout, *filter; /* NULL: the class's, OIHW */
    bool wanted[CPU_CLASSES];
    int rounds, every;
    int trials; /* 0: no search */
    int64_t batch[CPU_BATCHES];
    int batches;
} cpu_options;

/* Reads the command line. Returns false, having printed why, where it makes no sense. Exits after
 * --help. */
bool cpu_options_read(cpu_options *o, int argc, char **argv);

#endif
