/* The rules of operators, one for each row of operators.def, which may share them. */
#ifndef KILN_ONNX_SIZES_H
#define KILN_ONNX_SIZES_H

#include "call.h"

#define OPERATOR(name, rule, ...) bool size_##rule(call *c);
#include "operators.def"
#undef OPERATOR

/* Returns a dim that a rule computed: one below 0 becomes what call_set() refuses, instead of
 * VALUE_OPEN. */
static inline int64_t computed(int64_t dim)
{
    return dim < 0 ? VALUE_OPEN - 1 : dim;
}

static inline void copy_dims(const value *v, int64_t dim[VALUE_RANK])
{
    for (int i = 0; i < v->rank; i++)
        dim[i] = v->dim[i];
}

/* Multiplies dims; VALUE_OPEN where one is, and more than call_set() takes where it is too large.
 */
static inline int64_t product(int64_t a, int64_t b)
{
    int64_t c;
    if (a == VALUE_OPEN || b == VALUE_OPEN)
        return VALUE_OPEN;
    return __builtin_mul_overflow(a, b, &c) ? INT64_MAX : c;
}

#endif
