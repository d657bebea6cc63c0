/* The largest block comes first, each at the lowest place that is free while it is in use. */
#include "arena.h"

#include <stdbool.h>

static bool meet_in_time(const kiln_net_block *a, const kiln_net_block *b)
{
    return a->first <= b->last && b->first <= a->last;
}

static int64_t round_up(int64_t bytes, int64_t align)
{
    return (bytes + align - 1) / align * align;
}

/* Returns the lowest offset that meets none of the blocks that have a place. */
static int64_t lowest(const kiln_net_block *blocks, int count, const kiln_net_block *b,
                      int64_t align)
{
    int64_t offset = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (int i = 0; i < count; i++) {
            const kiln_net_block *o = &blocks[i];
            if (o->offset < 0 || o->bytes == 0 || !meet_in_time(o, b) ||
                offset >= o->offset + o->bytes || o->offset >= offset + b->bytes)
                continue;
            offset = round_up(o->offset + o->bytes, align);
            moved = true;
        }
    }
    return offset;
}

int64_t kiln_net_arena_place(kiln_net_block *blocks, int count, int64_t align)
{
    int64_t size = 0;
    for (int i = 0; i < count; i++)
        blocks[i].offset = -1;
    for (int n = 0; n < count; n++) {
        kiln_net_block *largest = 0;
        for (int i = 0; i < count; i++)
            if (blocks[i].offset < 0 && (!largest || blocks[i].bytes > largest->bytes))
                largest = &blocks[i];
        largest->offset = lowest(blocks, count, largest, align);
        if (largest->offset + largest->bytes > size)
            size = largest->offset + largest->bytes;
    }
    return size;
}
