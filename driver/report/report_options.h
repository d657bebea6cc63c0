/* The flags of `kiln report`. */
#ifndef KILN_REPORT_OPTIONS_H
#define KILN_REPORT_OPTIONS_H

#include "driver/onnx/onnx.h"

#include "kiln.h"

#include <stdbool.h>

extern const char report_help[];

enum { LIMITS_MEASURE = 0, LIMITS_COUNT, LIMITS_NONE };

typedef struct report_options {
    const char *output, *match, *device;
    char **before; /* of argv's room */
    int befores;
    onnx_given given; /* sizes of models' inputs */
    int limits;
    double peak[KILN_TYPES], bandwidth;
    bool help;
} report_options;

/* Reads the flags; the files' names are behind them, from argv[optind] on. Returns KILN_INVALID or
 * KILN_NO_MEMORY with a sentence in `why`. */
kiln_status report_options_parse(report_options *o, int argc, char **argv, char *why);
void report_options_free(report_options *o);

#endif
