/* Layouts with sizes: extents, offsets, their inverse, and the OpenCL expression for both. */
#include "generator/base/refuse.h"

#include "kiln_layout.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int64_t greatest_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t t = a % b;
        a = b;
        b = t;
    }
    return a;
}

static bool round_up(int64_t *size, int64_t multiple)
{
    int64_t more;
    if (__builtin_add_overflow(*size, multiple - 1, &more))
        return false;
    *size = more / multiple * multiple;
    return true;
}

/* Computes the dim's size in storage by its rules. One step of the dim spans `inside` bytes. */
static bool padded_size(const kiln_layout *l, int d, int64_t dim, int64_t inside, int64_t *size,
                        char *why)
{
    *size = dim;
    if (l->sizes[d][0]) {
        *size = dim <= l->sizes[d][0] ? l->sizes[d][0] : l->sizes[d][1];
        if (dim > *size)
            return kiln_deny(why, "layout %s takes %c up to %lld, not %lld", l->name, l->dims[d],
                             (long long)*size, (long long)dim);
    }
    int64_t multiple = l->round[d];
    if (l->round_bytes[d])
        multiple *= l->round_bytes[d] / greatest_divisor(l->round_bytes[d], inside);
    return round_up(size, multiple) || kiln_deny(why, "the sizes overflow 64 bits");
}

static bool fold_images(kiln_storage *s)
{
    const kiln_layout *l = &s->layout;
    s->width = s->height = 1;
    for (int a = 0; a < l->col_end; a++)
        *(a < l->row_end ? &s->height : &s->width) *= s->extent[a];
    return true;
}

/* A layout that the caller wrote by hand may be anything. */
static bool is_sound(const kiln_layout *l)
{
    bool sound =
        l->ndims >= 1 && l->ndims <= KILN_MAX_DIMS && l->naxes >= 1 && l->naxes <= KILN_MAX_AXES;
    for (int a = 0; sound && a < l->naxes; a++)
        sound = l->axis[a].dim >= 0 && l->axis[a].dim < l->ndims && l->axis[a].div >= 1 &&
                l->axis[a].mod >= 0;
    for (int d = 0; sound && d < l->ndims; d++)
        sound = l->round[d] >= 1 && l->round_bytes[d] >= 0 && l->sizes[d][0] >= 0 &&
                l->sizes[d][1] >= 0;
    return sound &&
           (!l->image || (l->row_end >= 0 && l->row_end <= l->col_end && l->col_end <= l->naxes));
}

bool kiln_storage_make(kiln_storage *s, const kiln_layout *l, const int64_t *dim, kiln_type type,
                       char *why)
{
    if (!s || !l || !dim)
        return kiln_deny(why, "kiln_storage_make: storage, layout and dim must not be NULL");
    const int64_t element = (int64_t)kiln_type_size(type);
    if (element == 0)
        return kiln_deny(why, "type is %d; it must be one of kiln_type, 0 to %d", (int)type,
                         KILN_TYPES - 1);
    memset(s, 0, sizeof *s);
    if (!is_sound(l))
        return kiln_deny(why, "the layout is none that kiln_layout_parse() could make");
    s->layout = *l;
    for (int d = 0; d < l->ndims; d++) {
        if (dim[d] < 1)
            return kiln_deny(why, "dim %c is %lld; it must be at least 1", l->dims[d],
                             (long long)dim[d]);
        s->dim[d] = dim[d];
    }
    int64_t cells = 1;
    for (int a = l->naxes - 1; a >= 0; a--) {
        const kiln_axis *axis = &l->axis[a];
        s->stride[a] = cells;
        s->extent[a] = axis->mod;
        if (!axis->mod) {
            int64_t size, bytes;
            if (__builtin_mul_overflow(cells, element, &bytes))
                return kiln_deny(why, "the sizes overflow 64 bits");
            if (!padded_size(l, axis->dim, dim[axis->dim], bytes, &size, why))
                return false;
            s->extent[a] = size / axis->div;
        }
        if (__builtin_mul_overflow(cells, s->extent[a], &cells))
            return kiln_deny(why, "the sizes overflow 64 bits");
    }
    if (cells > INT64_MAX / element)
        return kiln_deny(why, "the sizes overflow 64 bits");
    s->cells = cells;
    return !l->image || fold_images(s);
}

static int64_t subscript(const kiln_axis *axis, int64_t coordinate)
{
    coordinate /= axis->div;
    return axis->mod ? coordinate % axis->mod : coordinate;
}

/* A storage that kiln_storage_make() has not filled in has no cells. */
static bool is_made(const kiln_storage *s)
{
    return s && s->cells > 0;
}

int64_t kiln_storage_elements(const kiln_storage *s)
{
    if (!is_made(s))
        return 0;
    int64_t count = 1;
    for (int d = 0; d < s->layout.ndims; d++)
        count *= s->dim[d];
    return count;
}

int64_t kiln_storage_offset(const kiln_storage *s, const int64_t *coordinate)
{
    int64_t offset = 0;
    if (!is_made(s) || !coordinate)
        return -1;
    for (int a = 0; a < s->layout.naxes; a++)
        offset += subscript(&s->layout.axis[a], coordinate[s->layout.axis[a].dim]) * s->stride[a];
    return offset;
}

