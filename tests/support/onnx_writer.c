/* Writes the format of protocol buffers by the numbers of onnx.proto. */
#include "onnx_writer.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 5 }; /* bytes of the length of a nested message, however short it is */

static void put(onnx_writer *w, const void *bytes, size_t size)
{
    if (w->size + size > w->room) {
        w->room = 2 * (w->size + size) + 256;
        w->bytes = realloc(w->bytes, w->room);
        ck_assert_ptr_nonnull(w->bytes);
    }
    if (size)
        memcpy(w->bytes + w->size, bytes, size);
    w->size += size;
}

static void put_varint(onnx_writer *w, uint64_t value)
{
    uint8_t byte;
    do {
        byte = (uint8_t)((value & 127) | (value > 127 ? 128 : 0));
        put(w, &byte, 1);
        value >>= 7;
    } while (value);
}

void wire_number(onnx_writer *w, int field, uint64_t value)
{
    put_varint(w, (uint64_t)field << 3);
    put_varint(w, value);
}

static void wire_float(onnx_writer *w, int field, float value)
{
    put_varint(w, (uint64_t)field << 3 | 5);
    put(w, &value, sizeof value);
}

void wire_bytes(onnx_writer *w, int field, const void *bytes, size_t size)
{
    put_varint(w, (uint64_t)field << 3 | 2);
    put_varint(w, size);
    put(w, bytes, size);
}

void wire_text(onnx_writer *w, int field, const char *text)
{
    wire_bytes(w, field, text, strlen(text));
}

size_t wire_open(onnx_writer *w, int field)
{
    static const uint8_t room[LENGTH] = {0};
    put_varint(w, (uint64_t)field << 3 | 2);
    put(w, room, LENGTH);
    return w->size;
}

void wire_close(onnx_writer *w, size_t at)
{
    size_t length = w->size - at;
    for (int i = 0; i < LENGTH; i++, length >>= 7)
        w->bytes[at - LENGTH + (size_t)i] = (uint8_t)((length & 127) | (i < LENGTH - 1 ? 128 : 0));
}

/* Cuts the next word out of a list; "": there is none. */
static const char *next_word(const char **list, const char *ends, char word[256])
{
    *list += strspn(*list, ends);
    const size_t n = strcspn(*list, ends);
    ck_assert_uint_lt(n, 256);
    memcpy(word, *list, n);
    word[n] = '\0';
    *list += n;
    return word;
}

static void put_words(onnx_writer *w, int field, const char *list)
{
    char word[256];
    while (*next_word(&list, " ", word))
        wire_text(w, field, strcmp(word, "-") == 0 ? "" : word);
}

static void put_numbers(onnx_writer *w, int field, const char *list)
{
    char word[256];
    while (*next_word(&list, ",", word))
        wire_number(w, field, (uint64_t)strtoll(word, NULL, 10));
}

static void put_attribute(onnx_writer *w, const char *text)
{
    enum { FLOAT = 1, INT = 2, STRING = 3, FLOATS = 6, INTS = 7 };
    const char *value = strchr(text, '=') + 1;
    const size_t at = wire_open(w, 5), length = strlen(value);
    char name[256], list[256];
    snprintf(name, sizeof name, "%.*s", (int)(value - text - 1), text);
    wire_text(w, 1, name);
    if (*value == '[') {
        snprintf(list, sizeof list, "%.*s", (int)length - 2, value + 1);
        put_numbers(w, 8, list);
        wire_number(w, 20, INTS);
    } else if (*value == '\'') {
        wire_bytes(w, 4, value + 1, length - 2);
        wire_number(w, 20, STRING);
    } else if (*value == '$') { /* an attribute of the function's caller */
        wire_text(w, 21, value + 1);
        wire_number(w, 20, INTS);
    } else if (value[length - 1] == 'f') {
        wire_float(w, 2, strtof(value, NULL));
        wire_number(w, 20, FLOAT);
    } else {
        wire_number(w, 3, (uint64_t)strtoll(value, NULL, 10));
        wire_number(w, 20, INT);
    }
    wire_close(w, at);
}

void onnx_begin(onnx_writer *w, int64_t opset)
{
    memset(w, 0, sizeof *w);
    wire_number(w, 1, 8);
    wire_text(w, 2, "test");
    const size_t set = wire_open(w, 8);
    wire_text(w, 1, "");
    wire_number(w, 2, (uint64_t)opset);
    wire_close(w, set);
    w->graph = wire_open(w, 7);
    wire_text(w, 2, "graph");
}

void onnx_graph_end(onnx_writer *w)
{
    wire_close(w, w->graph);
}

void onnx_end(onnx_writer *w)
{
    onnx_graph_end(w);
}

void onnx_free(onnx_writer *w)
{
    free(w->bytes);
    w->bytes = NULL;
}

