/* Reads layout names and specs into descriptors. */
#include "generator/base/refuse.h"

#include "kiln_layout.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const kiln_layout_entry table[] = {
#define LAYOUT(name, dims, spec, synonyms, note) {name, dims, spec, synonyms, note},
#include "layouts.def"
#undef LAYOUT
};

enum { ENTRIES = sizeof table / sizeof *table, MAX_BLOCK = 4096 };

const kiln_layout_entry *kiln_layout_at(int index)
{
    return index >= 0 && index < ENTRIES ? &table[index] : NULL;
}

static bool same_word(const char *a, const char *b, size_t length)
{
    if (strlen(a) != length)
        return false;
    for (size_t i = 0; i < length; i++)
        if (toupper((unsigned char)a[i]) != toupper((unsigned char)b[i]))
            return false;
    return true;
}

static const kiln_layout_entry *named(const char *text)
{
    for (int i = 0; i < ENTRIES; i++) {
        if (same_word(text, table[i].name, strlen(table[i].name)))
            return &table[i];
        for (const char *s = table[i].synonyms; *s;) {
            size_t length = strcspn(s, " ");
            if (same_word(text, s, length))
                return &table[i];
            s += length + strspn(s + length, " ");
        }
    }
    return NULL;
}

/* Returns the logical order of dims that the letters of a bare spec belong to. */
static const char *dims_of(const char *text)
{
    static const char *const orders[] = {"NCDHW", "NCHW", "NCW", "OIDHW", "OIHW", "OIW",
                                         "MIDHW", "MIHW", "MIW", "TOI",   "TCP",  "W"};
    size_t end = strcspn(text, ";");
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        bool all = true;
        for (const char *d = orders[i]; *d && all; d++)
            all = memchr(text, *d, end) || memchr(text, tolower((unsigned char)*d), end);
        if (all)
            return orders[i];
    }
    return NULL;
}

/* Reads a positive number. Returns 0 when there is none or the number is too large to be meant. */
static int64_t number(const char **at)
{
    int64_t n = 0;
    while (isdigit((unsigned char)**at)) {
        n = n * 10 + (**at - '0');
        if (n > MAX_BLOCK)
            return 0;
        ++*at;
    }
    return n;
}

static int dim_index(const kiln_layout *l, char letter)
{
    const char *at = letter ? strchr(l->dims, toupper((unsigned char)letter)) : NULL;
    return at ? (int)(at - l->dims) : -1;
}

static bool add_axis(kiln_layout *l, int dim, int64_t block, char *why)
{
    if (l->naxes == KILN_MAX_AXES)
        return kiln_deny(why, "layout \"%s\" has more than %d axes", l->spec, KILN_MAX_AXES);
    l->axis[l->naxes++] = (kiln_axis){.dim = dim, .div = 1, .mod = block};
    return true;
}

/* The spelling of a block at its dim, "C/16". The end of the axes must repeat it as "16". */
typedef struct slash {
    int dim;
    int64_t block;
} slash;

static bool read_letter(kiln_layout *l, const char **at, slash *slashed, char *why)
{
    int dim = dim_index(l, **at);
    if (dim < 0)
        return kiln_deny(why, "'%c' in layout \"%s\" is not one of the dims %s", **at, l->spec,
                         l->dims);
    ++*at;
    if (!add_axis(l, dim, 0, why))
        return false;
    if (**at != '/')
        return true;
    ++*at;
    slashed->dim = dim;
    slashed->block = number(at);
    return slashed->block > 0 ||
           kiln_deny(why, "layout \"%s\" has no block size after '/'", l->spec);
}

static bool read_number(kiln_layout *l, const char **at, slash *slashed, char *why)
{
    int64_t block = number(at);
    if (block < 1)
        return kiln_deny(why, "layout \"%s\" has a block that is not in 1 .. %d", l->spec,
                         MAX_BLOCK);
    int dim = dim_index(l, **at);
    if (dim >= 0) {
        ++*at;
        return add_axis(l, dim, block, why);
    }
    if (slashed->block == block) { /* NC/16HW16 */
        slashed->block = 0;
        return add_axis(l, slashed->dim, block, why);
    }
    if (slashed->block || (**at && **at != ';') || l->naxes == 0)
        return kiln_deny(why, "%lld in layout \"%s\" is not followed by a dim", (long long)block,
                         l->spec);
    l->round[l->axis[l->naxes - 1].dim] = block; /* NHWC8 */
    return true;
}

static bool read_axes(kiln_layout *l, const char **at, char *why)
{
    slash slashed = {0, 0};
    int cuts = 0;
    while (**at && **at != ';') {
        if (**at == '|') {
            ++*at;
            if (cuts++ == 0)
                l->row_end = l->naxes;
            else
                l->col_end = l->naxes;
        } else if (isdigit((unsigned char)**at)) {
            if (!read_number(l, at, &slashed, why))
                return false;
        } else if (!read_letter(l, at, &slashed, why)) {
            return false;
        }
    }
    l->image = cuts > 0;
    if (slashed.block)
        return kiln_deny(why, "layout \"%s\" does not repeat the block %lld at its end", l->spec,
                         (long long)slashed.block);
    if (cuts != 0 && cuts != 2)
        return kiln_deny(why, "an image layout has two cuts, rows|columns|lanes; \"%s\" has %d",
                         l->spec, cuts);
    return true;
}

