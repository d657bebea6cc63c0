/* Reads benchdnn's convolution descriptors: mb64ic3ih224oc64oh112kh7sh2ph3n"conv1".
 *
 * Keys and rules are those of oneDNN's tests/benchdnn/doc/driver_conv.md and knobs_desc.md. A `_`
 * between keys means nothing. mb is 2 and g 1 unless given. Where no size of w is given, w copies
 * h; where none of h and w is given, both copy d. A dilation of 0 is dense. Without an output size
 * the padding is the same on both ends; with one the padding at the end follows from it.
 */
#include "list_descriptor.h"

#include "list_shape.h"
#include "list_text.h"

#include <string.h>

enum { IN, OUT, FILTER, STRIDE, PAD, DILATION, FIELDS };

typedef struct descriptor {
    int64_t g, mb, ic, oc; /* -1: not given, here and below */
    int64_t v[3][FIELDS];  /* axes D, H, W */
    list_word name;
} descriptor;

static const char field_letters[FIELDS + 1] = "iokspd";
static const char axis_letters[] = "dhw";

/* Returns the field that `at` names, with the length of its name; NULL: `at` names none. */
static int64_t *find_field(descriptor *d, const char *at, size_t *length)
{
    struct {
        const char *key;
        int64_t *value;
    } const whole[] = {{"mb", &d->mb}, {"ic", &d->ic}, {"oc", &d->oc}, {"g", &d->g}};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (strncmp(at, whole[i].key, strlen(whole[i].key)) == 0) {
            *length = strlen(whole[i].key);
            return whole[i].value;
        }
    const char *field = *at ? strchr(field_letters, *at) : NULL;
    const char *axis = field && at[1] ? strchr(axis_letters, at[1]) : NULL;
    *length = 2;
    return axis ? &d->v[axis - axis_letters][field - field_letters] : NULL;
}

static list_word word_at(const char *at)
{
    return list_next_word(&at);
}

/* Reads "name" or name after the key n: the rest of the descriptor. */
static list_kind read_name(const char **at, descriptor *d, list_entry *entry)
{
    const char *p = *at;
    if (*p == '"') {
        size_t length = strcspn(p + 1, "\"\r\n");
        if (p[1 + length] != '"')
            return list_bad(entry, "the name %s has no closing quote", list_quote(word_at(p)).text);
        d->name = (list_word){p + 1, length};
        *at = p + length + 2;
    } else {
        d->name = list_next_word(at);
    }
    return LIST_SHAPE;
}

static list_kind read_fields(const char *at, descriptor *d, list_entry *entry)
{
    at = word_at(at).at;
    while (*at && *at != ' ' && *at != '\t' && *at != '\r' && *at != '\n') {
        if (*at == '_') {
            at++;
            continue;
        }
        if (*at == 'n') {
            at++;
            list_kind kind = read_name(&at, d, entry);
            if (kind == LIST_BAD)
                return kind;
            break;
        }
        size_t length;
        int64_t *field = find_field(d, at, &length);
        if (!field)
            return list_bad(entry, "\"%s\" starts with no key of a descriptor (g, mb, ic, ih, ...)",
                            list_quote(word_at(at)).text);
        const char *number = at + length;
        if (*field >= 0)
            return list_bad(entry, "%.*s is given twice", (int)length, at);
        if (!list_scan_int(&number, field))
            return list_bad(entry, "expected a whole number below 2^63 after \"%.*s\" at \"%s\"",
                            (int)length, at, list_quote(word_at(at)).text);
        at = number;
    }
    if (!list_at_end(at))
        return list_bad(entry, "\"%s\" follows the descriptor; only a comment may",
                        list_quote(word_at(at)).text);
    return LIST_SHAPE;
}

bool list_is_descriptor(const char *line)
{
    list_word word = list_next_word(&line);
    if (list_at_end(line))
        return true;
    /* Several words are a quoted name with blanks, or a row; a row does not start with keys. */
    descriptor d;
    size_t length;
    const char *at = word.at;
    while (*at == '_')
        at++;
    int keys = 0;
    for (int64_t ignored; at < word.at + word.length && *at != 'n'; keys++) {
        if (!find_field(&d, at, &length))
            return false;
        at += length;
        if (!list_scan_int(&at, &ignored))
            return false;
        while (*at == '_')
            at++;
    }
    return keys > 1;
}

bool list_starts_as_descriptor(const char *line)
{
    descriptor d;
    size_t length;
    int64_t ignored;
    const char *at = word_at(line).at;
    if (!find_field(&d, at, &length))
        return false;
    at += length;
    return list_scan_int(&at, &ignored);
}

/* An axis without an input size copies another axis or is 1 wide. Refuses keys of the axis that say
 * something else. */
static list_kind check_absent(const int64_t v[FIELDS], const int64_t *copied, char axis,
                              list_entry *entry)
{
    static const int64_t one[FIELDS] = {1, 1, 1, 1, 0, 0};
    for (int f = 0; f < FIELDS; f++) {
        int64_t same = copied ? copied[f] : one[f];
        if (v[f] >= 0 && v[f] != same)
            return list_bad(entry, "%c%c is given, but i%c is not; add it", field_letters[f], axis,
                            axis);
    }
    return LIST_SHAPE;
}

