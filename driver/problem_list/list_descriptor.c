/* Reads benchdnn's convolution descriptors: mb64ic3ih224oc64oh112kh7sh2ph3n"conv1".
 *
 * Keys and rules as in oneDNN's tests/benchdnn/doc/driver_conv.md and knobs_desc.md: a `_` between
 * keys means nothing; mb is 2 and g 1 unless given; sizes of w missing altogether are those of h,
 * and those of h and w missing altogether are those of d; a dilation of 0 is dense; without an
 * output size the padding is the same on both ends, with one the padding after follows from it.
 */
#include "list_text.h"

#include <string.h>

enum { IN, OUT, FILTER, STRIDE, PAD, DILATION, FIELDS };

typedef struct descriptor {
    int64_t g, mb, ic, oc; /* -1: not given, here and below */
    int64_t v[3][FIELDS];  /* axes D, H, W */
    lines_word name;
} descriptor;

static const char field_letters[FIELDS + 1] = "iokspd";
static const char axis_letters[] = "dhw";

/* The field that `at` names, and how many letters that takes; NULL when it names none. */
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

static lines_word word_at(const char *at)
{
    return lines_next_word(&at);
}

/* n"name" or nname: the rest of the descriptor. */
static lines_kind read_name(const char **at, descriptor *d, lines_entry *entry)
{
    const char *p = *at;
    if (*p == '"') {
        size_t length = strcspn(p + 1, "\"\r\n");
        if (p[1 + length] != '"')
            return lines_bad(entry, "the name %s has no closing quote",
                             lines_quote(word_at(p)).text);
        d->name = (lines_word){p + 1, length};
        *at = p + length + 2;
    } else {
        d->name = lines_next_word(at);
    }
    return LINES_SHAPE;
}

static lines_kind read_fields(const char *at, descriptor *d, lines_entry *entry)
{
    at = word_at(at).at;
    while (*at && *at != ' ' && *at != '\t' && *at != '\r' && *at != '\n') {
        if (*at == '_') {
            at++;
            continue;
        }
        if (*at == 'n') {
            at++;
            lines_kind kind = read_name(&at, d, entry);
            if (kind == LINES_BAD)
                return kind;
            break;
        }
        size_t length;
        int64_t *field = find_field(d, at, &length);
        if (!field)
            return lines_bad(entry,
                             "\"%s\" starts with no key of a descriptor (g, mb, ic, ih, ...)",
                             lines_quote(word_at(at)).text);
        const char *number = at + length;
        if (*field >= 0)
            return lines_bad(entry, "%.*s is given twice", (int)length, at);
        if (!lines_scan_int(&number, field))
            return lines_bad(entry, "expected a whole number below 2^63 behind \"%.*s\" at \"%s\"",
                             (int)length, at, lines_quote(word_at(at)).text);
        at = number;
    }
    if (!lines_at_end(at))
        return lines_bad(entry, "\"%s\" stands behind the descriptor",
                         lines_quote(word_at(at)).text);
    return LINES_SHAPE;
}

bool lines_is_descriptor(const char *line)
{
    lines_word word = lines_next_word(&line);
    if (lines_at_end(line))
        return true;
    /* More words: a quoted name with blanks, or a row. Only the former starts with known keys. */
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
        if (!lines_scan_int(&at, &ignored))
            return false;
        while (*at == '_')
            at++;
    }
    return keys > 1;
}

/* An axis without an input size takes no part; then its other keys may only say what holds anyway:
 * those of the axis it copies, or an axis of one. */
static lines_kind check_absent(const int64_t v[FIELDS], const int64_t *copied, char axis,
                               lines_entry *entry)
{
    static const int64_t one[FIELDS] = {1, 1, 1, 1, 0, 0};
    for (int f = 0; f < FIELDS; f++) {
        int64_t same = copied ? copied[f] : one[f];
        if (v[f] >= 0 && v[f] != same)
            return lines_bad(entry, "%c%c is given, but i%c is not; add it", field_letters[f], axis,
                             axis);
    }
    return LINES_SHAPE;
}

static lines_kind fill_axes(descriptor *d, int *rank, lines_entry *entry)
{
    bool has[3];
    for (int a = 0; a < 3; a++)
        has[a] = d->v[a][IN] >= 0;
    *rank = has[0] ? 3 : has[1] ? 2 : 1;
    if (!has[0] && !has[1] && !has[2])
        return lines_bad(entry, "the input size is missing (ih, iw or id)");
    if (has[0] && has[1] != has[2])
        return lines_bad(entry, "with id, give both ih and iw or none of them");
    for (int a = 0; a < 3; a++) {
        if (has[a])
            continue;
        const int64_t *from = a > 0 && d->v[a - 1][IN] >= 0 ? d->v[a - 1] : NULL;
        lines_kind kind = check_absent(d->v[a], from, axis_letters[a], entry);
        if (kind == LINES_BAD)
            return kind;
        if (from)
            memcpy(d->v[a], from, sizeof d->v[a]);
    }
    return LINES_SHAPE;
}

/* With the output size known, the padding that leads to it. The same on both ends is preferred:
 * what no window reaches makes no difference. */
static lines_kind fit_padding(lines_axis *a, bool given, char axis, lines_entry *entry)
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
    if (!lines_drop_unread(a))
        return lines_bad(
            entry, "o%c is %lld, but even without padding after the input the sizes make more",
            axis, (long long)a->out);
    return LINES_SHAPE;
}

static lines_kind set_axis(const int64_t v[FIELDS], lines_axis *a, char axis, lines_entry *entry)
{
    if (v[FILTER] < 0)
        return lines_bad(entry, "k%c is missing", axis);
    if (v[OUT] == 0 || v[FILTER] == 0 || v[STRIDE] == 0 || v[IN] == 0)
        return lines_bad(entry, "i%c, o%c, k%c and s%c must be at least 1", axis, axis, axis, axis);
    *a = (lines_axis){.in = v[IN],
                      .out = v[OUT],
                      .filter = v[FILTER],
                      .stride = v[STRIDE] < 0 ? 1 : v[STRIDE],
                      .pad = v[PAD] < 0 ? 0 : v[PAD],
                      .dilation = v[DILATION] < 0 ? 1 : v[DILATION] + (v[DILATION] < INT64_MAX)};
    a->pad_end = a->pad;
    if (!lines_axis_is_tame(a))
        return lines_bad(entry, "a size with the letter %c is too large; products may reach 2^40",
                         axis);
    return v[OUT] < 0 ? LINES_SHAPE : fit_padding(a, v[PAD] >= 0, axis, entry);
}

lines_kind lines_read_descriptor(const char *line, lines_entry *entry)
{
    descriptor d;
    memset(&d, 0xff, sizeof d); /* all numbers -1 */
    d.name.length = 0;
    lines_sizes s = {.rank = 0};
    lines_kind kind = read_fields(line, &d, entry);
    if (kind == LINES_SHAPE)
        kind = fill_axes(&d, &s.rank, entry);
    if (kind == LINES_BAD)
        return kind;
    if (d.ic < 0 || d.oc < 0)
        return lines_bad(entry, "%s is missing", d.ic < 0 ? "ic" : "oc");
    for (int a = 3 - s.rank; a < 3; a++)
        if (set_axis(d.v[a], &s.axis[a], axis_letters[a], entry) == LINES_BAD)
            return LINES_BAD;
    s.n = d.mb < 0 ? 2 : d.mb;
    s.g = d.g < 0 ? 1 : d.g;
    s.c = d.ic;
    s.k = d.oc;
    if (d.name.length)
        lines_take_name(d.name, entry);
    return lines_set_problem(&s, entry);
}
