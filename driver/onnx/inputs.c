/* The sizes of a model's inputs: from the file, and from what was given for what it leaves open. */
#include "walk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const Onnx__TensorShapeProto *shape_of(const Onnx__TypeProto *t, int *type)
{
    *type = 0;
    if (!t || t->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE || !t->tensor_type)
        return NULL;
    *type = t->tensor_type->elem_type;
    return t->tensor_type->shape;
}

/* Returns a dim of the file: its number; else what its name stands for; else VALUE_OPEN. */
static int64_t dim_of(const walk *w, const Onnx__TensorShapeProto__Dimension *d)
{
    const bool named = d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
    if (d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE)
        return d->dim_value > 0 && d->dim_value <= VALUE_DIM_MOST ? d->dim_value : VALUE_OPEN;
    const int64_t *number = named ? names_find(&w->dims, text_of(d->dim_param)) : NULL;
    return number ? *number : VALUE_OPEN;
}

static const char *name_of(const Onnx__TensorShapeProto__Dimension *d)
{
    const bool named = d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
    return named ? text_of(d->dim_param) : "";
}

void value_declared(walk *w, value *v, const Onnx__TypeProto *type)
{
    int number;
    const Onnx__TensorShapeProto *s = shape_of(type, &number);
    v->type = v->type ? v->type : number;
    if (!s || s->n_dim > VALUE_RANK || (v->rank >= 0 && v->rank != (int)s->n_dim))
        return;
    for (int i = 0; i < (int)s->n_dim; i++) {
        const int64_t dim = dim_of(w, s->dim[i]);
        v->dim[i] = v->rank < 0 || v->dim[i] < 0 ? dim : v->dim[i];
    }
    v->rank = (int)s->n_dim;
    if (value_is_sized(v))
        v->why = NULL;
}

static void name_dim(walk *w, const char *name, int64_t number)
{
    int64_t *kept = arena_take(w->arena, sizeof *kept);
    *kept = number;
    if (*name)
        names_set(w->arena, &w->dims, name, kept);
}

/* Splits "NAME=TEXT" at its last '='. */
static const char *split(walk *w, const char *flag, const char *given, const char **name)
{
    const char *at = strrchr(given, '=');
    if (!at || at == given || !at[1])
        walk_stop(w, KILN_INVALID, "%s is '%.60s'; it must be NAME=%s", flag, given,
                  strcmp(flag, "--dim") == 0 ? "N" : "1x3x224x224");
    *name = arena_text(w->arena, "%.*s", (int)(at - given), given);
    return at + 1;
}

/* Reads a size; returns what stands behind it. */
static const char *read_size(walk *w, const char *flag, const char *given, const char *text,
                             int64_t *size)
{
    char *end;
    errno = 0;
    *size = strtoll(text, &end, 10);
    if (end == text || *text < '0' || *text > '9' || errno || *size < 1 || *size > VALUE_DIM_MOST)
        walk_stop(w, KILN_INVALID, "%s is '%.60s'; sizes must be whole numbers from 1 on", flag,
                  given);
    return end;
}

/* A list of inputs or of their open dims, for sentences. */
typedef struct sentence {
    char text[ONNX_WHY / 2];
    size_t used;
} sentence;

static void add_text(sentence *s, const char *between, const char *text)
{
    const size_t room = sizeof s->text - s->used;
    const int n = snprintf(s->text + s->used, room, "%s%.80s", s->used ? between : "", text);
    s->used += (size_t)n < room ? (size_t)n : room - 1;
}

/* The inputs that are no constants. */
typedef struct inputs {
    Onnx__ValueInfoProto **info;
    value **value;
    size_t count;
} inputs;

static inputs gather(walk *w, const scope *s)
{
    const Onnx__GraphProto *g = w->model->graph;
    inputs all = {.info = arena_array(w->arena, g->n_input + 1, sizeof *all.info),
                  .value = arena_array(w->arena, g->n_input + 1, sizeof *all.value)};
    for (size_t i = 0; i < g->n_input; i++)
        if (!names_find(&s->values, text_of(g->input[i]->name))) {
            all.value[all.count] = value_new(w->arena);
            all.info[all.count++] = g->input[i];
        }
    return all;
}

static void take_dims(walk *w, const inputs *all)
{
    for (int i = 0; i < w->given->dims; i++) {
        const char *name, *given = w->given->dim[i];
        const char *text = split(w, "--dim", given, &name);
        sentence known = {.used = 0};
        bool found = false;
        int64_t size;
        if (*read_size(w, "--dim", given, text, &size))
            walk_stop(w, KILN_INVALID, "--dim is '%.60s'; it must be NAME=N", given);
        for (size_t j = 0; j < all->count; j++) {
            int type;
            const Onnx__TensorShapeProto *s = shape_of(all->info[j]->type, &type);
            for (size_t d = 0; s && d < s->n_dim; d++) {
                found = found || strcmp(name_of(s->dim[d]), name) == 0;
                if (*name_of(s->dim[d]))
                    add_text(&known, ", ", name_of(s->dim[d]));
            }
        }
        if (!found)
            walk_stop(w, KILN_INVALID,
                      "--dim names '%.60s', which no input has; the inputs have %s", name,
                      known.used ? known.text : "no names of dims");
        name_dim(w, name, size);
    }
}

