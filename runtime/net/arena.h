/* Places of tensors in one buffer: tensors that are not in use at the same time share bytes. Pure.
 */
#ifndef KILN_NET_ARENA_H
#define KILN_NET_ARENA_H

#include <stdint.h>

typedef struct kiln_net_block {
    int64_t bytes;   /* 0: it needs no place */
    int first, last; /* the steps from which and up to which it is in use */
    int64_t offset;  /* set by kiln_net_arena_place() */
} kiln_net_block;

/* Sets the offsets, multiples of `align`, and returns the bytes of the buffer. */
int64_t kiln_net_arena_place(kiln_net_block *blocks, int count, int64_t align);

#endif
