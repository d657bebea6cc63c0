/* Places of tensors in one buffer: tensors that are not in use at the same time share bytes. Pure.
 */
#ifndef KILN_CHAIN_ARENA_H
#define KILN_CHAIN_ARENA_H

#include <stdint.h>

typedef struct kiln_arena_block {
    int64_t bytes;   /* 0: it needs no place */
    int first, last; /* the steps from which and up to which it is in use */
    int64_t offset;  /* set by kiln_arena_place() */
} kiln_arena_block;

/* Sets the offsets, multiples of `align`, and returns the bytes of the buffer. */
int64_t kiln_arena_place(kiln_arena_block *blocks, int count, int64_t align);

#endif
