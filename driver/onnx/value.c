/* Sizes and elements of values. */
#include "value.h"

#include <math.h>

value *value_new(arena *a)
{
    value *v = arena_take(a, sizeof *v);
    v->rank = VALUE_OPEN;
    return v;
}

bool value_is_sized(const value *v)
{
    bool sized = v->rank >= 0;
    for (int i = 0; i < v->rank; i++)
        sized = sized && v->dim[i] >= 0;
    return sized;
}

int64_t value_count(const value *v)
{
    int64_t count = 1;
    if (!value_is_sized(v))
        return VALUE_OPEN;
    for (int i = 0; i < v->rank; i++)
        if (v->dim[i] == 0)
            return 0;
    for (int i = 0; i < v->rank; i++)
        if (__builtin_mul_overflow(count, v->dim[i], &count) || count > (int64_t)1 << 62)
            return VALUE_OPEN;
    return count;
}

void value_set(value *v, int rank, const int64_t *dim)
{
    v->rank = rank;
    for (int i = 0; i < rank; i++)
        v->dim[i] = dim[i];
}

double *value_elements(arena *a, value *v)
{
    const int64_t count = value_count(v);
    if (count < 0 || count > VALUE_ELEMENTS)
        return NULL;
    v->element = arena_array(a, (size_t)count + 1, sizeof *v->element);
    for (int64_t i = 0; i < count; i++)
        v->element[i] = NAN;
    return v->element;
}

void value_strides(const value *v, int64_t stride[VALUE_RANK])
{
    int64_t next = 1;
    for (int i = v->rank - 1; i >= 0; i--) {
        stride[i] = next;
        /* The other dims of an empty tensor may be as large as they like; it has no elements. */
        (void)!__builtin_mul_overflow(next, v->dim[i], &next);
    }
}

void value_view(arena *a, value *to, const value *from, int64_t offset, const int64_t *stride)
{
    int64_t at[VALUE_RANK] = {0};
    if (!from->element || !value_elements(a, to))
        return;
    const int64_t count = value_count(to);
    for (int64_t i = 0; i < count; i++) {
        to->element[i] = from->element[offset];
        for (int d = to->rank - 1; d >= 0; d--) {
            offset += stride[d];
            if (++at[d] < to->dim[d])
                break;
            offset -= stride[d] * at[d];
            at[d] = 0;
        }
    }
}

bool value_whole(const value *v, int64_t index, int64_t *number)
{
    const double e = v->element ? v->element[index] : NAN;
    if (isnan(e))
        return false;
    *number = e >= 0x1p62 ? INT64_MAX : e <= -0x1p62 ? -INT64_MAX : (int64_t)e;
    return true;
}
