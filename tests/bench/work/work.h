/* A convolution to be measured: its problem, its tensors in plain layouts, its costs. */
#ifndef BENCH_WORK_H
#define BENCH_WORK_H

#include "driver/reference/reference.h"
#include "kiln_problem.h"

#include <stdbool.h>

enum { WORK_NAME = 80 };

/* A layer of a list as a problem: plain layouts, f32, forward, with the batch to run. */
typedef struct layer {
    char name[WORK_NAME];
    kiln_problem problem; /* checked */
} layer;

typedef struct layers {
    layer *at;
    int count, room;
} layers;

/* Adds the layers of a list, each once for every batch (0: the list's own batch), without layers
 * that are there already. `file` may also be the name of a list in shapes/. Returns false, with a
 * sentence on standard error, where the list cannot be read. */
bool layers_read(layers *l, const char *file, const int64_t *batch, int batches);
/* Adds those of all lists, or of the usual ones where there is none; both end with NULL. */
bool layers_read_all(layers *l, char *const *lists, char *const *usual, const int64_t *batch,
                     int batches);
/* Leaves one of `every` layers, with all of its batches. */
void layers_thin(layers *l, int every);
void layers_free(layers *l);

typedef struct work {
    const layer *layer;
    kiln_problem problem; /* the layer's, in one direction and type */
    void *x, *w, *y;      /* the destination holds poison */
    char to;              /* the destination: 'x', 'w' or 'y' */
    double flops;         /* 2 per multiply-add, on padding too */
    double useful_flops;  /* without multiply-adds on padding */
    double bytes;         /* of all three tensors */
} work;

/* Makes a work of a layer; work_free() releases its tensors. `type` is the type of the sources and
 * of the destination, which is i32 where `type` is i8. Returns false without memory, or where kiln
 * takes no such problem. */
bool work_make(work *w, const layer *l, kiln_direction direction, kiln_type type);
/* The same forward from i8 to i8, with a scale that few results exceed. */
bool work_make_bytes(work *w, const layer *l);
void work_free(work *w);

reference_tensors work_sources(const work *w);
kiln_type work_type(const work *w, char tensor);
bool work_is_depthwise(const kiln_problem *p);
bool work_is_winograd(const kiln_problem *p); /* 3x3, stride 1, no dilation, no groups */

#endif
