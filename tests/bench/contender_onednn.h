/* oneDNN's description of a convolution done in one of its ways. */
#ifndef BENCH_CONTENDER_ONEDNN_H
#define BENCH_CONTENDER_ONEDNN_H

#include "contender.h"

#include <oneapi/dnnl/dnnl.h>

enum { ONEDNN_FIRST_RANK = 1, ONEDNN_RANKS = 3 };

typedef struct onednn_way {
    const char *name;
    dnnl_format_tag_t tag[ONEDNN_RANKS]; /* of activations with 1, 2, 3 spatial axes */
    dnnl_alg_kind_t algorithm;
} onednn_way;

/* One of the three tensors: as the bench's array has it, as it comes and goes under the rules
 * ("plain"), and as the primitive wants it. */
typedef struct onednn_tensor {
    dnnl_memory_desc_t array_desc, plain_desc, desc;
    dnnl_memory_t plain, own; /* the same where no reorder is needed */
    dnnl_primitive_t reorder; /* NULL: none; towards plain for the tensor that is written */
    bool written, each_run;
    int argument;
} onednn_tensor;

enum { ONEDNN_X, ONEDNN_W, ONEDNN_Y, ONEDNN_TENSORS };

/* Describes the problem's tensors in the bench's formats, those of the rules and those of the way,
 * makes the primitive's description, and settles in the tensors what the way left to oneDNN. False
 * when it cannot be done so. */
bool onednn_describe(dnnl_primitive_desc_t *out, dnnl_engine_t engine, const kiln_problem *p,
                     const rules *r, const onednn_way *v, onednn_tensor t[ONEDNN_TENSORS]);

/* "NCHW", "NHWC", ... of activations. */
const char *onednn_format_name(const dnnl_memory_desc_t *d);

#endif
