/* The command line of `kiln model`. */
#ifndef KILN_MODEL_OPTIONS_H
#define KILN_MODEL_OPTIONS_H

#include "driver/conv/request.h"
#include "driver/onnx/onnx.h"

#include <stdio.h>

typedef struct model_options {
    const char *file, *demo, *output;
    bool predict, help;
    request defaults; /* for each convolution */
    onnx_given given;
} model_options;

/* Reads the words behind argv[0]. Returns KILN_OK, or KILN_INVALID with a sentence in `why`; the
 * caller frees nothing. */
kiln_status model_options_parse(model_options *o, int argc, char **argv, char *why);

void model_options_help(FILE *to);

#endif
