/* The way through a model, node by node: what the rules of operators and the walk itself share. */
#ifndef KILN_ONNX_WALK_H
#define KILN_ONNX_WALK_H

#include "names.h"
#include "onnx.h"
#include <onnx.pb-c.h>
#include "value.h"

struct call;

/* The values of a graph, behind which those of the graphs around it are seen. */
typedef struct scope {
    names values;
    const struct scope *outer;
} scope;

/* The call of a local function, in whose body attributes may refer to the caller's. */
typedef struct frame {
    const Onnx__NodeProto *caller;
    const struct frame *outer;
} frame;

/* The nodes of a graph or of a function, in the order of the walk. */
typedef struct node_list {
    Onnx__NodeProto *const *node;
    size_t count, index;           /* of the one that is walked now */
    const Onnx__GraphProto *graph; /* NULL: a function's */
} node_list;

/* A convolution that was met. */
typedef struct met {
    onnx_layer layer;
    node_list list; /* where it is */
    struct met *next;
} met;

typedef struct walk {
    arena *arena;
    const Onnx__ModelProto *model;
    const onnx_given *given;
    const char *folder; /* of external data */
    names dims;         /* int64_t: what a dim's name stands for */
    names functions;    /* Onnx__FunctionProto */
    value spare;        /* takes results that nobody reads */
    int64_t opset;
    int depth;        /* of bodies and functions */
    int64_t budget;   /* nodes that may still be walked: bodies and functions repeat them */
    node_list list;   /* what is walked now */
    bool quiet;       /* convolutions are not kept: their body is walked once more */
    int64_t times;    /* how often what is walked now runs */
    const char *path; /* of the body that is walked now: "", or "If_0/then/" */
    bool times_open;  /* a loop around it runs nobody knows how often */
    /* Walks a body of a node with these values as its inputs; the rules of If and Loop have no
     * other way to the walk that called them. */
    void (*body)(struct call *c, const Onnx__GraphProto *g, const char *label, value **in,
                 size_t inputs);
    met *first, **last;
    size_t count;
    char *why; /* [ONNX_WHY] */
    jmp_buf *end;
} walk;

/* Ends the reading of the file with a status and a sentence. */
_Noreturn void walk_stop(walk *w, kiln_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

value *scope_find(const scope *s, const char *name);

/* Walks the nodes of the model's graph. */
void walk_model(walk *w);

/* Returns the nodes in an order in which each comes behind the nodes that it reads. */
Onnx__NodeProto **order_nodes(walk *w, Onnx__NodeProto *const *nodes, size_t count);

/* Calls `visit` for every name that a node reads, also within its bodies; names that a body itself
 * defines are among them. */
void node_reads(const Onnx__NodeProto *node, void (*visit)(void *user, const char *name),
                void *user);

/* Returns the value of a tensor of the file: its sizes, and its elements if they are few. */
value *tensor_value(walk *w, const Onnx__TensorProto *t);

/* Returns a value of these sizes. */
value *tensor_dims_value(walk *w, size_t count, const int64_t *dims, int type);

/* Refuses a tensor whose external data would lie outside the model's folder. */
void tensor_check_place(walk *w, const Onnx__TensorProto *t);

/* Reads `size` bytes at the beginning of a tensor's external data; false: they are not there. */
bool tensor_read_external(walk *w, const Onnx__TensorProto *t, void *bytes, size_t size);

/* Completes a value by what the file says of its type (NULL: nothing). Names of dims are looked up.
 */
void value_declared(walk *w, value *v, const Onnx__TypeProto *type);

/* Returns the sizes of an input of the model, from the file and what was given. */
void input_values(walk *w, scope *s);

/* Finds what follows the convolutions of the list, which are `from` or come behind it, and makes
 * epilogues of it. */
void epilogues_find(walk *w, met *from, const node_list *list, const scope *s);

/* Returns a name to show of a node: its own, else operator and first result. */
const char *node_title(walk *w, const Onnx__NodeProto *node);

/* Never NULL. */
static inline const char *text_of(const char *text)
{
    return text ? text : "";
}

#endif
