/* Takes memory from the system in blocks. */
#include "arena.h"

#include "kiln_problem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 64 << 10, ALIGNMENT = 16 };
/* A file of a few bytes must not fill the machine. */
static const size_t most = (size_t)1 << 30;

typedef struct arena_block {
    struct arena_block *next;
    size_t size, used;
    _Alignas(ALIGNMENT) char bytes[];
} arena_block;

static arena_block *more(arena *a, size_t bytes)
{
    const size_t size = bytes > BLOCK ? bytes : BLOCK;
    arena_block *b = a->total + size < most ? calloc(1, sizeof *b + size) : NULL;
    if (!b)
        longjmp(*a->full, KILN_NO_MEMORY);
    b->size = size;
    a->total += size;
    /* A block that is full at once stays behind the one that has room. */
    if (a->blocks && bytes > BLOCK) {
        b->next = a->blocks->next;
        a->blocks->next = b;
    } else {
        b->next = a->blocks;
        a->blocks = b;
    }
    return b;
}

void *arena_take(arena *a, size_t bytes)
{
    arena_block *b = a->blocks;
    if (bytes > most)
        longjmp(*a->full, KILN_NO_MEMORY);
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (!b || b->size - b->used < bytes)
        b = more(a, bytes);
    void *at = b->bytes + b->used;
    b->used += bytes;
    return at;
}

void *arena_array(arena *a, size_t count, size_t size)
{
    if (count > most / size)
        longjmp(*a->full, KILN_NO_MEMORY);
    return arena_take(a, count * size);
}

char *arena_text(arena *a, const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    const int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    char *text = arena_take(a, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

void arena_free(arena *a)
{
    for (arena_block *b = a->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    a->blocks = NULL;
}
