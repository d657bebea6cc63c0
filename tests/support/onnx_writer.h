/* Writes ONNX models byte by byte, without the reader's descriptors: what a test says is what the
 * file has, right or wrong.
 *
 *     onnx_writer w;
 *     onnx_begin(&w, 13);
 *     onnx_input(&w, "x", 1, "1,3,H,32");                dims: numbers, names, or ? for neither
 *     onnx_weights(&w, "w", 1, "8,3,3,3");               a tensor without data
 *     onnx_ints(&w, "shape", "1,-1");                    a list of int64 with data
 *     onnx_node(&w, "Conv", "x w", "y", "strides=[2,2] auto_pad='VALID' group=1 alpha=0.5f");
 *     onnx_end(&w);                                      w.bytes, w.size
 *     onnx_free(&w);
 */
#ifndef KILN_TEST_ONNX_WRITER_H
#define KILN_TEST_ONNX_WRITER_H

#include <stddef.h>
#include <stdint.h>

typedef struct onnx_writer {
    uint8_t *bytes;
    size_t size, room;
    size_t graph;
} onnx_writer;

void onnx_begin(onnx_writer *w, int64_t opset);
void onnx_input(onnx_writer *w, const char *name, int type, const char *dims);
void onnx_output(onnx_writer *w, const char *name);
void onnx_value_info(onnx_writer *w, const char *name, int type, const char *dims);
void onnx_weights(onnx_writer *w, const char *name, int type, const char *dims);
void onnx_ints(onnx_writer *w, const char *name, const char *numbers);
void onnx_floats(onnx_writer *w, const char *name, const char *dims, const char *numbers);
void onnx_node(onnx_writer *w, const char *op, const char *inputs, const char *outputs,
               const char *attributes);
void onnx_end(onnx_writer *w);
void onnx_free(onnx_writer *w);

/* A node with bodies, or of another domain: between these two calls. */
size_t onnx_node_open(onnx_writer *w, const char *op, const char *domain, const char *inputs,
                      const char *outputs, const char *attributes);
void onnx_node_close(onnx_writer *w, size_t node);
/* A body, within a node; inputs, weights and nodes between the two calls are its own. */
typedef struct onnx_body {
    size_t attribute, graph;
} onnx_body;
onnx_body onnx_body_open(onnx_writer *w, const char *name);
void onnx_body_close(onnx_writer *w, onnx_body b);

/* Behind the graph, in the place of onnx_end(): ends the graph; then functions may follow. */
void onnx_graph_end(onnx_writer *w);
size_t onnx_function_open(onnx_writer *w, const char *domain, const char *name, const char *inputs,
                          const char *outputs);
void onnx_function_node(onnx_writer *w, const char *op, const char *inputs, const char *outputs,
                        const char *attributes);
void onnx_function_close(onnx_writer *w, size_t function);

/* The format itself. */
void wire_number(onnx_writer *w, int field, uint64_t value);
void wire_bytes(onnx_writer *w, int field, const void *bytes, size_t size);
void wire_text(onnx_writer *w, int field, const char *text);
size_t wire_open(onnx_writer *w, int field);
void wire_close(onnx_writer *w, size_t at);

#endif
