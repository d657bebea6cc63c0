/* Makes memory objects with known bytes around the tensor, and compares these bytes later. */
#include "guarded.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD_BYTES = 512, GUARD_PIXELS = 3 };

/* The place of a tensor in its object: rows of bytes. A buffer has a single row. */
typedef struct place {
    size_t rows, row, pitch, offset;
} place;

static place place_of(const guarded *g)
{
    if (!g->kind.width)
        return (place){1, g->kind.bytes, g->whole.bytes, g->offset};
    size_t pixel = g->kind.bytes / (size_t)(g->kind.width * g->kind.height);
    return (place){(size_t)g->kind.height, (size_t)g->kind.width * pixel,
                   (size_t)g->whole.width * pixel, 0};
}

static memory_kind surround(const memory_kind *kind, size_t offset)
{
    memory_kind whole = *kind;
    if (!kind->width) {
        whole.bytes += offset + GUARD_BYTES;
    } else if (offset) {
        size_t pixel = kind->bytes / (size_t)(kind->width * kind->height);
        whole.width += GUARD_PIXELS;
        whole.height += GUARD_PIXELS;
        whole.bytes = (size_t)(whole.width * whole.height) * pixel;
    }
    return whole;
}

cl_int guarded_make(guarded *g, const support_device *d, const memory_kind *kind, size_t offset,
                    const void *cells)
{
    *g = (guarded){
        .offset = kind->width ? 0 : offset, .kind = *kind, .whole = surround(kind, offset)};
    g->before = malloc(g->whole.bytes);
    ck_assert_ptr_nonnull(g->before);
    for (size_t i = 0; i < g->whole.bytes; i++)
        g->before[i] = (unsigned char)(0xa5 ^ i);
    const place p = place_of(g);
    for (size_t r = 0; r < p.rows; r++)
        memcpy(g->before + p.offset + r * p.pitch, (const char *)cells + r * p.row, p.row);
    cl_int code;
    g->mem = memory_make(d->context, &g->whole, &code);
    return code == CL_SUCCESS ? memory_write(d->queue, &g->whole, g->mem, g->before) : code;
}

cl_int guarded_read(const guarded *g, const support_device *d, void *cells, bool *intact)
{
    unsigned char *now = malloc(g->whole.bytes);
    ck_assert_ptr_nonnull(now);
    cl_int code = memory_read(d->queue, &g->whole, g->mem, now);
    const place p = place_of(g);
    for (size_t r = 0; r < p.rows; r++) {
        size_t at = p.offset + r * p.pitch;
        memcpy((char *)cells + r * p.row, now + at, p.row);
        memcpy(now + at, g->before + at, p.row);
    }
    *intact = memcmp(now, g->before, g->whole.bytes) == 0;
    free(now);
    return code;
}

void guarded_free(guarded *g)
{
    if (g->mem)
        clReleaseMemObject(g->mem);
    free(g->before);
    *g = (guarded){0};
}
