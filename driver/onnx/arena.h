/* Memory that lives as long as a model: taken piece by piece, given back at once. */
#ifndef KILN_ONNX_ARENA_H
#define KILN_ONNX_ARENA_H

#include <setjmp.h>
#include <stddef.h>

typedef struct arena {
    struct arena_block *blocks;
    size_t total;  /* bytes of all blocks */
    jmp_buf *full; /* where to go, with KILN_NO_MEMORY, when there is none left */
} arena;

/* Returns zeroed bytes; never NULL. */
void *arena_take(arena *a, size_t bytes);
/* Returns count * size zeroed bytes. */
void *arena_array(arena *a, size_t count, size_t size);
/* Returns a printed text. */
char *arena_text(arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
void arena_free(arena *a);

#endif
