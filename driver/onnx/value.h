/* What is known of a value that flows through a model: type, sizes, and the elements of small
 * tensors, with which models compute sizes. */
#ifndef KILN_ONNX_VALUE_H
#define KILN_ONNX_VALUE_H

#include "arena.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    VALUE_RANK = 12,       /* dims of a tensor */
    VALUE_ELEMENTS = 1024, /* of a tensor whose elements are kept */
    VALUE_OPEN = -1        /* a rank or a dim that is not known */
};
/* Larger than any tensor's dim, and small enough for sums of them. */
#define VALUE_DIM_MOST ((int64_t)1 << 40)

typedef struct value {
    int type; /* TensorProto.DataType; 0: not known */
    int rank;
    int64_t dim[VALUE_RANK];
    double *element; /* in order; NaN: this one is not known. NULL: none is known */
    bool constant;   /* the file has the elements */
    const char *why; /* what is not known, and why; NULL: nothing */
} value;

value *value_new(arena *a);

/* Whether rank and all dims are known. */
bool value_is_sized(const value *v);

/* Returns the number of elements; VALUE_OPEN where it is not known or more than 2^62. */
int64_t value_count(const value *v);

/* Sets the sizes. */
void value_set(value *v, int rank, const int64_t *dim);

/* Makes room for the elements of a small tensor of known sizes, all NaN. Returns NULL where there
 * are more than VALUE_ELEMENTS. */
double *value_elements(arena *a, value *v);

/* Fills strides of elements in order. */
void value_strides(const value *v, int64_t stride[VALUE_RANK]);

/* Gives `to`, whose sizes are set, the elements of `from` at offset + sum of coordinate * stride.
 */
void value_view(arena *a, value *to, const value *from, int64_t offset, const int64_t *stride);

/* Converts an element to a whole number; false: it is not known. What is too large becomes the
 * largest. */
bool value_whole(const value *v, int64_t index, int64_t *number);

#endif
