/* Tensors of the file: their sizes, and the elements of small tensors. */
#include "walk.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How elements of a type lie in raw_data. */
static double from_float(const uint8_t *at)
{
    float f;
    memcpy(&f, at, sizeof f);
    return (double)f;
}

static double from_double(const uint8_t *at)
{
    double d;
    memcpy(&d, at, sizeof d);
    return d;
}

static double from_half(const uint8_t *at)
{
    const int sign = at[1] >> 7, exponent = at[1] >> 2 & 31, fraction = (at[1] & 3) << 8 | at[0];
    const double size = exponent == 31  ? fraction ? NAN : INFINITY
                        : exponent == 0 ? ldexp(fraction, -24)
                                        : ldexp(fraction + 1024, exponent - 25);
    return sign ? -size : size;
}

static double from_bf16(const uint8_t *at)
{
    const uint8_t wide[4] = {0, 0, at[0], at[1]};
    return from_float(wide);
}

static double from_i64(const uint8_t *at)
{
    int64_t i;
    memcpy(&i, at, sizeof i);
    return (double)i;
}

static double from_i32(const uint8_t *at)
{
    int32_t i;
    memcpy(&i, at, sizeof i);
    return i;
}

static double from_i16(const uint8_t *at)
{
    return (int16_t)(at[0] | at[1] << 8);
}

static double from_i8(const uint8_t *at)
{
    return (int8_t)*at;
}

static double from_u8(const uint8_t *at)
{
    return *at;
}

static double from_u16(const uint8_t *at)
{
    return at[0] | at[1] << 8;
}

static double from_u32(const uint8_t *at)
{
    uint32_t i;
    memcpy(&i, at, sizeof i);
    return i;
}

static double from_u64(const uint8_t *at)
{
    uint64_t i;
    memcpy(&i, at, sizeof i);
    return (double)i;
}

/* By the number of the type in TensorProto.DataType. */
static const struct {
    size_t size;
    double (*read)(const uint8_t *at);
} types[] = {
    [1] = {4, from_float}, [2] = {1, from_u8},      [3] = {1, from_i8},   [4] = {2, from_u16},
    [5] = {2, from_i16},   [6] = {4, from_i32},     [7] = {8, from_i64},  [9] = {1, from_u8},
    [10] = {2, from_half}, [11] = {8, from_double}, [12] = {4, from_u32}, [13] = {8, from_u64},
    [16] = {2, from_bf16}};

enum { TYPES = sizeof types / sizeof *types };

value *tensor_dims_value(walk *w, size_t count, const int64_t *dims, int type)
{
    value *v = value_new(w->arena);
    v->type = type;
    v->constant = true;
    if (count > VALUE_RANK)
        walk_stop(w, KILN_UNSUPPORTED, "a tensor of the file has %zu dims; kiln reads up to %d",
                  count, VALUE_RANK);
    for (size_t i = 0; i < count; i++)
        if (dims[i] < 0 || dims[i] > VALUE_DIM_MOST)
            walk_stop(w, KILN_INVALID, "dim %zu of a tensor of the file is %lld", i,
                      (long long)dims[i]);
    value_set(v, (int)count, dims);
    return v;
}

static bool is_external(const Onnx__TensorProto *t)
{
    return t->has_data_location && t->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
}

static void take_raw(value *v, const uint8_t *bytes, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        v->element[i] = types[v->type].read(bytes + (size_t)i * types[v->type].size);
}

/* Takes the elements from the list that holds those of the type; the shorter list decides. */
static void take_list(value *v, const Onnx__TensorProto *t, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const size_t at = (size_t)i;
        if (at < t->n_float_data)
            v->element[i] = (double)t->float_data[i];
        else if (at < t->n_int64_data)
            v->element[i] = (double)t->int64_data[i];
        else if (at < t->n_double_data)
            v->element[i] = t->double_data[i];
        else if (at < t->n_uint64_data)
            v->element[i] = (double)t->uint64_data[i];
        else if (at < t->n_int32_data && v->type != ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16 &&
                 v->type != ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16)
            v->element[i] = t->int32_data[i];
        else if (at < t->n_int32_data)
            v->element[i] = types[v->type].read(
                (const uint8_t[]){(uint8_t)t->int32_data[i], (uint8_t)(t->int32_data[i] >> 8)});
    }
}

value *tensor_value(walk *w, const Onnx__TensorProto *t)
{
    value *v = tensor_dims_value(w, t->n_dims, t->dims, t->data_type);
    const bool known = v->type > 0 && v->type < TYPES && types[v->type].size;
    uint8_t raw[8 * VALUE_ELEMENTS];
    if (!known || !value_elements(w->arena, v))
        return v;
    const int64_t count = value_count(v);
    const size_t size = (size_t)count * types[v->type].size;
    if (is_external(t)) {
        if (tensor_read_external(w, t, raw, size))
            take_raw(v, raw, count);
    } else if (t->has_raw_data) {
        if (t->raw_data.len < size)
            walk_stop(w, KILN_INVALID, "tensor '%.200s' has %zu bytes of its %zu", text_of(t->name),
                      t->raw_data.len, size);
        take_raw(v, t->raw_data.data, count);
    } else {
        take_list(v, t, count);
    }
    return v;
}

/* Returns an entry of the description of external data; "": there is none. */
static const char *entry_of(const Onnx__TensorProto *t, const char *key)
{
    for (size_t i = 0; i < t->n_external_data; i++)
        if (strcmp(text_of(t->external_data[i]->key), key) == 0)
            return text_of(t->external_data[i]->value);
    return "";
}

/* Whether a path stays in the folder where it begins. */
static bool is_inside(const char *path)
{
    if (!*path || *path == '/')
        return false;
    for (const char *part = path; *part; part += strcspn(part, "/"), part += *part == '/')
        if (strcspn(part, "/") == 2 && strncmp(part, "..", 2) == 0)
            return false;
    return true;
}

void tensor_check_place(walk *w, const Onnx__TensorProto *t)
{
    if (is_external(t) && !is_inside(entry_of(t, "location")))
        walk_stop(w, KILN_INVALID,
                  "the data of tensor '%.200s' are said to be in '%.200s'; they must be in the "
                  "model's folder",
                  text_of(t->name), entry_of(t, "location"));
}

bool tensor_read_external(walk *w, const Onnx__TensorProto *t, void *bytes, size_t size)
{
    const char *path = arena_text(w->arena, "%s/%s", w->folder, entry_of(t, "location"));
    const long long offset = strtoll(entry_of(t, "offset"), NULL, 10);
    tensor_check_place(w, t);
    /* A link would lead out of the folder, and a pipe would wait. */
    const int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const bool is_read =
        file >= 0 && offset >= 0 && pread(file, bytes, size, (off_t)offset) == (ssize_t)size;
    if (file >= 0)
        close(file);
    return is_read;
}
