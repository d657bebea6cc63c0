/* Makes models of known networks with random weights: files to try kiln with. */
#include "onnx.h"

#include "arena.h"
#include <onnx.pb-c.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 256, TENSORS = 256, FLOAT = 1, OPSET = 13 };

/* A graph that is being built. */
typedef struct building {
    arena *arena;
    Onnx__NodeProto *node[NODES];
    Onnx__TensorProto *tensor[TENSORS];
    size_t nodes, tensors;
    const char *last; /* the value made last, */
    int64_t channels; /* and its channels */
    uint64_t random;
} building;

/* Uniform in -1 to 1, by a generator of 64 bits. */
static float random_float(building *b)
{
    b->random ^= b->random << 13;
    b->random ^= b->random >> 7;
    b->random ^= b->random << 17;
    return (float)(int32_t)(b->random >> 32) / 0x1p31f;
}

/* Adds a tensor of random weights whose products with ones keep their size over `terms` terms. */
static char *weights(building *b, const int64_t *dims, size_t rank, int64_t terms)
{
    Onnx__TensorProto *t = arena_take(b->arena, sizeof *t);
    size_t count = 1;
    onnx__tensor_proto__init(t);
    t->n_dims = rank;
    t->dims = arena_array(b->arena, rank, sizeof *t->dims);
    for (size_t i = 0; i < rank; i++)
        count *= (size_t)(t->dims[i] = dims[i]);
    float *data = arena_array(b->arena, count, sizeof *data);
    for (size_t i = 0; i < count; i++)
        data[i] = random_float(b) * sqrtf(6 / (float)terms);
    t->name = arena_text(b->arena, "w%zu", b->tensors);
    t->has_data_type = t->has_raw_data = 1;
    t->data_type = FLOAT;
    t->raw_data = (ProtobufCBinaryData){count * sizeof *data, (uint8_t *)data};
    b->tensor[b->tensors++] = t;
    return t->name;
}

/* Adds a scalar. */
static char *number(building *b, float value)
{
    char *name = weights(b, NULL, 0, 1);
    memcpy(b->tensor[b->tensors - 1]->raw_data.data, &value, sizeof value);
    return name;
}

/* Adds a node with one result, which becomes the value made last. Inputs that are "" are not there.
 */
static Onnx__NodeProto *add(building *b, const char *op, const char *x, const char *w,
                            const char *more)
{
    const char *inputs[] = {x, w, more};
    Onnx__NodeProto *n = arena_take(b->arena, sizeof *n);
    onnx__node_proto__init(n);
    n->input = arena_array(b->arena, 3, sizeof *n->input);
    for (size_t i = 0; i < 3; i++)
        if (*inputs[i])
            n->input[n->n_input++] = arena_text(b->arena, "%s", inputs[i]);
    n->output = arena_array(b->arena, 1, sizeof *n->output);
    n->output[n->n_output++] = arena_text(b->arena, "v%zu", b->nodes);
    n->op_type = arena_text(b->arena, "%s", op);
    n->name = arena_text(b->arena, "%s_%zu", op, b->nodes);
    n->attribute = arena_array(b->arena, 8, sizeof *n->attribute);
    b->node[b->nodes++] = n;
    b->last = n->output[0];
    return n;
}

static void set_ints(building *b, Onnx__NodeProto *n, const char *name, int64_t value, size_t count)
{
    Onnx__AttributeProto *a = arena_take(b->arena, sizeof *a);
    onnx__attribute_proto__init(a);
    a->name = arena_text(b->arena, "%s", name);
    a->has_type = 1;
    a->type = count ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS
                    : ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT;
    a->has_i = count == 0;
    a->i = count ? 0 : value;
    a->n_ints = count;
    a->ints = arena_array(b->arena, count + 1, sizeof *a->ints);
    for (size_t i = 0; i < count; i++)
        a->ints[i] = value;
    n->attribute[n->n_attribute++] = a;
}

/* Adds a convolution with padding that keeps the size, but for the stride. */
static void conv(building *b, int64_t channels, int64_t filter, int64_t stride, int64_t groups)
{
    const int64_t in = b->channels / groups, dims[] = {channels, in, filter, filter};
    const char *x = b->last, *w = weights(b, dims, 4, in * filter * filter),
               *bias = weights(b, dims, 1, 600);
    Onnx__NodeProto *n = add(b, "Conv", x, w, bias);
    set_ints(b, n, "kernel_shape", filter, 2);
    set_ints(b, n, "strides", stride, 2);
    set_ints(b, n, "pads", filter / 2, 4);
    set_ints(b, n, "group", groups, 0);
    b->channels = channels;
}

static void relu(building *b)
{
    add(b, "Relu", b->last, "", "");
}

static void relu6(building *b)
{
    const char *x = b->last, *least = number(b, 0), *most = number(b, 6);
    add(b, "Clip", x, least, most);
}

/* The mean of all pixels, and a thousand classes. */
static void classify(building *b)
{
    const int64_t dims[] = {b->channels, 1000};
    add(b, "GlobalAveragePool", b->last, "", "");
    add(b, "Flatten", b->last, "", "");
    const char *x = b->last, *w = weights(b, dims, 2, b->channels),
               *bias = weights(b, dims + 1, 1, 600);
    add(b, "Gemm", x, w, bias);
}