bool kiln_storage_coordinate(const kiln_storage *s, int64_t offset, int64_t *coordinate)
{
    if (!is_made(s) || !coordinate || offset < 0 || offset >= s->cells)
        return false;
    const kiln_layout *l = &s->layout;
    memset(coordinate, 0, (size_t)l->ndims * sizeof *coordinate);
    for (int a = 0; a < l->naxes; a++)
        coordinate[l->axis[a].dim] += offset / s->stride[a] % s->extent[a] * l->axis[a].div;
    for (int d = 0; d < l->ndims; d++)
        if (coordinate[d] >= s->dim[d])
            return false;
    return true;
}

int64_t kiln_storage_stride(const kiln_storage *s, int dim)
{
    int64_t stride = -1;
    int slices = 0;
    if (!is_made(s))
        return -1;
    for (int a = 0; a < s->layout.naxes; a++)
        if (s->layout.axis[a].dim == dim) {
            slices++;
            stride = s->stride[a];
        }
    return slices == 1 ? stride : -1;
}

/* Appends text and counts all of it, whether or not there is room. */
static void put(char *text, size_t size, size_t *used, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void put(char *text, size_t size, size_t *used, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vsnprintf(*used < size ? text + *used : NULL, *used < size ? size - *used : 0, format,
                      list);
    va_end(list);
    *used += (size_t)n;
}

static void put_subscript(char *text, size_t size, size_t *used, const kiln_layout *l,
                          const kiln_axis *axis)
{
    char letter = (char)tolower((unsigned char)l->dims[axis->dim]);
    bool both = axis->div > 1 && axis->mod;
    put(text, size, used, both ? "(%c" : "%c", letter);
    if (axis->div > 1)
        put(text, size, used, both ? "/%lld)" : "/%lld", (long long)axis->div);
    if (axis->mod)
        put(text, size, used, "%%%lld", (long long)axis->mod);
}

size_t kiln_storage_expression(const kiln_storage *s, char part, char *text, size_t size)
{
    if (!text)
        size = 0;
    if (size)
        text[0] = '\0';
    if (!is_made(s) || !part || !strchr(s->layout.image ? "oxyl" : "o", part))
        return 0;
    const kiln_layout *l = &s->layout;
    int from = part == 'x' ? l->row_end : part == 'l' ? l->col_end : 0;
    int to = part == 'y' ? l->row_end : part == 'x' ? l->col_end : l->naxes;
    size_t used = 0;
    /* Horner: ((a0 * extent1 + a1) * extent2 + a2) ... */
    for (int a = from + 1; a < to; a++)
        put(text, size, &used, a + 1 < to ? "(" : "");
    for (int a = from; a < to; a++) {
        if (a > from)
            put(text, size, &used, "*%lld+", (long long)s->extent[a]);
        put_subscript(text, size, &used, l, &l->axis[a]);
        if (a > from && a + 1 < to)
            put(text, size, &used, ")");
    }
    if (from >= to)
        put(text, size, &used, "0");
    return used;
}

/* Finds the part of an image that axis `a` folds into: its first axis, and the one past its last.
 */
static void part_of(const kiln_layout *l, int a, int *from, int *to)
{
    *from = !l->image || a < l->row_end ? 0 : a < l->col_end ? l->row_end : l->col_end;
    *to = !l->image || a >= l->col_end ? l->naxes : a < l->row_end ? l->row_end : l->col_end;
}

size_t kiln_storage_inverse(const kiln_storage *s, int dim, char *text, size_t size)
{
    if (!text)
        size = 0;
    if (size)
        text[0] = '\0';
    if (!is_made(s))
        return 0;
    const kiln_layout *l = &s->layout;
    size_t used = 0;
    for (int a = 0; a < l->naxes; a++) {
        int from, to;
        if (l->axis[a].dim != dim)
            continue;
        part_of(l, a, &from, &to);
        const char *name = !l->image         ? "cell"
                           : a < l->row_end  ? "py"
                           : a >= l->col_end ? "lane"
                                             : "px";
        int64_t stride = s->stride[a] / s->stride[to - 1];
        put(text, size, &used, used ? "+%s" : "%s", name);
        if (stride > 1)
            put(text, size, &used, "/%lld", (long long)stride);
        if (a > from)
            put(text, size, &used, "%%%lld", (long long)s->extent[a]);
        if (l->axis[a].div > 1)
            put(text, size, &used, "*%lld", (long long)l->axis[a].div);
    }
    return used;
}

bool kiln_storage_fits_image(const kiln_storage *s, int64_t max_width, int64_t max_height,
                             char *why)
{
    if (!s)
        return kiln_deny(why, "kiln_storage_fits_image: storage must not be NULL");
    if (!s->layout.image)
        return true;
    if (s->width > max_width)
        return kiln_deny(why, "image width %lld exceeds the limit of %lld", (long long)s->width,
                         (long long)max_width);
    if (s->height > max_height)
        return kiln_deny(why, "image height %lld exceeds the limit of %lld", (long long)s->height,
                         (long long)max_height);
    return true;
}
