/* Checks the bytes of a protocol buffer before they are unpacked. */
#ifndef KILN_ONNX_WIRE_H
#define KILN_ONNX_WIRE_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>

/* Messages in messages. A subgraph takes three: node, attribute, graph. */
enum { WIRE_DEPTH = 100 };

/* Returns whether each length fits into what holds it, and messages nest no deeper than WIRE_DEPTH;
 * else writes a sentence of at most `size` bytes. libprotobuf-c calls itself for each message
 * within a message, without a limit: a file of a few hundred kB would use up the stack. */
bool wire_check(const ProtobufCMessageDescriptor *kind, const uint8_t *bytes, size_t length,
                char *why, size_t size);

#endif
