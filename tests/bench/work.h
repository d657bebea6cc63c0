/* A convolution to be measured: its problem, its tensors in plain layouts, what it costs. */
#ifndef BENCH_WORK_H
#define BENCH_WORK_H

#include "driver/reference/reference.h"
#include "kiln_problem.h"

#include <stdbool.h>

enum { WORK_NAME = 80 };

/* A layer of a list: plain layouts, f32, forward; batch as it shall be run. */
typedef struct layer {
    char name[WORK_NAME];
    kiln_problem problem; /* checked */
} layer;

typedef struct layers {
    layer *at;
    int count, room;
} layers;

/* Adds the layers of a list, each once for every batch (0: the list's own), less those that are
 * there already. `file` may also be the bare name of a list in shapes/. False, with a sentence on
 * stderr, when it cannot be read. */
bool layers_read(layers *l, const char *file, const int64_t *batch, int batches);
void layers_free(layers *l);

typedef struct work {
    const layer *layer;
    kiln_problem problem; /* the layer's, in the direction and type at hand */
    void *x, *w, *y;      /* the one that is written holds poison */
    char to;              /* 'x', 'w' or 'y': which that is */
    double flops;         /* 2 per multiply-add, those on padding included */
    double useful_flops;  /* without them */
    double bytes;         /* of the three tensors */
} work;

/* `type` is that of the tensors that are read, and of the one that is written, which int8 makes
 * int32. */
bool work_make(work *w, const layer *l, kiln_direction direction, kiln_type type);
void work_free(work *w);

reference_tensors work_sources(const work *w);
kiln_type work_type(const work *w, char tensor);
bool work_is_depthwise(const kiln_problem *p);
bool work_is_winograd(const kiln_problem *p); /* 3x3, stride 1, no dilation, no groups */

#endif
