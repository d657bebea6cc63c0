/* Goes through tags and lengths by the descriptors that unpacking uses. */
#include "wire.h"

#include <stdio.h>

typedef struct span {
    const uint8_t *at, *end;
} span;

typedef struct check {
    const uint8_t *begin;
    char *why;
    size_t size;
} check;

enum { VARINT = 0, EIGHT = 1, COUNTED = 2, FOUR = 5 };

static bool bad(const check *c, const uint8_t *at, const char *what)
{
    snprintf(c->why, c->size, "the file is no ONNX model, or damaged: %s at byte %zu", what,
             (size_t)(at - c->begin));
    return false;
}

static bool read_varint(span *s, uint64_t *value)
{
    *value = 0;
    for (int shift = 0; shift < 70 && s->at < s->end; shift += 7) {
        const uint8_t byte = *s->at++;
        if (shift < 64)
            *value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return true;
    }
    return false;
}

static bool skip(span *s, size_t bytes)
{
    const bool fits = (size_t)(s->end - s->at) >= bytes;
    s->at += fits ? bytes : 0;
    return fits;
}

static bool check_message(const check *c, const ProtobufCMessageDescriptor *kind, span s,
                          int depth);

/* Checks a field that begins with its length. */
static bool check_counted(const check *c, const ProtobufCFieldDescriptor *field, span *s, int depth)
{
    const uint8_t *from = s->at;
    uint64_t length;
    if (!read_varint(s, &length) || length > (uint64_t)(s->end - s->at))
        return bad(c, from, "a length leads past the end");
    const span inner = {s->at, s->at + length};
    s->at += length;
    if (!field || field->type != PROTOBUF_C_TYPE_MESSAGE)
        return true;
    if (depth == WIRE_DEPTH)
        return bad(c, from, "more than 100 messages in one another");
    return check_message(c, field->descriptor, inner, depth + 1);
}

static bool check_message(const check *c, const ProtobufCMessageDescriptor *kind, span s, int depth)
{
    while (s.at < s.end) {
        const uint8_t *from = s.at;
        uint64_t tag, value;
        if (!read_varint(&s, &tag) || tag >> 3 == 0 || tag >> 32)
            return bad(c, from, "no field begins");
        const ProtobufCFieldDescriptor *field =
            protobuf_c_message_descriptor_get_field(kind, (unsigned)(tag >> 3));
        const int wire = (int)(tag & 7);
        const bool fits = wire == VARINT    ? read_varint(&s, &value)
                          : wire == EIGHT   ? skip(&s, 8)
                          : wire == FOUR    ? skip(&s, 4)
                          : wire == COUNTED ? true
                                            : false;
        if (!fits)
            return bad(c, from, "a field ends too early, or is of no known kind");
        if (wire == COUNTED && !check_counted(c, field, &s, depth))
            return false;
    }
    return true;
}

bool wire_check(const ProtobufCMessageDescriptor *kind, const uint8_t *bytes, size_t length,
                char *why, size_t size)
{
    const check c = {bytes, why, size};
    return check_message(&c, kind, (span){bytes, bytes + length}, 1);
}