static bool read_rule(kiln_layout *l, const char **at, char *why)
{
    int dim = dim_index(l, **at);
    char kind = dim >= 0 ? (*at)[1] : '\0';
    if (kind != '%' && kind != '=')
        return kiln_deny(why, "\";%.10s\" in layout \"%s\" is neither DIM%%N nor DIM=A/B", *at,
                         l->spec);
    *at += 2;
    int64_t first = number(at), second = first;
    if (kind == '=' && **at == '/') {
        ++*at;
        second = number(at);
    }
    if (first < 1 || second < 1)
        return kiln_deny(why, "layout \"%s\" rounds to a number that is not in 1 .. %d", l->spec,
                         MAX_BLOCK);
    if (kind == '=') {
        l->sizes[dim][0] = first;
        l->sizes[dim][1] = second;
    } else if (**at == 'B') {
        ++*at;
        l->round_bytes[dim] = first;
    } else {
        l->round[dim] = first;
    }
    return true;
}

/* Inner slices get their divisors from the right. The one slice without a size is outermost. */
static bool finish(kiln_layout *l, char *why)
{
    int64_t inner[KILN_MAX_DIMS];
    bool outer[KILN_MAX_DIMS] = {false};
    for (int d = 0; d < l->ndims; d++)
        inner[d] = 1;
    for (int a = l->naxes - 1; a >= 0; a--) {
        kiln_axis *axis = &l->axis[a];
        if (outer[axis->dim])
            return kiln_deny(why, "layout \"%s\" has a slice of %c outside its outermost one",
                             l->spec, l->dims[axis->dim]);
        axis->div = inner[axis->dim];
        outer[axis->dim] = axis->mod == 0;
        inner[axis->dim] *= axis->mod ? axis->mod : 1;
        if (inner[axis->dim] > MAX_BLOCK)
            return kiln_deny(why, "the blocks of %c in layout \"%s\" exceed %d", l->dims[axis->dim],
                             l->spec, MAX_BLOCK);
    }
    for (int d = 0; d < l->ndims; d++) {
        if (!outer[d])
            return kiln_deny(why, "layout \"%s\" does not say where dim %c goes", l->spec,
                             l->dims[d]);
        if (l->round[d] == 0)
            l->round[d] = inner[d];
        if (l->round[d] % inner[d])
            return kiln_deny(why, "%c is rounded to %lld, which its blocks of %lld do not divide",
                             l->dims[d], (long long)l->round[d], (long long)inner[d]);
    }
    if (!l->image)
        return true;
    int64_t lanes = 1;
    for (int a = l->col_end; a < l->naxes; a++)
        lanes *= l->axis[a].mod;
    return lanes == 4 || kiln_deny(why, "the lanes of image layout \"%s\" are %lld, not 4", l->spec,
                                   (long long)lanes);
}

/* "NHWC" of a 3-D or 1-D problem: D goes before H, or H goes away. */
static void adapt(char *out, size_t size, const char *spec, const char *dims)
{
    bool add_d = strchr(dims, 'D') && !strchr(spec, 'D') && strchr(spec, 'H');
    bool drop_h = !strchr(dims, 'H') && strchr(dims, 'W');
    size_t used = 0;
    for (; *spec && used + 2 < size; spec++) {
        if (*spec == 'H' && drop_h)
            continue;
        if (*spec == 'D' && !strchr(dims, 'D'))
            continue;
        if (*spec == 'H' && add_d)
            out[used++] = 'D';
        out[used++] = *spec;
    }
    out[used] = '\0';
}

/* Names such as NCDHW and NCW are synonyms in the table's lines for 2-D tensors. Returns the
 * logical dims that such a name says itself, else the line's. */
static const char *dims_of_name(const char *text, const kiln_layout_entry *entry)
{
    static const char *const kin[][3] = {{"NCHW", "NCDHW", "NCW"}, {"OIHW", "OIDHW", "OIW"}};
    const size_t length = strlen(text);
    const bool with_d = length >= 5 && strcasestr(text, "DHW") && !strchr(entry->dims, 'D');
    const bool without_h = length == 3 && !strpbrk(text, "Hh") && strpbrk(text, "Ww");
    for (size_t i = 0; (with_d || without_h) && i < sizeof kin / sizeof *kin; i++)
        if (strcmp(entry->dims, kin[i][0]) == 0)
            return kin[i][with_d ? 1 : 2];
    return entry->dims;
}

bool kiln_layout_parse(kiln_layout *l, const char *text, const char *dims, char *why)
{
    if (!l || !text)
        return kiln_deny(why, "kiln_layout_parse: layout and text must not be NULL");
    const kiln_layout_entry *entry = named(text);
    const char *spec = entry ? entry->spec : text;
    const char *own = dims ? dims : entry ? dims_of_name(text, entry) : dims_of(text);
    memset(l, 0, sizeof *l);
    if (!own || strlen(own) > KILN_MAX_DIMS || strlen(spec) >= sizeof l->spec)
        return kiln_deny(why,
                         "\"%.40s\" is neither a layout's name nor a spec such as NCHW16c; `kiln "
                         "layout list` shows the names",
                         text);
    if (entry && own != entry->dims)
        adapt(l->spec, sizeof l->spec, spec, own);
    else
        memcpy(l->spec, spec, strlen(spec) + 1);
    const bool kin = entry && !dims && own != entry->dims;
    snprintf(l->name, sizeof l->name, "%s", entry && !kin ? entry->name : l->spec);
    snprintf(l->dims, sizeof l->dims, "%s", own);
    l->ndims = (int)strlen(own);
    const char *at = l->spec;
    if (!read_axes(l, &at, why))
        return false;
    while (*at) {
        if (*at++ != ';')
            return kiln_deny(why, "layout \"%s\" has something after a rule that is not ';'",
                             l->spec);
        if (!read_rule(l, &at, why))
            return false;
    }
    return finish(l, why);
}