static void put_typed(onnx_writer *w, int field, const char *name, int type, const char *dims)
{
    char word[256];
    const size_t info = wire_open(w, field);
    wire_text(w, 1, name);
    const size_t of = wire_open(w, 2), tensor = wire_open(w, 1);
    wire_number(w, 1, (uint64_t)type);
    const size_t shape = wire_open(w, 2);
    while (*next_word(&dims, ",", word)) {
        const size_t dim = wire_open(w, 1);
        if (*word == '-' || (*word >= '0' && *word <= '9'))
            wire_number(w, 1, (uint64_t)strtoll(word, NULL, 10));
        else if (*word != '?')
            wire_text(w, 2, word);
        wire_close(w, dim);
    }
    wire_close(w, shape);
    wire_close(w, tensor);
    wire_close(w, of);
    wire_close(w, info);
}

void onnx_input(onnx_writer *w, const char *name, int type, const char *dims)
{
    put_typed(w, 11, name, type, dims);
}

void onnx_value_info(onnx_writer *w, const char *name, int type, const char *dims)
{
    put_typed(w, 13, name, type, dims);
}

void onnx_output(onnx_writer *w, const char *name)
{
    const size_t info = wire_open(w, 12);
    wire_text(w, 1, name);
    wire_close(w, info);
}

void onnx_weights(onnx_writer *w, const char *name, int type, const char *dims)
{
    const size_t at = wire_open(w, 5);
    put_numbers(w, 1, dims);
    wire_number(w, 2, (uint64_t)type);
    wire_text(w, 8, name);
    wire_close(w, at);
}

void onnx_ints(onnx_writer *w, const char *name, const char *numbers)
{
    char word[256];
    int64_t list[64];
    size_t n = 0;
    while (*next_word(&numbers, ",", word))
        list[n++] = strtoll(word, NULL, 10);
    const size_t at = wire_open(w, 5);
    wire_number(w, 1, n);
    wire_number(w, 2, 7);
    wire_text(w, 8, name);
    wire_bytes(w, 9, list, n * sizeof *list);
    wire_close(w, at);
}

void onnx_floats(onnx_writer *w, const char *name, const char *dims, const char *numbers)
{
    char word[256];
    float list[64];
    size_t n = 0;
    while (*next_word(&numbers, ",", word))
        list[n++] = strtof(word, NULL);
    const size_t at = wire_open(w, 5);
    put_numbers(w, 1, dims);
    wire_number(w, 2, 1);
    wire_text(w, 8, name);
    wire_bytes(w, 9, list, n * sizeof *list);
    wire_close(w, at);
}

static void put_node(onnx_writer *w, const char *op, const char *domain, const char *inputs,
                     const char *outputs, const char *attributes)
{
    char word[256];
    put_words(w, 1, inputs);
    put_words(w, 2, outputs);
    wire_text(w, 4, op);
    while (*next_word(&attributes, " ", word))
        if (strncmp(word, "name=", 5) == 0)
            wire_text(w, 3, word + 5);
        else
            put_attribute(w, word);
    if (*domain)
        wire_text(w, 7, domain);
}

size_t onnx_node_open(onnx_writer *w, const char *op, const char *domain, const char *inputs,
                      const char *outputs, const char *attributes)
{
    const size_t node = wire_open(w, 1);
    put_node(w, op, domain, inputs, outputs, attributes);
    return node;
}

void onnx_node_close(onnx_writer *w, size_t node)
{
    wire_close(w, node);
}

void onnx_node(onnx_writer *w, const char *op, const char *inputs, const char *outputs,
               const char *attributes)
{
    onnx_node_close(w, onnx_node_open(w, op, "", inputs, outputs, attributes));
}

onnx_body onnx_body_open(onnx_writer *w, const char *name)
{
    onnx_body b;
    b.attribute = wire_open(w, 5);
    wire_text(w, 1, name);
    wire_number(w, 20, 5);
    b.graph = wire_open(w, 6);
    return b;
}

void onnx_body_close(onnx_writer *w, onnx_body b)
{
    wire_close(w, b.graph);
    wire_close(w, b.attribute);
}

size_t onnx_function_open(onnx_writer *w, const char *domain, const char *name, const char *inputs,
                          const char *outputs)
{
    const size_t at = wire_open(w, 25);
    wire_text(w, 1, name);
    put_words(w, 4, inputs);
    put_words(w, 5, outputs);
    wire_text(w, 10, domain);
    return at;
}

void onnx_function_node(onnx_writer *w, const char *op, const char *inputs, const char *outputs,
                        const char *attributes)
{
    const size_t node = wire_open(w, 7);
    put_node(w, op, "", inputs, outputs, attributes);
    wire_close(w, node);
}

void onnx_function_close(onnx_writer *w, size_t function)
{
    wire_close(w, function);
}