/* Sandler and others, MobileNetV2: Inverted Residuals and Linear Bottlenecks, table 2. */
static void build_mobilenet_v2(building *b)
{
    static const struct {
        int64_t wider, channels, repeats, stride;
    } stage[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                 {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    conv(b, 32, 3, 2, 1);
    relu6(b);
    for (size_t i = 0; i < sizeof stage / sizeof *stage; i++)
        for (int64_t r = 0; r < stage[i].repeats; r++) {
            const int64_t stride = r ? 1 : stage[i].stride, wide = b->channels * stage[i].wider;
            const bool adds = stride == 1 && b->channels == stage[i].channels;
            const char *x = b->last;
            if (stage[i].wider > 1) {
                conv(b, wide, 1, 1, 1);
                relu6(b);
            }
            conv(b, wide, 3, stride, wide);
            relu6(b);
            conv(b, stage[i].channels, 1, 1, 1);
            if (adds)
                add(b, "Add", x, b->last, "");
        }
    conv(b, 1280, 1, 1, 1);
    relu6(b);
    classify(b);
}

/* He and others, Deep Residual Learning for Image Recognition, table 1. */
static void build_resnet_18(building *b)
{
    conv(b, 64, 7, 2, 1);
    relu(b);
    Onnx__NodeProto *pool = add(b, "MaxPool", b->last, "", "");
    set_ints(b, pool, "kernel_shape", 3, 2);
    set_ints(b, pool, "strides", 2, 2);
    set_ints(b, pool, "pads", 1, 4);
    for (int64_t channels = 64; channels <= 512; channels *= 2)
        for (int r = 0; r < 2; r++) {
            const char *x = b->last;
            const int64_t stride = b->channels == channels ? 1 : 2, before = b->channels;
            if (stride > 1) {
                conv(b, channels, 1, stride, 1);
                const char *shortcut = b->last;
                b->last = x;
                b->channels = before;
                x = shortcut;
            }
            conv(b, channels, 3, stride, 1);
            relu(b);
            conv(b, channels, 3, 1, 1);
            add(b, "Add", b->last, x, "");
            relu(b);
        }
    classify(b);
}

static const struct {
    const char *name;
    void (*build)(building *b);
} demos[] = {{"mobilenet_v2", build_mobilenet_v2}, {"resnet_18", build_resnet_18}};

const char *onnx_demo_name(int i)
{
    return i >= 0 && i < (int)(sizeof demos / sizeof *demos) ? demos[i].name : NULL;
}

/* A value of the graph with its sizes. */
static Onnx__ValueInfoProto *typed(arena *a, const char *name, const int64_t *dims, size_t rank)
{
    Onnx__ValueInfoProto *v = arena_take(a, sizeof *v);
    Onnx__TypeProto *type = arena_take(a, sizeof *type);
    Onnx__TypeProto__Tensor *tensor = arena_take(a, sizeof *tensor);
    Onnx__TensorShapeProto *shape = arena_take(a, sizeof *shape);
    onnx__value_info_proto__init(v);
    onnx__type_proto__init(type);
    onnx__type_proto__tensor__init(tensor);
    onnx__tensor_shape_proto__init(shape);
    shape->n_dim = rank;
    shape->dim = arena_array(a, rank, sizeof *shape->dim);
    for (size_t i = 0; i < rank; i++) {
        Onnx__TensorShapeProto__Dimension *d = shape->dim[i] = arena_take(a, sizeof *d);
        onnx__tensor_shape_proto__dimension__init(d);
        d->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
        d->dim_value = dims[i];
    }
    tensor->has_elem_type = 1;
    tensor->elem_type = FLOAT;
    tensor->shape = shape;
    type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    type->tensor_type = tensor;
    v->name = arena_text(a, "%s", name);
    v->type = type;
    return v;
}

static void write_model(building *b, FILE *to)
{
    static const int64_t image[] = {1, 3, 224, 224}, classes[] = {1, 1000};
    Onnx__GraphProto graph = ONNX__GRAPH_PROTO__INIT;
    Onnx__ModelProto model = ONNX__MODEL_PROTO__INIT;
    Onnx__OperatorSetIdProto set = ONNX__OPERATOR_SET_ID_PROTO__INIT, *sets[] = {&set};
    Onnx__ValueInfoProto *in = typed(b->arena, "image", image, 4),
                         *out = typed(b->arena, b->last, classes, 2);
    char name[] = "demo", producer[] = "kiln", domain[] = "";
    graph.name = name;
    graph.n_node = b->nodes;
    graph.node = b->node;
    graph.n_initializer = b->tensors;
    graph.initializer = b->tensor;
    graph.n_input = graph.n_output = 1;
    graph.input = &in;
    graph.output = &out;
    set.domain = domain;
    set.has_version = model.has_ir_version = 1;
    set.version = OPSET;
    model.ir_version = 7;
    model.producer_name = producer;
    model.n_opset_import = 1;
    model.opset_import = sets;
    model.graph = &graph;
    const size_t size = onnx__model_proto__get_packed_size(&model);
    uint8_t *bytes = arena_take(b->arena, size);
    onnx__model_proto__pack(&model, bytes);
    fwrite(bytes, 1, size, to);
}

kiln_status onnx_demo_write(int i, FILE *to)
{
    jmp_buf full;
    arena a = {.full = &full};
    building *b = calloc(1, sizeof *b);
    if (!b || setjmp(full)) {
        arena_free(&a);
        free(b);
        return KILN_NO_MEMORY;
    }
    *b = (building){.arena = &a, .last = "image", .channels = 3, .random = 88172645463325252u};
    demos[i].build(b);
    write_model(b, to);
    arena_free(&a);
    free(b);
    return KILN_OK;
}
