/* One node as the rule of its operator sees it: attributes, inputs, and results to be sized. */
#ifndef KILN_ONNX_CALL_H
#define KILN_ONNX_CALL_H

#include "walk.h"

enum { CALL_ROOM = 8, CALL_WHY = 320 };

typedef struct call {
    walk *walk;
    scope *scope;
    const frame *frame;
    const Onnx__NodeProto *node;
    const struct operator_row *row;
    value **in; /* NULL: left out; at least CALL_ROOM of them */
    size_t inputs;
    value **out; /* at least CALL_ROOM of them, of unknown sizes */
    size_t outputs;
    const scope *body; /* of the body that was walked last */
    char why[CALL_WHY];
} call;

/* A row of the table of operators. */
typedef struct operator_row {
    const char *name;
    bool (*size)(call *c); /* sizes the results, or says why it cannot */
    unsigned needs;        /* inputs whose ranks must be known, a bit each */
    int type;              /* of the first result; 0: as the first input */
    int argument;          /* what the rule makes of it */
    double (*one)(double a);
    double (*two)(double a, double b);
} operator_row;

/* Returns the row of a node's operator; NULL: kiln does not know it. */
const operator_row *operator_of(const Onnx__NodeProto *node);

/* Says why the results are not sized. Returns false. */
bool call_says(call *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for input i, whose sizes or elements are not known. */
bool call_lacks(call *c, int i, const char *what);

/* Attributes of the node. */
const Onnx__AttributeProto *attribute(const call *c, const char *name);
int64_t attribute_int(const call *c, const char *name, int64_t otherwise);
double attribute_float(const call *c, const char *name, double otherwise);
bool attribute_is(const call *c, const char *name, const char *text);
/* Returns the list and its length; NULL: the node has no such attribute. */
const int64_t *attribute_ints(const call *c, const char *name, size_t *count);

/* Reads a list of whole numbers from an attribute, else from the elements of an input. Returns its
 * length, -1 where the node has neither, -2 where it is not known or longer than `room`. */
int call_list(call *c, const char *name, int input, int64_t *list, int room);

/* Makes an axis count from the front; false, with a sentence, where the tensor has no such one. */
bool call_axis(call *c, int64_t axis, int rank, int *at);

/* Sets a result's sizes; false, with a sentence, where one is below 0 (unless it is VALUE_OPEN and
 * `open` is true) or too large. */
bool call_set(call *c, int out, int rank, const int64_t *dim);

/* Returns a result of the body that was walked last. */
value *body_result(const call *c, const Onnx__GraphProto *g, size_t i);

/* Rules that several files use. */
bool size_same(call *c);
bool size_broadcast(call *c);
/* Sets *dim to the dim of two broadcast ones; false: they do not fit. */
bool broadcast_dim(int64_t a, int64_t b, int64_t *dim);

bool size_conv(call *c);
bool size_if(call *c);
bool size_loop(call *c);
bool size_scan(call *c);

#endif