static void take_input(walk *w, const inputs *all, const char *given)
{
    const char *name, *text = split(w, "--input", given, &name);
    sentence known = {.used = 0};
    size_t at = 0;
    for (size_t i = 0; i < all->count; i++)
        add_text(&known, ", ", text_of(all->info[i]->name));
    while (at < all->count && strcmp(text_of(all->info[at]->name), name) != 0)
        at++;
    if (at == all->count)
        walk_stop(w, KILN_INVALID, "--input names '%.60s'; the model's inputs are %s", name,
                  known.text);
    value *v = all->value[at];
    int type;
    const Onnx__TensorShapeProto *s = shape_of(all->info[at]->type, &type);
    for (v->rank = 0; *text; v->rank++) {
        if (v->rank == VALUE_RANK)
            walk_stop(w, KILN_INVALID, "--input is '%.60s', of more than %d dims", given,
                      VALUE_RANK);
        text = read_size(w, "--input", given, text, &v->dim[v->rank]);
        if (s && (size_t)v->rank < s->n_dim)
            name_dim(w, name_of(s->dim[v->rank]), v->dim[v->rank]);
        if (*text == 'x' || *text == ',')
            text++;
        else if (*text)
            walk_stop(w, KILN_INVALID, "--input is '%.60s'; it must be NAME=1x3x224x224", given);
    }
    if (s && s->n_dim != (size_t)v->rank)
        walk_stop(w, KILN_INVALID, "--input is '%.60s', of %d dims; the model's input has %zu",
                  given, v->rank, s->n_dim);
}

/* Sets the batch: the first dim of the first input that has two or more, and of all inputs that
 * have the same there. */
static void take_batch(walk *w, const inputs *all)
{
    const Onnx__TensorShapeProto__Dimension *first = NULL;
    for (size_t i = 0; i < all->count; i++) {
        int type;
        const Onnx__TensorShapeProto *s = shape_of(all->info[i]->type, &type);
        if (!s || s->n_dim < 2 || s->n_dim > VALUE_RANK)
            continue;
        first = first ? first : s->dim[0];
        value *v = all->value[i];
        const bool same = strcmp(name_of(first), name_of(s->dim[0])) == 0 &&
                          dim_of(w, first) == dim_of(w, s->dim[0]);
        if (same && v->rank < 0) {
            value_declared(w, v, all->info[i]->type);
            v->dim[0] = w->given->batch;
        }
    }
    if (first)
        name_dim(w, name_of(first), w->given->batch);
}

/* Writes "NAME is batch x 3 x ?" and adds the flags that would fill it. */
static void ask(const inputs *all, size_t i, sentence *is, sentence *flags)
{
    int type;
    const Onnx__TensorShapeProto *s = shape_of(all->info[i]->type, &type);
    char text[200], *name = text;
    add_text(is, "; ", text_of(all->info[i]->name));
    add_text(is, "", s ? " is " : " has no size at all");
    for (int d = 0; s && d < (int)s->n_dim; d++) {
        const bool open = all->value[i]->dim[d] < 0;
        snprintf(text, sizeof text, "%lld", (long long)all->value[i]->dim[d]);
        name = open ? *name_of(s->dim[d]) ? (char *)name_of(s->dim[d]) : "?" : text;
        add_text(is, "", d ? " x " : "");
        add_text(is, "", name);
        if (!open || !*name_of(s->dim[d]))
            continue;
        snprintf(text, sizeof text, "--dim %.80s=N", name);
        if (!strstr(flags->text, text))
            add_text(flags, " ", text);
    }
}

/* Writes what --input would give, with N for each open size. */
static const char *example_of(walk *w, const Onnx__ValueInfoProto *info, const value *v)
{
    const char *text = arena_text(w->arena, "%.80s=", text_of(info->name));
    for (int i = 0; i < v->rank; i++)
        text = v->dim[i] < 0
                   ? arena_text(w->arena, "%s%sN", text, i ? "x" : "")
                   : arena_text(w->arena, "%s%s%lld", text, i ? "x" : "", (long long)v->dim[i]);
    return v->rank < 0 ? arena_text(w->arena, "%sNxN", text) : text;
}

void input_values(walk *w, scope *s)
{
    const inputs all = gather(w, s);
    sentence is = {.used = 0}, flags = {.used = 0};
    const char *example = NULL;
    take_dims(w, &all);
    for (int i = 0; i < w->given->inputs; i++)
        take_input(w, &all, w->given->input[i]);
    if (w->given->batch)
        take_batch(w, &all);
    for (size_t i = 0; i < all.count; i++) {
        value *v = all.value[i];
        int type;
        const Onnx__TypeProto *declared = all.info[i]->type;
        value_declared(w, v, declared);
        names_set(w->arena, &s->values, text_of(all.info[i]->name), v);
        shape_of(declared, &type);
        if (!declared || declared->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE) {
            v->why = arena_text(w->arena, "input '%.80s' is no tensor", text_of(all.info[i]->name));
        } else if (!value_is_sized(v)) {
            ask(&all, i, &is, &flags);
            example = example ? example : example_of(w, all.info[i], v);
        }
    }
    if (example)
        walk_stop(w, KILN_INVALID, "sizes of inputs are open: %s; say %s%s--input %s", is.text,
                  flags.text, flags.used ? ", or " : "", example);
}
