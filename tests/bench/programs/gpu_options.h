/* The classes that bench_gpu compares in, and its command line. */
#ifndef BENCH_GPU_OPTIONS_H
#define BENCH_GPU_OPTIONS_H

#include "tests/bench/peers/contender.h"

typedef struct gpu_class {
    const char *name;
    kiln_direction direction;
    bool (*takes)(const kiln_problem *p);
    kiln_type type;
    rules_layout layout; /* tensor cores take channels that are neighbours */
    bool reduced;        /* products may be rounded to a shorter type */
    bool bytes;          /* results are i8, too */
} gpu_class;

enum { GPU_CLASSES = 24, GPU_BATCHES = 8, GPU_ROUNDS = 15 };
extern const gpu_class gpu_classes[GPU_CLASSES];

typedef struct gpu_options {
    layers layers;
    bool quick, wanted[GPU_CLASSES];
    const char *json, *solver;
    const char *layout, *filter; /* NULL: the class's, OIHW */
    int rounds, every;
    int64_t batch[GPU_BATCHES];
    int batches;
} gpu_options;

/* Reads the command line. Returns false, having printed why, where it makes no sense. Exits after
 * --help. */
bool gpu_options_read(gpu_options *o, int argc, char **argv);

#endif
