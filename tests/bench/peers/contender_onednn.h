/* Describes a convolution to oneDNN, to be done in one of its ways. */
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

/* One of the three tensors: in the bench's format, in the format of the rules ("plain"), and in the
 * format of the primitive ("own"). */
typedef struct onednn_tensor {
    dnnl_memory_desc_t array_desc, plain_desc, desc;
    dnnl_memory_t plain, own; /* the same where no reorder is needed */
    dnnl_primitive_t reorder; /* NULL: none; to plain for the destination, else to own */
    bool written, each_run;
    int argument;
} onednn_tensor;

enum { ONEDNN_X, ONEDNN_W, ONEDNN_Y, ONEDNN_TENSORS };

/* Describes the problem's tensors in the bench's formats, those of the rules and those of the way;
 * describes the primitive; sets the formats that the way leaves to oneDNN. Returns false where
 * oneDNN cannot do the problem this way. */
bool onednn_describe(dnnl_primitive_desc_t *out, dnnl_engine_t engine, const kiln_problem *p,
                     const rules *r, const onednn_way *v, onednn_tensor t[ONEDNN_TENSORS]);

/* Returns the name of an activation format: "NCHW", "NHWC", ... */
const char *onednn_format_name(const dnnl_memory_desc_t *d);

#endif
