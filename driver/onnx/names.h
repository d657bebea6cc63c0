/* What a name stands for: a table from texts to pointers. */
#ifndef KILN_ONNX_NAMES_H
#define KILN_ONNX_NAMES_H

#include "arena.h"

/* Start with all zero. Names are not copied. */
typedef struct names {
    struct names_entry *slot;
    size_t slots, used;
} names;

/* Returns the pointer of a name; NULL: none was set. */
void *names_find(const names *n, const char *name);
void names_set(arena *a, names *n, const char *name, void *pointer);

#endif
