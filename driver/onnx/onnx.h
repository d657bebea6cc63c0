/* Reads an ONNX model: its convolutions, each as a problem of its sizes.
 *
 *     onnx_model *m;
 *     if (onnx_open(&m, "net.onnx", &given, why)) ...
 *     for (size_t i = 0; i < m->layers; i++) ... m->layer[i]
 *     onnx_close(m);
 *
 * A file may be hostile: whatever it holds, the answer is a model or a sentence. Weights are not
 * read: their sizes suffice, and a model whose external data are missing is read as well.
 */
#ifndef KILN_ONNX_H
#define KILN_ONNX_H

#include "kiln_problem.h"

#include <stdio.h>

enum { ONNX_WHY = 1024, ONNX_GIVEN = 16 };

/* What the command line says of sizes that the file leaves open. */
typedef struct onnx_given {
    const char *input[ONNX_GIVEN]; /* "NAME=1x3x640x640" */
    int inputs;
    const char *dim[ONNX_GIVEN]; /* "NAME=640" */
    int dims;
    int64_t batch; /* of the inputs, in the place of what the file says; 0: not given */
} onnx_given;

/* A node that convolves, in the order of execution. */
typedef struct onnx_layer {
    const char *name; /* of the node, behind the nodes whose bodies hold it: "If_0/then/Conv_3" */
    const char *op;   /* "Conv" */
    bool sized;       /* false: `why` tells the reason */
    kiln_problem problem; /* checked, where the layer is sized */
    int64_t times;        /* how often one inference runs the layer */
    const char *epilogue; /* what follows and became a part of the problem: "bias, Relu"; or "" */
    const char *note;     /* how the problem differs from what the node says; or "" */
    const char *why;      /* "": sized */
} onnx_layer;

typedef struct onnx_model {
    onnx_layer *layer;
    size_t layers;
    int64_t opset;
    const char *producer; /* or "" */
    void *memory;
} onnx_model;

/* Returns KILN_INVALID for a file that is no model or breaks its own rules, or where sizes of
 * inputs are missing; KILN_UNSUPPORTED for what kiln does not read; KILN_FILE; KILN_NO_MEMORY;
 * with a sentence in why[ONNX_WHY]. */
kiln_status onnx_open(onnx_model **model, const char *path, const onnx_given *given, char *why);

/* Does the same with the bytes of a file, whose external data lie in `folder`. */
kiln_status onnx_open_bytes(onnx_model **model, const void *bytes, size_t size, const char *folder,
                            const onnx_given *given, char *why);

/* NULL is fine. */
void onnx_close(onnx_model *model);

/* Models that kiln can make, with random weights: the name of number i; NULL past the last. */
const char *onnx_demo_name(int i);
/* Writes model i. Returns KILN_NO_MEMORY; what was not written, the stream knows. */
kiln_status onnx_demo_write(int i, FILE *to);

/* Whether a name is that of a model: it ends in ".onnx". */
bool onnx_is_name(const char *path);

#endif
