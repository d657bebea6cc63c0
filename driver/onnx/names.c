/* A hash table with open addressing. */
#include "names.h"

#include <stdint.h>
#include <string.h>
#include <xxhash.h>

typedef struct names_entry {
    const char *name; /* NULL: free */
    void *pointer;
} names_entry;

/* Returns the entry of the name, or the free one where it belongs. */
static names_entry *find(names_entry *slot, size_t slots, const char *name)
{
    size_t at = (size_t)XXH3_64bits(name, strlen(name)) & (slots - 1);
    while (slot[at].name && strcmp(slot[at].name, name) != 0)
        at = (at + 1) & (slots - 1);
    return &slot[at];
}

void *names_find(const names *n, const char *name)
{
    return n->slots ? find(n->slot, n->slots, name)->pointer : NULL;
}

static void grow(arena *a, names *n)
{
    const size_t slots = n->slots ? 2 * n->slots : 16;
    names_entry *wider = arena_array(a, slots, sizeof *wider);
    for (size_t i = 0; i < n->slots; i++)
        if (n->slot[i].name)
            *find(wider, slots, n->slot[i].name) = n->slot[i];
    n->slot = wider;
    n->slots = slots;
}

void names_set(arena *a, names *n, const char *name, void *pointer)
{
    if (2 * (n->used + 1) > n->slots)
        grow(a, n);
    names_entry *e = find(n->slot, n->slots, name);
    n->used += !e->name;
    *e = (names_entry){name, pointer};
}