static list_kind fill_axes(descriptor *d, int *rank, list_entry *entry)
{
    bool has[3];
    for (int a = 0; a < 3; a++)
        has[a] = d->v[a][IN] >= 0;
    *rank = has[0] ? 3 : has[1] ? 2 : 1;
    if (!has[0] && !has[1] && !has[2])
        return list_bad(entry, "the input size is missing (ih, iw or id)");
    if (has[0] && has[1] != has[2])
        return list_bad(entry, "with id, give both ih and iw or none of them");
    for (int a = 0; a < 3; a++) {
        if (has[a])
            continue;
        const int64_t *from = a > 0 && d->v[a - 1][IN] >= 0 ? d->v[a - 1] : NULL;
        list_kind kind = check_absent(d->v[a], from, axis_letters[a], entry);
        if (kind == LIST_BAD)
            return kind;
        if (from)
            memcpy(d->v[a], from, sizeof d->v[a]);
    }
    return LIST_SHAPE;
}

/* Sets the padding that leads to the given output size. Prefers the same on both ends, where rows
 * that no window reaches allow it. */
static list_kind fit_padding(list_axis *a, bool given, char axis, list_entry *entry)
{
    int64_t reach = (a->filter - 1) * a->dilation + 1;
    int64_t total = (a->out - 1) * a->stride + reach - a->in;
    if (!given)
        a->pad = total > 0 ? total / 2 : 0;
    int64_t span = a->in + 2 * a->pad - reach;
    if (given && span >= 0 && span / a->stride + 1 == a->out)
        a->pad_end = a->pad;
    else
        a->pad_end = total - a->pad;
    if (!list_drop_unread(a))
        return list_bad(entry,
                        "o%c is %lld, but even without padding after the input the sizes make more",
                        axis, (long long)a->out);
    return LIST_SHAPE;
}

/* The same of a deconvolution. Where less than no padding at the end is asked for, the output is
 * padded instead. */
static void fit_transposed(list_axis *a, bool given)
{
    const int64_t reach = (a->filter - 1) * a->dilation + 1;
    const int64_t total = (a->in - 1) * a->stride + reach - a->out;
    if (!given)
        a->pad = total > 0 ? total / 2 : 0;
    a->pad_end = total > a->pad ? total - a->pad : 0;
    a->output_pad = total < a->pad ? a->pad - total : 0;
}

static list_kind set_axis(const int64_t v[FIELDS], bool transposed, list_axis *a, char axis,
                          list_entry *entry)
{
    if (v[FILTER] < 0)
        return list_bad(entry, "k%c is missing", axis);
    if (v[OUT] == 0 || v[FILTER] == 0 || v[STRIDE] == 0 || v[IN] == 0)
        return list_bad(entry, "i%c, o%c, k%c and s%c must be at least 1", axis, axis, axis, axis);
    *a = (list_axis){.in = v[IN],
                     .out = v[OUT],
                     .filter = v[FILTER],
                     .stride = v[STRIDE] < 0 ? 1 : v[STRIDE],
                     .pad = v[PAD] < 0 ? 0 : v[PAD],
                     .dilation = v[DILATION] < 0 ? 1 : v[DILATION] + (v[DILATION] < INT64_MAX)};
    a->pad_end = a->pad;
    if (!list_axis_is_tame(a) || (transposed && a->in - 1 > ((int64_t)1 << 40) / a->stride))
        return list_bad(
            entry, "a size of axis %c is too large; sizes and their products may reach 2^40", axis);
    if (v[OUT] < 0)
        return LIST_SHAPE;
    if (!transposed)
        return fit_padding(a, v[PAD] >= 0, axis, entry);
    fit_transposed(a, v[PAD] >= 0);
    return LIST_SHAPE;
}

list_kind list_read_descriptor(const char *line, bool transposed, list_entry *entry)
{
    descriptor d;
    memset(&d, 0xff, sizeof d); /* all numbers -1 */
    d.name.length = 0;
    list_sizes s = {.transposed = transposed};
    list_kind kind = read_fields(line, &d, entry);
    if (kind == LIST_SHAPE)
        kind = fill_axes(&d, &s.rank, entry);
    if (kind == LIST_BAD)
        return kind;
    if (d.ic < 0 || d.oc < 0)
        return list_bad(entry, "%s is missing", d.ic < 0 ? "ic" : "oc");
    for (int a = 3 - s.rank; a < 3; a++)
        if (set_axis(d.v[a], transposed, &s.axis[a], axis_letters[a], entry) == LIST_BAD)
            return LIST_BAD;
    s.n = d.mb < 0 ? 2 : d.mb;
    s.g = d.g < 0 ? 1 : d.g;
    s.c = d.ic;
    s.k = d.oc;
    if (d.name.length)
        list_take_name(d.name, entry);
    return list_set_problem(&s, entry);
}
